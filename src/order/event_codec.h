/*
 * event_codec.h - the events of a thread as bytes, in one of several ways.
 *
 *   model   adaptive model (adaptive_codec.h), the default
 *   clock   clock-delta compression (cdc_codec.h), which stores the reference order
 *
 * All decode to the same: the rows, what is done, and the values; not the sends. Sites are kept
 * elsewhere, and whoever decodes must have the same ones. Source and tag are kept where they are
 * there (RN_ORDER_MATCHED), and are 0 elsewhere.
 *
 * The encoding of values is the same in all codecs: clock readings as differences of ticks
 * (value_codec.h), or a column.
 *
 * Input is untrusted. An input has at most 4096 rows, completions and coded values (in total), and
 * 1024 more for each of its bytes; encoders append zeros if their output is shorter. A decoder
 * therefore allocates at most 64 KB for each byte of the input plus 2 MB, 3 KB for each site of the
 * caller, and for values the memory of a column (column.h).
 *
 * A thread is encoded as a whole: what is learnt ends with it. A caller that has to bound its
 * memory can encode pieces of 2^16 rows and more, which costs some hundred bytes for each.
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

/* For --order-codec=. The number of a name is RN_ORDER_CODECS when there is none. */
const char *rn_order_codec_name(enum rn_order_codec codec);
enum rn_order_codec rn_order_codec_named(const char *name);

/* Appends the events to out. RN_ORDER_CLOCK uses o->clock; NULL: the order of the list.
 * RN_OK, RN_E_NOMEM, or RN_E_ARG: the rows do not fit the completions, the values and the sites, or
 * there are 2^32 of them; out is as it was then. */
int rn_order_encode(struct rn_arena *scratch, enum rn_order_codec codec, const struct rn_order *o,
		    struct rn_buf *out);

/* The codec is told by the bytes, of which all are read. On failure the arena is as it was. */
int rn_order_decode(struct rn_arena *mem, const struct rn_order_site *site, size_t sites,
		    const void *bytes, size_t len, struct rn_order *out, struct rn_err *err);

#endif
