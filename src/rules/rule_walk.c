/*
 * rule_walk.c - walks the expansion of a rule, by symbol or in bulk.
 *
 * The position of the top frame is in a body, before item `item`, of which `iter` repeats have been
 * passed. The frames below identify the outer item and the repeat to which that body belongs. A
 * rule item is entered when one of its symbols is read, and left when its end is reached. Each
 * execution of a loop has a separate frame, in which the iterations are repeats of the only item.
 *
 * Any number of successive executions may be empty. After IDLE steps without a symbol, the walker
 * uses a search to pass further empty executions.
 */
#include "rules/rule_walk_impl.h"

#include <string.h>

#include "rules/rule_search.h"

#define IDLE 1000 /* steps without a symbol */

static int init(struct rn_walk *w, const struct rn_rules *r, uint32_t root, uint32_t height,
		struct rn_arena *mem)
{
	*w = (struct rn_walk){ .rules = r, .root = root, .depth = 1, .symbols = UINT32_MAX };
	w->frame = rn_new(mem, struct rn_walk_frame, (size_t)height + 1);
	if (!w->frame)
		return RN_E_NOMEM;
	w->frame[0] = (struct rn_walk_frame){ .rule = root, .from = SIZE_MAX };
	return RN_OK;
}

int rn_walk_init(struct rn_walk *w, const struct rn_rules *r, uint32_t root, struct rn_arena *mem)
{
	return init(w, r, root, entry_at(r, root)->height, mem);
}

int rn_walk_flow(struct rn_walk *w, const struct rn_flow *f, struct rn_arena *mem)
{
	if (!f->loops)
		return rn_walk_init(w, f->rules, f->root, mem);
	if (init(w, f->rules, f->root, rn_flow_height(f), mem) < 0)
		return RN_E_NOMEM;
	w->symbols = rn_loopset_symbols(f->loops);
	w->done = rn_new(mem, uint64_t, rn_loopset_count(f->loops));
	w->stretch = rn_stretch_new(mem, f->loops, UINT64_MAX);
	if (!w->done || !w->stretch)
		return RN_E_NOMEM;
	w->stretch->flow = *f;
	return RN_OK;
}

struct rn_flow rn_walk_stream(const struct rn_walk *w)
{
	if (w->stretch)
		return w->stretch->flow;
	return (struct rn_flow){ .rules = w->rules,
				 .root = w->root,
				 .length = rn_rules_length(w->rules, w->root) };
}

uint64_t rn_walk_pos(const struct rn_walk *w)
{
	return w->pos;
}

struct rn_body rn_walk_body(const struct rn_walk *w, const struct rn_walk_frame *f)
{
	if (in_loop(f))
		return (struct rn_body){ .item = &f->round, .n = 1 };
	return rn_rules_body(w->rules, f->rule);
}

struct rn_walk_frame *rn_walk_enter(struct rn_walk *w, const struct rn_item *loop, bool back)
{
	const struct rn_flow *flow = &w->stretch->flow;
	uint32_t k = loop->id - w->symbols;
	uint64_t first = back ? w->done[k] - 1 : w->done[k]++;
	struct rn_walk_frame *f = push(w, RN_IN_LOOP + k, back, SIZE_MAX);

	assert(k < rn_loopset_count(flow->loops));
	f->round = rn_loopset_round(flow->loops, k);
	f->round.count = rn_flow_rounds(flow, k, first + 1) - rn_flow_rounds(flow, k, first);
	return f;
}

/* ---- seeking ---- */

/* Returns the last item that begins at or before k. Bodies are often short. */
static uint32_t item_at(const struct entry *e, uint64_t k)
{
	uint32_t lo = 0, hi = e->n;

	assert(k < e->length);
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->before[mid] <= k)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Moves k symbols forward in the current item of the top frame, which must be between two repeats.
 * The item contains no loops. */
