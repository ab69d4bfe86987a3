/*
 * nondeterminism.h - measures of nondeterminism per event site, from the events of one run.
 *
 * One run does not show what another run would do. It shows, for each thread separately:
 *
 *   moved      Receives that are out of reference order. The reference order is that of the
 *              senders' Lamport clocks, ties by rank (order/lamport.h). The measure is the
 *              smallest number of receives whose move restores it. Available only if the trace
 *              contains the clocks or the sends.
 *
 *   late       Wildcard receives that completed before one that was started earlier.
 *
 *   irregular  Completions with another source, or, if the call chooses among requests, with
 *              another index, than the completion that followed the same two outcomes last time.
 *              0 for a periodic sequence. If most indices occur only once, only sources count.
 *
 * It also shows hidden determinism, as far as this run has it:
 *
 *   fixed      The receives of a thread always had the same source, or always the same source for
 *              a tag or for an index in the array of requests.
 *   period     Number of completions after which sources and indices repeat.
 *
 * Cost: O(completions), except for a sort by clocks. Memory: the result is in the arena; scratch is
 * O(events of a thread).
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
	uint64_t done;     /* completed requests and found messages */
	uint64_t received; /* of these, those with a source: wildcard receives and probes */
	uint64_t moved, late, irregular;
	uint64_t sources; /* maximum over the threads of the number of different sources */
	unsigned fixed;   /* enum rn_fixed: what holds for all threads */
	/* Valid if each thread has one source. one_source: all threads have the same one. one_step:
	 * the distance of the source from the thread's rank, modulo the number of ranks, is always
	 * the same. */
	bool one_source, one_step;
	int64_t source, step;
	uint64_t period[2]; /* shortest and longest; 0: some thread has no period */
	uint64_t receivers; /* number of threads that received something */
	uint64_t repeaters; /* number of threads with more than one completion */
};

struct rn_disorder {
	struct rn_disorder_site *site; /* sorted by `done`, descending */
	uint32_t sites;
	struct rn_disorder_site all; /* sums over all sites */
	uint32_t disorderly;         /* sites with `moved` > 0; without clocks, `irregular` > 0 */
	bool clocks; /* `moved` is valid: messages were received and the reference order is known */
};

/* Computes the measures of n threads. Sites of different threads are the same if their structures
 * are equal. rank[t] is the rank of thread t, below `ranks`. Returns RN_OK, RN_E_NOMEM, or
 * RN_E_RANGE if a thread has 2^32 events. */
int rn_disorder(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n,
		uint64_t ranks, struct rn_disorder *out);

#endif
