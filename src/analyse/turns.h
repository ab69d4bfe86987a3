/*
 * turns.h - what the threads of a process say of each other in their events (order/events.h): taken
 * out of their rows, for a plan.
 *
 * Such are numbers (RN_ORDER_VALUE) at sites of these functions:
 *
 *   MPI_Irecv, MPI_Isend,   a run of turns begins (intercept/order_turn.h), so many turns behind
 *   with a communicator     where the thread's run before it began, at this site; the first one:
 *                           behind turn 0. The first thread had the turns before the first run
 *   rondo_ended             in groups of three: the number of a wildcard receive of another thread
 *                           that was done here, its source (-1: it was cancelled) and tag. Before
 *                           a group, -1 - the birth of that thread, where it is another one
 *                           than that of the group before
 *
 * Cost: O(n log n) for n such numbers, and a copy of the rows where there are any.
 */
#ifndef RN_ANALYSE_TURNS_H
#define RN_ANALYSE_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "order/plan.h"

struct rn_arena;

/* Of the threads of one process: rows are taken out, matches put in, and the turns given. RN_OK,
 * RN_E_NOMEM, or RN_E_DATA: the numbers make no sense. */
int rn_turns_take(struct rn_arena *mem, struct rn_plan_part *part, uint32_t parts,
		  const struct rn_plan_turn **turn, size_t *turns);

#endif
