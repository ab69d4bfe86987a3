/*
 * series.h - online builder that converts a sequence of integers to nested pattern units.
 *
 * A series is a list of units. A unit is one of:
 *   pattern  a first value, and a grammar over the differences between successive elements:
 * constants, arithmetic progressions, cyclic deltas, rows of blocks of arrays; lanes    2 to 16
 * interleaved patterns, for sequences in which every L-th element has a separate stride, so that
 * the deltas alone never repeat; literal  values without a pattern, stored as they are. A unit
 * begins as a short buffer of raw values, which determine its kind. A pattern unit whose
 * predictions keep failing is closed, and the next unit begins. Where patterns fail repeatedly, the
 * literal spans between attempts become longer. A literal unit is searched for lanes, and for loops
 * of up to some thousand elements. These leave it and become a separate unit.
 *
 * Length of a pattern: a pattern of n elements is its first value followed by n - 1 differences. So
 * [i, (d0, d1)^3] has 1 + 2 * 3 = 7 elements: i, i+d0, i+d0+d1, ... The length of a unit always
 * counts elements, never differences.
 *
 * Values are any int64. A difference that does not fit an int64 closes the unit, so nothing in a
 * pattern unit wraps around.
 *
 * Cost: an append is amortized O(1), and a compare and an increment while the pattern continues. It
 * is bounded: no append moves more than some thousand values. Memory: from the arena, about 2.5 KiB
 * per lane of any length, and 8 bytes per literal value. Not locked; no libc allocation. Reading:
 * units.h. File format: doc/format.md.
 */
#ifndef RN_SERIES_SERIES_H
#define RN_SERIES_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_series; /* opaque */

struct rn_series *rn_series_new(struct rn_arena *mem);
/* Creates a series for elements that never decrease and are to be searched. It has no lanes, so the
 * sealed series is always known to be monotone (units.h). */
struct rn_series *rn_series_new_sorted(struct rn_arena *mem);

/* Returns RN_OK, or RN_E_NOMEM with the series unchanged. */
int rn_series_append(struct rn_series *s, int64_t x);

/* Stores the next value if the pattern continues. Returns false if there is no pattern. O(1). */
bool rn_series_expect(const struct rn_series *s, int64_t *next);

/* Verifies the structure of the builder. Sealing verifies the lengths and values of its units. */
bool rn_series_check(const struct rn_series *s);

#endif
