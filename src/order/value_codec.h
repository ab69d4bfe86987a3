/*
 * value_codec.h - the values of a thread's events (order/events.h) as bytes.
 *
 * Clock readings are differences of ticks (clock_value.h), whatever sites they are from; other
 * values are differences to the one before at their site, or to the one before that where two come
 * in turns, as seconds and nanoseconds do. An adaptive model (guess.h) codes them by their site and
 * the size of the difference before. Which of these a site has is found from its values.
 *
 * Cost: some 400 ns a value. Memory: the arena. Decoding trusts no byte, but needs rows that fit
 * the sites and the number of values. On disk: doc/format.md.
 */
#ifndef RN_ORDER_VALUE_CODEC_H
#define RN_ORDER_VALUE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_buf;

/* *clock: there are clock readings among them. RN_OK or RN_E_NOMEM. */
int rn_order_values_encode(struct rn_arena *scratch, const struct rn_order *o, struct rn_buf *out,
			   bool *clock);

/* RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_values_decode(struct rn_arena *scratch, const void *bytes, size_t len,
			   const struct rn_order *o, int64_t *value);

#endif
