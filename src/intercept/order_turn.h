/*
 * order_turn.h - in which order the threads of a process post, with MPI_THREAD_MULTIPLE.
 *
 * Of two threads that post receives on one communicator the first may get the message that either
 * could have; and what two threads send on it to the same rank arrives as it was sent. So posting
 * is a matter of turns: recording, a thread has the communicator's lock while it posts, and the
 * turns are counted; replaying, it waits until all turns are over that came before its own. What
 * blocks is made of a post and a wait behind the turn. A probe that finds something has a turn too,
 * since nobody can have taken the message before.
 *
 * Receives and sends have turns of their own: they do not disturb each other.
 *
 * A thread whose turn follows on its own has nothing to record. Where another has had one in
 * between, how far it is from the beginning of the last such run of its own is an event
 * (order/events.h). So the beginnings of all runs are known, and where one begins the one before
 * has ended. Of the first thread (intercept/birth.h) goes without saying that it had the first run.
 *
 * A turn in a replay waits for such only as were over in the recorded run before it began, so if
 * the program does what it did, no two threads wait for each other.
 *
 * Cost: a lock for each post, which nobody else has as a rule, and of what blocks a request. With
 * less than MPI_THREAD_MULTIPLE nothing.
 */
#ifndef RN_INTERCEPT_ORDER_TURN_H
#define RN_INTERCEPT_ORDER_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/order.h"
#include "order/plan.h"

/* Whether turns are taken. */
extern bool rn_turns;

/* After MPI_Init: whether several threads may call at once is known. */
void rn_turns_begin(void);

struct rn_turn_place;

/* One that is being had. */
struct rn_turn {
	struct rn_turn_place *place; /* NULL: there is no memory, and no order */
	const struct rn_order_call *c;
	uint64_t number; /* replaying */
};

/* From here to rn_turn_end the thread may post on the call's communicator. `had`: it has, or has
 * found something; else this was no turn. */
void rn_turn_begin(struct rn_turn *u, const struct rn_order_call *c, enum rn_plan_turn_of of);
void rn_turn_end(struct rn_turn *u, bool had);

/* Somebody does not do what was recorded: nobody waits any more. */
void rn_turns_release(void);
bool rn_turns_released(void);

#endif
