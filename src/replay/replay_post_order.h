/*
 * replay_post_order.h - enforces the recorded posting order of threads (post_order.h).
 */
#ifndef RN_REPLAY_REPLAY_POST_ORDER_H
#define RN_REPLAY_REPLAY_POST_ORDER_H

#include "record/post_order.h"

/* A turn of the calling thread. */
struct rn_replay_turn {
	struct rn_turn_place *place; /* NULL: there is no memory, and no order */
	const struct rn_order_call *c;
	uint64_t number;
};

/* Waits for the turn. Between the two, the thread may post on the communicator of the call. `had`:
 * it has posted, or has found a message; otherwise this was no turn. */
void rn_replay_turn_begin(struct rn_replay_turn *u, const struct rn_order_call *c,
			  enum rn_plan_turn_of of);
void rn_replay_turn_end(struct rn_replay_turn *u, bool had);

#endif
