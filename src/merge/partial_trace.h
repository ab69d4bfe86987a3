/*
 * partial_trace.h - all data of a range of ranks, encoded for the merge.
 *
 * A partial trace (struct rn_bundle) has a stream set, communicators, time statistics, call times,
 * elastic values, events, programs and a tally. Ranks send their partial traces up a tree, where
 * they are absorbed in ascending order. The partial trace of all ranks is finished and written. The
 * same bytes are written to a file if the tree is not available.
 *
 * Memory is allocated from the arena of the bundle; absorbing uses another one for decoded data.
 * Input of the decoder is untrusted.
 */
#ifndef RN_MERGE_PARTIAL_TRACE_H
#define RN_MERGE_PARTIAL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "merge/stream_set.h"
#include "model/chunk_list.h"
#include "model/elastic_values.h"
#include "model/elastic_values_codec.h"
#include "model/event_list.h"
#include "model/programs.h"

struct rn_arena;
struct rn_buf;
struct rn_comms;
struct rn_facts;
struct rn_meta;
struct rn_recorded_stream;
struct rn_times;
struct rn_trace;
struct rn_vocab;

/* Sums and maxima over all ranks. */
struct rn_tally {
	uint64_t lost;      /* calls that are not in the trace */
	uint64_t wall_ns;   /* maximum; from the start of the process */
	uint64_t tracer_ns; /* maximum; time that the tracer used at the end of the run */
	uint64_t memory;    /* maximum, in bytes */
};

struct rn_bundle {
	struct rn_arena *mem;
	const struct rn_vocab *vocab;
	struct rn_stream_set part;
	struct rn_comms *comms;
	struct rn_times *times;          /* by signature of `part`; NULL: not recorded */
	struct rn_chunk_list moments;    /* call times */
	struct rn_values values;         /* by signature of `part` */
	struct rn_value_list value_list; /* replaces `values` in a decoded bundle */
	struct rn_order_list order;
	struct rn_programs programs;
	struct rn_tally tally;
};

/* rn_bundle_init creates an empty partial trace, to which streams are added. rn_bundle_silent
 * creates the streams first .. first + n - 1 without calls. Both return RN_OK or RN_E_NOMEM. */
int rn_bundle_init(struct rn_bundle *b, struct rn_arena *mem, bool times);
int rn_bundle_silent(struct rn_bundle *b, struct rn_arena *mem, uint64_t first, uint64_t n);

int rn_bundle_encode(const struct rn_bundle *b, struct rn_buf *out);

struct rn_bundle_end {
	uint64_t threads; /* number of streams per rank */
	bool incomplete;  /* a rank did not end by itself */
	bool timed;       /* the tally contains the times and the memory of all ranks */
};

/* Adds the metadata entries that are available only at the end of the run. */
void rn_bundle_facts(const struct rn_bundle *b, const struct rn_bundle_end *end,
		     struct rn_facts *f);

/* Adds an encoded partial trace, whose streams begin directly after those of this one. If the input
 * is malformed, returns RN_E_DATA with the bundle unchanged. */
int rn_bundle_absorb(struct rn_bundle *b, const void *bytes, size_t len, struct rn_arena *scratch,
		     struct rn_err *err);

/* Adds another bundle, whose streams follow those of this one. If this one has no streams and the
 * stream set of the other one is in its arena, the set is shared instead of copied. Returns RN_OK,
 * RN_E_NOMEM or RN_E_ARG. */
int rn_bundle_merge(struct rn_bundle *b, const struct rn_bundle *from, struct rn_arena *scratch);

/* Adds the data that a process recorded for a stream in addition to its calls. The bundle has only
 * this stream, and refers to the data. map[i] is the signature of call i of the stream. Returns
 * RN_OK, RN_E_NOMEM or RN_E_ARG. */
int rn_bundle_add(struct rn_bundle *b, const struct rn_recorded_stream *s, const uint32_t *map);

/* Creates the trace of a bundle that contains all ranks. The trace is initialized (rn_trace_init),
 * and refers to the bundle. */
int rn_bundle_finish(const struct rn_bundle *b, const struct rn_meta *meta, struct rn_trace *t,
		     struct rn_err *err);

#endif
