/*
 * canonicalize.h - converts the distinct calls of one stream from call words (encode/call_words.h)
 * to signatures, at the end of the run.
 *
 * Calls are converted twice. The first conversion omits every value that may differ between ranks,
 * and collects these values (rank parameters). After the rank expression of each parameter is
 * chosen for all ranks, the second conversion writes the final signatures. The values of elastic
 * slots (encode/elastic_slots.h) become series (model/elastic_values.h); ranks in them are
 * expressed as chosen for all ranks. The conversion runs in the process that made the calls or,
 * without MPI, on its journal (recover/journal_read.h).
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
	const struct rn_times *times; /* call counts */
	const struct rn_seg *holes;   /* struct rn_holes *, by call; NULL: no elastic slots */
};

/* Adds the rank parameters of all calls of a stream. Returns RN_OK or RN_E_NOMEM. */
int rn_canonical_collect(const struct rn_stream_calls *c, struct rn_peers *p);

/* Appends the signature of a call given as words, with absolute values. The call need not be in the
 * stream. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG or RN_E_RANGE if the words are invalid. */
int rn_canonical_one(const struct rn_stream_calls *c, const uint64_t *words, size_t n,
		     struct rn_buf *out);

/* Results of the conversion of one stream. */
struct rn_canonical_out {
	struct rn_comms *tables;  /* receives the per-rank tables */
	struct rn_sigs *sigs;     /* receives the signatures; initially empty */
	uint32_t *map;            /* by call: its signature */
	struct rn_values *values; /* receives the elastic values */
	uint64_t stream;          /* number of the stream */
	uint64_t *lost;           /* calls not converted completely are added */
};

/* Converts all calls. A call that cannot be converted becomes a call of its function without
 * arguments. Returns RN_OK or RN_E_NOMEM. */
int rn_canonical_write(const struct rn_stream_calls *c, const struct rn_choices *choices,
		       const struct rn_canonical_out *out);

#endif
