/*
 * cdc_codec.h - event codec `clock`: clock-delta compression, differences from a reference order.
 *
 * Clock-delta compression as published (cdc_tables.h), per event site, in chunks of 2^14 rows, with
 * entropy-coded tables. The publication stores the error of a linear prediction of an index. Here
 * the index is coded with the last two steps as contexts. Equal steps cost almost nothing, and
 * other indices cost no more than their step. The completions of a row (index, source, tag,
 * ordinal) are coded as in codec `model` (row_model.h), in observed order. The reference order
 * follows from them and the differences.
 *
 * Cost: linear in the rows, plus a sort of each chunk. Memory: linear in the rows and completions
 * of a chunk, and 3 KB for each event site.
 */
#ifndef RN_ORDER_CDC_CODEC_H
#define RN_ORDER_CDC_CODEC_H

#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_guess;

#define RN_CLOCK_DELTA_ROWS 16384u /* rows per chunk */

/* Like rn_order_model_code. Encoding: o->clock is the reference order; NULL: the observed order.
 * Decoding: o->clock must be zero, and is also an output. */
int rn_order_clock_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o);

#endif
