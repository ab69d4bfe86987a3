/*
 * lossy.h - what lossy traces keep: a series that has no pattern is replaced by one that has.
 *
 * Of counts of rounds of a loop:
 *
 * What stays is how many executions a loop has, how many rounds they have together, and how these
 * are distributed: the sorted counts are cut into as many slices as there are places, and the mean
 * of a slice is its place's count.
 *
 *	counts   17 19 9 31 17 8 ...              as many as there are steps
 *	places   8 9 10 ... 31 32                 RN_BLUR_PLACES of them, again and again
 *
 * As the sum stays, so does the number of executions of what is inside a loop, and each stream has
 * as many calls of each signature as it had. Only their order is made up. A series is replaced when
 * that makes it smaller: what has a pattern of its own stays as it is.
 *
 * Of numbers in holes (model/elastic_values.h), which need not add up to anything, the middle of
 *each slice is its place: values that occurred, about as often as they did.
 *
 * Deterministic: equal series give equal ones. Memory: results in `mem`, the rest in scratch; uses
 * malloc (buffers).
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

/* What need not be exact. */
struct rn_lossy {
	bool counts;
	uint64_t params; /* series of more numbers than this; 0: none */
};

#define RN_LOSSY_COUNTS "counts"
#define RN_LOSSY_PARAMS "params" /* of more than RN_LOSSY_MOST, or params:N */
#define RN_LOSSY_MOST   256u

/* "counts", "params:1000", "counts,params". False when it is none of these. */
bool rn_lossy_parse(const char *text, struct rn_lossy *out);

#define RN_BLUR_PLACES 32u

/* RN_OK; or RN_E_NOMEM, with everything as it was. */
int rn_blur(struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch);

/* Appends what stands for a series of numbers, as bytes, that has more than `most`: itself, if that
 * is not longer. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_blur_values(const void *bytes, size_t len, uint64_t most, struct rn_arena *scratch,
		   struct rn_buf *out);

#endif
