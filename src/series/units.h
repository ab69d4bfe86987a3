/*
 * units.h - sealed, immutable series: random access and search without expansion.
 *
 * A query costs O(log units + depth * log body). It expands and allocates nothing. Sums are exact,
 * with 128 bits. For the definition of length see series.h.
 */
#ifndef RN_SERIES_UNITS_H
#define RN_SERIES_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_sigs;
struct rn_buf;
struct rn_reader;
struct rn_series;
struct rn_units; /* opaque */

typedef __int128 rn_i128;

/* Seals the current contents of the builder, which is not changed. Returns RN_OK or RN_E_NOMEM. */
int rn_units_seal(struct rn_arena *mem, const struct rn_series *s, struct rn_units **out);

/* Seals in a fraction of the time, for a series that is read or stored temporarily. Patterns remain
 * as the builder found them, even where literal values would take fewer bytes. */
int rn_units_seal_quickly(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_series *s,
			  struct rn_units **out);
/* Converts a series that was sealed quickly to the result of rn_units_seal. The result refers to
 * the memory to which u refers. */
int rn_units_shrink(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_units *u,
		    struct rn_units **out);

/* Concatenates the n series of `list`. Patterns that continue in the next series are not joined.
 * The result refers to the memory to which they refer. Returns RN_OK, RN_E_NOMEM, or RN_E_RANGE for
 * 2^63 elements or more. */
int rn_units_concat(struct rn_arena *mem, const struct rn_units *const *list, uint32_t n,
		    struct rn_units **out);

uint64_t rn_units_length(const struct rn_units *u);

/* Returns element i < length. */
int64_t rn_units_at(const struct rn_units *u, uint64_t i);

/* Whether the series is known to be monotone: no element is smaller than its predecessor. Lanes
 * whose own strides change are never known to be monotone. */
bool rn_units_monotone(const struct rn_units *u);
/* Whether no element is negative. */
bool rn_units_nonneg(const struct rn_units *u);

/* Finds the index of the last element of a monotone series that is not above x. Returns RN_E_RANGE
 * if all are above, and RN_E_ARG if the series is not monotone. */
int rn_units_find(const struct rn_units *u, int64_t x, uint64_t *i);

/* Returns the sum of the first i elements, i <= length. */
rn_i128 rn_units_sum(const struct rn_units *u, uint64_t i);

/* Copies elements from..from+n to out and returns their number. Iterate in blocks with this
 * function. */
size_t rn_units_read(const struct rn_units *u, uint64_t from, int64_t *out, size_t n);

/* Appends the encoded series to out, whose previous contents are unchanged, also on failure. The
 * encoding is self-delimiting: decoding leaves the reader after it. Decoder input is untrusted.
 * Decoding is linear in the input, and its memory per byte of input is bounded, regardless of the
 * number of elements. */
int rn_units_encode(const struct rn_units *u, struct rn_buf *out);
/* Encodes quickly instead of compactly, without columns. `base` is subtracted from the elements;
 * this must not overflow for any of them. */
int rn_units_encode_quickly(const struct rn_units *u, int64_t base, struct rn_buf *out);
int rn_units_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_units **out,
		    struct rn_err *err);

/* Decodes a table of encoded series: (*out)[i] is series i. */
int rn_units_decode_all(struct rn_arena *mem, const struct rn_sigs *bytes,
			const struct rn_units ***out, struct rn_err *err);

#endif
