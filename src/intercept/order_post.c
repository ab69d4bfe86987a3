/*
 * order_post.c - hooks for what starts receives, and for what takes back that they were started.
 *
 * In a replay wildcard receives ask for what they got (order.h). Where threads take turns
 * (order_turn.h) all others are posted as they are, but in turn; else they concern us only if they
 * are cancelled (directed.h).
 */
#include "intercept/directed.h"

#include "intercept/order_turn.h"
#include "intercept/replay.h"
#include "intercept/request_life.h"
#include "intercept/tracer_state.h"

/* A receive that is about to be started: with a wildcard, or in turn. What is sent in the same call
 * (MPI_Sendrecv) is not told to who computes clocks. */
struct post {
	struct rn_order_call c;
	struct rn_receive as;  /* how it is posted */
	struct rn_followed is; /* what is known of its request */
	bool wild;
	bool free;    /* replaying: it has had its turn, and is behind the record */
	bool planned; /* `as` is from the plan, and `is.receive` what the program has */
};

static bool is_known(const struct rn_plan_match *m)
{
	return m->state == RN_PLAN_MATCHED || m->state == RN_PLAN_INFERRED;
}

/* Where no message comes. */
static void post_nowhere(struct rn_receive *r)
{
	r->comm = rn_replay_nowhere();
	r->source = 0;
	r->tag = 0;
}

/* Whether a receive from number i on would fit. */
static bool takes_from(const struct post *p, const struct rn_replay *r, uint64_t i)
{
	const struct rn_plan_match *m;

	for (; (m = rn_replay_later(r, i)) != NULL; i++)
		if (is_known(m) && rn_order_asks_for(&p->c, m->source, m->tag))
			return true;
	return false;
}

/* Nobody saw what it received. Where sends are not recorded, somebody's may wait for it; so it is
 * posted as it is, unless that could be a message that a later one is known to have got. Those that
 * are unseen are the last ones of a record, so not many are looked at. */
static bool takes_from_others(const struct post *p)
{
	const struct rn_replay *mine = p->c.o->replay, *r;
	uint64_t from;

	for (uint32_t i = 0; rn_turns && (r = rn_replay_nth(i, &from)); i++)
		if (r != mine && takes_from(p, r, from))
			return true;
	return takes_from(p, mine, p->is.ordinal + 1);
}

/* Whether the receive can be posted for the recorded message. If not, reports a divergence. */
static bool is_asked_for(const struct post *p, const struct rn_plan_match *m)
{
	if (rn_replay_accepts(&p->c, m))
		return rn_replay_reaches(&p->c, p->as.comm, m->source);
	rn_replay_unasked(&p->c, m);
	return false;
}

/* The next one of this thread: how it is posted in a replay. */
static void number(struct post *p)
{
	struct rn_order_thread *o = p->c.o;
	const struct rn_plan_match *m;

	p->is.ordinal = o->started++;
	p->is.starter = o;
	p->is.real = MPI_REQUEST_NULL;
	if (!o->replay || rn_replay_gets_free(o))
		return;
	p->is.receive = p->as;
	p->planned = true;
	m = rn_replay_match(o->replay, p->is.ordinal);
	if (is_known(m) && !is_asked_for(p, m))
		return;
	rn_replay_start(o->replay, p->is.ordinal);
	if (is_known(m)) {
		p->as.source = m->source;
		p->as.tag = m->tag;
	} else if (m->state == RN_PLAN_CANCELLED) {
		post_nowhere(&p->as);
	} else if (rn_replay_knows_sends(o->replay) || takes_from_others(p)) {
		p->is.flags |= RN_FOLLOWED_SHADOW | RN_FOLLOWED_PARKED;
		post_nowhere(&p->as);
	}
}

static bool is_parked(const struct post *p)
{
	return p->is.flags & RN_FOLLOWED_PARKED;
}

/* False: it is none of our business. */
static bool begin(struct post *p, void *buf, int64_t count, MPI_Datatype type, int source, int tag,
		  MPI_Comm comm)
{
	*p = (struct post){ .as = { buf, count, type, source, tag, comm },
			    .wild = rn_order_is_wild(source, tag) };
	if (!(p->wild || (rn_turns && source != MPI_PROC_NULL)) ||
	    !rn_order_call(&p->c, RN_ORDER_WAIT, comm))
		return false;
	p->c.source = source;
	p->c.tag = tag;
	return true;
}

