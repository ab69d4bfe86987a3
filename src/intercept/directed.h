/*
 * directed.h - operations that name their partner, and may be cancelled all the same: sends,
 * and receives that are no wildcards.
 *
 * Whether a cancel comes in time is not determined, and a replay has to know it when the operation
 * is started: what was cancelled must not send or receive, and what was not must not be cancelled.
 * So they are counted as they are started on their thread. When one that somebody has tried to
 * cancel is complete, its number and how it ended are recorded (order/events.h), and nothing
 * otherwise.
 *
 * Which number a request has is found by its handle. MPI gives handles out again, so a table of the
 * last number by handle has no more entries than there were requests at a time.
 *
 * Cost: 7 ns for each that is started; 32 to 64 bytes for each handle.
 */
#ifndef RN_INTERCEPT_DIRECTED_H
#define RN_INTERCEPT_DIRECTED_H

#include "intercept/order.h"

/* One that is being started: between the two the real call is made, unless it was cancelled. */
struct rn_directed {
	bool sends;
	bool cancelled; /* nothing is to be sent or received: rn_replay_post_nowhere() */
};

/* Replaying: whether the next one was cancelled. */
bool rn_directed_next_cancelled(void);

static inline struct rn_directed rn_directed_begin(bool sends)
{
	return (struct rn_directed){ sends, rn_order_mode == RN_ORDER_REPLAYS &&
						    rn_directed_next_cancelled() };
}

/* Returns rc, the outcome of that call. */
int rn_directed_end(struct rn_directed d, int rc, const MPI_Request *request);

/* MPI_Start. */
int rn_directed_restart(MPI_Request *request);

/* MPI_Cancel: `f` is what is known of the request, or NULL. */
int rn_directed_cancel(MPI_Request *request, struct rn_followed *f);

/* Recording: it is complete, and was or was not cancelled. */
void rn_directed_ended(const struct rn_order_call *c, struct rn_followed *f, bool cancelled);

/* Whether the request is known to send. */
bool rn_directed_sends(MPI_Request request);

#endif
