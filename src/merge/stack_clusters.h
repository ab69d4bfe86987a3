/*
 * stack_clusters.h - the stack clusters (encode/callsite.h) of the calls of a stream.
 *
 * During the run, stacks have ids that are valid in one process, and the elastic values of calls
 * are such ids. A signature contains all stacks of a cluster, ordered by their bytes, and the
 * elastic value is an index into them. Ranks that called from the same stacks therefore have the
 * same signatures, whatever stack they called from first. Ids may come from a file. An id without a
 * stack, and ids beyond the maximum number of stacks, become the unknown stack.
 *
 * Cost: linear in the number of elastic values that are stack ids. Memory is allocated from the
 * arena: 3 KiB per cluster.
 */
#ifndef RN_MERGE_STACK_CLUSTERS_H
#define RN_MERGE_STACK_CLUSTERS_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/elastic_values.h"

struct rn_arena;
struct rn_stream_calls;
struct rn_sigs;

struct rn_alike {
	struct rn_arena *mem;
	struct rn_sigs *first; /* uint32_t, stack id in the call words, to the index in `stacks` */
	struct rn_seg stacks;  /* struct rn_stack_cluster */
};

/* Finds all clusters of a stream. Returns RN_OK or RN_E_NOMEM. */
int rn_alike_find(struct rn_alike *a, struct rn_arena *mem, const struct rn_stream_calls *c);

/* Returns the cluster of a stack id in the call words; NULL if the stream does not have it. */
const struct rn_stack_cluster *rn_alike_stacks(const struct rn_alike *a, uint32_t first);

#endif