/* While it waited for its turn the run has left the record: it is posted as the program has it. */
static void forget_plan(struct post *p)
{
	if (!p->planned || !rn_replay_is_free(p->c.o))
		return;
	p->as = p->is.receive;
	p->is.flags &= ~(uint32_t)(RN_FOLLOWED_SHADOW | RN_FOLLOWED_PARKED);
}

static int post(struct post *p, MPI_Request *q)
{
	struct rn_turn turn;
	int rc;

	if (!rn_turns || !p->c.o || p->free)
		return rn_receive_post(&p->as, q);
	rn_turn_begin(&turn, &p->c, RN_PLAN_RECEIVES);
	forget_plan(p);
	rc = rn_receive_post(&p->as, q);
	rn_turn_end(&turn, true);
	return rc;
}

/* Nothing is posted, but when it was recorded something was. */
static void pass_turn(const struct post *p)
{
	struct rn_turn turn;

	if (!rn_turns)
		return;
	rn_turn_begin(&turn, &p->c, RN_PLAN_RECEIVES);
	rn_turn_end(&turn, true);
}

/* It waits for the end of the record, in this thread's list. */
static void park(struct rn_order_thread *o, struct rn_followed *f)
{
	if (f->flags & RN_FOLLOWED_LISTED)
		return;
	f->next = NULL;
	f->flags |= RN_FOLLOWED_LISTED;
	*o->parked_end = f;
	o->parked_end = &f->next;
}

static void follow(struct post *p, const MPI_Request *request)
{
	struct rn_followed *f = rn_follow(request, &p->is);

	if (f && is_parked(p))
		park(p->c.o, f);
}

/* ---- those that return when the message is there ---- */

/* The blocking call got this. */
static void received(struct post *p, const MPI_Status *s)
{
	struct rn_order_done d = { .source = s->MPI_SOURCE,
				   .tag = s->MPI_TAG,
				   .flags = RN_ORDER_MATCHED };
	uint64_t late;
	bool known;

	if (rn_order_mode != RN_ORDER_RECORDS || !p->wild)
		return;
	rn_tracer_lock();
	known = rn_ordinals_done(&p->c.o->open, &rn_tracer.mem, p->is.ordinal, &late);
	rn_tracer_unlock();
	d.late = (uint32_t)late;
	if (known)
		rn_order_came_out(&p->c, &d, 1);
	else
		rn_stream_lost(p->c.t);
}

/* As number(), where the end of the record can only be in this call. */
static void number_blocking(struct post *p)
{
	struct rn_receive given = p->as;

	if (!p->wild)
		return;
	number(p);
	if (p->c.o->replay && !rn_replay_is_free(p->c.o) &&
	    rn_replay_match(p->c.o->replay, p->is.ordinal)->state == RN_PLAN_UNSEEN) {
		p->as = given;
		p->free = true;
		pass_turn(p);
		rn_replay_unobserved(&p->c, p->c.o->replay, p->is.ordinal);
	}
}

/* In a replay in a way that can tell what it waits for. */
static int wait_for(const struct post *p, MPI_Request *q, MPI_Status *s)
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

static int receive(struct post *p, MPI_Status *s)
{
	MPI_Request q;
	int rc = post(p, &q);

	return rc == MPI_SUCCESS ? wait_for(p, &q, s) : rc;
}

/* Each function that has a count is there once more for large ones, from MPI 4 on. */
#define RECV(name, count_type)                                                                  \
	static int hook_##name(void *buf, count_type count, MPI_Datatype type, int source,      \
			       int tag, MPI_Comm comm, MPI_Status *status)                      \
	{                                                                                       \
		MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;               \
		struct post p;                                                                  \
		int rc;                                                                         \
                                                                                                \
		if (!begin(&p, buf, count, type, source, tag, comm))                            \
			return rn_real.MPI_##name(buf, count, type, source, tag, comm, status); \
		number_blocking(&p);                                                            \
		rc = p.c.o->replay || rn_turns                                                  \
			     ? receive(&p, s)                                                   \
			     : rn_real.MPI_##name(buf, count, type, source, tag, comm, s);      \
		if (rc == MPI_SUCCESS)                                                          \
			received(&p, s);                                                        \
		return rc;                                                                      \
	}

