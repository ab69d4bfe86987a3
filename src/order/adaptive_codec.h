/*
 * adaptive_codec.h - the events of a thread by a model that learns from them: the codec `model`.
 *
 * Two ways to a row. Where the last rows have stood like that before, the row that came after them
 * is expected, and mostly one decision says that it came again: so what is always the same costs
 * nearly nothing. Otherwise it is coded part by part, each by contexts of what the same site did
 * before (context_mix.h, move_to_front.h).
 *
 * In proportion to the rows: 80 ns for one that is expected, 500 ns for another with what is done
 * in it. Memory: up to 2 MB, and 3 KB for each site.
 */
#ifndef RN_ORDER_ADAPTIVE_CODEC_H
#define RN_ORDER_ADAPTIVE_CODEC_H

#include "base/err.h"
#include "order/events.h"

struct rn_arena;
struct rn_guess;

/* Codes o->row and o->done, which are written to when decoding. The caller ends the guess. RN_OK,
 * RN_E_NOMEM, or RN_E_DATA if the bytes contradict o. `scratch` is not rewound. */
int rn_order_model_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o);

#endif
