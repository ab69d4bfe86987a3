/*
 * thread_events.h - extracts posting order and cross-thread completions from the events of a
 * process.
 *
 * The events (order/events.h) are of the kinds RECEIVE_RUN, SEND_RUN and ADOPTION.
 *
 * Cost: O(rows), and O(n log n) for n values of these kinds.
 */
#ifndef RN_ANALYSIS_THREAD_EVENTS_H
#define RN_ANALYSIS_THREAD_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "order/replay_plan.h"

struct rn_arena;

/* Adds to each thread of a process the matches that other threads observed. Stores the turns of all
 * threads in *turn. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the values are contradictory. */
int rn_turns_take(struct rn_arena *mem, struct rn_plan_part *part, uint32_t parts,
		  const struct rn_plan_turn **turn, size_t *turns);

#endif
