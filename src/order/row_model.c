/* row_model.c - see row_model.h. */
#include "order/row_model.h"

#include "base/arena.h"

struct rn_pieces *rn_pieces_new(struct rn_arena *mem, const struct rn_order *o, struct rn_guess *g)
{
	struct rn_pieces *p = rn_new(mem, struct rn_pieces, 1);

	if (!p)
		return NULL;
	p->g = g;
	p->site = o->site;
	p->sites = o->sites;
	p->memory = rn_new(mem, struct rn_pieces_memory, o->sites);
	return p->memory ? p : NULL;
}

static uint32_t salted(uint32_t site, uint32_t what)
{
	return rn_guess_mix(site * 16 + 1, what);
}

/* ---- prediction of the next value ---- */

#define SITE_BITS   4u
#define SOURCE_BITS 16u

static uint32_t context_of(uint64_t last)
{
	return rn_guess_mix((uint32_t)last, (uint32_t)(last >> 32));
}

static void learn_next(struct rn_past *after, uint64_t *last, unsigned bits, uint32_t v)
{
	rn_past_learn(after, context_of(*last), v);
	*last = *last << bits | ((v * 0x9e3779b1u) >> (32 - bits));
}

/* ---- event sites and counts ---- */

uint32_t rn_pieces_site(struct rn_pieces *p, uint32_t v)
{
	const struct rn_recent *o = &p->order;
	uint32_t last = o->n ? p->memory[o->one[0].value].done : 0;
	struct rn_recent_at at = {
		.kind = RN_PIECES_SITE,
		.extra = last > 0,
		.now = p->rows,
		.guess = rn_past_expects(&p->after_sites, context_of(p->last_sites)),
	};

	v = rn_recent_code(p->g, &p->order, &at, v);
	learn_next(&p->after_sites, &p->last_sites, SITE_BITS, v);
	if (v < p->sites)
		return v;
	rn_guess_refuse(p->g);
	return 0;
}

uint32_t rn_pieces_fails(struct rn_pieces *p, uint32_t site, uint32_t v)
{
	const struct rn_pieces_memory *s = &p->memory[site];
	uint32_t a = rn_pieces_bucket(s->fails[0]), b = rn_pieces_bucket(s->fails[1]);
	struct rn_guess_on on = { RN_PIECES_FAILS, salted(site, 0),
				  salted(site, 4096 + a * 64 + b) };

	return rn_guess_number(p->g, &on, v, UINT32_MAX);
}

uint32_t rn_pieces_done(struct rn_pieces *p, uint32_t site, uint32_t fails, uint32_t v)
{
	const struct rn_pieces_memory *s = &p->memory[site];
	uint32_t a = rn_pieces_bucket(fails), b = rn_pieces_bucket(s->done);
	struct rn_guess_on on = { RN_PIECES_DONE, salted(site, 0),
				  salted(site, 4096 + a * 64 + b) };

	if (rn_guess_bit(p->g, &on, v == 1))
		return 1;
	v = rn_guess_number(p->g, &on, v ? v - 1 : 0, UINT32_MAX - 1);
	return v ? v + 1 : 0;
}

static void fill_queue(struct rn_pieces_queue *q, const struct rn_recent *r, uint32_t done)
{
	q->n = r->n;
	q->done = done < r->n ? done : r->n;
	q->first = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		q->index[i] = r->one[r->n - 1 - i].value;
		q->taken[i] = false;
	}
}

/* Returns the lowest index that is still expected in this row; NULL if there is none. */
static const uint32_t *expected_index(const struct rn_pieces_queue *q)
{
	const uint32_t *best = NULL;

	for (uint32_t i = q->first; i < q->done; i++)
		if (!q->taken[i] && (!best || q->index[i] < *best))
			best = &q->index[i];
	return best;
}

static void take(struct rn_pieces_queue *q, uint32_t index)
{
	uint32_t i = q->first;

	q->late = 0;
	for (; i < q->n && (q->taken[i] || q->index[i] != index); i++)
		q->late += !q->taken[i];
	if (i < q->n)
		q->taken[i] = true;
	while (q->first < q->n && q->taken[q->first])
		q->first++;
}

