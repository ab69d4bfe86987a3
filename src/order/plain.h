/*
 * plain.h - the events of a thread with all that belongs to them, as they are: to be kept aside and
 * measured (bench/bench_order.c reads them, one thread after the other).
 *
 *   zigzag   the thread's rank
 *   varint   sites; of each four: kind, function, communicator, place
 *   varint   sends; of each: things done since the last one, communicator, and as zigzags me,
 *            destination, tag
 *   varint   bytes of what follows: rows, what is done and values, by the codec `raw` (codec.h)
 */
#ifndef RN_ORDER_PLAIN_H
#define RN_ORDER_PLAIN_H

#include <stdint.h>

#include "base/err.h"
#include "order/events.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;

/* RN_OK, or as rn_order_encode. */
int rn_order_plain_put(struct rn_arena *scratch, const struct rn_order *o, int32_t rank,
		       struct rn_buf *out);

int rn_order_plain_get(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o,
		       int32_t *rank, struct rn_err *err);

#endif
