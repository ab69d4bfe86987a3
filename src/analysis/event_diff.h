/*
 * event_diff.h - compares the events of one thread in two runs and finds the first difference.
 *
 * Both runs are walked in parallel: the n-th completion of one run is compared with the n-th of the
 * other. Compared are the event site, whether it is the first completion of its call, and its
 * contents. A call that reports two completions instead of one therefore does not make all later
 * completions different; an additional message does. Recorded numbers (MPI_Wtime) are not compared.
 * Failed polls are compared only if `strict` is set.
 *
 * Cost: linear; allocates nothing.
 */
#ifndef RN_ANALYSIS_EVENT_DIFF_H
#define RN_ANALYSIS_EVENT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

/* The events of a thread in one run. */
struct rn_order_run {
	const struct rn_order *order;
	const uint32_t *site; /* id of each site of `order`, equal in both runs */
};

/* The position of a walk: a row with completions, its first completion and value, and the number of
 * calls before it. At the end row == rows. */
struct rn_order_spot {
	size_t row, done, value;
	uint64_t seq; /* ordinal of the call that reported the completions */
};

struct rn_order_diff {
	uint64_t done[2];   /* completions of each run */
	uint64_t failed[2]; /* failed polls of each run */
	uint64_t retried;   /* calls with unequal numbers of failed polls before them */
	uint64_t different; /* differing completions, including those that only one run has */
	/* Position of the first difference in each run, if `different` is not 0. */
	struct rn_order_spot first[2];
};

/* If `strict`, a completion with another number of failed polls before it is also different. */
struct rn_order_diff rn_order_diff(const struct rn_order_run run[2], bool strict);

#endif
