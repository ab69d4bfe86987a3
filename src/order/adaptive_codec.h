/*
 * adaptive_codec.h - event codec `model`: adaptive context model over event rows.
 *
 * A row is coded in one of two ways. If the preceding rows have occurred in this order before, the
 * row that followed them is predicted. One decision usually confirms the prediction, so repeated
 * patterns cost almost no bits. Otherwise the row is coded field by field, with the history of the
 * same event site as context (context_mix.h, move_to_front.h).
 *
 * Cost: linear in the rows; 80 ns for a predicted row, 500 ns for another row with its completions.
 * Memory: up to 2 MB, and 3 KB for each event site.
 */
#ifndef RN_ORDER_ADAPTIVE_CODEC_H
#define RN_ORDER_ADAPTIVE_CODEC_H

#include "base/err.h"
#include "order/events.h"

struct rn_arena;
struct rn_guess;

/* Codes o->row and o->done, which are the output when decoding. The caller ends the coder. Returns
 * RN_OK, RN_E_NOMEM, or RN_E_DATA if the bytes contradict o. `scratch` is not rewound. */
int rn_order_model_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o);

#endif
