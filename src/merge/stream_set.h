/*
 * stream_set.h - merges the streams of many ranks into one set.
 *
 * A stream set covers a set of ranks. It has one signature table, one pool of rules, and stream
 * groups: a root rule and the ranks whose stream it is. The set of a single rank has one group. A
 * merge renumbers the signatures and rules of the other set into this one. Equal streams get the
 * same root (hash-consing), and their rank sets are joined. Sets are merged pairwise in a binary
 * tree, so a rank takes part in O(log ranks) merges, and only distinct streams are compared.
 *
 * During the merge a rank set is a list of runs (first, step, count). Joining two lists is a copy
 * that cannot fail once the memory is reserved, and the set of one rank is small. The final form is
 * a series (merged_streams.h).
 *
 * Invariants: groups have different roots and no rank twice; runs ascend; groups are in order of
 * their first ranks. (The order follows from merging in ascending order of ranks.) The result of a
 * merge does not depend on the shape of the tree, except for the numbering; rn_part_finish removes
 * that dependence.
 *
 * Cost of a merge: the size of the added set, not of the set that it is added to. Memory is
 * allocated from the arena of the set. A merge that fails with RN_E_NOMEM leaves the groups
 * unchanged; some unused signatures and rules may remain.
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
	uint64_t first, step, n; /* n ranks: first, first + step, ...; step is 0 if n is 1 */
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
	uint32_t *group_of; /* by root: index of the group + 1, or 0; group_of_cap entries */
	uint32_t group_of_cap;
	uint64_t ranks;       /* number of ranks */
	uint64_t first, last; /* lowest and highest rank */
};

/* Initializes a set without ranks. Returns RN_OK or RN_E_NOMEM. */
int rn_part_empty(struct rn_stream_set *p, struct rn_arena *mem);

/* Adds the first streams to an empty set: streams first .. first + n - 1, all with the rule `root`
 * of the set. Returns RN_OK or RN_E_NOMEM. */
int rn_part_streams(struct rn_stream_set *p, uint32_t root, uint64_t first, uint64_t n);

/* Adds `b`, whose ranks are all higher than those of `a`. `b` is unchanged and not referred to
 * afterwards. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if the ranks do not follow. */
int rn_part_merge(struct rn_stream_set *a, const struct rn_stream_set *b, struct rn_arena *scratch);

/* Converts the set to its final form, in `mem`. Equal item sequences of different streams become
 * shared rules if that is smaller. Unused rules and signatures are removed. All ids depend on the
 * streams alone. The set is unchanged. Uses malloc (a buffer). */
int rn_part_finish(const struct rn_stream_set *p, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out);

#endif
