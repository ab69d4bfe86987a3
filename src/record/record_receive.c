/*
 * record_receive.c - numbers wildcard receives, and records what those that block have received.
 *
 * Receives that name their source and tag are numbered, too, because they may be cancelled
 * (tracked_request.h). With several threads, all receives are posted in turns (post_order.h).
 */
#include "record/record.h"
#include "record/record_start.h"

#include "record/post_order.h"
#include "record/receive_calls.h"
#include "record/tracked_request.h"
#include "runtime/tracer_state.h"

/* A receive that is about to be started. The message that the same call sends (MPI_Sendrecv) is not
 * recorded for clocks. */
struct post {
	struct rn_order_call c; /* of no thread: the receive is posted at once */
	struct rn_receive as;
	struct rn_tracked is; /* a wildcard receive */
};

static bool is_wild(const struct post *p)
{
	return rn_order_is_wild(p->as.source, p->as.tag);
}

/* False: the receive is determined. */
static bool begin(struct post *p, void *buf, int64_t count, MPI_Datatype type, int source, int tag,
		  MPI_Comm comm)
{
	p->as = (struct rn_receive){ buf, count, type, source, tag, comm };
	p->c.o = NULL;
	return (is_wild(p) || (rn_turns && source != MPI_PROC_NULL)) &&
	       rn_record_call(&p->c, RN_ORDER_WAIT, comm);
}

static void number(struct post *p)
{
	p->is = (struct rn_tracked){ .kind = RN_REQUEST_WILDCARD,
				     .ordinal = p->c.o->started++,
				     .starter = p->c.o,
				     .real = MPI_REQUEST_NULL };
}

static int post(const struct post *p, MPI_Request *q)
{
	struct rn_turn_place *turn;
	int rc;

	if (!rn_turns || !p->c.o)
		return rn_receive_post(&p->as, q);
	turn = rn_turn_begin(&p->c, RN_PLAN_RECEIVES);
	rc = rn_receive_post(&p->as, q);
	rn_turn_end(turn, &p->c, true);
	return rc;
}

/* ---- functions that return when the message is there ---- */

/* A receive that blocks cannot be cancelled, whatever its status contains. */
static void record_received(const struct post *p, const MPI_Status *s)
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

static int receive_in_turn(const struct post *p, MPI_Status *s)
{
	MPI_Request q;
	int rc = post(p, &q);

	return rc == MPI_SUCCESS ? rn_real.MPI_Wait(&q, s) : rc;
}

/* Both halves are posted in turns. */
static int send_and_receive(const struct post *p, const void *buf, int64_t count, MPI_Datatype type,
			    int dest, int tag, MPI_Comm comm, MPI_Status *s)
{
	MPI_Request in, out;
	int sent, rc = post(p, &in);

	if (rc != MPI_SUCCESS)
		return rc;
	sent = rn_record_isend(buf, count, type, dest, tag, comm, &out);
	if (sent != MPI_SUCCESS) { /* nothing is received, either */
		rn_real.MPI_Cancel(&in);
		rn_real.MPI_Wait(&in, MPI_STATUS_IGNORE);
		return sent;
	}
	rc = rn_real.MPI_Wait(&in, s);
	sent = rn_real.MPI_Wait(&out, MPI_STATUS_IGNORE);
	return rc == MPI_SUCCESS ? sent : rc;
}

/* A call that cannot be divided is posted out of turn. */
static void out_of_turn(const struct post *p)
{
	if (rn_turns && p->c.o && !rn_order_alone())
		rn_record_unreplayable(p->c.t, rn_stream_under_way(p->c.t)[0]);
}

/* A function that receives into `buffer` what `call` receives, with status s. */
#define BLOCKING(name, params, buffer, n, of, tag_, call)                                \
	static int hook_##name(params, MPI_Status *status)                               \
	{                                                                                \
		MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;        \
		struct post p;                                                           \
		bool wild = begin(&p, buffer, n, of, source, tag_, comm) && is_wild(&p); \
		int rc;                                                                  \
                                                                                         \
		if (wild)                                                                \
			number(&p);                                                      \
		else                                                                     \
			s = status;                                                      \
		rc = call;                                                               \
		if (wild && rc == MPI_SUCCESS)                                           \
			record_received(&p, s);                                          \
		return rc;                                                               \
	}

