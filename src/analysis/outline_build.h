/*
 * outline_build.h - builds outline trees (outline.h) from the folded rules.
 *
 * Rules are expanded as far as there are nodes left for the tree; the rest becomes one node. The
 * depth of rules is the input's, that of trees is bounded.
 */
#ifndef RN_ANALYSIS_OUTLINE_BUILD_H
#define RN_ANALYSIS_OUTLINE_BUILD_H

#include "analysis/outline_weight.h"

/* The tree of a rule. RN_OK, RN_E_NOMEM, or RN_E_RANGE: loops with elastic counts do not fit. */
int rn_outline_expand(struct rn_outline_build *b, uint32_t root, struct rn_piece **list);

/* One node for everything. RN_OK or RN_E_NOMEM. */
int rn_outline_rest(struct rn_outline_build *b, const struct rn_weight *w, struct rn_piece **list);

/* Puts nested calls below the calls that they were made in, and drops markers. RN_OK or
 * RN_E_NOMEM. */
int rn_outline_nest(struct rn_outline_build *b, struct rn_piece **list);

#endif
