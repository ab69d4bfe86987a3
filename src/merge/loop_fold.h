/*
 * loop_fold.h - elastic counts: loops whose number of rounds changes become one loop and a series.
 *
 * A grammar is small while every iteration does the same. Where a solver takes 17, then 19 rounds,
 * each count is a place of its own in the rules:
 *
 *	plain    A^17 B  A^19 B  A^9 B C  A^17 B ...
 *	folded   L = (A)^*    with the series 17, 19, 9, 17 ...
 *	         M = (L B)^*  with the series 3, ...              one that comes now and then is
 *between (M C)^n                                          runs of those without it
 *
 * A loop is a symbol behind the signatures, with what one round of it is and, for each group of
 * streams, a series of how many rounds each execution has, in their order. 0 is a count. Streams
 *that differ in counts alone so have the same rules.
 *
 * Folding is done when a trace is written, from the inside out and only where the bytes get fewer.
 * Who reads a trace reads it as it is (rules/loop_stream.h). Others wait for folding, so it takes
 *only so many steps, of which an eighth may be for nothing, and then leaves it at what it has.
 *
 * Deterministic. Memory: results in `mem`, the rest in scratch, where a limit of the arena's is one
 * more reason to leave it at that; uses malloc (buffers).
 */
#ifndef RN_MERGE_LOOP_FOLD_H
#define RN_MERGE_LOOP_FOLD_H

#include <stdint.h>

#include "model/folded_streams.h"

struct rn_arena;

/* RN_OK; or RN_E_NOMEM, when not even what it has can be told: the streams stay as they are. */
int rn_fold(const struct rn_streams *s, struct rn_arena *mem, struct rn_arena *scratch,
	    struct rn_folded *out);

#endif
