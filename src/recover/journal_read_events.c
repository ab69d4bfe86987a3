/* journal_read_events.c - see journal_read_impl.h: order events, from chunks in the log and the
 * rows of the tail. */
#include "recover/journal_read_impl.h"

#include "base/arena.h"
#include "base/buf.h"
#include "encode/call_words.h"
#include "journal/event_tail.h"
#include "merge/process_trace.h"

#include <string.h>

bool rn_salvage_order_site(struct salvaged *s, const void *bytes, size_t len)
{
	struct rn_order_site site;

	if (!rn_fact_get(bytes, len, &site, sizeof(site)) || site.kind >= RN_ORDER_KINDS ||
	    (rn_order_kinds[site.kind].call && !rn_vocab_func(&rn_mpi_vocab, site.function)))
		return false;
	s->failed |= !RN_SEG_PUSH(&s->order_site, s->mem, struct rn_order_site, site);
	return !s->failed;
}

bool rn_salvage_chunk(struct salvaged *s, struct rn_seg *to, const void *bytes, size_t len)
{
	unsigned char *copy = rn_new(s->mem, unsigned char, len);

	if (copy)
		memcpy(copy, bytes, len);
	s->failed |=
		!copy || !RN_SEG_PUSH(to, s->mem, struct rn_chunk, (struct rn_chunk){ copy, len });
	return !s->failed;
}

void *rn_salvage_flatten(struct salvaged *s, const struct rn_seg *seg)
{
	unsigned char *all = rn_alloc(s->mem, seg->size, sizeof(uint64_t), seg->n);

	s->failed |= !all;
	for (uint32_t i = 0; i < seg->n && all; i++)
		memcpy(all + (size_t)i * seg->size,
		       seg->dir[i >> RN_SEG_SHIFT] + (size_t)(i & RN_SEG_MASK) * seg->size,
		       seg->size);
	return all;
}

/* Adds the rows of the tail as one more chunk. False if a row is invalid. */
static bool add_tail(struct salvaged *s, const struct rn_order_part *p, const void *rows, size_t n,
		     struct rn_arena *scratch)
{
	struct rn_order o = { .site = p->site, .sites = p->sites };
	struct rn_buf b = { 0 };
	bool failed, whole = rn_order_tail_read(scratch, rows, n, &o, &failed);
	int rc = RN_OK;

	s->failed |= failed;
	if (!failed && (o.rows || o.sends)) {
		rc = rn_order_chunk_write(RN_ORDER_MODEL, &o, scratch, &b);
		s->failed |= rc == RN_E_NOMEM;
		if (rc == RN_OK)
			rn_salvage_chunk(s, &s->order_chunk, b.data, b.len);
	}
	rn_buf_free(&b);
	return whole && rc == RN_OK && !s->failed;
}

/* Counts the chunks up to the first invalid one, which ends the events of the stream. */
static uint32_t count_good(struct salvaged *s, const struct rn_order_part *p, uint64_t n,
			   uint64_t *events)
{
	struct rn_arena scratch;
	uint32_t good = 0;

	rn_arena_init(&scratch, SIZE_MAX);
	for (; good < n && good < s->order_chunk.n; good++) {
		struct rn_order o = { .site = p->site, .sites = p->sites };
		struct rn_chunk *c = RN_SEG_AT(&s->order_chunk, struct rn_chunk, good);
		int rc = rn_order_chunk_read(*c, &scratch, &o, NULL);

		s->failed |= rc == RN_E_NOMEM;
		if (rc < 0)
			break;
		*events += rn_order_count(&o).events;
		rn_arena_rewind(&scratch, (struct rn_arena_mark){ 0 });
	}
	rn_arena_free(&scratch);
	return good;
}

static const struct rn_found *find_tail(const struct salvaged *s)
{
	for (uint32_t i = 0; i < s->f.n; i++)
		if (s->f.extent[i].head.kind == RN_EXTENT_ORDER &&
		    s->f.extent[i].len > sizeof(struct rn_order_tail))
			return &s->f.extent[i];
	return NULL;
}

static bool read_tail(struct salvaged *s, const struct rn_order_part *p, const struct rn_found *e,
		      const struct rn_order_tail *head, uint64_t *events)
{
	size_t room = e->len - sizeof(*head), used = (uint32_t)head->word, before;
	struct rn_arena scratch;
	struct rn_order_count n = { 0 };
	bool good;

	rn_arena_init(&scratch, SIZE_MAX);
	before = s->order_chunk.n;
	good = add_tail(s, p, e->at + sizeof(*head), used < room ? used : room, &scratch);
	if (s->order_chunk.n > before)
		rn_order_chunk_head(*RN_SEG_AT(&s->order_chunk, struct rn_chunk, before), &n);
	*events += n.events;
	rn_arena_free(&scratch);
	return good && used <= room;
}

/* A stream has no tail in the journal if all of its events were recorded before the journal was
 * opened. */
bool rn_salvage_order(struct salvaged *s, struct rn_recorded_stream *out)
{
	const struct rn_found *e = find_tail(s);
	struct rn_order_part *p = &out->order;
	struct rn_order_tail head;
	uint64_t sealed, events = 0;
	bool good;

	if (!e)
		return true;
	memcpy(&head, e->at, sizeof(head));
	p->site = rn_salvage_flatten(s, &s->order_site);
	p->sites = s->order_site.n;
	sealed = head.word >> 32;
	if (s->failed)
		return false;
	s->order_chunk.n = count_good(s, p, sealed, &events);
	good = s->order_chunk.n == sealed;
	if (good)
		good = read_tail(s, p, e, &head, &events);
	p->chunk = rn_salvage_flatten(s, &s->order_chunk);
	p->chunks = p->chunk ? s->order_chunk.n : 0;
	if (head.events > events)
		out->lost += head.events - events;
	return good && !s->failed;
}
