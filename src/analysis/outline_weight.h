/*
 * outline_weight.h - calls, bytes and time of each outline node (outline.h).
 *
 * Weights of rules and literal runs are sums over the rules; those of a node follow from the
 * iterations of its loops, whose counts are read from their series. O(rules and executions of loops
 * with elastic counts).
 */
#ifndef RN_ANALYSIS_OUTLINE_WEIGHT_H
#define RN_ANALYSIS_OUTLINE_WEIGHT_H

#include "analysis/outline.h"

struct rn_stretch;
struct rn_units;

#define RN_OUTLINE_BLOCK   256u /* counts of a loop that are read at once */
#define RN_OUTLINE_LITERAL 64u  /* calls of a literal run that are shown */

/* Where a loop's series is read. */
struct rn_outline_counts {
	const struct rn_units *units;
	uint64_t at;
	int64_t value[RN_OUTLINE_BLOCK];
	uint32_t i, n;
};

/* Trees while they are built. */
struct rn_outline_build {
	const struct rn_streams *s;
	const struct rn_outline_sig *sig;
	struct rn_arena *mem, *scratch;
	uint32_t sigs;
	struct rn_weight *rule;           /* by rule, for those without loops */
	struct rn_weight *cut;            /* by literal: what is not shown of it */
	struct rn_weight *whole;          /* by literal */
	struct rn_stretch *stretch;       /* NULL until it is wanted */
	struct rn_outline_counts *counts; /* by loop */
	uint64_t streams;                 /* number of streams of the group whose counts are read */
	uint32_t left, all_left; /* parts that may still be made, for this tree and in all */
	uint64_t runs_left;      /* executions that may still be gone through */
	/* The tree being made: where the next part of each level goes. */
	struct rn_piece **tail[RN_OUTLINE_DEPTH + 1];
	struct rn_piece *last[RN_OUTLINE_DEPTH + 1];
};

/* Adds a weight n times. Sums that do not fit are the largest number. */
void rn_weight_add(struct rn_weight *sum, const struct rn_weight *w, uint64_t n);

/* Weighs rules and literal runs. RN_OK or RN_E_NOMEM. */
int rn_outline_weigh_rules(struct rn_outline_build *b);

/* The weight of a stream of the group. RN_OK or RN_E_NOMEM. */
int rn_outline_weigh_stream(struct rn_outline_build *b, uint32_t group, struct rn_weight *out);

/* Finds the nodes of a list that have a series or contain one that has; returns the first. */
struct rn_piece *rn_outline_find_counted(struct rn_piece *list);

/* Reads the counts of a group. RN_OK, RN_E_NOMEM, or RN_E_RANGE if there are too many. */
int rn_outline_count(struct rn_outline_build *b, uint32_t group, struct rn_piece *first);

/* Sets the weights of the nodes of a list that is executed `visits` times, and adds them up. */
void rn_outline_weigh(const struct rn_outline_build *b, struct rn_piece *list, uint64_t visits,
		      struct rn_weight *sum);

/* Appends a group to a list. RN_OK or RN_E_NOMEM. */
int rn_count_variants_add(struct rn_arena *mem, struct rn_count_variants **first,
			  struct rn_count_variants **last, uint32_t group);

#endif