/* Codes an index. The indices of a row usually ascend, so the contexts are the previous index and
 * the number of completions left. */
static uint32_t code_index(struct rn_pieces *p, uint32_t site, uint32_t nth, uint32_t left,
			   uint32_t v)
{
	struct rn_pieces_memory *s = &p->memory[site];
	uint32_t with = nth ? rn_guess_mix(s->index.one[0].value, left + 1) : left;
	struct rn_recent_at at = {
		.kind = RN_PIECES_INDEX,
		.salt = salted(site, 3),
		.extra = with,
		.timed = true,
		.now = s->polls,
		.guess = expected_index(&p->queue),
	};

	v = rn_recent_code(p->g, &s->index, &at, v);
	take(&p->queue, v);
	return v;
}

static uint32_t code_source(struct rn_pieces *p, uint32_t site, uint32_t with, uint32_t v)
{
	struct rn_pieces_memory *s = &p->memory[site];
	struct rn_recent_at at = {
		.kind = RN_PIECES_SOURCE,
		.salt = salted(site, 4),
		.extra = with,
		.timed = true,
		.now = s->polls,
		.guess = rn_past_expects(&p->after_sources, context_of(p->last_sources)),
	};

	return rn_recent_code(p->g, &s->source, &at, v);
}

static struct rn_pieces_tag *last_tag(struct rn_pieces *p, uint32_t site, uint32_t source)
{
	uint32_t key = rn_guess_mix(site, source) | 1;
	struct rn_pieces_tag *e = &p->tag[(key >> 1) % RN_PIECES_TAGS];

	if (e->key != key)
		*e = (struct rn_pieces_tag){ .key = key };
	return e;
}

static uint32_t tag_context(const struct rn_pieces_tag *e)
{
	return rn_guess_mix(rn_guess_mix(e->key, e->last), e->step);
}

static void learn_tag(struct rn_pieces *p, struct rn_pieces_tag *e, uint32_t v)
{
	rn_past_learn(&p->after_tags, tag_context(e), v);
	e->step = v - e->last;
	e->last = v;
}

/* Predicts the tag that followed the last two tags of this source. Otherwise predicts the same step
 * as before, which may be 0. */
static uint32_t next_tag(struct rn_pieces *p, uint32_t site, uint32_t source)
{
	const struct rn_pieces_tag *e = last_tag(p, site, source);
	const uint32_t *next = rn_past_expects(&p->after_tags, tag_context(e));

	return next ? *next : e->last + e->step;
}

/* Codes a tag: the predicted one, or one of the recent ones. */
static uint32_t code_tag(struct rn_pieces *p, uint32_t site, uint32_t source, uint32_t v)
{
	uint32_t next = next_tag(p, site, source);
	struct rn_recent_at at = {
		.kind = RN_PIECES_TAG, .salt = salted(site, 5), .extra = source, .never = &next
	};
	struct rn_guess_on on = { RN_PIECES_TAG_SAME, salted(site, 0), salted(site, 64 + source) };

	if (rn_guess_bit(p->g, &on, v == next))
		return next;
	return rn_recent_code(p->g, &p->memory[site].tag, &at, v);
}

static uint32_t shape_of(const struct rn_order_done *d)
{
	return d->flags << 1 | (d->late == RN_ORDER_NOT);
}

static uint32_t code_shape(struct rn_pieces *p, uint32_t site, uint32_t with, uint32_t v)
{
	const struct rn_pieces_memory *s = &p->memory[site];
	struct rn_guess_on on = { RN_PIECES_SHAPE, salted(site, s->shape),
				  salted(site, 64 + s->shape + with * 8) };

	return s->shape ^ rn_guess_number(p->g, &on, v ^ s->shape, 7);
}

