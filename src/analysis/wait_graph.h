/*
 * wait_graph.h - deadlock cycles, ranks that can never continue, and the ranks that block others.
 *
 * A rank waits for a set of ranks: for all of them, or for at least one. Ranks that are in the same
 * call share a set. A rank without a set can continue. A rank whose set can continue can continue
 * too. All others are stuck: they are in a cycle, wait for a cycle, or wait for a process that has
 * ended.
 *
 *   0 waits for 1      1 waits for 0 or 2      2 waits for 1      0 -> 1 -> 0 is a deadlock
 *   0 waits for 1      1 waits for 0 or 2      2 computes         all wait for 2, finally
 *
 * If it is unknown for which of several ranks a rank waits, the set means "at least one". A
 * reported deadlock is therefore always a deadlock.
 *
 * Cost: O(size of the sets), multiplied by the length of the longest chain in the worst case.
 * Memory is from the arena.
 */
#ifndef RN_ANALYSIS_WAIT_GRAPH_H
#define RN_ANALYSIS_WAIT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;

/* Ranks in ascending order. `all`: all of them must continue; otherwise one is sufficient. */
struct rn_wait_set {
	const uint64_t *rank;
	uint64_t n;
	bool all;
};

struct rn_waiter {
	const struct rn_wait_set *set; /* NULL: not blocked, or blocked on unknown ranks */
	bool gone;                     /* the process has ended */
};

struct rn_verdict {
	uint64_t waiting;       /* number of ranks with a set */
	const uint64_t *circle; /* a shortest cycle found, lowest rank first */
	uint64_t circle_n;      /* 0: no cycle */
	const uint64_t *stuck;  /* ranks that can never continue, ascending */
	uint64_t stuck_n;
	const uint64_t *root; /* ranks without a set that others wait for, ascending */
	uint64_t root_n;
};

/* Analyzes n waiters, indexed by rank. Ranks >= n in the sets are unknown processes. Returns RN_OK
 * or RN_E_NOMEM. */
int rn_waits_judge(const struct rn_waiter *waiter, uint64_t n, struct rn_arena *mem,
		   struct rn_verdict *out);

#endif
