/*
 * loop_fold_search.h - the state of the streams during folding (merge/loop_fold.h), and the search
 * for calls whose folding can make the trace smaller.
 *
 * An option is a terminal that occurs in some iterations only, always next to the same other
 * terminal, its anchor. The caller folds an option as a loop of zero or one iterations, measures
 * the result, and records the attempt in `tried`. Cost: O(size of the rules). Memory is allocated
 * from the arena.
 */
#ifndef RN_MERGE_LOOP_FOLD_SEARCH_H
#define RN_MERGE_LOOP_FOLD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/loop_stream.h"

struct rn_arena;
struct rn_rules;
struct rn_series;

#define RN_FOLD_NONE UINT32_MAX

/* Limits of the steps, in total and of unsuccessful trials, because the other ranks wait for
 * folding. */
#define RN_FOLD_STEPS ((uint64_t)1 << 24)
#define RN_FOLD_WASTE (RN_FOLD_STEPS / 8)

/* Iteration counts of one loop in one stream group. */
struct rn_fold_counts {
	struct rn_series *series; /* NULL: the group does not have the loop */
	int64_t lo, hi;
	uint64_t surprises; /* values that the series did not predict */
	uint64_t sum;       /* saturates at UINT64_MAX */
};

/* State of the folding: plain rules over the signatures and the loops found so far. */
struct rn_fold_state {
	const struct rn_rules *rules;
	uint32_t *root; /* by stream group */
	uint32_t groups, sigs;
	struct rn_loop *loop;
	struct rn_fold_counts *count; /* [loop * groups + group] */
	uint32_t loops;
	size_t series_bytes, bytes; /* estimates: of the series; of everything */
	/* Remaining steps: in total, and of unsuccessful trials. */
	uint64_t left, waste;
	/* Two entries per terminal, for an anchor after it and before it: the last anchor with
	 * which it was tried, or RN_FOLD_NONE. Entries of the first `listed` terminals are
	 * initialized. */
	uint32_t *tried, listed;
};

/* A terminal that occurs in some iterations only, always directly after or always directly before
 * its anchor. As a loop of zero or one iterations it occurs in every iteration. */
struct rn_fold_option {
	uint32_t terminal, anchor; /* RN_FOLD_NONE: no option */
	bool behind;
};

struct rn_fold_around {
	uint32_t before, behind; /* the only neighbor, MANY, or RN_FOLD_NONE */
	uint64_t occurs;
};

struct rn_fold_neighbours {
	const struct rn_fold_state *s;
	struct rn_fold_around *of; /* by terminal */
	uint32_t *first, *last;    /* by rule: its first and last terminal, or OUTER */
	uint64_t *weight;          /* by rule: number of executions */
};

/* Finds the neighbors of all terminals. False without memory. */
bool rn_fold_find_neighbours(struct rn_fold_neighbours *n, const struct rn_fold_state *s,
			     struct rn_arena *scratch);

/* Returns the first untried option. Options that occur often, together with their anchors, cost
 * many steps; they follow all others, the least frequent one first. The terminal is RN_FOLD_NONE if
 * no option is left. */
struct rn_fold_option rn_fold_next_option(const struct rn_fold_neighbours *n);

#endif
