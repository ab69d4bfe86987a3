/*
 * event_codec.h - the events of a thread as bytes: codec selection, framing and limits.
 *
 *   model   adaptive model (adaptive_codec.h), the default
 *   clock   clock-delta compression (cdc_codec.h), which stores the reference order
 *
 * All codecs decode to the same rows, completions and values. Sends are not encoded. Event sites
 * are stored elsewhere, and the decoder must have the same ones. Source and tag are stored for
 * completions with RN_ORDER_MATCHED, and are 0 for the others.
 *
 * The encoding of values is the same in all codecs: clock readings as differences of ticks
 * (value_codec.h), or a column.
 *
 * Input is untrusted. An input has at most 4096 rows, completions and coded values (in total), and
 * 1024 more for each of its bytes; encoders append zeros if their output is shorter. A decoder
 * therefore allocates at most 64 KB for each byte of the input plus 2 MB, 3 KB for each site of the
 * caller, and for values the memory of a column (column.h).
 *
 * A thread is encoded as a whole, with one adaptive state. A caller that has to bound its memory
 * can encode chunks of at least 2^16 rows. Each additional chunk costs some hundred bytes.
 */
#ifndef RN_ORDER_EVENT_CODEC_H
#define RN_ORDER_EVENT_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "order/events.h"

struct rn_arena;
struct rn_buf;

enum rn_order_codec {
	RN_ORDER_MODEL,
	RN_ORDER_CLOCK,
	RN_ORDER_CODECS,
};

/* Names of codecs, for --order-codec=. rn_order_codec_named returns RN_ORDER_CODECS for an unknown
 * name. */
const char *rn_order_codec_name(enum rn_order_codec codec);
enum rn_order_codec rn_order_codec_named(const char *name);

/* Appends the events to `out`. RN_ORDER_CLOCK uses o->clock as the reference order; NULL: the
 * observed order. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if the rows contradict the completions,
 * values and sites, or if there are 2^32 of them. On failure `out` is unchanged. */
int rn_order_encode(struct rn_arena *scratch, enum rn_order_codec codec, const struct rn_order *o,
		    struct rn_buf *out);

/* Decodes the events. The bytes contain the codec; all of them must be used. On failure the arena
 * is unchanged. */
int rn_order_decode(struct rn_arena *mem, const struct rn_order_site *site, size_t sites,
		    const void *bytes, size_t len, struct rn_order *out, struct rn_err *err);

#endif