static void descend(struct rn_walk *w, uint64_t k)
{
	const struct rn_rules *r = w->rules;

	for (;;) {
		struct rn_walk_frame *f = &w->frame[w->depth - 1];
		const struct entry *e;
		uint32_t n;
		const struct rn_item *it = &items_of(w, f, &n)[f->item];

		if (it->kind != RN_KIND_RULE) {
			f->iter += k;
			return;
		}
		e = entry_at(r, it->id);
		assert(e->length > 0);
		f->iter += k / e->length;
		k %= e->length;
		if (k == 0)
			return;
		f = push(w, it->id, item_at(e, k), SIZE_MAX);
		k -= e->before[f->item];
	}
}

struct seek {
	struct rn_search search;
	uint64_t pos, wanted;
};

static bool seek_passes(const struct rn_search *q, const struct rn_passage *p)
{
	const struct seek *s = (const struct seek *)q;

	return p->length <= s->wanted - s->pos;
}

static void seek_pass(struct rn_search *q, const struct rn_passage *p)
{
	((struct seek *)q)->pos += p->length;
}

/* Leaves a run of symbols if the position is inside one. Returns true if position k is in it. */
static bool leave_run(struct rn_walk *w, uint64_t k)
{
	struct rn_walk_frame *f = &w->frame[w->depth - 1];
	uint32_t n;
	const struct rn_item *item = items_of(w, f, &n), *it = &item[f->item];
	uint64_t left;

	if (f->item == n || it->kind == RN_KIND_RULE || is_loop(w, it))
		return false;
	assert(k >= w->pos && f->iter <= flat_length(w->rules, it));
	left = flat_length(w->rules, it) - f->iter;
	if (k - w->pos < left) {
		f->iter += k - w->pos;
		w->pos = k;
		return true;
	}
	f->iter += left;
	w->pos += left;
	return false;
}

static void rewind_walk(struct rn_walk *w)
{
	w->pos = 0;
	w->depth = 1;
	w->frame[0] = (struct rn_walk_frame){ .rule = w->root, .from = SIZE_MAX };
	if (w->done)
		memset(w->done, 0, rn_loopset_count(w->stretch->flow.loops) * sizeof(*w->done));
}

/* Moves to the position before symbol k, after any empty executions. */
static int seek_loops(struct rn_walk *w, uint64_t k)
{
	struct seek s = { .search = { NULL, seek_passes, seek_pass, UINT64_MAX, true },
			  .wanted = k };

	if (k > w->stretch->flow.length)
		return RN_E_RANGE;
	if (k < w->pos)
		rewind_walk(w);
	if (leave_run(w, k))
		return RN_OK;
	s.pos = w->pos;
	if (rn_search_on(&s.search, w)) {
		descend(w, k - w->pos);
		w->pos = k;
	}
	return RN_OK;
}

int rn_walk_seek(struct rn_walk *w, uint64_t k)
{
	const struct entry *e = entry_at(w->rules, w->root);

	if (w->stretch)
		return seek_loops(w, k);
	if (k > e->length)
		return RN_E_RANGE;
	rewind_walk(w);
	w->pos = k;
	if (k == e->length) {
		w->frame[0].item = e->n;
		return RN_OK;
	}
	w->frame[0].item = item_at(e, k);
	descend(w, k - e->before[w->frame[0].item]);
	return RN_OK;
}

/* ---- by symbol ---- */

static bool is_flat(const struct rn_walk *w, const struct rn_item *it)
{
	return it->kind != RN_KIND_RULE && !is_loop(w, it);
}

int rn_walk_next(struct rn_walk *w, uint32_t *t)
{
	const struct rn_rules *r = w->rules;
	struct rn_walk_frame *f = &w->frame[w->depth - 1];

	for (unsigned idle = 1;; idle++) {
		uint32_t n;
		const struct rn_item *it = &items_of(w, f, &n)[f->item];

		if (f->item == n) {
			if (w->depth == 1)
				return 0;
			f = pop(w);
		} else if (is_flat(w, it) && f->iter < flat_length(r, it)) {
			*t = flat_symbol(r, it, f->iter++);
			w->pos++;
			return 1;
		} else if (!is_flat(w, it) && f->iter < it->count) {
			f = is_loop(w, it) ? rn_walk_enter(w, it, false)
					   : push(w, it->id, 0, SIZE_MAX);
		} else {
			f->item++;
			f->iter = 0;
		}
		if (w->stretch && idle % IDLE == 0) {
			seek_loops(w, w->pos);
			f = &w->frame[w->depth - 1];
		}
	}
}

