/*
 * outline_build.h - builds outline trees (outline.h) from the folded rules.
 *
 * Rules are expanded until the tree has no nodes left. Whatever follows becomes a rest node. The
 * depth of rules is unbounded; that of trees is bounded.
 */
#ifndef RN_ANALYSIS_OUTLINE_BUILD_H
#define RN_ANALYSIS_OUTLINE_BUILD_H

#include "analysis/outline_weight.h"

/* Builds the tree of a rule. Returns RN_OK, RN_E_NOMEM, or RN_E_RANGE if the loops with elastic
 * counts exceed the limits. */
int rn_outline_expand(struct rn_outline_build *b, uint32_t root, struct rn_piece **list);

/* Builds a tree of one rest node with weight w. Returns RN_OK or RN_E_NOMEM. */
int rn_outline_rest(struct rn_outline_build *b, const struct rn_weight *w, struct rn_piece **list);

/* Moves nested calls below the calls they were made in, and removes markers. Returns RN_OK or
 * RN_E_NOMEM. */
int rn_outline_nest(struct rn_outline_build *b, struct rn_piece **list);

#endif
