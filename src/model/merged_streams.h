/*
 * merged_streams.h - the merged trace in memory: who did what.
 *
 * Signatures (the terminals), one pool of rules, and groups: a root rule and the ranks whose
 * stream it is. What rn_part_finish makes, what the writer writes, and what the reader gives back.
 *
 * Invariants, all verified by rn_streams_check:
 *   (1) ranklists are strictly ascending, disjoint, and together exactly 0 .. ranks - 1;
 *   (2) groups have different roots, or loops, and ascend by their first rank;
 *   (3) every rule, loop, literal run and signature is used by some group.
 * Opening a file verifies of (1) and (2) only what is cheap and what memory safety needs.
 *
 * Cost: finding a rank's group asks the ranklists that can hold it, without expanding any; going
 * through all ranks in order is O(log groups) each. Immutable: memory is the maker's arena.
 */
#ifndef RN_MODEL_MERGED_STREAMS_H
#define RN_MODEL_MERGED_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "rules/loop_stream.h"

struct rn_arena;
struct rn_rules;
struct rn_sigs;
struct rn_units;

#define RN_RANKS_MAX ((uint64_t)1 << 31) /* a rank is an int everywhere in MPI */

struct rn_stream_group {
	uint32_t root;
	const struct rn_units *ranks;
	uint64_t first, last; /* of its ranks */
	uint64_t reach;       /* highest `last` of the groups up to this one */
};

/* What there is to be known where rules have loops inside (rules/loop_stream.h, merge/loop_fold.h).
 * Terminals behind the signatures are loops. */
struct rn_stream_loops {
	const struct rn_loopset *set;
	const void **series; /* by group and loop: how many rounds each execution has, or NULL */
	uint64_t *rounds;    /* the same: how many that is in all */
	uint64_t *length;    /* by group */
};

struct rn_streams {
	const struct rn_sigs *sigs;
	const struct rn_rules *rules;
	struct rn_stream_group *group;
	uint32_t groups;
	uint64_t ranks;
	const struct rn_stream_loops *loops; /* NULL: the rules are plain */
};

/* One of the streams of a group: what a walker is made of. */
struct rn_flow rn_streams_flow(const struct rn_streams *s, uint32_t group);
uint64_t rn_streams_length(const struct rn_streams *s, uint32_t group);
/* The loops of all, or NULL; and how many rounds there are in a group, by loop. */
const struct rn_loopset *rn_streams_loops(const struct rn_streams *s);
const uint64_t *rn_streams_rounds(const struct rn_streams *s, uint32_t group);

/* Fills first, last and reach of the groups from their ranklists, and verifies the cheap part of
 * (1) and (2). RN_OK or RN_E_DATA. */
int rn_streams_index(struct rn_streams *s, struct rn_err *err);

/* The group of a rank: RN_OK, or RN_E_RANGE when there is none. */
int rn_streams_find(const struct rn_streams *s, uint64_t rank, uint32_t *group);

/* Calls of all ranks together; saturates at UINT64_MAX. */
uint64_t rn_streams_calls(const struct rn_streams *s);

/* How often each signature occurs, in all streams together: count[] has an entry for each, and
 * saturates at UINT64_MAX. O(size of the rules). RN_OK or RN_E_NOMEM. */
int rn_streams_counts(const struct rn_streams *s, struct rn_arena *scratch, uint64_t *count);

/* All ranks in ascending order with their groups: a heap of the groups' next ranks. */
struct rn_rank_iter {
	const struct rn_streams *s;
	struct rn_rank_next {
		uint64_t rank, index; /* index: into the group's ranklist */
		uint32_t group;
	} * heap;
	uint32_t n;
};

/* Begins at rank `from`. RN_OK or RN_E_NOMEM; the heap is in mem. */
int rn_rank_iter_init(struct rn_rank_iter *it, const struct rn_streams *s, uint64_t from,
		      struct rn_arena *mem);
bool rn_rank_iter_next(struct rn_rank_iter *it, uint64_t *rank, uint32_t *group);

/* Every invariant, those of tables and rules included. RN_OK, RN_E_NOMEM, or RN_E_DATA with the
 * first violation in words. O(ranks log groups + size). */
int rn_streams_check(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err);

#endif
