/*
 * blur.h - lossy counts: a series of rounds that has no pattern is replaced by one that has.
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
 * Deterministic: equal series give equal ones. Memory: results in `mem`, the rest in scratch; uses
 * malloc (buffers).
 */
#ifndef RN_MERGE_BLUR_H
#define RN_MERGE_BLUR_H

#include "base/err.h"

struct rn_arena;
struct rn_folded;

#define RN_BLUR_PLACES 32u

/* RN_OK; or RN_E_NOMEM, with everything as it was. */
int rn_blur(struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch);

#endif