RECV(Recv, int)
#if MPI_VERSION >= 4
RECV(Recv_c, MPI_Count)
#endif

/* In turns: both are posted, and waited for. */
static int send_and_receive(struct post *p, const void *buf, int64_t count, MPI_Datatype type,
			    int dest, int tag, MPI_Comm comm, MPI_Status *s)
{
	MPI_Request in, out;
	int sent, rc = post(p, &in);

	if (rc != MPI_SUCCESS)
		return rc;
	sent = rn_order_isend(buf, count, type, dest, tag, comm, &out);
	if (sent != MPI_SUCCESS) { /* nor is anything received then */
		rn_real.MPI_Cancel(&in);
		rn_real.MPI_Wait(&in, MPI_STATUS_IGNORE);
		return sent;
	}
	rc = wait_for(p, &in, s);
	sent = rn_real.MPI_Wait(&out, MPI_STATUS_IGNORE);
	return rc == MPI_SUCCESS ? sent : rc;
}

/* What cannot be taken apart is posted out of turn. */
static void out_of_turn(const struct post *p)
{
	if (rn_turns && p->c.o && !rn_order_alone())
		rn_order_count_loose(p->c.t, rn_stream_under_way(p->c.t)[0]);
}

/* Both halves at once: only what is received changes. */
#define SENDRECV(name, decl, buffer, n, of, call)                            \
	static int hook_##name decl                                          \
	{                                                                    \
		MPI_Status own, *s = status;                                 \
		struct post p;                                               \
		bool ours = begin(&p, buffer, n, of, source, recvtag, comm); \
		int rc;                                                      \
                                                                             \
		if (ours) {                                                  \
			number_blocking(&p);                                 \
			source = p.as.source;                                \
			recvtag = p.as.tag;                                  \
			s = status == MPI_STATUS_IGNORE ? &own : status;     \
		}                                                            \
		rc = call;                                                   \
		if (rc == MPI_SUCCESS && ours)                               \
			received(&p, s);                                     \
		return rc;                                                   \
	}

#define BOTH_SENDRECV(suffix, count_type)                                                       \
	SENDRECV(Sendrecv##suffix,                                                              \
		 (const void *sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest,   \
		  int sendtag, void *recvbuf, count_type recvcount, MPI_Datatype recvtype,      \
		  int source, int recvtag, MPI_Comm comm, MPI_Status *status),                  \
		 recvbuf, recvcount, recvtype,                                                  \
		 rn_turns ? send_and_receive(&p, sendbuf, sendcount, sendtype, dest, sendtag,   \
					     comm, s)                                           \
			  : rn_real.MPI_Sendrecv##suffix(sendbuf, sendcount, sendtype, dest,    \
							 sendtag, recvbuf, recvcount, recvtype, \
							 source, recvtag, comm, s))             \
	SENDRECV(Sendrecv_replace##suffix,                                                      \
		 (void *buf, count_type count, MPI_Datatype type, int dest, int sendtag,        \
		  int source, int recvtag, MPI_Comm comm, MPI_Status *status),                  \
		 buf, count, type,                                                              \
		 (out_of_turn(&p),                                                              \
		  rn_real.MPI_Sendrecv_replace##suffix(buf, count, type, dest, sendtag, source, \
						       recvtag, comm, s)))

BOTH_SENDRECV(, int)
#if MPI_VERSION >= 4
BOTH_SENDRECV(_c, MPI_Count)
#endif

/* ---- those that return a request ---- */

static int post_wild(struct post *p, MPI_Request *request)
{
	int rc;

	number(p);
	rc = post(p, request);
	if (rc == MPI_SUCCESS)
		follow(p, request);
	return rc;
}

