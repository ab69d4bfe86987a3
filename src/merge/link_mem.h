/*
 * link_mem.h - the binary-tree merge of many ranks inside one process.
 *
 * Ranks are pushed in ascending order. Parts of equal height are merged at once, as a carry runs
 * through a binary counter, so at most log2(ranks) + 1 parts are alive:
 *
 *   rank 6 arrives     stack  [0..3] [4..5] [6]
 *   rank 7 arrives            [0..3] [4..5] [6] [7]
 *                          -> [0..3] [4..5] [6..7] -> [0..3] [4..7] -> [0..7]
 *
 * Memory: one arena per part, taken again when the part has been merged away; a million ranks
 * need as much as twenty parts. Cost: O(ranks) merges, each of the size of its right part. A push
 * that fails with RN_E_NOMEM leaves things as they were, and may be tried again.
 */
#ifndef RN_MERGE_LINK_MEM_H
#define RN_MERGE_LINK_MEM_H

#include <stdint.h>

#include "base/arena.h"
#include "merge/merge.h"

struct rn_streams;

#define RN_LINK_PARTS 66 /* 64 heights and one that is still unmerged, and one being built */

struct rn_link_slot {
	struct rn_arena mem;
	struct rn_part part;
	unsigned height; /* the part holds 2^height ranks, unless the last ones */
};

struct rn_link {
	struct rn_arena scratch;
	struct rn_link_slot slot[RN_LINK_PARTS]; /* a stack; what lies above `parts` is free */
	unsigned parts;
	uint64_t next; /* the rank that comes next */
};

/* `limit` bounds the bytes of each arena; SIZE_MAX when unlimited. */
void rn_link_init(struct rn_link *l, size_t limit);

/* The next rank's stream; table and grammar are not referred to afterwards. */
int rn_link_push(struct rn_link *l, const struct rn_sigs *sigs, const struct rn_grammar *g);

/* Everything that was pushed, finished, in `mem`. RN_E_ARG when nothing was. */
int rn_link_finish(struct rn_link *l, struct rn_arena *mem, struct rn_streams *out);

void rn_link_free(struct rn_link *l);

#endif
