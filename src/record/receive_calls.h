/*
 * receive_calls.h - hooks for the functions that receive, shared by record and replay.
 *
 * Since MPI 4, each function has a second form for large counts.
 *
 * Record and replay expand RN_BLOCKING_RECEIVES, RN_RECV_INIT and RN_STARTALL after they have
 * defined
 *
 *	ops                      struct rn_receive_ops
 *	number_blocking(p)       assigns the ordinal of a wildcard receive of a blocking call
 *	received(p, rc, status)  called when a blocking call returns rc
 *	hook_Start(request)
 */
#ifndef RN_RECORD_RECEIVE_CALLS_H
#define RN_RECORD_RECEIVE_CALLS_H

#include "record/post_order.h"
#include "record/tracked_request.h"
#include "runtime/outcome.h"

/* A receive that is about to be started. */
struct rn_post {
	struct rn_order_call c; /* c.o is NULL: the receive is posted without a turn */
	struct rn_receive as;   /* arguments of the posted receive */
	struct rn_tracked is;   /* its tracked request, after an ordinal was assigned */
	bool wild;
	/* Replay. free: its turn was taken already, and it is beyond the recording. planned: `as`
	 * is from the plan, and `is.receive` has the program's arguments. */
	bool free, planned;
};

/* Returns false if the outcome of the receive is determined. */
static inline bool rn_post_begin(struct rn_post *p, void *buf, int64_t count, MPI_Datatype type,
				 int source, int tag, MPI_Comm comm)
{
	p->as = (struct rn_receive){ buf, count, type, source, tag, comm };
	p->c.o = NULL;
	p->wild = rn_order_is_wild(source, tag);
	p->free = p->planned = false;
	if (!(p->wild || (rn_turns && source != MPI_PROC_NULL)) ||
	    !rn_order_call(&p->c, RN_ORDER_WAIT, comm))
		return false;
	p->c.source = source;
	p->c.tag = tag;
	return true;
}

struct rn_receive_ops {
	void (*number)(struct rn_post *p);              /* assigns the next ordinal */
	int (*post)(struct rn_post *p, MPI_Request *q); /* posts the receive in its turn */
	int (*wait)(const struct rn_post *p, MPI_Request *q, MPI_Status *s);
	int (*isend)(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		     MPI_Comm comm, MPI_Request *q);
};

static inline int rn_post_wild(struct rn_post *p, const struct rn_receive_ops *ops,
			       MPI_Request *request)
{
	int rc;

	ops->number(p);
	rc = ops->post(p, request);
	if (rc == MPI_SUCCESS)
		rn_track(request, &p->is);
	return rc;
}

static inline int rn_receive_in_turn(struct rn_post *p, const struct rn_receive_ops *ops,
				     MPI_Status *s)
{
	MPI_Request q;
	int rc = ops->post(p, &q);

	return rc == MPI_SUCCESS ? ops->wait(p, &q, s) : rc;
}

/* Posts the receive and the send in turns, and waits for both. */
static inline int rn_send_and_receive(struct rn_post *p, const struct rn_receive_ops *ops,
				      const void *buf, int64_t count, MPI_Datatype type, int dest,
				      int tag, MPI_Comm comm, MPI_Status *s)
{
	MPI_Request in, out;
	int sent, rc = ops->post(p, &in);

	if (rc != MPI_SUCCESS)
		return rc;
	sent = ops->isend(buf, count, type, dest, tag, comm, &out);
	if (sent != MPI_SUCCESS) { /* the receive is cancelled */
		rn_real.MPI_Cancel(&in);
		rn_real.MPI_Wait(&in, MPI_STATUS_IGNORE);
		return sent;
	}
	rc = ops->wait(p, &in, s);
	sent = rn_real.MPI_Wait(&out, MPI_STATUS_IGNORE);
	return rc == MPI_SUCCESS ? sent : rc;
}

static inline void rn_post_unreplayable(const struct rn_post *p)
{
	rn_outcome_ops->unreplayable(p->c.t, rn_stream_under_way(p->c.t)[0]);
}

/* Counts a call that cannot be divided as unreplayable, because it is posted out of turn. */
static inline void rn_post_out_of_turn(const struct rn_post *p)
{
	if (rn_turns && p->c.o && !rn_order_alone())
		rn_post_unreplayable(p);
}

/* Tracks a persistent receive that was created. */
static inline void rn_track_receive(const struct rn_post *p, const MPI_Request *request)
{
	const struct rn_tracked is = { .starter = p->c.o,
				       .kind = p->wild ? RN_REQUEST_WILDCARD : RN_REQUEST_RECEIVE,
				       .state = RN_TRACKED_INACTIVE,
				       .persistent = true,
				       .comm = p->c.comm,
				       .real = MPI_REQUEST_NULL,
				       .receive = p->as };

	rn_track(request, &is);
}

#define RN_RECV_PARAMS(count_type) \
	void *buf, count_type count, MPI_Datatype type, int source, int tag, MPI_Comm comm
#define RN_RECV_ARGS buf, count, type, source, tag, comm

