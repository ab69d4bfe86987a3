/*
 * tracked_request.h - requests that record or replay follows from start to completion.
 *
 * They are in the table of all requests (rn_tracer.requests), which wrappers use in runs that trace
 * calls. Record and replay identify a request by the thread that started it and a number. Wildcard
 * receives have ordinals (order/events.h). Operations with a named partner are numbered separately,
 * because they may be cancelled: the result of MPI_Cancel is not determined, and a replay needs it
 * when the operation starts. For each handle, the table contains the latest of these operations,
 * complete or not, until the program cancels it. The table therefore has as many entries as there
 * were requests at a time.
 *
 * During replay, the program may hold a placeholder, while another request (`real`) receives its
 * message. A persistent wildcard receive is never started; a new receive is posted instead. An
 * unobserved receive is deferred: nothing is posted until the recording ends.
 *
 * Cost: 7 ns to number an operation. Protected by the tracer lock.
 */
#ifndef RN_RECORD_TRACKED_REQUEST_H
#define RN_RECORD_TRACKED_REQUEST_H

#include "record/outcome_thread.h"
#include "track/request_table.h"

/* The arguments of a receive. */
struct rn_receive {
	void *buf;
	int64_t count;
	MPI_Datatype type;
	int source, tag;
	MPI_Comm comm;
};

static inline int rn_receive_post(const struct rn_receive *r, MPI_Request *q)
{
#if MPI_VERSION >= 4
	return rn_real.MPI_Irecv_c(r->buf, r->count, r->type, r->source, r->tag, r->comm, q);
#else
	return rn_real.MPI_Irecv(r->buf, (int)r->count, r->type, r->source, r->tag, r->comm, q);
#endif
}

enum rn_tracked_state {
	RN_TRACKED_ACTIVE,
	RN_TRACKED_INACTIVE,  /* persistent and not started, or complete */
	RN_TRACKED_DEFERRED,  /* replay: to be posted when the recording ends */
	RN_TRACKED_CANCELLED, /* MPI_Cancel was called for it */
	RN_TRACKED_COMPLETED, /* generalized request that the program has completed */
};

struct rn_tracked {
	uint64_t ordinal;                /* ordinal or number of the operation in `starter` */
	struct rn_order_thread *starter; /* NULL: not started, or the entry is free */
	enum rn_request_kind kind;
	enum rn_tracked_state state;
	bool persistent;
	bool counted;       /* in rn_tracked_count */
	bool keep_own;      /* own request must not be cancelled: it also sends, or already was */
	uint32_t comm;      /* communicator id; persistent requests only */
	MPI_Request real;   /* MPI_REQUEST_NULL: the program's own request is used */
	MPI_Request handle; /* the program's handle */
	struct rn_receive receive; /* replay: the program's arguments */
	struct rn_tracked *next;   /* list of free entries */
	struct rn_request_token token;
	uint32_t number;
};

/* Number of tracked requests that completing calls have to look up. */
extern _Atomic uint32_t rn_tracked_count;

/* Adds a request. Returns NULL without memory: the request is not tracked. */
struct rn_tracked *rn_track(const MPI_Request *request, const struct rn_tracked *is);

/* Numbers the operation with a named partner that the calling thread has started. Returns rc, the
 * result of the call. */
int rn_track_numbered(enum rn_request_kind kind, int rc, const MPI_Request *request);

/* Updates a persistent request that is started again. */
void rn_tracked_restarts(struct rn_tracked *f, struct rn_order_thread *o);

/* Return the request whose handle is or was in this variable, or NULL. rn_tracked_find ignores
 * requests that completing calls need not look up. */
struct rn_tracked *rn_tracked_any(MPI_Request handle, const MPI_Request *variable);
struct rn_tracked *rn_tracked_find(MPI_Request handle, const MPI_Request *variable);

static inline bool rn_tracked_is_wild(const struct rn_tracked *f)
{
	return f->kind == RN_REQUEST_WILDCARD;
}

static inline bool rn_tracked_is_active(const struct rn_tracked *f)
{
	return f->state != RN_TRACKED_INACTIVE;
}

void rn_tracked_set(struct rn_tracked *f, enum rn_tracked_state state, MPI_Request real);

/* rn_tracked_ends: the request is complete; only a persistent one remains in the table. rn_untrack
 * removes the request. */
void rn_tracked_ends(struct rn_tracked *f);
void rn_untrack(struct rn_tracked *f);

/* Returns the wildcard receive with the lowest ordinal >= `from` that the thread has started and
 * that is not complete, or NULL. With `deferred`, only deferred receives count. O(tracked
 * requests). */
struct rn_tracked *rn_tracked_next(const struct rn_order_thread *o, uint64_t from, bool deferred);

#endif
