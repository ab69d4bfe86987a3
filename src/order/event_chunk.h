/*
 * event_chunk.h - a chunk of events (order/events.h): a header with counts, sends, and the encoded
 * rows.
 *
 * A chunk refers to event sites by the ids of its stream:
 *
 *   varint  calls with an outcome; varint  failed polls among them; varint  received messages;
 *           varint  unreplayable calls (struct rn_order_count)
 *   varint  sent messages, if clocks are needed; per message: varint  completions since the
 * previous one; varint  an event site with the communicator of the message; svarint me; svarint
 * dest; svarint tag the encoded rows (order/event_codec.h)
 *
 * Failed polls of one event site at the end of a chunk and the start of the next are joined when
 * the chunks are joined.
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

/* Calls with an outcome; failed polls among them; received messages; unreplayable calls
 * (RN_ORDER_LOOSE). */
struct rn_order_count {
	uint64_t events, failed, received, loose;
};

struct rn_order_count rn_order_count(const struct rn_order *o);

/* Allocates memory for at most that many elements of each kind. Returns false without memory, with
 * *o unchanged. */
bool rn_order_room(struct rn_order *o, struct rn_arena *mem, size_t rows, size_t dones,
		   size_t values, size_t sends);

/* Appends a row. Joins it with the last row if that row has the same event site and only failed
 * polls. */
void rn_order_add_row(struct rn_order *o, struct rn_order_row r);

/* Appends a chunk (order/event_codec.h). Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if the events are
 * contradictory. */
int rn_order_chunk_write(enum rn_order_codec codec, const struct rn_order *o,
			 struct rn_arena *scratch, struct rn_buf *out);

/* Reads the counts in the header of a chunk. Returns false if the header is invalid. */
bool rn_order_chunk_head(struct rn_chunk chunk, struct rn_order_count *n);

/* Decodes the rows of a chunk into the arena; out->site must be set. Returns RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_order_chunk_read(struct rn_chunk chunk, struct rn_arena *mem, struct rn_order *out,
			struct rn_err *err);

/* Decodes and joins all chunks of a stream, as rn_order_chunk_read does for one. */
int rn_order_chunks_read(const struct rn_chunk *chunk, uint32_t n, struct rn_arena *mem,
			 struct rn_order *out, struct rn_err *err);

#endif
