/*
 * columns.h - the codecs that others are measured by: rows as they are, and columns through zstd.
 *
 * As for every codec here (codec.c): encoders append all but the values; decoders fill in what has
 * room in the result, of which the numbers are known and possible, and check later. Scratch comes
 * from the arena and is given back.
 */
#ifndef RN_ORDER_COLUMNS_H
#define RN_ORDER_COLUMNS_H

#include <stddef.h>

#include "order/events.h"

struct rn_arena;
struct rn_buf;

int rn_order_raw_encode(const struct rn_order *o, struct rn_buf *out);
int rn_order_raw_decode(const void *bytes, size_t len, const struct rn_order *o,
			struct rn_order_row *row, struct rn_order_done *done);

int rn_order_zstd_encode(const struct rn_order *o, struct rn_buf *out);
int rn_order_zstd_decode(struct rn_arena *scratch, const void *bytes, size_t len,
			 const struct rn_order *o, struct rn_order_row *row,
			 struct rn_order_done *done);

#endif
