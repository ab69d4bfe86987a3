/*
 * partial_trace.h - everything that is known of some ranks, on its way to the trace.
 *
 * A part (streams), the identities of communicators, times, values, events, programs, and a tally.
 * Ranks send theirs up a tree, where they are absorbed in ascending order; what has everything is
 * finished and written. The same bytes go into a file when the tree is not to be had.
 *
 * Memory: the arena of the bundle; absorbing uses another for what it decodes. Trusts no byte.
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

/* Sums, and the most of any rank. */
struct rn_tally {
	uint64_t lost;      /* calls that are not in the trace */
	uint64_t wall_ns;   /* maximum; from the start of the process */
	uint64_t tracer_ns; /* maximum; the part that the tracer used at the end of the run */
	uint64_t memory;    /* most bytes */
};

struct rn_bundle {
	struct rn_arena *mem;
	const struct rn_vocab *vocab;
	struct rn_stream_set part;
	struct rn_comms *comms;
	struct rn_times *times;          /* by the part's signatures; NULL: not kept */
	struct rn_chunk_list moments;    /* call times */
	struct rn_values values;         /* by the part's signatures; */
	struct rn_value_list value_list; /* or, in a decoded bundle, these instead */
	struct rn_order_list order;
	struct rn_programs programs;
	struct rn_tally tally;
};

/* rn_bundle_init: an empty partial trace, to which streams are added. rn_bundle_silent: the streams
 * first .. first + n - 1, without calls. RN_OK or RN_E_NOMEM. */
int rn_bundle_init(struct rn_bundle *b, struct rn_arena *mem, bool times);
int rn_bundle_silent(struct rn_bundle *b, struct rn_arena *mem, uint64_t first, uint64_t n);

int rn_bundle_encode(const struct rn_bundle *b, struct rn_buf *out);

struct rn_bundle_end {
	uint64_t threads; /* number of streams per rank */
	bool incomplete;  /* a rank did not end by itself */
	bool timed;       /* the tally contains the times and the memory of all ranks */
};

/* Adds the metadata that are known only at the end of the run. */
void rn_bundle_facts(const struct rn_bundle *b, const struct rn_bundle_end *end,
		     struct rn_facts *f);

/* Takes in what another rank encoded, whose streams begin right behind this one's. What is refused
 * as damaged leaves the bundle as it was. */
int rn_bundle_absorb(struct rn_bundle *b, const void *bytes, size_t len, struct rn_arena *scratch,
		     struct rn_err *err);

/* Adds another bundle, whose streams follow those of this one. Its part may be in the arena of this
 * one, which then refers to it if it is empty. RN_OK, RN_E_NOMEM, or RN_E_ARG. */
int rn_bundle_merge(struct rn_bundle *b, const struct rn_bundle *from, struct rn_arena *scratch);

/* Adds what a process recorded of a stream besides its calls, to a bundle of this stream alone,
 * which refers to it; map[i] is the signature of its call i. RN_OK, RN_E_NOMEM or RN_E_ARG. */
int rn_bundle_add(struct rn_bundle *b, const struct rn_recorded_stream *s, const uint32_t *map);

/* Makes the trace of a bundle that contains all ranks. The trace is initialized (rn_trace_init),
 * and refers to the bundle. */
int rn_bundle_finish(const struct rn_bundle *b, const struct rn_meta *meta, struct rn_trace *t,
		     struct rn_err *err);

#endif