#define ALL_BLOCKING(suffix, count_type)                                                         \
	BLOCKING(Recv##suffix, RN_RECV_PARAMS(count_type), buf, count, type, tag,                \
		 rn_turns &&p.c.o ? receive_in_turn(&p, s)                                       \
				  : rn_real.MPI_Recv##suffix(RN_RECV_ARGS, s))                   \
	BLOCKING(Sendrecv##suffix, RN_SENDRECV_PARAMS(count_type), recvbuf, recvcount, recvtype, \
		 recvtag,                                                                        \
		 rn_turns ? send_and_receive(&p, sendbuf, sendcount, sendtype, dest, sendtag,    \
					     comm, s)                                            \
			  : rn_real.MPI_Sendrecv##suffix(RN_SENDRECV_ARGS, s))                   \
	BLOCKING(Sendrecv_replace##suffix, RN_REPLACE_PARAMS(count_type), buf, count, type,      \
		 recvtag,                                                                        \
		 (out_of_turn(&p), rn_real.MPI_Sendrecv_replace##suffix(RN_REPLACE_ARGS, s)))

/* ---- functions that return a request ---- */

static int post_wild(struct post *p, MPI_Request *request)
{
	int rc;

	number(p);
	rc = post(p, request);
	if (rc == MPI_SUCCESS)
		rn_track(request, &p->is);
	return rc;
}

#define IRECV(name, count_type)                                                            \
	static int hook_##name(RN_RECV_PARAMS(count_type), MPI_Request *request)           \
	{                                                                                  \
		struct post p;                                                             \
		bool ours = begin(&p, RN_RECV_ARGS);                                       \
		int rc;                                                                    \
                                                                                           \
		if (ours && is_wild(&p))                                                   \
			return post_wild(&p, request);                                     \
		rc = ours ? post(&p, request) : rn_real.MPI_##name(RN_RECV_ARGS, request); \
		return rn_track_numbered(rn_record_thread(rn_me), RN_REQUEST_RECEIVE, rc,  \
					 request);                                         \
	}

static void track_persistent(const struct post *p, const MPI_Request *request)
{
	const struct rn_tracked is = { .kind = is_wild(p) ? RN_REQUEST_WILDCARD
							  : RN_REQUEST_RECEIVE,
				       .state = RN_TRACKED_INACTIVE,
				       .persistent = true,
				       .comm = p->c.comm,
				       .real = MPI_REQUEST_NULL };

	rn_track(request, &is);
}

#define RECV_INIT(name, count_type)                                              \
	static int hook_##name(RN_RECV_PARAMS(count_type), MPI_Request *request) \
	{                                                                        \
		int rc = rn_real.MPI_##name(RN_RECV_ARGS, request);              \
		struct post p;                                                   \
                                                                                 \
		if (rc == MPI_SUCCESS && begin(&p, RN_RECV_ARGS))                \
			track_persistent(&p, request);                           \
		return rc;                                                       \
	}

#define ALL(suffix, count_type)          \
	ALL_BLOCKING(suffix, count_type) \
	IRECV(Irecv##suffix, count_type) \
	RECV_INIT(Recv_init##suffix, count_type)

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

/* The request of the call: numbered, or, if the receive in it is a wildcard receive whose match MPI
 * tells, tracked. */
static int track_isendrecv(struct post *p, bool wild, int rc, const MPI_Request *request)
{
	if (!wild)
		return rn_track_numbered(rn_record_thread(rn_me), RN_REQUEST_SEND, rc, request);
	number(p);
	if (!rn_isendrecv_tells())
		rn_record_unreplayable(p->c.t, rn_stream_under_way(p->c.t)[0]);
	else if (rc == MPI_SUCCESS)
		rn_track(request, &p->is);
	return rc;
}

#define ISENDRECV(name, params, args, buf, count, type)                                        \
	static int hook_##name(params, MPI_Request *request)                                   \
	{                                                                                      \
		struct post p;                                                                 \
		bool wild = begin(&p, buf, count, type, source, recvtag, comm) && is_wild(&p); \
                                                                                               \
		return track_isendrecv(&p, wild, rn_real.MPI_##name(args, request), request);  \
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
	struct rn_turn_place *turn;
	int rc;

	if (!rn_turns)
		return rn_real.MPI_Start(request);
	turn = rn_turn_begin(c, f->kind == RN_REQUEST_SEND ? RN_PLAN_SENDS : RN_PLAN_RECEIVES);
	rc = rn_real.MPI_Start(request);
	rn_turn_end(turn, c, true);
	return rc;
}

static int hook_Start(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	struct rn_order_call c;
	int rc;

	if (f && f->persistent && rn_record_call(&c, RN_ORDER_WAIT, MPI_COMM_NULL)) {
		c.comm = f->comm;
		rc = start(&c, f, request);
		if (rc == MPI_SUCCESS)
			rn_tracked_restarts(f, c.o);
		return rc;
	}
	rc = rn_real.MPI_Start(request); /* it may also send */
	return rc == MPI_SUCCESS
		       ? rn_track_numbered(rn_record_thread(rn_me), RN_REQUEST_RECEIVE, rc, request)
		       : rc;
}

/* MPI starts them in the order of the array. */
static int hook_Startall(int count, MPI_Request requests[])
{
	int rc = MPI_SUCCESS;

	for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
		rc = hook_Start(&requests[i]);
	return rc;
}

static int hook_Request_free(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);

	if (f)
		rn_untrack(f);
	return rn_real.MPI_Request_free(request);
}

/* The completion of an operation that the program tries to cancel is an event. */
static int hook_Cancel(MPI_Request *request)
{
	struct rn_tracked *f = rn_tracked_any(*request, request);
	int rc = rn_real.MPI_Cancel(request);

	if (rc == MPI_SUCCESS && f && f->starter &&
	    (f->kind == RN_REQUEST_SEND || f->kind == RN_REQUEST_RECEIVE))
		rn_tracked_set(f, RN_TRACKED_CANCELLED, MPI_REQUEST_NULL);
	return rc;
}

void rn_record_hook_receives(void)
{
	RN_HOOK_RECEIVES();
}
