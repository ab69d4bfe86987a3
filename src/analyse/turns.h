/*
 * turns.h - what the threads of a process say of each other in their events (order/events.h): taken
 * out of their rows, for a plan.
 *
 * These are the kinds RECEIVE_RUN, SEND_RUN and ADOPTION.
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
