/*
 * replay_receive.c - posts wildcard receives with the recorded source and tag; defers and cancels
 * as recorded.
 *
 * Receives with a named source and tag are numbered (tracked_request.h). With several threads,
 * all receives are posted in the recorded order (replay_post_order.c).
 */
#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

#include "record/receive_calls.h"
#include "record/record_start.h"
#include "runtime/tracer_state.h"
#include "trace/request_names.h"

static bool is_known(const struct rn_plan_match *m)
{
	return m->state == RN_PLAN_MATCHED || m->state == RN_PLAN_INFERRED;
}

/* Changes the receive so that it cannot match any message. */
static void post_nowhere(struct rn_receive *r)
{
	r->comm = rn_replay_nowhere();
	r->source = 0;
	r->tag = 0;
}

/* Returns whether a recorded message of a receive with ordinal i or higher could match this
 * receive. */
static bool takes_from(const struct rn_post *p, const struct rn_replay *r, uint64_t i)
{
	const struct rn_plan_match *m;

	for (; (m = rn_replay_later(r, i)) != NULL; i++)
		if (is_known(m) && rn_order_asks_for(&p->c, m->source, m->tag))
			return true;
	return false;
}

/* Returns whether this unobserved receive could match a message that was recorded for a later
 * receive. If not, it is posted unchanged: when sends are not recorded, a sender may wait for it.
 * Unobserved receives are the last ones of a recording, so the search is short. */
static bool takes_from_others(const struct rn_post *p)
{
	const struct rn_replay *mine = p->c.o->replay, *r;
	uint64_t from;

	for (uint32_t i = 0; rn_turns && (r = rn_replay_nth(i, &from)); i++)
		if (r != mine && takes_from(p, r, from))
			return true;
	return takes_from(p, mine, p->is.ordinal + 1);
}

/* Returns whether the receive can be posted for the recorded message. If not, reports a divergence.
 */
static bool is_asked_for(const struct rn_post *p, const struct rn_plan_match *m)
{
	if (rn_replay_accepts(&p->c, m))
		return rn_replay_reaches(&p->c, p->as.comm, m->source);
	rn_replay_unasked(&p->c, m);
	return false;
}

/* Assigns the next ordinal of this thread, and the recorded source and tag. */
static void number(struct rn_post *p)
{
	struct rn_order_thread *o = p->c.o;
	const struct rn_plan_match *m;

	p->is = (struct rn_tracked){ .ordinal = o->started++,
				     .starter = o,
				     .kind = RN_REQUEST_WILDCARD,
				     .real = MPI_REQUEST_NULL };
	if (!o->replay || rn_replay_gets_free(o))
		return;
	p->is.receive = p->as;
	p->planned = true;
	m = rn_replay_match(o->replay, p->is.ordinal);
	if (is_known(m) && !is_asked_for(p, m))
		return;
	rn_replay_start(o->replay, m);
	if (is_known(m)) {
		p->as.source = m->source;
		p->as.tag = m->tag;
	} else if (m->state == RN_PLAN_CANCELLED) {
		post_nowhere(&p->as);
	} else if (rn_replay_knows_sends(o->replay) || takes_from_others(p)) {
		p->is.state = RN_TRACKED_DEFERRED;
		post_nowhere(&p->as);
	}
}

static bool is_deferred(const struct rn_post *p)
{
	return p->is.state == RN_TRACKED_DEFERRED;
}

/* Restores the program's arguments if the run has left the recording while the thread waited for
 * its turn. */
static void forget_plan(struct rn_post *p)
{
	if (!p->planned || !rn_replay_is_free(p->c.o))
		return;
	p->as = p->is.receive;
	p->is.state = RN_TRACKED_ACTIVE;
}

static int post(struct rn_post *p, MPI_Request *q)
{
	if (!rn_turns || !p->c.o || p->free)
		return rn_receive_post(&p->as, q);
	RN_TURN(turn, &p->c, RN_PLAN_RECEIVES);
	forget_plan(p);
	return rn_receive_post(&p->as, q);
}

/* Takes the turn that was recorded for a receive which is not posted now. */
static void pass_turn(const struct rn_post *p)
{
	if (!rn_turns)
		return;
	RN_TURN(turn, &p->c, RN_PLAN_RECEIVES);
}

/* ---- blocking functions ---- */

/* Like number(), for a blocking call. The recording of the thread ends in this call if the receive
 * is unobserved. */
static void number_blocking(struct rn_post *p)
{
	struct rn_receive given = p->as;

	number(p);
	if (p->c.o->replay && !rn_replay_is_free(p->c.o) &&
	    rn_replay_match(p->c.o->replay, p->is.ordinal)->state == RN_PLAN_UNSEEN) {
		p->as = given;
		p->free = true;
		pass_turn(p);
		rn_replay_unobserved(&p->c, p->c.o->replay, p->is.ordinal);
	}
}

