/*
 * loop_fold_search.h - the streams while they are folded (merge/loop_fold.h), and the search for
 * calls whose folding can make the trace smaller.
 *
 * A terminal that occurs in some rounds only, and always next to the same other terminal, its
 * anchor, is an option. The caller folds an option as a loop of no or of one round, measures, and
 * notes in `tried` that it did. Cost: the size of the rules. Memory from the arena.
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

/* Others wait for it, so there are only so many steps, and fewer where they lead nowhere. */
#define RN_FOLD_STEPS ((uint64_t)1 << 24)
#define RN_FOLD_WASTE (RN_FOLD_STEPS / 8)

/* How often a loop has how many rounds, for one group. */
struct rn_fold_counts {
	struct rn_series *series; /* NULL: the group does not have the loop */
	int64_t lo, hi;
	uint64_t surprises; /* values that the series did not expect */
	uint64_t sum;       /* UINT64_MAX: or more */
};

/* The streams on their way: plain rules over signatures and the loops so far. */
struct rn_fold_state {
	const struct rn_rules *rules;
	uint32_t *root; /* by group */
	uint32_t groups, sigs;
	struct rn_loop *loop;
	struct rn_fold_counts *count; /* [loop * groups + group] */
	uint32_t loops;
	size_t series_bytes, bytes; /* of the series, and with the rules, about */
	/* Steps that folding may still take: in all, and in trials that are for nothing. */
	uint64_t left, waste;
	/* By terminal, two for each, as it may be behind the anchor or before it: the anchor that
	 * it was last tried with, or RN_FOLD_NONE. The first `listed` terminals have them. */
	uint32_t *tried, listed;
};

/* A terminal that comes in some rounds only: always right behind its anchor, or always right before
 * it. As a loop of no or of one round it is there every time. */
struct rn_fold_option {
	uint32_t terminal, anchor; /* RN_FOLD_NONE: there is none */
	bool behind;
};

struct rn_fold_around {
	uint32_t before,
		behind; /* the only symbol there is, MANY, or RN_FOLD_NONE if it does not occur */
	uint64_t occurs;
};

struct rn_fold_neighbours {
	const struct rn_fold_state *s;
	struct rn_fold_around *of; /* by terminal */
	uint32_t *first, *last;    /* by rule: its terminals, or OUTER */
	uint64_t *weight;          /* by rule: how often it is executed */
};

/* The neighbors of all terminals. False without memory. */
bool rn_fold_find_neighbours(struct rn_fold_neighbours *n, const struct rn_fold_state *s,
			     struct rn_arena *scratch);

/* The first option that has not been tried; of those that occur often, with their anchors, and so
 * take many steps, the one that occurs least, after all others. Its terminal is RN_FOLD_NONE if
 * there is none. */
struct rn_fold_option rn_fold_next_option(const struct rn_fold_neighbours *n);

#endif
