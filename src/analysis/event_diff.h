/*
 * event_diff.h - whether the calls of a thread came out alike in two runs, and where first not.
 *
 * Both runs are walked side by side, thing done by thing done: the n-th of one is compared with the
 * n-th of the other, the site, its place in its call, and what it is. So a call that found two
 * things instead of one does not make all that follows different, but a message that came in
 * addition does. What is not compared are numbers (MPI_Wtime), and unless that is wanted how often
 * calls found nothing.
 *
 * Linear; no memory.
 */
#ifndef RN_ANALYSIS_EVENT_DIFF_H
#define RN_ANALYSIS_EVENT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

/* A thread of one run. */
struct rn_order_run {
	const struct rn_order *order;
	const uint32_t *site; /* by its sites: numbers that are equal for sites that are the same */
};

/* Where a walk is: a row that has something done, the first thing of it, and how many calls there
 * were before; row == rows at the end. */
struct rn_order_spot {
	size_t row, done, value;
	uint64_t seq; /* of the call that found something */
};

struct rn_order_diff {
	uint64_t done[2];              /* in each run */
	uint64_t failed[2];            /* calls that found nothing */
	uint64_t retried;              /* calls before which another number of them found nothing */
	uint64_t different;            /* things, with those that only one run has */
	struct rn_order_spot first[2]; /* where the first one is, if there is any */
};

/* `strict`: things before which another number of calls found nothing are different too. */
struct rn_order_diff rn_order_diff(const struct rn_order_run run[2], bool strict);

#endif