/* Waits for the receive. In a replay it polls, so that it can report the awaited message. */
static int wait_for(const struct rn_post *p, MPI_Request *q, MPI_Status *s)
{
	struct rn_patience patience = { 0 };
	bool loose;
	int done = 0, rc = MPI_SUCCESS;

	if (!p->c.o || !p->c.o->replay)
		return rn_real.MPI_Wait(q, s);
	loose = !p->wild || rn_replay_is_free(p->c.o);
	if (!loose)
		patience.row = rn_replay_match(p->c.o->replay, p->is.ordinal)->row;
	while (rc == MPI_SUCCESS && !done) {
		rc = rn_real.MPI_Test(q, &done, s);
		if (rc == MPI_SUCCESS && !done &&
		    rn_replay_wait(&patience, &p->c, p->as.source, p->as.tag) && !loose) {
			loose = true;
			rc = rn_receive_again(&p->is.receive, q);
		}
	}
	return rc;
}

static int received(const struct rn_post *p, int rc, const MPI_Status *s)
{
	(void)p;
	(void)s;
	return rc;
}

static const struct rn_receive_ops ops = { number, post, wait_for, rn_replay_isend };

/* ---- functions that return a request ---- */

#define IRECV(name, count_type)                                                           \
	static int hook_##name(RN_RECV_PARAMS(count_type), MPI_Request *request)          \
	{                                                                                 \
		struct rn_post p;                                                         \
                                                                                          \
		if (rn_post_begin(&p, RN_RECV_ARGS) && p.wild)                            \
			return rn_post_wild(&p, &ops, request);                           \
		if (rn_replay_next_cancelled())                                           \
			post_nowhere(&p.as);                                              \
		return rn_track_numbered(RN_REQUEST_RECEIVE, post(&p, request), request); \
	}

