/*
 * series_lane.c - one pattern under construction: a first value, and a grammar over differences.
 *
 * A lane is expensive to create (a grammar and two tables), and units change often. A lane that is
 * no longer needed is therefore emptied and reused by a later unit.
 */
#include "series/series_impl.h"

#include <assert.h>

#include "base/hash.h"

static struct rn_lane *get_lane(struct rn_series *s)
{
	struct rn_arena_mark mark = rn_arena_mark(s->mem);
	struct rn_lane *l = s->idle;

	if (l) {
		s->idle = l->next;
		return l;
	}
	l = rn_new(s->mem, struct rn_lane, 1);
	if (l)
		l->g = rn_grammar_new(s->mem, NULL);
	if (!l || !l->g || rn_map_init(&l->ids, s->mem) < 0) {
		rn_arena_rewind(s->mem, mark);
		return NULL;
	}
	rn_seg_init(&l->delta, sizeof(int64_t));
	return l;
}

static void recycle(struct rn_series *s, struct rn_lane *l)
{
	assert(l != s->idle);
	rn_grammar_reset(l->g);
	rn_map_clear(&l->ids);
	l->delta.n = 0;
	l->next = s->idle;
	s->idle = l;
}

void rn_lanes_recycle(struct rn_series *s, struct rn_lane *ring)
{
	struct rn_lane *l = ring, *next;

	do {
		next = l->next;
		recycle(s, l);
		l = next;
	} while (l != ring);
}

static uint32_t tag_of(int64_t d)
{
	return (uint32_t)(rn_hash_u64((uint64_t)d) >> 32);
}

static uint32_t find_id(const struct rn_lane *l, uint32_t tag, int64_t d)
{
	RN_MAP_EACH (&l->ids, tag, id)
		if (*RN_SEG_AT(&l->delta, int64_t, id) == d)
			return id;
	return RN_MAP_NONE;
}

uint32_t rn_lane_find(const struct rn_lane *l, int64_t d)
{
	return find_id(l, tag_of(d), d);
}

/* Reserves memory for one more difference. Its entry is written, but not yet counted. */
static int reserve_id(struct rn_lane *l, struct rn_arena *mem, uint32_t tag, int64_t d)
{
	if (l->delta.n > RN_TERMINAL_MAX || rn_map_reserve(&l->ids, tag) < 0 ||
	    !rn_seg_reserve(&l->delta, mem, 1))
		return RN_E_NOMEM;
	*RN_SEG_AT(&l->delta, int64_t, l->delta.n) = d;
	return RN_OK;
}

/* Enters a new difference only after the grammar has accepted it, because either can run out of
 * memory. */
static int step_unforeseen(struct rn_lane *l, struct rn_arena *mem, int64_t d)
{
	uint32_t tag = tag_of(d), id = find_id(l, tag, d);
	int rc;

	if (id != RN_MAP_NONE)
		return rn_grammar_append(l->g, id);
	rc = reserve_id(l, mem, tag, d);
	if (rc == RN_OK)
		rc = rn_grammar_append(l->g, l->delta.n);
	if (rc == RN_OK)
		rn_map_insert(&l->ids, tag, l->delta.n++);
	return rc;
}

int rn_lane_step(struct rn_lane *l, struct rn_arena *mem, int64_t x, bool *foreseen)
{
	uint32_t e = rn_grammar_expect(l->g);
	int64_t d;
	int rc;

	if (__builtin_sub_overflow(x, l->last, &d))
		return RN_E_RANGE;
	assert(e == RN_EXPECT_NONE || e < l->delta.n);
	*foreseen = e != RN_EXPECT_NONE && *RN_SEG_AT(&l->delta, int64_t, e) == d;
	rc = *foreseen ? rn_grammar_append(l->g, e) : step_unforeseen(l, mem, d);
	if (rc == RN_OK)
		l->last = x;
	return rc;
}

static int get_ring(struct rn_series *s, uint32_t lanes, struct rn_lane **ring)
{
	struct rn_lane *first = NULL, *last = NULL;

	assert(lanes >= 1 && lanes <= RN_LANES_MAX);
	for (uint32_t i = 0; i < lanes; i++) {
		struct rn_lane *l = get_lane(s);

		if (!l) {
			if (first)
				rn_lanes_recycle(s, first);
			return RN_E_NOMEM;
		}
		if (!first)
			first = l;
		else
			last->next = l;
		last = l;
		last->next = first;
	}
	*ring = first;
	return RN_OK;
}

int rn_lanes_build(struct rn_series *s, const int64_t *v, uint32_t n, uint32_t lanes,
		   struct rn_lane **ring)
{
	struct rn_lane *l;
	int rc = get_ring(s, lanes, ring);
	bool foreseen;

	assert(n >= lanes);
	if (rc < 0)
		return rc;
	l = *ring;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++, l = l->next) {
		if (i < lanes)
			l->first = l->last = v[i];
		else
			rc = rn_lane_step(l, s->mem, v[i], &foreseen);
	}
	if (rc < 0)
		rn_lanes_recycle(s, *ring);
	return rc;
}

uint64_t rn_lanes_nodes(const struct rn_lane *ring)
{
	const struct rn_lane *l = ring;
	uint64_t n = 0;

	do {
		n += rn_grammar_nodes(l->g);
		l = l->next;
	} while (l != ring);
	return n;
}

/* Rules deeper than this are not expanded. They are rare in units this short. */
#define EXPAND_DEPTH 48

struct expand_frame {
	struct rn_grammar_iter it;
	struct rn_grammar_item item; /* the rule that is repeated one level below */
};

struct expand {
	const struct rn_lane *lane;
	struct rn_seg *out;
	uint32_t at, stride;
	int64_t v;
};

static void expand_delta(struct expand *x, const struct rn_grammar_item *item)
{
	int64_t d = *RN_SEG_AT(&x->lane->delta, int64_t, item->id);

	assert(item->id < x->lane->delta.n);
	for (uint64_t i = 0; i < item->count; i++) {
		x->v += d;
		*RN_SEG_AT(x->out, int64_t, x->at) = x->v;
		x->at += x->stride;
	}
}

int rn_lane_expand(const struct rn_lane *l, struct rn_seg *out, uint32_t at, uint32_t stride)
{
	struct expand x = { l, out, at, stride, l->first };
	struct expand_frame stack[EXPAND_DEPTH], *f = stack;

	*RN_SEG_AT(out, int64_t, at) = l->first;
	x.at += stride;
	f->it = rn_grammar_body(l->g, 0);
	f->item.count = 1;
	for (;;) {
		struct rn_grammar_item item;

		if (!rn_grammar_body_next(&f->it, &item)) {
			if (f == stack) {
				assert(x.v == l->last);
				return RN_OK;
			}
			if (--f[-1].item.count)
				f->it = rn_grammar_body(l->g, f[-1].item.id);
			else
				f--;
		} else if (item.kind == RN_KIND_TERMINAL) {
			expand_delta(&x, &item);
		} else {
			if (item.kind != RN_KIND_RULE || f + 1 == stack + EXPAND_DEPTH)
				return RN_E_RANGE;
			f->item = item;
			(++f)->it = rn_grammar_body(l->g, item.id);
		}
	}
}
