/*
 * outline_merge.h - one tree from the trees of streams that do the same, or nearly (outline.h).
 *
 * Two lists of parts are put on top of each other by their longest common subsequence: calls of the
 * same function, rather in the same manner, and loops half of whose parts are common. What only
 * one has stays, with its own streams. Trees are joined where what they have in common is most of
 * both.
 */
#ifndef RN_ANALYSIS_OUTLINE_MERGE_H
#define RN_ANALYSIS_OUTLINE_MERGE_H

#include <stdint.h>

struct rn_arena;
struct rn_piece;

/* Joins what can be joined: *n trees become fewer, in no order. RN_OK or RN_E_NOMEM. */
int rn_trees_join(struct rn_piece *tree, uint32_t *n, struct rn_arena *mem,
		  struct rn_arena *scratch);

#endif
