/*
 * canonicalize.h - a stream's distinct calls: from words (encode/call_words.h) to canonical bytes,
 * when it is over.
 *
 * Twice: first with every number that may differ between ranks left out, to learn what those
 * numbers are (slots); then, when it is settled for all ranks how to express each slot, for good.
 * What stands in holes (encode/elastic_slots.h) becomes series of values (model/elastic_values.h),
 * ranks in it as is chosen for all of them. In the process that made the calls, or without MPI from
 * what it left (recover/journal_read.h).
 */
#ifndef RN_MERGE_CANONICALIZE_H
#define RN_MERGE_CANONICALIZE_H

#include <stdint.h>

#include "base/err.h"
#include "encode/call_words.h"

struct rn_buf;
struct rn_choices;
struct rn_comms;
struct rn_peers;
struct rn_process_table;
struct rn_sigs;
struct rn_seg;
struct rn_times;
struct rn_values;

struct rn_stream_calls {
	const struct rn_process_table *process;
	const struct rn_sigs *words, *blobs, *texts;
	const struct rn_times *times; /* how often each was made */
	const struct rn_seg *holes;   /* struct rn_holes *, by number; NULL: those have none */
};

/* Adds the slots of all calls of a stream. RN_OK or RN_E_NOMEM. */
int rn_canonical_collect(const struct rn_stream_calls *c, struct rn_peers *p);

/* Appends the bytes of these words, a call that need not be one of the stream's, with its numbers
 * as they are. RN_OK, RN_E_NOMEM, or RN_E_ARG or RN_E_RANGE: they are none. */
int rn_canonical_one(const struct rn_stream_calls *c, const uint64_t *words, size_t n,
		     struct rn_buf *out);

/* What a stream's calls become. */
struct rn_canonical_out {
	struct rn_comms *tables;  /* numbers that each rank has its own of */
	struct rn_sigs *sigs;     /* the calls; empty before */
	uint32_t *map;            /* where each is */
	struct rn_values *values; /* what stands in their holes */
	uint64_t stream;          /* its number */
	uint64_t *lost;           /* of those that cannot be written how many were made is added */
};

/* All calls. One that cannot be written is one of its function without arguments. RN_OK or
 * RN_E_NOMEM. */
int rn_canonical_write(const struct rn_stream_calls *c, const struct rn_choices *choices,
		       const struct rn_canonical_out *out);

#endif