static int post_directed(struct post *p, MPI_Request *request)
{
	struct rn_directed d = rn_directed_begin(false);

	if (d.cancelled)
		post_nowhere(&p->as);
	return rn_directed_end(d, post(p, request), request);
}

#define IRECV(name, count_type)                                                            \
	static int hook_##name(void *buf, count_type count, MPI_Datatype type, int source, \
			       int tag, MPI_Comm comm, MPI_Request *request)               \
	{                                                                                  \
		struct post p;                                                             \
		bool ours = begin(&p, buf, count, type, source, tag, comm);                \
                                                                                           \
		if (ours && p.wild)                                                        \
			return post_wild(&p, request);                                     \
		if (ours || rn_order_mode == RN_ORDER_REPLAYS)                             \
			return post_directed(&p, request);                                 \
		return rn_directed_end(                                                    \
			(struct rn_directed){ 0 },                                         \
			rn_real.MPI_##name(buf, count, type, source, tag, comm, request),  \
			request);                                                          \
	}

/* In a replay it is made as the program wants it, and never started. */
static void follow_persistent(struct post *p, const MPI_Request *request)
{
	p->is.flags = RN_FOLLOWED_PERSISTENT | (!p->wild         ? RN_FOLLOWED_PLAIN
						: p->c.o->replay ? RN_FOLLOWED_SHADOW
								 : 0u);
	p->is.comm = p->c.comm;
	p->is.real = MPI_REQUEST_NULL;
	p->is.receive = p->as;
	p->is.starter = p->c.o;
	rn_follow(request, &p->is);
}

#define RECV_INIT(name, count_type)                                                        \
	static int hook_##name(void *buf, count_type count, MPI_Datatype type, int source, \
			       int tag, MPI_Comm comm, MPI_Request *request)               \
	{                                                                                  \
		int rc = rn_real.MPI_##name(buf, count, type, source, tag, comm, request); \
		struct post p;                                                             \
                                                                                           \
		if (rc == MPI_SUCCESS && begin(&p, buf, count, type, source, tag, comm))   \
			follow_persistent(&p, request);                                    \
		return rc;                                                                 \
	}

IRECV(Irecv, int)
RECV_INIT(Recv_init, int)
#if MPI_VERSION >= 4
IRECV(Irecv_c, MPI_Count)
RECV_INIT(Recv_init_c, MPI_Count)
#endif

#if MPI_VERSION >= 4

/* Some MPIs (MPICH 4.0) say nothing of what the receive in it got: then nobody can know. A message
 * to oneself, once, shows it. */
static bool isendrecv_tells(void)
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

/* Nothing of it happened. */
static bool is_cancelled(const struct post *p)
{
	return p->c.o->replay &&
	       rn_replay_match(p->c.o->replay, p->is.ordinal)->state == RN_PLAN_CANCELLED;
}

/* It has a number, and no outcome. */
static void pass_by(const struct post *p)
{
	p->c.o->started++;
	rn_order_count_loose(p->c.t, rn_stream_under_way(p->c.t)[0]);
}

/* Both halves. What is sent is sent also where the receive is parked; then that, and nothing else,
 * is what the request is for. */
#define ISENDRECV(name, decl, args, buf, count, type)                                              \
	static int hook_##name decl                                                                \
	{                                                                                          \
		struct post p;                                                                     \
		int rc;                                                                            \
                                                                                                   \
		if (!begin(&p, buf, count, type, source, recvtag, comm) || !p.wild) {              \
			struct rn_directed d = rn_directed_begin(true);                            \
                                                                                                   \
			rc = d.cancelled ? rn_replay_post_nowhere(request)                         \
					 : rn_real.MPI_##name args;                                \
			return rn_directed_end(d, rc, request);                                    \
		}                                                                                  \
		if (!isendrecv_tells()) {                                                          \
			pass_by(&p);                                                               \
			return rn_real.MPI_##name args;                                            \
		}                                                                                  \
		number(&p);                                                                        \
		source = is_parked(&p) ? MPI_PROC_NULL : p.as.source;                              \
		recvtag = p.as.tag;                                                                \
		p.is.flags |= RN_FOLLOWED_HALF;                                                    \
		rc = is_cancelled(&p) ? rn_receive_post(&p.as, request) : rn_real.MPI_##name args; \
		if (rc == MPI_SUCCESS)                                                             \
			follow(&p, request);                                                       \
		return rc;                                                                         \
	}

