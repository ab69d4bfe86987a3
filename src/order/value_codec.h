/*
 * value_codec.h - codes the values of a thread's events (order/events.h).
 *
 * A clock reading is coded as a difference of ticks (clock_value.h) from the previous reading of
 * any site. Another value is coded as the difference from the previous value of its site, or from
 * the value before the previous one if two kinds of values alternate, such as seconds and
 * nanoseconds. The form of a site is determined from its values. The contexts of the adaptive model
 * (context_mix.h) are the site and the size of the previous difference.
 *
 * Cost: about 400 ns per value. Memory: the arena. Input is untrusted, but decoding requires rows
 * that match the sites and the number of values. On disk: doc/format.md, 16.2.
 */
#ifndef RN_ORDER_VALUE_CODEC_H
#define RN_ORDER_VALUE_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_guess;

/* Codes o->value, which is the output when decoding. *clock: the values contain clock readings. The
 * caller ends the coder. Returns RN_OK or RN_E_NOMEM. `scratch` is not rewound. */
int rn_order_values_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o,
			 bool *clock);

#endif
