/*
 * outcome_thread.h - threads and calls, as record and replay identify them.
 */
#ifndef RN_RECORD_OUTCOME_THREAD_H
#define RN_RECORD_OUTCOME_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"
#include "order/ordinal_set.h"
#include "order/replay_plan.h"
#include "preload/next_mpi.h"
#include "trace/stream.h"

/* A memory mapping; p is NULL if there is none. */
struct rn_order_room {
	void *p;
	size_t bytes;
};

/* A thread that had an outcome. Several threads may use one stream, one after the other. */
struct rn_order_thread {
	struct rn_order_thread *next; /* list of all threads */
	uint32_t stream;
	int64_t birth;
	uint64_t started;  /* number of wildcard receives started */
	uint64_t numbered; /* number of named-partner operations started (tracked_request.h) */
	struct rn_ordinals open;       /* set of completed ordinals of wildcard receives */
	struct rn_order_room room;     /* for arrays of requests; empty while a call uses it */
	struct rn_replay *replay;      /* NULL: the recording does not contain this thread */
	struct rn_turn_place *places;  /* posting order, most recently used first (post_order.h) */
	struct rn_order_thread *other; /* recording: the thread whose receive it completed last */
};

extern struct rn_order_thread *rn_order_threads; /* protected by the tracer lock */
extern _Thread_local struct rn_order_thread *rn_order_me
	__attribute__((tls_model("initial-exec"))); /* NULL: not created yet */

/* Creates rn_order_me. Returns NULL without memory. */
struct rn_order_thread *rn_order_thread_new(struct rn_stream *t);

/* Returns the calling thread, or NULL without memory. */
static inline struct rn_order_thread *rn_order_current(struct rn_stream *t)
{
	return __builtin_expect(rn_order_me != NULL, 1) ? rn_order_me : rn_order_thread_new(t);
}

/* Returns whether no other thread has had an outcome. */
bool rn_order_alone(void);

/* The call in flight: its function and call site. */
struct rn_order_call {
	struct rn_stream *t;
	struct rn_order_thread *o;
	uint32_t function, place;
	enum rn_order_kind kind;
	uint32_t comm;   /* communicator id; 0: none */
	int source, tag; /* requested source and tag; RN_PLAN_NOTHING: none */
	uint64_t
		row; /* row of the event that completed a request of the call, plus 1; 0: unknown */
};

/* Fills c from the call in flight. Returns false without memory for its thread. */
bool rn_order_call(struct rn_order_call *c, enum rn_order_kind kind, MPI_Comm comm);

/* Returns whether the call can match a message with this source and tag. */
static inline bool rn_order_asks_for(const struct rn_order_call *c, int source, int tag)
{
	return (c->source == RN_PLAN_NOTHING || c->source == MPI_ANY_SOURCE ||
		c->source == source) &&
	       (c->tag == RN_PLAN_NOTHING || c->tag == MPI_ANY_TAG || c->tag == tag);
}

static inline bool rn_order_is_wild(int source, int tag)
{
	return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

#endif