#define BOTH_ISENDRECV(suffix, count_type)                                                       \
	ISENDRECV(Isendrecv##suffix,                                                             \
		  (const void *sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest,   \
		   int sendtag, void *recvbuf, count_type recvcount, MPI_Datatype recvtype,      \
		   int source, int recvtag, MPI_Comm comm, MPI_Request *request),                \
		  (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,    \
		   source, recvtag, comm, request),                                              \
		  recvbuf, recvcount, recvtype)                                                  \
	ISENDRECV(Isendrecv_replace##suffix,                                                     \
		  (void *buf, count_type count, MPI_Datatype type, int dest, int sendtag,        \
		   int source, int recvtag, MPI_Comm comm, MPI_Request *request),                \
		  (buf, count, type, dest, sendtag, source, recvtag, comm, request), buf, count, \
		  type)

BOTH_ISENDRECV(, int)
BOTH_ISENDRECV(_c, MPI_Count)
#endif

/* A fresh receive in the place of a persistent one. */
static int start_shadow(struct rn_followed *f, struct post *p)
{
	int rc;

	p->as = f->receive;
	p->c.source = p->as.source;
	p->c.tag = p->as.tag;
	number(p);
	f->ordinal = p->is.ordinal;
	f->starter = p->is.starter;
	f->flags &= ~(uint32_t)RN_FOLLOWED_CANCELLED;
	if (is_parked(p)) {
		f->flags |= RN_FOLLOWED_ACTIVE | RN_FOLLOWED_PARKED;
		park(p->c.o, f);
		pass_turn(p);
		return MPI_SUCCESS;
	}
	rc = post(p, &f->real);
	if (rc == MPI_SUCCESS)
		f->flags |= RN_FOLLOWED_ACTIVE;
	return rc;
}

static void started(struct rn_followed *f, const struct rn_order_call *c)
{
	f->ordinal = c->o->started++;
	f->starter = c->o;
	f->flags |= RN_FOLLOWED_ACTIVE;
}

static int start(const struct rn_order_call *c, const struct rn_followed *f, MPI_Request *request)
{
	struct rn_turn turn;
	int rc;

	if (!rn_turns)
		return rn_real.MPI_Start(request);
	rn_turn_begin(&turn, c, f->flags & RN_FOLLOWED_SENDS ? RN_PLAN_SENDS : RN_PLAN_RECEIVES);
	rc = rn_real.MPI_Start(request);
	rn_turn_end(&turn, true);
	return rc;
}

static int hook_Start(MPI_Request *request)
{
	struct rn_followed *f = rn_followed_any(*request, request);
	struct post p = { 0 };
	int rc;

	if (!f || (f->flags & (RN_FOLLOWED_DIRECTED | RN_FOLLOWED_GENERAL)) ||
	    !rn_order_call(&p.c, RN_ORDER_WAIT, MPI_COMM_NULL))
		return rn_directed_restart(request);
	p.c.comm = f->comm;
	if (f->flags & RN_FOLLOWED_SHADOW)
		return start_shadow(f, &p);
	rc = start(&p.c, f, request);
	if (rc != MPI_SUCCESS)
		return rc;
	if (f->flags & RN_FOLLOWED_PLAIN)
		return rn_directed_end((struct rn_directed){ f->flags & RN_FOLLOWED_SENDS, false },
				       rc, request);
	started(f, &p.c);
	return rc;
}

/* They are started in the order of the array, so it makes no difference. */
static int hook_Startall(int count, MPI_Request requests[])
{
	int rc = MPI_SUCCESS;

	for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
		rc = hook_Start(&requests[i]);
	return rc;
}

/* ---- second thoughts ---- */

/* It is parked. */
static bool is_waiting_in_vain(const struct rn_followed *f)
{
	return (f->flags & RN_FOLLOWED_PARKED) && !(f->flags & RN_FOLLOWED_CANCELLED);
}

