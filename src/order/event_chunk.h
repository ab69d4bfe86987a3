/*
 * event_chunk.h - a chunk of events (order/events.h): a header with counts, sends, and the encoded
 * rows.
 *
 * A chunk has the stream's own numbers of sites:
 *
 *   varint  calls that had an outcome; varint  of those that found nothing; varint  messages that
 *           were received; varint  calls that cannot be replayed (struct rn_order_count)
 *   varint  messages that were sent, where clocks are wanted; of each: varint, how many things had
 *           been done since the one before; varint, a site, whose communicator it was sent on;
 *           svarint me, svarint dest, svarint tag
 *           what the codec makes of the rest (order/event_codec.h)
 *
 * A run of failures that continues in the next chunk is one run again when chunks are joined.
 */
#ifndef RN_ORDER_EVENT_CHUNK_H
#define RN_ORDER_EVENT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "order/event_codec.h"
#include "order/events.h"

struct rn_arena;

/* Calls that had an outcome, of which so many found nothing; messages that were received; and calls
 * whose outcome nobody can enforce (RN_ORDER_LOOSE). */
struct rn_order_count {
	uint64_t events, failed, received, loose;
};

struct rn_order_count rn_order_count(const struct rn_order *o);

/* Allocates memory for at most that many elements of each kind. Returns false without memory: *o is
 * as it was.
 */
bool rn_order_room(struct rn_order *o, struct rn_arena *mem, size_t rows, size_t dones,
		   size_t values, size_t sends);

/* Adds a row, or joins it with the last one if that has failures of the same site alone. */
void rn_order_add_row(struct rn_order *o, struct rn_order_row r);

/* Appends a chunk (order/event_codec.h). RN_OK, RN_E_NOMEM, or RN_E_ARG: the events are
 * contradictory. */
int rn_order_chunk_write(enum rn_order_codec codec, const struct rn_order *o,
			 struct rn_arena *scratch, struct rn_buf *out);

/* What it says of itself. False when that is no chunk. */
bool rn_order_chunk_head(struct rn_chunk chunk, struct rn_order_count *n);

/* The chunk's rows, in the arena; out->site is known. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_chunk_read(struct rn_chunk chunk, struct rn_arena *mem, struct rn_order *out,
			struct rn_err *err);

/* All chunks of a stream put together. The same. */
int rn_order_chunks_read(const struct rn_chunk *chunk, uint32_t n, struct rn_arena *mem,
			 struct rn_order *out, struct rn_err *err);

#endif