/* ---- in bulk ---- */

struct bulk {
	uint32_t *out;
	size_t n, cap;
};

/* The last `unit` symbols written are one repeat. Writes up to `times` more; returns how many. */
static uint64_t copy_repeats(struct bulk *b, size_t unit, uint64_t times)
{
	size_t fit = (b->cap - b->n) / unit, have = unit, want;

	assert(unit <= b->n && b->n <= b->cap);
	if (times > fit)
		times = fit;
	want = (size_t)times * unit;
	while (want) { /* the source includes the symbols just written, so it doubles */
		size_t k = want < have ? want : have;

		memcpy(b->out + b->n, b->out + b->n - have, k * sizeof(*b->out));
		b->n += k;
		want -= k;
		have += k;
	}
	return times;
}

static uint64_t copy_flat(const struct rn_rules *r, struct bulk *b, const struct rn_item *it,
			  uint64_t from)
{
	uint64_t left = flat_length(r, it) - from;
	size_t n = left < b->cap - b->n ? (size_t)left : b->cap - b->n;

	assert(from <= flat_length(r, it));
	if (it->kind == RN_KIND_TERMINAL) {
		for (size_t i = 0; i < n; i++)
			b->out[b->n + i] = it->id;
	} else {
		for (size_t i = 0; i < n; i++)
			b->out[b->n + i] = flat_symbol(r, it, from + i);
	}
	b->n += n;
	return n;
}

/* Leaves a body at its end. If all of it is in the buffer, the following repeats are copies of it.
 */
static struct rn_walk_frame *pop_bulk(struct rn_walk *w, struct bulk *b)
{
	size_t from = w->frame[w->depth - 1].from;
	struct rn_walk_frame *f = pop(w);
	uint32_t n;
	const struct rn_item *it = &items_of(w, f, &n)[f->item];

	if (from != SIZE_MAX && f->iter < it->count)
		f->iter += copy_repeats(b, b->n - from, it->count - f->iter);
	return f;
}

/* Enters a rule or an execution. Repeats of an item with loops differ, so they are not copied. */
static struct rn_walk_frame *push_bulk(struct rn_walk *w, const struct bulk *b,
				       const struct rn_item *it)
{
	if (is_loop(w, it))
		return rn_walk_enter(w, it, false);
	if (w->stretch && rn_loopset_holds(w->stretch->flow.loops, it))
		return push(w, it->id, 0, SIZE_MAX);
	return push(w, it->id, 0, b->n);
}

/* Discards positions in the buffer, which are invalid in the next call. */
static void forget_buffer(struct rn_walk *w)
{
	for (uint32_t i = 0; i < w->depth; i++)
		w->frame[i].from = SIZE_MAX;
}

size_t rn_walk_read(struct rn_walk *w, uint32_t *out, size_t n)
{
	struct rn_walk_frame *f = &w->frame[w->depth - 1];
	struct bulk b = { out, 0, n };
	uint64_t begin = w->pos;
	uint32_t items;
	const struct rn_item *item = items_of(w, f, &items);

	for (unsigned idle = 1; b.n < n; idle++) {
		for (; f->item < items; f->item++, f->iter = 0) {
			if (!is_flat(w, &item[f->item])) {
				if (f->iter < item[f->item].count)
					break;
				continue;
			}
			f->iter += copy_flat(w->rules, &b, &item[f->item], f->iter);
			if (b.n == n)
				goto full;
		}
		if (f->item == items && w->depth == 1)
			break;
		f = f->item == items ? pop_bulk(w, &b) : push_bulk(w, &b, &item[f->item]);
		if (w->stretch && idle % IDLE == 0) {
			w->pos = begin + b.n;
			seek_loops(w, w->pos);
			f = &w->frame[w->depth - 1];
		}
		item = items_of(w, f, &items);
	}
full:
	w->pos = begin + b.n;
	forget_buffer(w);
	return b.n;
}
