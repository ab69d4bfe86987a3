/*
 * outline_weight.h - calls, bytes and time of each outline node (outline.h).
 *
 * The weights of rules and literal runs are sums over the rules. The weight of a node follows from
 * the iterations of its loops; elastic counts are read from their series. Cost: O(rules +
 * executions of loops with elastic counts).
 */
#ifndef RN_ANALYSIS_OUTLINE_WEIGHT_H
#define RN_ANALYSIS_OUTLINE_WEIGHT_H

#include "analysis/outline.h"

struct rn_stretch;
struct rn_units;

#define RN_OUTLINE_BLOCK   256u /* number of counts of a loop that are read at once */
#define RN_OUTLINE_LITERAL 64u  /* number of calls of a literal run that become nodes */

/* Read position in the series of a loop, with a block of counts. */
struct rn_outline_counts {
	const struct rn_units *units;
	uint64_t at;
	int64_t value[RN_OUTLINE_BLOCK];
	uint32_t i, n;
};

/* State shared by the functions that build trees. */
struct rn_outline_build {
	const struct rn_streams *s;
	const struct rn_outline_sig *sig;
	struct rn_arena *mem, *scratch;
	uint32_t sigs;
	struct rn_weight *rule;  /* by rule; loops with elastic counts have weight 0 */
	struct rn_weight *cut;   /* by literal run: weight of the calls that do not become nodes */
	struct rn_weight *whole; /* by literal run: weight of all calls */
	struct rn_stretch *stretch;       /* NULL until needed */
	struct rn_outline_counts *counts; /* by loop */
	uint64_t streams;                 /* number of streams of the group whose counts are read */
	uint32_t left, all_left; /* nodes that can still be created, in this tree and in all */
	uint64_t runs_left;      /* executions that can still be read */
	/* End of the list and last node of each level of the current tree. */
	struct rn_piece **tail[RN_OUTLINE_DEPTH + 1];
	struct rn_piece *last[RN_OUTLINE_DEPTH + 1];
};

/* Adds n times a weight. Sums that overflow become the maximum value. */
void rn_weight_add(struct rn_weight *sum, const struct rn_weight *w, uint64_t n);

/* Computes the weights of rules and literal runs. Returns RN_OK or RN_E_NOMEM. */
int rn_outline_weigh_rules(struct rn_outline_build *b);

/* Computes the weight of one stream of the stream group. Returns RN_OK or RN_E_NOMEM. */
int rn_outline_weigh_stream(struct rn_outline_build *b, uint32_t group, struct rn_weight *out);

/* Links the nodes of a list that have an elastic count or contain such a node. Returns the first of
 * them. */
struct rn_piece *rn_outline_find_counted(struct rn_piece *list);

/* Reads the counts of a stream group. `first` is the result of rn_outline_find_counted. Returns
 * RN_OK, RN_E_NOMEM, or RN_E_RANGE if the limit on executions is exceeded. */
int rn_outline_count(struct rn_outline_build *b, uint32_t group, struct rn_piece *first);

/* Sets the weights of the nodes of a list that is executed `visits` times, and adds them to
 * *sum. */
void rn_outline_weigh(const struct rn_outline_build *b, struct rn_piece *list, uint64_t visits,
		      struct rn_weight *sum);

/* Appends a stream group to a list. Returns RN_OK or RN_E_NOMEM. */
int rn_count_variants_add(struct rn_arena *mem, struct rn_count_variants **first,
			  struct rn_count_variants **last, uint32_t group);

#endif
