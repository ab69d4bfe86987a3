/*
 * merged_streams.h - the merged streams of a trace: signatures, rules and stream groups.
 *
 * Signatures are the terminals of one pool of rules. A stream group is a root rule and the ranks
 * whose stream it is. rn_part_finish creates the merged streams, the writer encodes them, and the
 * reader restores them.
 *
 * Invariants, all verified by rn_streams_check:
 *  (1) rank sets are strictly ascending, disjoint, and their union is exactly 0 .. ranks - 1;
 *  (2) stream groups have different roots, or loops, and ascend by their first rank;
 *  (3) every rule, loop, literal run and signature is used by some stream group.
 * Of (1) and (2), opening a file verifies only the cheap part and what memory safety requires.
 *
 * Cost: finding the group of a rank searches only rank sets whose range includes it, and expands
 * none. Iterating over all ranks in order costs O(log groups) per rank. Immutable; allocated from
 * the arena of the creator.
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

#define RN_RANKS_MAX ((uint64_t)1 << 31) /* a rank is an int in MPI */

struct rn_stream_group {
	uint32_t root;
	const struct rn_units *ranks;
	uint64_t first, last; /* lowest and highest rank */
	uint64_t reach;       /* highest `last` of the groups up to this one */
};

/* Additional data if the rules have loops (rules/loop_stream.h, merge/loop_fold.h). Terminals after
 * the signatures are loops. */
struct rn_stream_loops {
	const struct rn_loopset *set;
	const void **series; /* by group and loop: iteration counts of the executions, or NULL */
	uint64_t *rounds;    /* by group and loop: total number of iterations */
	uint64_t *length;    /* by group: number of symbols in the stream */
};

struct rn_streams {
	const struct rn_sigs *sigs;
	const struct rn_rules *rules;
	struct rn_stream_group *group;
	uint32_t groups;
	uint64_t ranks;
	const struct rn_stream_loops *loops; /* NULL: the rules have no loops */
};

/* Returns a stream of a group in the form that a walker is initialized with. */
struct rn_flow rn_streams_flow(const struct rn_streams *s, uint32_t group);
uint64_t rn_streams_length(const struct rn_streams *s, uint32_t group);
/* rn_streams_loops returns the loops of all streams, or NULL. rn_streams_rounds returns the number
 * of iterations in a stream of the group, by loop; NULL without loops. */
const struct rn_loopset *rn_streams_loops(const struct rn_streams *s);
const uint64_t *rn_streams_rounds(const struct rn_streams *s, uint32_t group);

/* Sets first, last and reach of the groups from their rank sets, and verifies the cheap part of (1)
 * and (2). Returns RN_OK or RN_E_DATA. */
int rn_streams_index(struct rn_streams *s, struct rn_err *err);

/* Stores the group of a rank. Returns RN_OK, or RN_E_RANGE if no group has the rank. */
int rn_streams_find(const struct rn_streams *s, uint64_t rank, uint32_t *group);

/* Returns the number of calls of all ranks; saturates at UINT64_MAX. */
uint64_t rn_streams_calls(const struct rn_streams *s);

/* Counts the occurrences of each signature in all streams. count[] has one entry per signature,
 * which saturates at UINT64_MAX. O(size of the rules). Returns RN_OK or RN_E_NOMEM. */
int rn_streams_counts(const struct rn_streams *s, struct rn_arena *scratch, uint64_t *count);

/* Iterates over all ranks in ascending order, with their groups: a heap of the next rank of each
 * group. */
struct rn_rank_iter {
	const struct rn_streams *s;
	struct rn_rank_next {
		uint64_t rank, index; /* index: into the rank set of the group */
		uint32_t group;
	} * heap;
	uint32_t n;
};

/* Starts at rank `from`. Returns RN_OK or RN_E_NOMEM. The heap is allocated from mem. */
int rn_rank_iter_init(struct rn_rank_iter *it, const struct rn_streams *s, uint64_t from,
		      struct rn_arena *mem);
bool rn_rank_iter_next(struct rn_rank_iter *it, uint64_t *rank, uint32_t *group);

/* Verifies every invariant, including those of tables and rules. Returns RN_OK, RN_E_NOMEM, or
 * RN_E_DATA with a description of the first violation. O(ranks log groups + size). */
int rn_streams_check(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err);

#endif
