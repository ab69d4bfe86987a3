/*
 * outline_merge.h - merges the outlines (outline.h) of streams that do the same, or nearly the
 * same.
 *
 * Two lists of nodes are merged along their longest common subsequence. Calls match if they are of
 * the same function, preferably in the same manner; loops match if half of their nodes are common.
 * A node that only one list has is retained with its own streams. Trees are merged if their common
 * nodes are most of both trees.
 */
#ifndef RN_ANALYSIS_OUTLINE_MERGE_H
#define RN_ANALYSIS_OUTLINE_MERGE_H

#include <stdint.h>

struct rn_arena;
struct rn_piece;

/* Merges equal and similar trees. *n is the number of trees; their order is not specified
 * afterwards. Returns RN_OK or RN_E_NOMEM. */
int rn_trees_join(struct rn_piece *tree, uint32_t *n, struct rn_arena *mem,
		  struct rn_arena *scratch);

#endif
