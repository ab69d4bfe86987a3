/*
 * wait_graph.h - who waits for whom, and what follows from it.
 *
 * A rank waits for a set of ranks: for all of them, or for at least one. Ranks that are in the same
 * call share a set. From the ranks that can go on by themselves it follows who else can; the others
 * never will: they wait in a circle, or for a process that is no more.
 *
 *   0 waits for 1      1 waits for 0 or 2      2 waits for 1      0 -> 1 -> 0 is a deadlock
 *   0 waits for 1      1 waits for 0 or 2      2 computes         all wait for 2, in the end
 *
 * Where it is not known whom of several a rank waits for, it is said to wait for any: what is
 * called a deadlock then is one in every case.
 *
 * Cost: the sizes of the sets, times the length of the longest chain at worst. Memory from the
 * arena.
 */
#ifndef RN_ANALYSIS_WAIT_GRAPH_H
#define RN_ANALYSIS_WAIT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;

/* Ranks, ascending. */
struct rn_wait_set {
	const uint64_t *rank;
	uint64_t n;
	bool all;
};

struct rn_waiter {
	const struct rn_wait_set *set; /* NULL: it waits for nobody, or nobody knows for whom */
	bool gone;                     /* the process is no more */
};

struct rn_verdict {
	uint64_t waiting;       /* ranks that wait for somebody */
	const uint64_t *circle; /* ranks that wait for each other, the lowest first; n 0: none */
	uint64_t circle_n;
	const uint64_t *stuck; /* ranks that can never go on, ascending */
	uint64_t stuck_n;
	const uint64_t *root; /* those that others wait for, and that do not wait themselves */
	uint64_t root_n;
};

/* Ranks in the sets that are not below n are nobody's. RN_OK or RN_E_NOMEM. */
int rn_waits_judge(const struct rn_waiter *waiter, uint64_t n, struct rn_arena *mem,
		   struct rn_verdict *out);

#endif
