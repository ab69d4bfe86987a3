/*
 * event_tail.h - events (order/events.h) of a stream while the program runs: the latest ones as
 * plain rows, the others in chunks.
 *
 * The rows are in the extent RN_EXTENT_ORDER of the part file, behind struct rn_order_tail, and are
 * bytes that are only added to, one row for an event or a run of failures:
 *
 *   varint  site << 2 | what
 *     RN_TAIL_FAILS  bytes of 0 up to a multiple of 4, uint32_t: failures in a row, which counts up
 *     RN_TAIL_DONE   varint, how many, not 0; of each: varint index, varint flags << 1 | whether it
 *                    has `late`; that, a varint; with RN_ORDER_MATCHED svarint source, svarint tag
 *     RN_TAIL_VALUE  svarint
 *     RN_TAIL_SEND   svarint me, svarint dest, svarint tag; on the communicator of the site
 *
 * When they are many they become a chunk, a record RN_FACT_ORDER of the stream's log. Which of them
 * are in chunks, and how many bytes of rows there are, is one word, stored last: so at any moment
 *
 *   events of a stream = the first `word >> 32` chunks, and the rows in the first (uint32_t)word
 *                        bytes
 *
 * Chunks are those of event_chunk.h.
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

/* Bytes that a row has at most, and more for each thing that is done. */
#define RN_TAIL_ROW        32u
#define RN_TAIL_DONE_BYTES 28u

/* At the beginning of the extent; rows follow. */
struct rn_order_tail {
	struct rn_extent extent;
	uint64_t word;
	uint64_t events; /* so many there have been; more than can be found: those are lost */
};

static inline unsigned char *rn_order_tail_rows(struct rn_order_tail *t)
{
	return (unsigned char *)(t + 1);
}

/* Writing rows: each gives where the row ends. A row of failures in a row begins with one, and the
 * count is the last thing in it; `begin` is where all rows begin, which is aligned to 4. */
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

/* The rows of a tail, in the arena, up to what is none: returns whether all were. False with
 * *failed: there was no memory. out->site is known. */
bool rn_order_tail_read(struct rn_arena *mem, const void *bytes, size_t len, struct rn_order *out,
			bool *failed);

#endif
