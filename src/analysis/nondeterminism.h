/*
 * nondeterminism.h - how non-deterministic a program was, by call site, from its events.
 *
 * Of one run nobody can tell what another would have done. What can be told:
 *
 *   moved      receives out of the reference order, the order of their senders' logical clocks,
 *              ties by rank (order/lamport.h): the fewest that would have to be moved to get it.
 *              Only where that order is in the trace, or what was sent
 *
 *   late       wildcard receives that were done before one that was started earlier
 *
 *   irregular  what has another source, or where a call chooses among requests another index, than
 *              what came the last time behind the same two. 0 for whatever repeats itself. Where
 *              hardly an index comes twice, only sources count
 *
 * all of them of each thread by itself. And what is hidden determinism, as far as it was seen:
 *
 *   fixed      receives of a thread always had the same source; or always the same with a tag, or
 *              with a place in the array of requests
 *   period     sources and indices repeat themselves after so many
 *
 * Cost: in proportion to what was done, but for a sort by clocks. Memory: the result from the
 * arena, and scratch in proportion to the events of a thread.
 */
#ifndef RN_ANALYSIS_NONDETERMINISM_H
#define RN_ANALYSIS_NONDETERMINISM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;

enum rn_fixed { RN_FIXED_SOURCE = 1, RN_FIXED_BY_TAG = 2, RN_FIXED_BY_INDEX = 4 };

struct rn_disorder_site {
	struct rn_order_site site;
	uint64_t calls, failed;
	uint64_t done;     /* requests that were completed, messages that were found */
	uint64_t received; /* of these, with a source: wildcard receives and probes */
	uint64_t moved, late, irregular;
	uint64_t sources; /* of the thread that has the most */
	unsigned fixed;   /* enum rn_fixed: what holds for all threads */
	/* Where each thread has one source: whether it is the same of all, and whether it is
	 * equally far from the rank of each, modulo ranks. */
	bool one_source, one_step;
	int64_t source, step;
	uint64_t period[2]; /* the shortest and the longest; 0: a thread has none */
	uint64_t receivers; /* threads that received something */
	uint64_t repeaters; /* threads in which something was done more than once */
};

struct rn_disorder {
	struct rn_disorder_site *site; /* most of what is done first */
	uint32_t sites;
	struct rn_disorder_site all; /* sums */
	uint32_t disorderly; /* sites where something is moved (without clocks: irregular) */
	bool clocks; /* messages were received and the reference order is known: `moved` means
			something */
};

/* Threads with their sites, which are the same where they are equal. rank[t] is that of thread t,
 * of so many. RN_OK, RN_E_NOMEM, or RN_E_RANGE: a thread has 2^32 events. */
int rn_disorder(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n,
		uint64_t ranks, struct rn_disorder *out);

#endif
