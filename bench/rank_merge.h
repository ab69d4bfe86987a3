/*
 * rank_merge.h - merges the streams of virtual ranks inside one process.
 *
 * Ranks are added in ascending order. Each rank is merged when it is added, at a cost proportional
 * to its own size (merge/stream_set.h). Memory holds the merged ranks and one more rank. After
 * RN_E_NOMEM the same rank may be added again.
 */
#ifndef RN_BENCH_RANK_MERGE_H
#define RN_BENCH_RANK_MERGE_H

#include <stdint.h>

#include "base/arena.h"
#include "merge/stream_set.h"

struct rn_bundle;
struct rn_container_writer;
struct rn_grammar;
struct rn_meta;
struct rn_sigs;
struct rn_written;
struct rn_vocab;

struct rank_merge {
	struct rn_arena mem, leaf, scratch;
	struct rn_stream_set part;
	uint64_t next; /* the rank that the next rank_merge_add() adds */
};

/* Initializes *p as the stream set of one rank. Does not modify the table or the grammar. */
int rank_merge_leaf(struct rn_stream_set *p, struct rn_arena *mem, uint64_t rank,
		    const struct rn_sigs *sigs, const struct rn_grammar *g);

void rank_merge_init(struct rank_merge *m);

/* Adds the stream of the next rank. Does not refer to the table and the grammar afterwards. */
int rank_merge_add(struct rank_merge *m, const struct rn_sigs *sigs, const struct rn_grammar *g);

/* Stores the merged streams of all ranks in `mem`. RN_E_ARG if no rank was added. */
int rank_merge_finish(struct rank_merge *m, struct rn_arena *mem, struct rn_streams *out);

void rank_merge_free(struct rank_merge *m);

/* Adds the sections of a trace that contains only these streams. */
int rank_merge_sections(struct rn_container_writer *w, const struct rn_streams *s,
			const struct rn_vocab *vocab, const struct rn_meta *meta,
			struct rn_err *err);

/* Converts a partial trace to a trace and writes it. */
int rank_merge_bundle(const struct rn_bundle *b, const struct rn_meta *meta, const char *path,
		      struct rn_written *out, struct rn_err *err);

/* Writes a trace that contains only these streams. */
int rank_merge_write(const char *path, const struct rn_streams *s, const struct rn_vocab *vocab,
		     const struct rn_meta *meta, struct rn_err *err);

#endif