/* Nobody will see it end, so it is not kept for the end of the record. */
static void end_in_vain(struct rn_followed *f, MPI_Request *request)
{
	MPI_Request q;

	if (!(f->flags & (RN_FOLLOWED_PERSISTENT | RN_FOLLOWED_HALF)))
		rn_real.MPI_Cancel(request); /* or it would stay where nothing comes */
	if (!rn_replay_knows_sends(f->starter->replay) &&
	    rn_receive_post(&f->receive, &q) == MPI_SUCCESS)
		rn_real.MPI_Request_free(&q);
}

static int hook_Request_free(MPI_Request *request)
{
	struct rn_followed *f = rn_followed_any(*request, request);

	if (f) {
		if (is_waiting_in_vain(f))
			end_in_vain(f, request);
		if (f->real != MPI_REQUEST_NULL)
			rn_real.MPI_Request_free(&f->real);
		rn_unfollow(f);
	}
	return rn_real.MPI_Request_free(request);
}

/* Whether it can be cancelled is known from the record: one that was is where nothing comes, and
 * one that was not has to receive. */
static int hook_Cancel(MPI_Request *request)
{
	struct rn_followed *f = rn_followed_any(*request, request);
	const struct rn_replay *replay;

	if (!f || !rn_followed_is_wild(f))
		return rn_directed_cancel(request, f);
	replay = f->starter->replay;
	if (!replay)
		return rn_real.MPI_Cancel(request);
	if (!rn_replay_is_free(f->starter) && is_known(rn_replay_match(replay, f->ordinal)))
		return MPI_SUCCESS;
	f->flags |= RN_FOLLOWED_CANCELLED;
	if (f->real != MPI_REQUEST_NULL)
		return rn_real.MPI_Cancel(&f->real);
	/* A persistent one that is parked is nowhere. */
	return f->flags & RN_FOLLOWED_PERSISTENT ? MPI_SUCCESS : rn_real.MPI_Cancel(request);
}

/* ---- without the record ---- */

/* Cancelled, so that it can be posted in another way; or else it has matched. */
static bool take_back(MPI_Request q)
{
	MPI_Status s;
	int done = 0;

	return rn_real.MPI_Cancel(&q) == MPI_SUCCESS &&
	       rn_real.MPI_Request_get_status(q, &done, &s) == MPI_SUCCESS && done &&
	       rn_status_cancelled(&s);
}

int rn_receive_again(const struct rn_receive *r, MPI_Request *q)
{
	if (!take_back(*q))
		return MPI_SUCCESS;
	rn_real.MPI_Wait(q, MPI_STATUS_IGNORE);
	return rn_receive_post(r, q);
}

static void loosen(struct rn_followed *f)
{
	if (f->flags & RN_FOLLOWED_CANCELLED)
		return;
	if (f->flags & RN_FOLLOWED_PARKED) {
		rn_replay_unpark(f);
	} else if (f->real != MPI_REQUEST_NULL) {
		rn_receive_again(&f->receive, &f->real);
	} else if (!(f->flags & RN_FOLLOWED_HALF) && take_back(f->handle)) {
		f->flags |= RN_FOLLOWED_TAKEN_BACK;
		rn_followed_becomes_shadow(f);
		rn_receive_post(&f->receive, &f->real);
	}
}

void rn_order_loosen(struct rn_order_thread *o)
{
	rn_followed_each_open(o, loosen);
}

void rn_order_hook_posts(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv, hook_Recv);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv, hook_Sendrecv);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv_replace, hook_Sendrecv_replace);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Irecv, hook_Irecv);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv_init, hook_Recv_init);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Start, hook_Start);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Startall, hook_Startall);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Request_free, hook_Request_free);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Cancel, hook_Cancel);
#if MPI_VERSION >= 4
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv_c, hook_Recv_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv_c, hook_Sendrecv_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv_replace_c, hook_Sendrecv_replace_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Irecv_c, hook_Irecv_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv, hook_Isendrecv);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv_replace, hook_Isendrecv_replace);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv_c, hook_Isendrecv_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv_replace_c, hook_Isendrecv_replace_c);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv_init_c, hook_Recv_init_c);
#endif
}
