/*
 * counts.h - how often symbols occur, from the rules: nothing is expanded.
 *
 * O(size of the rules and of the literal runs). Sums saturate at UINT64_MAX.
 */
#ifndef RN_RULES_COUNTS_H
#define RN_RULES_COUNTS_H

#include <stdint.h>

#include "rules/rules.h"

/* times[] says for each rule how often it occurs by itself, and has what follows added; count[], by
 * symbol, gets what is in all of them. */
void rn_rules_counts(const struct rn_rules *r, uint64_t *times, uint64_t *count);

/* The same for what comes before a walker; times[] is zeroed before. */
void rn_walk_counts(const struct rn_walk *w, uint64_t *times, uint64_t *count);

#endif
