/*
 * call_times.h - start and end of each call of a stream, in chunks of some thousand calls.
 *
 * The times of a stream never decrease: a call starts when the previous one has ended, or later.
 * The chunk stores the length of each gap and each duration, rounded down to a quantization level
 * (time_quant.h). A gap is measured from the end of the previous call *as the reader reconstructs
 * it*, so errors do not accumulate. A reconstructed time is therefore never later than the true
 * time, and reconstructed times never decrease. For a call with base B,
 *
 *   the error of its duration is at most (B - 1) times the duration;
 *   the error of its start is at most (B - 1) times the true gap before it.
 *
 * If the error of the previous end is larger than the bound for the gap (a short gap after a long
 * call), the gap is written with a finer resolution. A reader that knows the start of the next call
 * reports a duration in the middle of the interval of its level, as far as that start permits.
 *
 * A call with nested calls (model/markers.h) starts at its `enter` marker, which is stored exactly,
 * and ends after its `leave` marker.
 *
 * Lengths are range-coded (column/range_coder.h) in the context of the function of the call and of
 * the three previous functions. Signatures would predict better, but the merge of ranks renumbers
 * signatures and not functions. A chunk is therefore written once, while the program runs, and
 * never rewritten. On disk: doc/format.md, 14.
 *
 * Memory: the structs of the writer and the reader belong to the caller. The reader allocates
 * memory for the quantization levels only. Not locked: one writer per stream.
 */
#ifndef RN_ENCODE_CALL_TIMES_H
#define RN_ENCODE_CALL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "column/range_coder.h"
#include "encode/time_quant.h"

#define RN_MOMENTS_CHUNK 16384u /* symbols of a stream, markers included */
#define RN_MOMENTS_BATCH 512u
#define RN_MOMENTS_OPEN  64u                 /* calls in flight whose start a chunk records */
#define RN_MOMENTS_ROOM  ((size_t)256 << 10) /* maximum bytes; then a chunk is closed early */

enum rn_moment_kind {
	RN_MOMENT_CALL,
	RN_MOMENT_ENTER, /* marks the start of a call with nested calls */
	RN_MOMENT_OUTER, /* the end of a call with nested calls */
	RN_MOMENT_NONE,  /* another marker; it has no time */
};

/* Times in ticks, from an origin that the stream chooses. */
struct rn_moment {
	uint64_t start, end;
	uint32_t func;
	uint32_t kind; /* enum rn_moment_kind */
};

/* ---- the model: see call_times.c ---- */

#define RN_PICKS          24u
#define RN_MOMENT_CTX     128u
#define RN_MOMENT_HISTORY 3u

/* Recurring values, sorted by descending frequency. */
struct rn_picks {
	struct rn_chance is[RN_PICKS][2];
	uint16_t at[RN_PICKS], times[RN_PICKS];
	uint16_t n, last;
};

struct rn_moment_ctx {
	uint64_t key;
	struct rn_picks gap, dur, fine, drop;
	struct rn_chance is_fine;
};

struct rn_moment_model {
	struct rn_moment_ctx ctx[RN_MOMENT_CTX];
	uint32_t contexts;
	uint8_t slot[4 * RN_MOMENT_CTX]; /* hash table from key to index in ctx, plus 1 */
	uint16_t history[RN_MOMENT_HISTORY];
};

/* The position in a stream. */
struct rn_moment_state {
	uint64_t at; /* the time that the reader reconstructs */
	uint32_t depth;
	uint64_t open[RN_MOMENTS_OPEN];
};

/* ---- writing ---- */

struct rn_moment_writer {
	const struct rn_grain *grain;
	uint64_t zero;                       /* tick at which the stream begins */
	uint64_t true_end;                   /* true end of the previous call */
	uint32_t n;                          /* symbols in the chunk */
	struct rn_moment_state state, begin; /* now, and at the start of the chunk */
	struct rn_coder coder;
	struct rn_buf coded;
	struct rn_moment_model model;
	unsigned char room[RN_MOMENTS_ROOM];
};

/* Initializes a writer in zeroed memory. The stream begins at the tick `zero`. */
void rn_moments_begin(struct rn_moment_writer *w, const struct rn_grain *grain, uint64_t zero);

/* Adds the next symbols of the stream, at most RN_MOMENTS_BATCH. Returns true if the chunk must be
 * closed before more are added. */
bool rn_moments_add(struct rn_moment_writer *w, const struct rn_moment *m, uint32_t n);

/* Returns an upper bound for the size of the current chunk in bytes. */
size_t rn_moments_most(const struct rn_moment_writer *w);

/* Appends the chunk to `out` and begins the next one. The caller checks the status of `out`. */
void rn_moments_close(struct rn_moment_writer *w, struct rn_buf *out);

/* ---- reading ---- */

struct rn_moment_reader {
	struct rn_grain grain;
	const unsigned char *grain_bytes; /* the bytes that `grain` was decoded from */
	size_t grain_len;
	uint32_t n; /* symbols of the chunk */
	struct rn_moment_state state;
	struct rn_coder coder;
	struct rn_moment_model model;
};

/* Returns the number of symbols of a chunk, 1 to RN_MOMENTS_CHUNK; 0: the chunk is malformed. */
uint32_t rn_moments_length(const void *bytes, size_t len);

/* Reads the times of a chunk into m[0 .. n), whose functions and kinds the caller has set. n is
 * less than the chunk's number of symbols if the stream ends inside the chunk. The reader allocates
 * from `mem`. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_moments_read(struct rn_moment_reader *r, struct rn_arena *mem, const void *bytes, size_t len,
		    struct rn_moment *m, uint32_t n, struct rn_err *err);

#endif
