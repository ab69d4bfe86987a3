/*
 * cdc_codec.h - the events of a thread as differences to a reference order: the codec `clock`.
 *
 * Clock-delta compression as published (cdc_tables.h), per call site, in chunks of 2^14 rows, with
 * the tables entropy coded. Where the publication stores the error of a linear prediction of an
 * index, here the index is coded with the last two steps as contexts: who takes equal steps pays
 * nothing, and who does not, no more than for the step. What is done in a row (index, source, tag,
 * which receive it was) is coded as by `model` (row_model.h), as it came: with the differences,
 * that is the reference order too.
 *
 * In proportion to the rows, but for a sort of each chunk. Memory: in proportion to a chunk and
 * what is done in it, and 3 KB for each site.
 */
#ifndef RN_ORDER_CDC_CODEC_H
#define RN_ORDER_CDC_CODEC_H

#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_guess;

#define RN_CLOCK_DELTA_ROWS 16384u /* in a chunk */

/* As rn_order_model_code. Encoding: o->clock has the reference order; NULL: the observed order.
 * Decoding: o->clock, zero before, is written to as well. */
int rn_order_clock_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o);

#endif
