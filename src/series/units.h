/*
 * units.h - the sealed, immutable form of a series: random access and search without expanding.
 *
 * Costs O(log parts + depth * log body) per question; nothing is expanded, nothing allocated.
 * Sums are 128 bits wide and exact. The definition of length and fencepost: series.h.
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

/* What the builder holds now; the builder is not changed. RN_OK or RN_E_NOMEM. */
int rn_units_seal(struct rn_arena *mem, const struct rn_series *s, struct rn_units **out);

/* The same in a fraction of the time, for what is read, or is not yet where it stays: patterns are
 * as they were found, where values would take fewer bytes, too. */
int rn_units_seal_quickly(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_series *s,
			  struct rn_units **out);
/* What was sealed quickly as rn_units_seal would have done it. It refers to what u refers to. */
int rn_units_shrink(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_units *u,
		    struct rn_units **out);

/* The series of `list`, n of them, one after the other, without regard to patterns that continue.
 * It refers to what they refer to. RN_OK, RN_E_NOMEM, or RN_E_RANGE: 2^63 elements and more. */
int rn_units_concat(struct rn_arena *mem, const struct rn_units *const *list, uint32_t n,
		    struct rn_units **out);

uint64_t rn_units_length(const struct rn_units *u);

/* Element i < length. */
int64_t rn_units_at(const struct rn_units *u, uint64_t i);

/* No element is smaller than the one before it, and that is known: lanes whose own strides change
 * (not plain arithmetic ones) always count as not monotone. */
bool rn_units_monotone(const struct rn_units *u);
/* No element is negative. */
bool rn_units_nonneg(const struct rn_units *u);

/* For a monotone series: index of the last element not above x. RN_E_RANGE when all are above,
 * RN_E_ARG when the series is not monotone. */
int rn_units_find(const struct rn_units *u, int64_t x, uint64_t *i);

/* Sum of the first i elements, i <= length. */
rn_i128 rn_units_sum(const struct rn_units *u, uint64_t i);

/* Elements from..from+n to out; returns how many there were. The way to iterate: in blocks. */
size_t rn_units_read(const struct rn_units *u, uint64_t from, int64_t *out, size_t n);

/* Appends the series to out; what was there before stays, also on failure. It ends by itself, so
 * decoding leaves the reader behind it. Decoding trusts no byte: it is linear in the input and
 * needs a bounded amount of memory per byte, however many elements the bytes stand for. */
int rn_units_encode(const struct rn_units *u, struct rn_buf *out);
/* Quickly, and not small: nothing is packed. Elements are written less `base`, which must be
 * possible for all of them. */
int rn_units_encode_quickly(const struct rn_units *u, int64_t base, struct rn_buf *out);
int rn_units_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_units **out,
		    struct rn_err *err);

/* Decodes a table of encoded series: (*out)[i] is series i. */
int rn_units_decode_all(struct rn_arena *mem, const struct rn_sigs *bytes,
			const struct rn_units ***out, struct rn_err *err);

#endif
