/*
 * symbol_counts.h - how often symbols occur, from the rules: nothing is expanded.
 *
 * O(size of the rules and of the literal runs). Sums saturate at UINT64_MAX.
 */
#ifndef RN_RULES_SYMBOL_COUNTS_H
#define RN_RULES_SYMBOL_COUNTS_H

#include <stdint.h>

#include "rules/loop_stream.h"

/* times[] says for each rule how often it occurs by itself, and has what follows added; rounds[],
 * by loop if there are any (loop_stream.h), how many there are in all; count[], by symbol, gets
 * what is in all of them. */
void rn_rules_counts(const struct rn_rules *r, const struct rn_loopset *loops,
		     const uint64_t *rounds, uint64_t *times, uint64_t *count);

/* The same for what comes before a walker; times[] is zeroed before, and there is room for all its
 * loops in rounds[]. */
void rn_walk_counts(const struct rn_walk *w, uint64_t *times, uint64_t *rounds, uint64_t *count);

#endif