#define RN_SENDRECV_PARAMS(count_type)                                                           \
	const void *sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest, int sendtag, \
		void *recvbuf, count_type recvcount, MPI_Datatype recvtype, int source,          \
		int recvtag, MPI_Comm comm
#define RN_SENDRECV_ARGS                                                                   \
	sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, \
		recvtag, comm

#define RN_REPLACE_PARAMS(count_type)                                                      \
	void *buf, count_type count, MPI_Datatype type, int dest, int sendtag, int source, \
		int recvtag, MPI_Comm comm
#define RN_REPLACE_ARGS buf, count, type, dest, sendtag, source, recvtag, comm

/* Defines the hook of a function that receives into `buffer` by the call `call`, with status s. Of
 * the arguments of a send and receive, only the source and tag of the receive change. */
#define RN_BLOCKING(name, params, buffer, n, of, tag_, call)                                \
	static int hook_##name(params, MPI_Status *status)                                  \
	{                                                                                   \
		MPI_Status own, *s = status;                                                \
		struct rn_post p;                                                           \
		bool wild = rn_post_begin(&p, buffer, n, of, source, tag_, comm) && p.wild; \
		int rc;                                                                     \
                                                                                            \
		if (wild) {                                                                 \
			number_blocking(&p);                                                \
			source = p.as.source;                                               \
			tag_ = p.as.tag;                                                    \
			s = status == MPI_STATUS_IGNORE ? &own : status;                    \
		}                                                                           \
		rc = call;                                                                  \
		return wild ? received(&p, rc, s) : rc;                                     \
	}

#define RN_BLOCKING_RECEIVES(suffix, count_type)                                                 \
	RN_BLOCKING(Recv##suffix, RN_RECV_PARAMS(count_type), buf, count, type, tag,             \
		    p.c.o && (rn_turns || p.c.o->replay)                                         \
			    ? rn_receive_in_turn(&p, &ops, s)                                    \
			    : rn_real.MPI_Recv##suffix(RN_RECV_ARGS, s))                         \
	RN_BLOCKING(Sendrecv##suffix, RN_SENDRECV_PARAMS(count_type), recvbuf, recvcount,        \
		    recvtype, recvtag,                                                           \
		    rn_turns ? rn_send_and_receive(&p, &ops, sendbuf, sendcount, sendtype, dest, \
						   sendtag, comm, s)                             \
			     : rn_real.MPI_Sendrecv##suffix(RN_SENDRECV_ARGS, s))                \
	RN_BLOCKING(Sendrecv_replace##suffix, RN_REPLACE_PARAMS(count_type), buf, count, type,   \
		    recvtag,                                                                     \
		    (rn_post_out_of_turn(&p),                                                    \
		     rn_real.MPI_Sendrecv_replace##suffix(RN_REPLACE_ARGS, s)))

#define RN_RECV_INIT(name, count_type)                                           \
	static int hook_##name(RN_RECV_PARAMS(count_type), MPI_Request *request) \
	{                                                                        \
		int rc = rn_real.MPI_##name(RN_RECV_ARGS, request);              \
		struct rn_post p;                                                \
                                                                                 \
		if (rc == MPI_SUCCESS && rn_post_begin(&p, RN_RECV_ARGS))        \
			rn_track_receive(&p, request);                           \
		return rc;                                                       \
	}

/* MPI starts the requests in the order of the array. */
#define RN_STARTALL                                                  \
	static int hook_Startall(int count, MPI_Request requests[])  \
	{                                                            \
		int rc = MPI_SUCCESS;                                \
                                                                     \
		for (int i = 0; i < count && rc == MPI_SUCCESS; i++) \
			rc = hook_Start(&requests[i]);               \
		return rc;                                           \
	}

#define RN_HOOK_RECEIVES_OF(suffix)                                                            \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv##suffix, hook_Recv##suffix);                         \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv##suffix, hook_Sendrecv##suffix);                 \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv_replace##suffix, hook_Sendrecv_replace##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Irecv##suffix, hook_Irecv##suffix);                       \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv_init##suffix, hook_Recv_init##suffix)

#define RN_HOOK_ISENDRECVS_OF(suffix)                                            \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv##suffix, hook_Isendrecv##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv_replace##suffix, hook_Isendrecv_replace##suffix)

#if MPI_VERSION >= 4
#define RN_HOOK_LARGE_RECEIVES() \
	RN_HOOK_RECEIVES_OF(_c); \
	RN_HOOK_ISENDRECVS_OF(); \
	RN_HOOK_ISENDRECVS_OF(_c)
#else
#define RN_HOOK_LARGE_RECEIVES()
#endif

/* Installs hook_Recv and the others. */
#define RN_HOOK_RECEIVES()                                                     \
	do {                                                                   \
		RN_HOOK_RECEIVES_OF();                                         \
		RN_HOOK_LARGE_RECEIVES();                                      \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Start, hook_Start);               \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Startall, hook_Startall);         \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Request_free, hook_Request_free); \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Cancel, hook_Cancel);             \
	} while (0)

#endif
