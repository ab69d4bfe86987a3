/*
 * column.h - stores integers without structure as entropy-coded columns.
 *
 * A column is a block of int64 that is coded as a whole: times, completion order, literal runs.
 * Several transforms are tried (values or differences; varints or byte planes; plain or zstd), and
 * the smallest result is used. The codec byte names it; some of its values are reserved for an
 * adaptive model. There is no random access: a reader decodes the column once.
 *
 * Tool-side code: uses malloc through zstd and struct rn_buf, never in the hot path of a wrapper.
 * Format in the file: doc/format.md.
 */
#ifndef RN_COLUMN_COLUMN_H
#define RN_COLUMN_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;

/* Appends the column, which includes the number of values, to out. RN_OK or RN_E_NOMEM. */
int rn_column_encode(const int64_t *v, size_t n, struct rn_buf *out);

/* Begins a column of n values in the plain form, which needs no time for coding. The caller appends
 * the values (rn_buf_i64). */
void rn_column_begin_plain(uint64_t n, struct rn_buf *out);

/* Decodes one column of at most max_n values into mem. Input is untrusted: the memory that a forged
 * head can allocate is proportional to the bytes of the column (doc/format.md, 5). */
int rn_column_decode(struct rn_arena *mem, struct rn_reader *in, uint64_t max_n, int64_t **v,
		     size_t *n, struct rn_err *err);

#endif
