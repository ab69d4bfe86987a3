/*
 * call_times.h - when each call of a stream began and ended, in chunks of some thousand calls.
 *
 * The times of a stream are a chain of moments that never goes back: a call begins when the one
 * before it has ended, and ends later. What is kept of each link is its length, rounded down to a
 * level (time_quant.h): of a gap, from the end of the call before as a *reader* has it, so that
 * errors do not add up; and of a duration. So everything that is read is a little early, never
 * late, and what comes next never has to go back. For a call with a base B,
 *
 *   its duration is off by (B - 1) times itself at most;
 *   its beginning is off by (B - 1) times the true gap before it at most.
 *
 * Where the error of the end before is larger than the gap allows (a short gap after a long call),
 * the gap is written finely instead. A reader that knows where the next call begins shows a
 * duration in the middle of what its level stands for, as far as there is room.
 *
 * A call that others were made inside of (model/markers.h) begins at its `enter`, which is kept
 * exactly, and ends behind its `leave`.
 *
 * Lengths are coded (column/range_coder.h) by what came before with the same functions: the
 * function of the call and of the three before it. A signature would say more, but signatures of a
 * rank become others when ranks are merged, and functions do not; so a chunk is written once, while
 * the program runs, and never touched again. On disk: doc/format.md, 14.
 *
 * Memory: the writer's and the reader's structs, which are the caller's; nothing is allocated but
 * what a reader needs for the grain. Not locked: one writer per stream.
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
#define RN_MOMENTS_OPEN  64u /* calls under way that a chunk knows the beginning of */
#define RN_MOMENTS_ROOM  ((size_t)256 << 10) /* bytes of a chunk; one that takes more ends early */

enum rn_moment_kind {
	RN_MOMENT_CALL,
	RN_MOMENT_ENTER, /* marks the beginning of a call that others are made inside of */
	RN_MOMENT_OUTER, /* such a call, when it ends */
	RN_MOMENT_NONE,  /* another marker, which has no time */
};

/* Ticks, from wherever the stream counts them. */
struct rn_moment {
	uint64_t start, end;
	uint32_t func;
	uint32_t kind; /* enum rn_moment_kind */
};

/* ---- the model: see call_times.c ---- */

#define RN_PICKS          24u
#define RN_MOMENT_CTX     128u
#define RN_MOMENT_HISTORY 3u

/* Numbers that come again, the frequent ones first. */
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
	uint8_t slot[4 * RN_MOMENT_CTX]; /* contexts by key, + 1 */
	uint16_t history[RN_MOMENT_HISTORY];
};

/* How far a stream has come. */
struct rn_moment_state {
	uint64_t at; /* as a reader has it */
	uint32_t depth;
	uint64_t open[RN_MOMENTS_OPEN];
};

/* ---- writing ---- */

struct rn_moment_writer {
	const struct rn_grain *grain;
	uint64_t zero;                       /* ticks where the stream begins */
	uint64_t true_end;                   /* of the call before */
	uint32_t n;                          /* symbols in the chunk */
	struct rn_moment_state state, begin; /* now, and when the chunk began */
	struct rn_coder coder;
	struct rn_buf coded;
	struct rn_moment_model model;
	unsigned char room[RN_MOMENTS_ROOM];
};

/* Zeroed memory becomes a writer, whose stream begins at the tick `zero`. */
void rn_moments_begin(struct rn_moment_writer *w, const struct rn_grain *grain, uint64_t zero);

/* The next symbols of the stream, in order, RN_MOMENTS_BATCH at most. True when the chunk is to be
 * closed before there are more. */
bool rn_moments_add(struct rn_moment_writer *w, const struct rn_moment *m, uint32_t n);

/* Bytes that the chunk takes at most, as it is now. */
size_t rn_moments_most(const struct rn_moment_writer *w);

/* Appends the chunk to `out`, of which the caller looks at the status, and begins another one. */
void rn_moments_close(struct rn_moment_writer *w, struct rn_buf *out);

/* ---- reading ---- */

struct rn_moment_reader {
	struct rn_grain grain;
	const unsigned char *grain_bytes; /* that it was read from */
	size_t grain_len;
	uint32_t n; /* symbols of the chunk */
	struct rn_moment_state state;
	struct rn_coder coder;
	struct rn_moment_model model;
};

/* How many symbols a chunk is of, 1 to RN_MOMENTS_CHUNK; 0: it is malformed. */
uint32_t rn_moments_length(const void *bytes, size_t len);

/* The moments of a chunk: m[0 .. n) come with functions and kinds, and get their times. Where the
 * stream has less than the chunk, `n` is less. `mem` has what the reader keeps. RN_OK, RN_E_NOMEM
 * or RN_E_DATA. */
int rn_moments_read(struct rn_moment_reader *r, struct rn_arena *mem, const void *bytes, size_t len,
		    struct rn_moment *m, uint32_t n, struct rn_err *err);

#endif