#define ALL(suffix, count_type)                  \
	RN_BLOCKING_RECEIVES(suffix, count_type) \
	IRECV(Irecv##suffix, count_type)         \
	RN_RECV_INIT(Recv_init##suffix, count_type)

ALL(, int)
#if MPI_VERSION >= 4
ALL(_c, MPI_Count)

/* Returns whether the receive was cancelled in the recording. If so, neither half of the call
 * happened. */
static bool is_cancelled(const struct rn_post *p)
{
	return p->c.o->replay &&
	       rn_replay_match(p->c.o->replay, p->is.ordinal)->state == RN_PLAN_CANCELLED;
}

/* Returns whether the outcome of the receive is not recorded. If so, the receive gets an ordinal,
 * and the call is counted as unreplayable. */
static bool is_unknown(const struct rn_post *p)
{
	if (rn_isendrecv_tells())
		return false;
	p->c.o->started++;
	rn_post_unreplayable(p);
	return true;
}

/* The message is sent even if the receive is deferred. The request is then that of the send alone.
 */
#define ISENDRECV(name, params, args, buf, count, type)                                       \
	static int hook_##name(params, MPI_Request *request)                                  \
	{                                                                                     \
		struct rn_post p;                                                             \
		int rc;                                                                       \
                                                                                              \
		if (!rn_post_begin(&p, buf, count, type, source, recvtag, comm) || !p.wild) { \
			rc = rn_replay_next_cancelled() ? rn_replay_post_nowhere(request)     \
							: rn_real.MPI_##name(args, request);  \
			return rn_track_numbered(RN_REQUEST_SEND, rc, request);               \
		}                                                                             \
		if (is_unknown(&p))                                                           \
			return rn_real.MPI_##name(args, request);                             \
		number(&p);                                                                   \
		source = is_deferred(&p) ? MPI_PROC_NULL : p.as.source;                       \
		recvtag = p.as.tag;                                                           \
		p.is.keep_own = true;                                                         \
		rc = is_cancelled(&p) ? rn_receive_post(&p.as, request)                       \
				      : rn_real.MPI_##name(args, request);                    \
		if (rc == MPI_SUCCESS)                                                        \
			rn_track(request, &p.is);                                             \
		return rc;                                                                    \
	}

#define BOTH_ISENDRECV(suffix, count_type)                                                        \
	ISENDRECV(Isendrecv##suffix, RN_SENDRECV_PARAMS(count_type), RN_SENDRECV_ARGS, recvbuf,   \
		  recvcount, recvtype)                                                            \
	ISENDRECV(Isendrecv_replace##suffix, RN_REPLACE_PARAMS(count_type), RN_REPLACE_ARGS, buf, \
		  count, type)

BOTH_ISENDRECV(, int)
BOTH_ISENDRECV(_c, MPI_Count)
#endif

/* ---- persistent requests ---- */

/* Posts a new receive instead of starting the persistent one. */
static int start_wild(struct rn_tracked *f, struct rn_post *p)
{
	MPI_Request q = MPI_REQUEST_NULL;
	int rc;

	p->as = f->receive;
	p->c.source = p->as.source;
	p->c.tag = p->as.tag;
	number(p);
	f->ordinal = p->is.ordinal;
	f->starter = p->is.starter;
	if (is_deferred(p)) { /* the thread may be released while it waits for its turn */
		rn_tracked_set(f, p->is.state, q);
		pass_turn(p);
		return MPI_SUCCESS;
	}
	rc = post(p, &q);
	if (rc == MPI_SUCCESS)
		rn_tracked_set(f, p->is.state, q);
	return rc;
}

/* Replays the start of an operation that was cancelled: posts a receive without a possible match,
 * which can be cancelled, instead of starting the operation. */
static int start_cancelled(struct rn_tracked *f, MPI_Request *request)
{
	struct rn_tracked is = { .starter = rn_order_current(rn_me),
				 .kind = RN_REQUEST_RECEIVE,
				 .persistent = true };
	int rc = rn_replay_post_nowhere(&is.real);

	if (rc == MPI_SUCCESS && !f)
		f = rn_track(request, &is);
	else if (rc == MPI_SUCCESS)
		rn_tracked_set(f, RN_TRACKED_ACTIVE, is.real);
	if (rc == MPI_SUCCESS && f)
		rn_tracked_restarts(f, is.starter);
	return rc;
}

/* Starts an operation with a named partner. `f` is NULL if its creation was not observed. */
static int start_numbered(struct rn_tracked *f, MPI_Request *request)
{
	struct rn_order_thread *o = rn_order_current(rn_me);
	int rc;

	if (rn_replay_next_cancelled())
		return start_cancelled(f, request);
	rc = rn_real.MPI_Start(request);
	if (rc == MPI_SUCCESS && o && f)
		rn_tracked_restarts(f, o);
	else if (rc == MPI_SUCCESS)
		rn_track_numbered(RN_REQUEST_RECEIVE, rc,
				  request); /* the operation may be a send */
	return rc;
}

static int start_in_turn(struct rn_tracked *f, const struct rn_order_call *c, MPI_Request *request)
{
	RN_TURN(turn, c, f->kind == RN_REQUEST_SEND ? RN_PLAN_SENDS : RN_PLAN_RECEIVES);
	return start_numbered(f, request);
}

static int hook_Start(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	struct rn_post p = { 0 };

	if (!f || !f->persistent) /* an entry of an earlier operation may have the same handle */
		return start_numbered(NULL, request);
	if (!rn_order_call(&p.c, RN_ORDER_WAIT, MPI_COMM_NULL))
		return rn_real.MPI_Start(request);
	p.c.comm = f->comm;
	if (rn_tracked_is_wild(f))
		return start_wild(f, &p);
	return rn_turns ? start_in_turn(f, &p.c, request) : start_numbered(f, request);
}

RN_STARTALL

/* ---- MPI_Request_free and MPI_Cancel ---- */

/* Handles a deferred receive that the program frees. Its completion cannot be observed, so the
 * receive is not deferred until the end of the recording. */
static void end_deferred(struct rn_tracked *f, MPI_Request *request)
{
	MPI_Request q;

	if (!f->persistent && !f->keep_own)
		rn_real.MPI_Cancel(
			request); /* otherwise the placeholder would remain posted forever */
	if (!rn_replay_knows_sends(f->starter->replay) &&
	    rn_receive_post(&f->receive, &q) == MPI_SUCCESS)
		rn_real.MPI_Request_free(&q);
}

static int hook_Request_free(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);

	if (f) {
		if (f->state == RN_TRACKED_DEFERRED)
			end_deferred(f, request);
		if (f->real != MPI_REQUEST_NULL)
			rn_real.MPI_Request_free(&f->real);
		rn_untrack(f);
	}
	return rn_real.MPI_Request_free(request);
}

/* Cancels an operation with a named partner. An operation that was not cancelled in the recording
 * has to complete, so MPI_Cancel has no effect on it. */
static int cancel_numbered(MPI_Request *request, struct rn_tracked *f)
{
	if (f && f->real != MPI_REQUEST_NULL)
		return rn_real.MPI_Cancel(&f->real);
	if (f && f->kind != RN_REQUEST_GENERALIZED && f->starter && f->starter->replay &&
	    rn_replay_cancel(f->starter->replay, f->ordinal) == RN_CANCEL_FAILED)
		return MPI_SUCCESS;
	return rn_real.MPI_Cancel(request);
}

/* A receive that was cancelled in the recording cannot match. One that was not cancelled has to
 * receive its message, so MPI_Cancel has no effect on it. */
static int hook_Cancel(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	const struct rn_replay *replay;

	if (!f || !rn_tracked_is_wild(f))
		return cancel_numbered(request, f);
	replay = f->starter->replay;
	if (!replay)
		return rn_real.MPI_Cancel(f->real != MPI_REQUEST_NULL ? &f->real : request);
	if (!rn_replay_is_free(f->starter) && is_known(rn_replay_match(replay, f->ordinal)))
		return MPI_SUCCESS;
	f->state = RN_TRACKED_CANCELLED;
	if (f->real != MPI_REQUEST_NULL)
		return rn_real.MPI_Cancel(&f->real);
	/* A persistent receive that is deferred has no posted request. */
	return f->persistent ? MPI_SUCCESS : rn_real.MPI_Cancel(request);
}

void rn_replay_hook_receives(void)
{
	RN_HOOK_RECEIVES();
}