static uint32_t code_late(struct rn_pieces *p, uint32_t site, uint32_t index, uint32_t v)
{
	uint32_t expected = p->queue.late;
	struct rn_guess_on same = { RN_PIECES_LATE_SAME, salted(site, 0),
				    salted(site, 64 + expected) };
	struct rn_guess_on on = { RN_PIECES_LATE, salted(site, 64 + expected),
				  salted(site, 128 + index) };

	if (rn_guess_bit(p->g, &same, v == expected))
		return expected;
	return rn_guess_number(p->g, &on, v, RN_ORDER_NOT - 1);
}

/* Returns whether all fields except index and source are as predicted. This is decided first,
 * because it is usually true. */
static bool is_plain(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d)
{
	return shape_of(d) == p->memory[site].shape &&
	       (d->late == RN_ORDER_NOT || d->late == p->queue.late) &&
	       (!(d->flags & RN_ORDER_MATCHED) ||
		(uint32_t)d->tag == next_tag(p, site, (uint32_t)d->source));
}

static bool code_plain(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d)
{
	const struct rn_pieces_memory *s = &p->memory[site];
	struct rn_guess_on on = { RN_PIECES_PLAIN, salted(site, s->plain),
				  salted(site, 128 + s->plain + d->index * 2) };

	return rn_guess_bit(p->g, &on, rn_guess_writes(p->g) && is_plain(p, site, d));
}

/* Updates the predictions, except the move-to-front lists of index and source. */
static void learn_rest(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d)
{
	struct rn_pieces_memory *s = &p->memory[site];

	s->plain = is_plain(p, site, d);
	s->shape = shape_of(d);
	if (!(d->flags & RN_ORDER_MATCHED))
		return;
	learn_next(&p->after_sources, &p->last_sources, SOURCE_BITS, (uint32_t)d->source);
	learn_tag(p, last_tag(p, site, (uint32_t)d->source), (uint32_t)d->tag);
}

struct rn_order_done rn_pieces_one(struct rn_pieces *p, uint32_t site, uint32_t nth, uint32_t left,
				   struct rn_order_done d)
{
	uint32_t shape;
	bool plain;

	d.index = code_index(p, site, nth, left, d.index);
	plain = code_plain(p, site, &d);
	shape = plain ? p->memory[site].shape : code_shape(p, site, d.index, shape_of(&d));
	d.flags = shape >> 1;
	d.late = shape & 1 ? RN_ORDER_NOT
		 : plain   ? p->queue.late
			   : code_late(p, site, d.index, d.late);
	if (d.flags & RN_ORDER_MATCHED) {
		uint32_t with = d.index * 2 + (nth > 0), source;

		source = code_source(p, site, with, (uint32_t)d.source);
		d.source = (int32_t)source;
		d.tag = (int32_t)(plain ? next_tag(p, site, source)
					: code_tag(p, site, source, (uint32_t)d.tag));
	}
	learn_rest(p, site, &d);
	return d;
}

void rn_pieces_begin_row(struct rn_pieces *p, const struct rn_order_row *row)
{
	struct rn_pieces_memory *s = &p->memory[row->site];

	s->polls += row->fails + (uint64_t)(row->done > 0);
	if (rn_pieces_things(p, row))
		fill_queue(&p->queue, &s->index, row->done);
}

void rn_pieces_end_row(struct rn_pieces *p, const struct rn_order_row *row)
{
	struct rn_pieces_memory *s = &p->memory[row->site];

	s->fails[1] = s->fails[0];
	s->fails[0] = row->fails;
	s->done = row->done;
	p->rows++;
}

void rn_pieces_learn_site(struct rn_pieces *p, uint32_t site)
{
	rn_recent_touch(&p->order, site, p->rows);
	learn_next(&p->after_sites, &p->last_sites, SITE_BITS, site);
}

void rn_pieces_learn_done(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d)
{
	struct rn_pieces_memory *s = &p->memory[site];

	rn_recent_touch(&s->index, d->index, s->polls);
	take(&p->queue, d->index);
	if (d->flags & RN_ORDER_MATCHED)
		rn_recent_touch(&s->source, (uint32_t)d->source, s->polls);
	learn_rest(p, site, d);
}
