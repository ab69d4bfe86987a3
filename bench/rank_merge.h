/*
 * rank_merge.h - the streams of virtual ranks, merged inside one process.
 *
 * Ranks are added in ascending order. Each one is merged at once, which costs its own size
 * (merge/merge.h), so memory is that of the merged ranks and of one more. An addition that fails
 * with RN_E_NOMEM may be tried again.
 */
#ifndef RN_BENCH_RANK_MERGE_H
#define RN_BENCH_RANK_MERGE_H

#include <stdint.h>

#include "base/arena.h"
#include "merge/merge.h"

struct rn_meta;
struct rn_vocab;

struct rank_merge {
	struct rn_arena mem, leaf, scratch;
	struct rn_part part;
	uint64_t next; /* the rank that is added next */
};

void rank_merge_init(struct rank_merge *m);

/* The stream of the next rank; table and grammar are not referred to afterwards. */
int rank_merge_add(struct rank_merge *m, const struct rn_sigs *sigs, const struct rn_grammar *g);

/* All ranks, finished, in `mem`. RN_E_ARG if there are none. */
int rank_merge_finish(struct rank_merge *m, struct rn_arena *mem, struct rn_streams *out);

void rank_merge_free(struct rank_merge *m);

/* A trace of these streams and nothing else. */
int rank_merge_write(const char *path, const struct rn_streams *s, const struct rn_vocab *vocab,
		     const struct rn_meta *meta, struct rn_err *err);

#endif
