/*
 * series.h - integers to nested pattern units, online: the mutable builder.
 *
 * A series is a list of parts. Each part is one of
 *   pattern  a first value and a grammar over the differences to the element before: constants,
 *            arithmetic progressions, cyclic deltas, rows of blocks of arrays;
 *   lanes    2 to 16 interleaved patterns, for streams where each L-th element has a stride of
 *            its own (deltas alone never repeat there);
 *   literal  values as they are, where there is no pattern.
 * A part begins as a short buffer of raw values; what they look like decides its kind. A pattern
 * part whose predictions keep failing is closed, and the next part begins; where patterns keep
 * failing, literal stretches get longer before the next try. A literal part is watched for lanes
 * and for loops of up to some thousand elements, which then leave it for a part of their own.
 *
 * The fencepost, once and for all: a pattern part of n elements is its first value followed by
 * n - 1 differences, so [i, (d0, d1)^3] has 1 + 2 * 3 = 7 elements: i, i+d0, i+d0+d1, ... A
 * unit's length always counts elements, never differences.
 *
 * Values are all of int64. A difference that does not fit an int64 closes the part, so nothing in
 * a pattern part wraps around.
 *
 * Cost: append is amortised O(1), a compare and an increment while the pattern holds, and bounded:
 * no append moves more than some thousand values. Memory from the arena: about 2.5 KiB for a
 * lane, whatever its length, 8 bytes for a literal value. Not locked, no libc allocation.
 * Reading: units.h. On disk: doc/format.md.
 */
#ifndef RN_SERIES_SERIES_H
#define RN_SERIES_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_series; /* opaque */

struct rn_series *rn_series_new(struct rn_arena *mem);
/* For elements that never descend and are to be searched: it does without lanes, so that the sealed
 * series is always known to be monotone (units.h). */
struct rn_series *rn_series_new_sorted(struct rn_arena *mem);

/* RN_OK, or RN_E_NOMEM with the series exactly as it was. */
int rn_series_append(struct rn_series *s, int64_t x);

/* The next value if the pattern continues. False if there is no pattern. O(1). */
bool rn_series_expect(const struct rn_series *s, int64_t *next);

/* Verifies the structure of the builder. Sealing verifies the lengths and values of its parts. */
bool rn_series_check(const struct rn_series *s);

#endif
