/*
 * lossy.h - lossy traces: replaces a series without a pattern by an approximation with a pattern.
 *
 * Counts of loop iterations:
 *
 * The replacement preserves the number of executions of a loop, the total number of iterations,
 * and the distribution of the counts. The sorted counts are divided into RN_BLUR_PLACES slices of
 * equal size. The mean of each slice becomes one count of a pattern, which is repeated:
 *
 *	counts    17 19 9 31 17 8 ...             one per execution
 *	pattern   8 9 10 ... 31 32                RN_BLUR_PLACES counts, repeated
 *
 * Because the sum is unchanged, so is the number of executions of everything inside a loop. Each
 * stream has as many calls of each signature as before; only their order changes. A series is
 * replaced only if that makes it smaller, so a series with a pattern of its own is unchanged.
 *
 * Elastic values (model/elastic_values.h) have no sum to preserve. For these, the median of each
 * slice is used: values that occurred, about as often as they did.
 *
 * Deterministic: equal series have equal replacements. Memory: results in `mem`, temporary data in
 * scratch; uses malloc (buffers).
 */
#ifndef RN_MODEL_LOSSY_H
#define RN_MODEL_LOSSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_folded;

/* The data that may be inexact. */
struct rn_lossy {
	bool counts;
	uint64_t params; /* series with more elements than this are replaced; 0: none */
};

#define RN_LOSSY_COUNTS "counts"
#define RN_LOSSY_PARAMS "params" /* longer than RN_LOSSY_MOST, or params:N */
#define RN_LOSSY_MOST   256u

/* Parses "counts", "params:1000" or "counts,params". False if the text is malformed. */
bool rn_lossy_parse(const char *text, struct rn_lossy *out);

#define RN_BLUR_PLACES 32u

/* Replaces the iteration counts of all loops. Returns RN_OK, or RN_E_NOMEM with the streams
 * unchanged. */
int rn_blur(struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch);

/* Appends the replacement of an encoded series of more than `most` elements. Appends the series
 * itself if it has no more elements than that, or if the replacement is not smaller. Returns RN_OK,
 * RN_E_NOMEM or RN_E_DATA. */
int rn_blur_values(const void *bytes, size_t len, uint64_t most, struct rn_arena *scratch,
		   struct rn_buf *out);

#endif
