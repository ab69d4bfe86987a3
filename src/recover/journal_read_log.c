/* journal_read_log.c - see journal_read_impl.h: the records of logs. */
#include "recover/journal_read_impl.h"

#include "base/intern.h"
#include "encode/call_times.h"
#include "encode/elastic_slots.h"
#include "model/chunk_list.h"

#include <string.h>

static bool read_records(const struct rn_found *e, size_t used, rn_fact_fn *fn, void *arg)
{
	const unsigned char *p = e->at + sizeof(e->head);
	size_t size;

	for (size_t at = 0; at < used; at += size) {
		struct rn_record r;

		if (used - at < sizeof(r))
			return false;
		memcpy(&r, p + at, sizeof(r));
		size = sizeof(r) + (((size_t)r.bytes + 7) & ~(size_t)7);
		if (size > used - at ||
		    r.sum != rn_record_sum(&e->head, at, &r, p + at + sizeof(r)) ||
		    !fn(arg, r.type, p + at + sizeof(r), r.bytes))
			return false;
	}
	return true;
}

/* The ids of records follow from their order, so no record after a missing one is read. */
bool rn_found_log(struct rn_founds f, rn_fact_fn *fn, void *arg)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < f.n; i++) {
		const struct rn_found *e = &f.extent[i];
		size_t room = e->len - sizeof(e->head);
		bool cut = e->head.used > room;

		if (e->head.kind != RN_EXTENT_LOG)
			continue;
		if (e->head.used && e->head.before != before)
			return false;
		if (!read_records(e, cut ? room : e->head.used, fn, arg) || cut)
			return false;
		before = e->head.number;
	}
	return true;
}

bool rn_salvage_add_segment(struct salvaged *s)
{
	struct rn_segment *next = rn_segment_new(s->mem);

	if (next)
		next->grammar = rn_salvage_grammar(s);
	if (!next || !next->grammar ||
	    !RN_SEG_PUSH(&s->pieces->segment, s->mem, struct rn_segment *, next)) {
		s->failed = true;
		return false;
	}
	s->segment = next;
	s->segments++;
	return true;
}

static bool take_segment(struct salvaged *s, const void *bytes, size_t len)
{
	return rn_fact_get(bytes, len, &s->segment->seal, sizeof(s->segment->seal)) &&
	       rn_salvage_add_segment(s);
}

static bool take_shape(struct salvaged *s, const void *bytes, size_t len)
{
	struct rn_seg *shapes = &s->pieces->shape;
	uint64_t call;

	if (!rn_fact_get(bytes, len, &call, sizeof(call)) ||
	    call >= rn_sigs_count(rn_salvage_words(s)))
		return false;
	s->failed |= !RN_SEG_PUSH(shapes, s->mem, struct rn_shape,
				  (struct rn_shape){ s->segments - 1, (uint32_t)call });
	return !s->failed;
}

/* Adds call times. The readers of the trace validate the contents of the chunk. */
static bool take_moments(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	if (len <= sizeof(s->zero) ||
	    !rn_moments_length(bytes + sizeof(s->zero), len - sizeof(s->zero)))
		return false;
	memcpy(&s->zero, bytes, sizeof(s->zero));
	if (s->zero > INT64_MAX)
		return false;
	return rn_salvage_chunk(s, &s->chunks, bytes + sizeof(s->zero), len - sizeof(s->zero));
}

/* Creates the elastic slots of a call, without values. */
static bool take_holes(struct salvaged *s, uint32_t call, const uint64_t *words, size_t n)
{
	struct rn_holes *h = rn_holes_new(s->mem, words, n);

	s->failed |= !h || !rn_holes_put(&s->segment->holes, s->mem, call, h);
	return !s->failed;
}

/* Adds elastic values. The bytes are not copied, because the extents remain valid while the stream
 * is read. */
static bool take_values(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct value_piece p;

	if (len < sizeof(p.of))
		return false;
	memcpy(&p.of, bytes, sizeof(p.of));
	p.bytes = bytes + sizeof(p.of);
	p.len = len - sizeof(p.of);
	s->failed |= !RN_SEG_PUSH(&s->segment->piece, s->mem, struct value_piece, p);
	return !s->failed;
}

/* Adds the next element of one of the tables. */
static bool take_element(struct salvaged *s, uint32_t type, const void *bytes, size_t len)
{
	bool call = type == RN_FACT_CALL || type == RN_FACT_ELASTIC;
	struct rn_tables *all = &s->segment->tables;
	struct rn_sigs *table = call                   ? all->words
				: type == RN_FACT_BLOB ? all->blobs
				: type == RN_FACT_TEXT ? all->texts
						       : NULL;
	uint32_t n, id;

	if (type == RN_FACT_MOMENTS)
		return take_moments(s, bytes, len);
	if (!table || (type != RN_FACT_TEXT && len % sizeof(uint64_t)) || (call && len == 0) ||
	    (type == RN_FACT_ELASTIC && !rn_holes_valid(bytes, len / sizeof(uint64_t))))
		return false;
	n = rn_sigs_count(table);
	if (rn_sigs_intern(table, bytes, len, &id) < 0) {
		s->failed = true;
		return false;
	}
	if (id != n)
		return false;
	return type != RN_FACT_ELASTIC || take_holes(s, id, bytes, len / sizeof(uint64_t));
}

bool rn_salvage_fact(void *arg, uint32_t type, const void *bytes, size_t len)
{
	struct salvaged *s = arg;

	if (type == RN_FACT_SEGMENT)
		return take_segment(s, bytes, len);
	if (type == RN_FACT_SHAPE)
		return take_shape(s, bytes, len);
	if (type == RN_FACT_MOMENTS)
		return take_moments(s, bytes, len);
	if (type == RN_FACT_VALUES)
		return take_values(s, bytes, len);
	if (type == RN_FACT_ORDER_SITE)
		return rn_salvage_order_site(s, bytes, len);
	if (type == RN_FACT_ORDER)
		return len && rn_salvage_chunk(s, &s->order_chunk, bytes, len);
	return take_element(s, type, bytes, len);
}
