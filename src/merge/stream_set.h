/*
 * stream_set.h - many ranks' streams into one trace.
 *
 * A part is a set of ranks with one signature table, one pool of rules, and groups: a root rule
 * and the ranks whose stream it is. A rank alone is a part with one group; merging brings another
 * part's signatures and rules into this one's numbering, where equal streams become the same root
 * (hash-consing) and their ranklists are joined. Parts are merged pairwise in a binary tree, so a
 * rank takes part in O(log ranks) merges and only distinct streams are ever compared.
 *
 * While parts are merged, a ranklist is a list of runs (first, step, count): joining two is a copy
 * that cannot fail once there is room, and a part of one rank costs next to nothing. It becomes a
 * Series when the part is finished (merged_streams.h).
 *
 * Invariants: groups have different roots and no rank twice, runs ascend, and groups are in the
 * order of their first ranks (which holds by itself, because the ranks that come in are higher
 * than those that are there). The result of a merge does not depend on the shape of the tree,
 * except for the numbering, and rn_part_finish removes that.
 *
 * Cost of a merge: the size of the part that is taken in, not of the one that takes it.
 * Memory: everything from the part's arena; a merge that fails with RN_E_NOMEM leaves the part's
 * groups as they were (some unused signatures and rules may stay behind).
 */
#ifndef RN_MERGE_STREAM_SET_H
#define RN_MERGE_STREAM_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_rules;
struct rn_sigs;
struct rn_streams;

struct rn_run {
	uint64_t first, step, n; /* first, first + step, ...: n of them; step is 0 when n is 1 */
};

struct rn_ranks {
	struct rn_run *run; /* ascending */
	uint32_t n, cap;
};

struct rn_group {
	uint32_t root; /* rule */
	struct rn_ranks ranks;
};

struct rn_stream_set {
	struct rn_arena *mem;
	struct rn_sigs *sigs;
	struct rn_rules *rules;
	struct rn_group *group;
	uint32_t groups, group_cap;
	uint32_t *group_of; /* by root: group number + 1, or 0; group_of_cap entries */
	uint32_t group_of_cap;
	uint64_t ranks;       /* how many */
	uint64_t first, last; /* the lowest and the highest */
};

/* A part of no rank. RN_OK or RN_E_NOMEM. */
int rn_part_empty(struct rn_stream_set *p, struct rn_arena *mem);

/* Adds the first streams to a part without streams: streams first .. first + n - 1, which have the
 * rule `root` of the part. RN_OK or RN_E_NOMEM. */
int rn_part_streams(struct rn_stream_set *p, uint32_t root, uint64_t first, uint64_t n);

/* Takes `b`, whose ranks all come after a's, into `a`; b is not changed and not referred to
 * afterwards. RN_OK, RN_E_NOMEM, or RN_E_ARG when the ranks do not follow. */
int rn_part_merge(struct rn_stream_set *a, const struct rn_stream_set *b, struct rn_arena *scratch);

/* The finished form, in `mem`: what different streams still have in common (equal stretches of
 * their rules) becomes shared rules, where that is smaller; unused rules and signatures go; all
 * numbers depend on the streams alone. The part is not changed. Uses malloc (a buffer). */
int rn_part_finish(const struct rn_stream_set *p, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out);

#endif
