/*
 * record.h - records outcomes (`rondo trace --only=order`).
 *
 * Hooks of the link RN_LINK_OUTCOME call the next function, and append its outcome to the event log
 * of the stream (event_log.h). They change neither arguments nor results. Before the call, they
 * only take the posting order of threads (post_order.h) and number the operations that may be
 * cancelled (tracked_request.h).
 */
#ifndef RN_INTERCEPT_RECORD_H
#define RN_INTERCEPT_RECORD_H

#include "intercept/outcome_thread.h"

/* Installs the hooks, when the tracer starts. */
void rn_record_install(void);
/* After MPI_Init. */
void rn_record_begin(void);

void rn_record_hook_receives(void);
void rn_record_hook_sends(void);
void rn_record_hook_completions(void);
void rn_record_hook_probes(void);
void rn_record_hook_polls(void);
void rn_record_hook_values(void);
/* Hooks that only the posting order needs. */
void rn_record_hook_posts(void);

/* Records the lineage of a thread that had no outcome yet. */
struct rn_order_thread *rn_record_new_thread(struct rn_stream *t);

/* The calling thread. NULL when there is no memory. */
static inline struct rn_order_thread *rn_record_thread(struct rn_stream *t)
{
	return __builtin_expect(rn_order_me != NULL, 1) ? rn_order_me : rn_record_new_thread(t);
}

/* The call in flight. False when there is no memory. */
bool rn_record_call(struct rn_order_call *c, enum rn_order_kind kind, MPI_Comm comm);

void rn_record_failed_poll(const struct rn_order_call *c);
void rn_record_completions(const struct rn_order_call *c, const struct rn_order_done *d,
			   uint32_t n);
void rn_record_numbers(const struct rn_order_call *c, const int64_t *value, uint32_t n);
void rn_record_unreplayable(struct rn_stream *t, uint64_t head);
/* A function of the C library returned these numbers. */
void rn_record_value(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n);

/* A wildcard receive is complete: what it has received, and how many that were started before it
 * are not complete. */
struct rn_tracked;
struct rn_order_done rn_record_match(const struct rn_order_call *c, const struct rn_tracked *f,
				     const MPI_Status *s);
/* An operation that the program tried to cancel is complete. */
void rn_record_cancellation(const struct rn_order_call *c, const struct rn_tracked *f,
			    bool cancelled);

/* MPI_Isend in a turn, as a part of another call. */
int rn_record_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		    MPI_Comm comm, MPI_Request *q);

/* Whether the status of MPI_Isendrecv contains what the receive in it has matched, which MPICH 4.0
 * does not store. Found by one message to this process. */
bool rn_isendrecv_tells(void);

#endif
