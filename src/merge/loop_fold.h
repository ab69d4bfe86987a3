/*
 * loop_fold.h - folds loops whose iteration count varies: each becomes one loop and a series of
 * counts.
 *
 * A grammar is small while all iterations are equal. If a solver runs 17, then 19 iterations, each
 * count is a separate item of the rules:
 *
 *	plain    A^17 B  A^19 B  A^9 B C  A^17 B ...
 *	folded   L = (A)^*    with the series 17, 19, 9, 17 ...
 *	         M = (L B)^*  with the series 3, ...
 *	         (M C)^n      an occasional symbol separates runs of iterations without it
 *
 * A loop is a symbol numbered after the signatures. It has a body and, for each stream group, a
 * series of the iteration counts of its executions, in order. A count may be 0. Streams that differ
 * only in counts have the same rules.
 *
 * Folding runs when a trace is written, from the innermost loops outwards, and only where it
 * reduces the number of bytes. Readers do not expand loops (rules/loop_stream.h). The other ranks
 * wait while loops are folded, so the number of steps is limited. At most an eighth of them may be
 * used by unsuccessful trials. At the limit, the loops found so far are the result.
 *
 * Deterministic. Memory: results in `mem`, temporary data in scratch. Reaching the limit of that
 * arena also ends the search. Uses malloc (buffers).
 */
#ifndef RN_MERGE_LOOP_FOLD_H
#define RN_MERGE_LOOP_FOLD_H

#include <stdint.h>

#include "model/folded_streams.h"

struct rn_arena;

/* Returns RN_OK, or RN_E_NOMEM if there is no memory to store the loops; the streams in *out are
 * then not folded. */
int rn_fold(const struct rn_streams *s, struct rn_arena *mem, struct rn_arena *scratch,
	    struct rn_folded *out);

#endif
