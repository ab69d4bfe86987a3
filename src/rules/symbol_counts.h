/*
 * symbol_counts.h - the number of occurrences of each symbol, computed from the rules without
 * expansion.
 *
 * O(size of the rules and of the literal runs). Sums saturate at UINT64_MAX.
 */
#ifndef RN_RULES_SYMBOL_COUNTS_H
#define RN_RULES_SYMBOL_COUNTS_H

#include <stdint.h>

#include "rules/loop_stream.h"

/* Counts the symbols of rules. On entry, times[r] is the number of times that rule r occurs by
 * itself; occurrences inside other rules are added to it. rounds[], by loop if there are loops
 * (loop_stream.h), is the total number of iterations. The occurrences of each symbol are added to
 * count[]. */
void rn_rules_counts(const struct rn_rules *r, const struct rn_loopset *loops,
		     const uint64_t *rounds, uint64_t *times, uint64_t *count);

/* Counts the symbols before the position of a walker. times[] must be zero on entry. rounds[] is
 * scratch with room for all its loops. */
void rn_walk_counts(const struct rn_walk *w, uint64_t *times, uint64_t *rounds, uint64_t *count);

#endif
