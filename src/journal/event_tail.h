/*
 * event_tail.h - the latest order events (order/events.h) of a running stream, as plain rows.
 *
 * Earlier events are in chunks (order/event_chunk.h). The rows are in the extent RN_EXTENT_ORDER of
 * the journal, after struct rn_order_tail. They are append-only bytes. One row is an event or a run
 * of failed polls:
 *
 *   varint  site << 2 | what
 *     RN_TAIL_FAILS  bytes of 0 up to a multiple of 4; uint32_t number of consecutive failed polls,
 *                    which is incremented in place
 *     RN_TAIL_DONE   varint number of completions, not 0; for each: varint index, varint
 *                    flags << 1 | whether it has `late`; varint `late` if so; with
 *                    RN_ORDER_MATCHED svarint source, svarint tag
 *     RN_TAIL_VALUE  svarint
 *     RN_TAIL_SEND   svarint me, svarint dest, svarint tag; on the communicator of the site
 *
 * When there are many rows, they become a chunk: a record RN_FACT_ORDER of the stream's log. One
 * word contains the number of chunks and the number of bytes of rows. It is stored last, so at any
 * moment
 *
 *   events of a stream = the first `word >> 32` chunks, and the rows in the first (uint32_t)word
 *                        bytes
 */
#ifndef RN_JOURNAL_EVENT_TAIL_H
#define RN_JOURNAL_EVENT_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/varint.h"
#include "journal/journal_file.h"
#include "order/events.h"

struct rn_arena;

enum rn_tail_what { RN_TAIL_FAILS, RN_TAIL_DONE, RN_TAIL_VALUE, RN_TAIL_SEND };

#define RN_TAIL_WHAT(w, site) ((uint64_t)(site) << 2 | (w))

/* Maximum bytes of a row without completions, and of each completion. */
#define RN_TAIL_ROW        32u
#define RN_TAIL_DONE_BYTES 28u

/* The beginning of the extent; the rows follow. */
struct rn_order_tail {
	struct rn_extent extent;
	uint64_t word;
	/* Number of events recorded. Those that are neither in a chunk nor in a row are lost. */
	uint64_t events;
};

static inline unsigned char *rn_order_tail_rows(struct rn_order_tail *t)
{
	return (unsigned char *)(t + 1);
}

/* The functions that write rows return the end of the row. A row of failed polls begins with a
 * count of 1, which is its last field. `begin` is the start of all rows and is aligned to 4
 * bytes. */
static inline unsigned char *rn_tail_put_fails(const unsigned char *begin, unsigned char *p,
					       uint32_t site)
{
	const uint32_t one = 1;

	p = rn_varint_put(p, RN_TAIL_WHAT(RN_TAIL_FAILS, site));
	while ((size_t)(p - begin) % sizeof(one))
		*p++ = 0;
	memcpy(p, &one, sizeof(one));
	return p + sizeof(one);
}

static inline unsigned char *rn_tail_put_one(unsigned char *p, const struct rn_order_done *d)
{
	p = rn_varint_put(p, d->index);
	p = rn_varint_put(p, (uint64_t)d->flags << 1 | (d->late != RN_ORDER_NOT));
	if (d->late != RN_ORDER_NOT)
		p = rn_varint_put(p, d->late);
	if (d->flags & RN_ORDER_MATCHED) {
		p = rn_varint_put(p, rn_zigzag(d->source));
		p = rn_varint_put(p, rn_zigzag(d->tag));
	}
	return p;
}

static inline unsigned char *rn_tail_put_done(unsigned char *p, uint32_t site,
					      const struct rn_order_done *d, uint32_t n)
{
	p = rn_varint_put(p, RN_TAIL_WHAT(RN_TAIL_DONE, site));
	p = rn_varint_put(p, n);
	for (uint32_t i = 0; i < n; i++)
		p = rn_tail_put_one(p, &d[i]);
	return p;
}

static inline unsigned char *rn_tail_put_value(unsigned char *p, uint32_t site, int64_t value)
{
	p = rn_varint_put(p, RN_TAIL_WHAT(RN_TAIL_VALUE, site));
	return rn_varint_put(p, rn_zigzag(value));
}

static inline unsigned char *rn_tail_put_send(unsigned char *p, uint32_t site, int me, int dest,
					      int tag)
{
	p = rn_varint_put(p, RN_TAIL_WHAT(RN_TAIL_SEND, site));
	p = rn_varint_put(p, rn_zigzag(me));
	p = rn_varint_put(p, rn_zigzag(dest));
	return rn_varint_put(p, rn_zigzag(tag));
}

/* Decodes the rows of a tail into the arena, up to the first invalid row. Returns whether all rows
 * were valid. False with *failed: out of memory. The caller sets out->site and out->sites. Input is
 * untrusted. */
bool rn_order_tail_read(struct rn_arena *mem, const void *bytes, size_t len, struct rn_order *out,
			bool *failed);

#endif
