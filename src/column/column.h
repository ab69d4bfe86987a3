/*
 * column.h - integers without structure, as entropy-coded columns.
 *
 * A column is a block of int64 coded as a whole: times, completion order, literal stretches.
 * Several transforms are tried (as they are, differences; varints or byte planes; plain or zstd)
 * and the smallest wins; the codec byte names it, and numbers are left for an adaptive model.
 * No random access: a reader decodes the column once. Tool-side code: uses malloc through zstd
 * and struct rn_buf, never inside a wrapper's hot path. On disk: doc/format.md.
 */
#ifndef RN_COLUMN_COLUMN_H
#define RN_COLUMN_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;

/* Appends the column (count included) to out. RN_OK or RN_E_NOMEM. */
int rn_column_encode(const int64_t *v, size_t n, struct rn_buf *out);

/* Begins a column of n values in the form that takes no time; the caller adds them (rn_buf_i64). */
void rn_column_begin_plain(uint64_t n, struct rn_buf *out);

/* Reads one column of at most max_n values, which are in mem. What a forged head can make it
 * allocate is in proportion to the bytes it has (doc/format.md, 5). */
int rn_column_decode(struct rn_arena *mem, struct rn_reader *in, uint64_t max_n, int64_t **v,
		     size_t *n, struct rn_err *err);

#endif
