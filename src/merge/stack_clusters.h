/*
 * stack_clusters.h - which of the stacks that are alike (encode/callsite.h) the calls of a stream
 * were made from.
 *
 * While a program runs they have numbers of its process, and so has what stands in the holes of
 * calls. In a signature all of them follow each other, ordered by their bytes, and a number in the
 * hole is a place among them: ranks that were in the same places have the same signatures, whatever
 * they came to first. Numbers may come from a file: one that no stack has is that of the stack that
 * is not known, as are those beyond what there can be.
 *
 * Cost: all that stands in those holes. Memory from the arena: 3 KiB for each set of them.
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
	struct rn_sigs *first; /* uint32_t, the number that is in words, to that of its stacks */
	struct rn_seg stacks;  /* struct rn_stack_cluster */
};

/* All that a stream has. RN_OK or RN_E_NOMEM. */
int rn_alike_find(struct rn_alike *a, struct rn_arena *mem, const struct rn_stream_calls *c);

/* Those of a number that is in words of the stream; NULL when it is not. */
const struct rn_stack_cluster *rn_alike_stacks(const struct rn_alike *a, uint32_t first);

#endif
