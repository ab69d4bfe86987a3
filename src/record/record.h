/*
 * record.h - records outcomes (`rondo trace --only=order`).
 *
 * Hooks of the link RN_LINK_OUTCOME call the next function and append its outcome to the event log
 * of the stream (event_log.h). They change neither arguments nor results. Before the call, they
 * only begin a turn of the posting order (post_order.h) and number the operations that may be
 * cancelled (tracked_request.h).
 */
#ifndef RN_RECORD_RECORD_H
#define RN_RECORD_RECORD_H

#include "record/outcome_thread.h"

/* Records the lineage of a thread that had no outcome yet. */
void rn_record_thread(struct rn_stream *t, struct rn_order_thread *o);

/* Records a poll for an operation that completes once and that returned `rc` and `flag`. Returns
 * rc. */
int rn_record_poll(int rc, const int *flag);

void rn_record_failed_poll(const struct rn_order_call *c);
void rn_record_completions(const struct rn_order_call *c, const struct rn_order_done *d,
			   uint32_t n);
void rn_record_numbers(const struct rn_order_call *c, const int64_t *value, uint32_t n);
void rn_record_unreplayable(struct rn_stream *t, uint64_t head);
/* Records the n results of a libc function. */
void rn_record_value(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n);

/* Records the completion of a wildcard receive. Returns it with the matched message, and the number
 * of receives with lower ordinals that are still open. */
struct rn_tracked;
struct rn_order_done rn_record_match(const struct rn_order_call *c, const struct rn_tracked *f,
				     const MPI_Status *s);
/* Records the completion of an operation for which the program called MPI_Cancel. */
void rn_record_cancellation(const struct rn_order_call *c, const struct rn_tracked *f,
			    bool cancelled);

#endif
