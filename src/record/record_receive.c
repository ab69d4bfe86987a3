/*
 * record_receive.c - assigns ordinals to wildcard receives and records the matches of blocking
 * ones.
 *
 * Receives with a named source and tag are numbered, because they may be cancelled
 * (tracked_request.h). With several threads, all receives are posted in turns (post_order.h).
 */
#include "record/record.h"
#include "record/record_start.h"

#include "record/receive_calls.h"
#include "runtime/tracer_state.h"

static void number(struct rn_post *p)
{
	p->is = (struct rn_tracked){ .kind = RN_REQUEST_WILDCARD,
				     .ordinal = p->c.o->started++,
				     .starter = p->c.o,
				     .real = MPI_REQUEST_NULL };
}

static int post(struct rn_post *p, MPI_Request *q)
{
	if (!rn_turns || !p->c.o)
		return rn_receive_post(&p->as, q);
	RN_TURN(turn, &p->c, RN_PLAN_RECEIVES);
	return rn_receive_post(&p->as, q);
}

static int wait(const struct rn_post *p, MPI_Request *q, MPI_Status *s)
{
	(void)p;
	return rn_real.MPI_Wait(q, s);
}

static const struct rn_receive_ops ops = { number, post, wait, rn_record_isend };

/* ---- blocking functions ---- */

/* Records the match of a blocking receive. It cannot be cancelled, whatever its status contains. */
static void record_received(const struct rn_post *p, const MPI_Status *s)
{
	struct rn_order_done d = { .source = s->MPI_SOURCE,
				   .tag = s->MPI_TAG,
				   .flags = RN_ORDER_MATCHED };
	uint64_t late;
	bool known;

	rn_tracer_lock();
	known = rn_ordinals_done(&p->c.o->open, &rn_tracer.mem, p->is.ordinal, &late);
	rn_tracer_unlock();
	d.late = (uint32_t)late;
	if (known)
		rn_record_completions(&p->c, &d, 1);
	else
		rn_stream_lost(p->c.t);
}

static int received(const struct rn_post *p, int rc, const MPI_Status *s)
{
	if (rc == MPI_SUCCESS)
		record_received(p, s);
	return rc;
}

#define number_blocking number

/* ---- functions that return a request ---- */

#define IRECV(name, count_type)                                                            \
	static int hook_##name(RN_RECV_PARAMS(count_type), MPI_Request *request)           \
	{                                                                                  \
		struct rn_post p;                                                          \
		bool ours = rn_post_begin(&p, RN_RECV_ARGS);                               \
		int rc;                                                                    \
                                                                                           \
		if (ours && p.wild)                                                        \
			return rn_post_wild(&p, &ops, request);                            \
		rc = ours ? post(&p, request) : rn_real.MPI_##name(RN_RECV_ARGS, request); \
		return rn_track_numbered(RN_REQUEST_RECEIVE, rc, request);                 \
	}

#define ALL(suffix, count_type)                  \
	RN_BLOCKING_RECEIVES(suffix, count_type) \
	IRECV(Irecv##suffix, count_type)         \
	RN_RECV_INIT(Recv_init##suffix, count_type)

ALL(, int)
#if MPI_VERSION >= 4
ALL(_c, MPI_Count)

bool rn_isendrecv_tells(void)
{
	enum { TAG = 4711 };
	static int tells = -1;
	MPI_Status s = { 0 };
	MPI_Request q;
	MPI_Comm self;

	if (tells >= 0)
		return tells;
	tells = 0;
	if (rn_real.MPI_Comm_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS)
		return false;
	if (rn_real.MPI_Isendrecv(NULL, 0, MPI_BYTE, 0, TAG, NULL, 0, MPI_BYTE, MPI_ANY_SOURCE,
				  MPI_ANY_TAG, self, &q) == MPI_SUCCESS &&
	    rn_real.MPI_Wait(&q, &s) == MPI_SUCCESS)
		tells = s.MPI_TAG == TAG;
	rn_real.MPI_Comm_free(&self);
	return tells;
}

/* Handles the request of the call: numbers it, or tracks it if the receive is a wildcard receive
 * whose match the status contains. */
static int track_isendrecv(struct rn_post *p, bool wild, int rc, const MPI_Request *request)
{
	if (!wild)
		return rn_track_numbered(RN_REQUEST_SEND, rc, request);
	number(p);
	if (!rn_isendrecv_tells())
		rn_post_unreplayable(p);
	else if (rc == MPI_SUCCESS)
		rn_track(request, &p->is);
	return rc;
}

#define ISENDRECV(name, params, args, buf, count, type)                                           \
	static int hook_##name(params, MPI_Request *request)                                      \
	{                                                                                         \
		struct rn_post p;                                                                 \
		bool wild = rn_post_begin(&p, buf, count, type, source, recvtag, comm) && p.wild; \
                                                                                                  \
		return track_isendrecv(&p, wild, rn_real.MPI_##name(args, request), request);     \
	}

#define BOTH_ISENDRECV(suffix)                                                                     \
	ISENDRECV(Isendrecv##suffix, RN_SENDRECV_PARAMS(COUNT##suffix), RN_SENDRECV_ARGS, recvbuf, \
		  recvcount, recvtype)                                                             \
	ISENDRECV(Isendrecv_replace##suffix, RN_REPLACE_PARAMS(COUNT##suffix), RN_REPLACE_ARGS,    \
		  buf, count, type)

#define COUNT   int
#define COUNT_c MPI_Count
BOTH_ISENDRECV()
BOTH_ISENDRECV(_c)
#endif

/* ---- persistent requests ---- */

static int start(const struct rn_order_call *c, const struct rn_tracked *f, MPI_Request *request)
{
	if (!rn_turns)
		return rn_real.MPI_Start(request);
	RN_TURN(turn, c, f->kind == RN_REQUEST_SEND ? RN_PLAN_SENDS : RN_PLAN_RECEIVES);
	return rn_real.MPI_Start(request);
}

static int hook_Start(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	struct rn_order_call c;
	int rc;

	if (f && f->persistent && rn_order_call(&c, RN_ORDER_WAIT, MPI_COMM_NULL)) {
		c.comm = f->comm;
		rc = start(&c, f, request);
		if (rc == MPI_SUCCESS)
			rn_tracked_restarts(f, c.o);
		return rc;
	}
	rc = rn_real.MPI_Start(request); /* the operation may be a send */
	return rc == MPI_SUCCESS ? rn_track_numbered(RN_REQUEST_RECEIVE, rc, request) : rc;
}

RN_STARTALL

static int hook_Request_free(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);

	if (f)
		rn_untrack(f);
	return rn_real.MPI_Request_free(request);
}

/* Marks the operation, because the completion of an operation that the program cancels is an event.
 */
static int hook_Cancel(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	int rc = rn_real.MPI_Cancel(request);

	if (rc == MPI_SUCCESS && f && rn_tracked_is_active(f) &&
	    (f->kind == RN_REQUEST_SEND || f->kind == RN_REQUEST_RECEIVE))
		rn_tracked_set(f, RN_TRACKED_CANCELLED, MPI_REQUEST_NULL);
	return rc;
}

void rn_record_hook_receives(void)
{
	RN_HOOK_RECEIVES();
}
