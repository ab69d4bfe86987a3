/*
 * walk.c - walking the expansion of a rule, in both directions, by symbol or in bulk.
 *
 * The top frame stands in a body, before item `item`, `iter` of whose repeats are behind. Frames
 * below it say which repeat of which item that body is. A rule item is entered when a symbol of
 * it is wanted and left when its end is reached.
 */
#include "rules/pool.h"

#include <string.h>

int rn_walk_init(struct rn_walk *w, const struct rn_rules *r, uint32_t root, struct rn_arena *mem)
{
	*w = (struct rn_walk){ .rules = r, .root = root, .depth = 1 };
	w->frame = rn_new(mem, struct rn_walk_frame, (size_t)entry_at(r, root)->height + 1);
	if (!w->frame)
		return RN_E_NOMEM;
	w->frame[0] = (struct rn_walk_frame){ .rule = root, .from = SIZE_MAX };
	return RN_OK;
}

uint64_t rn_walk_pos(const struct rn_walk *w)
{
	return w->pos;
}

/* The last item that begins at or before k; bodies are often short. */
static uint32_t item_at(const struct entry *e, uint64_t k)
{
	uint32_t lo = 0, hi = e->n;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->before[mid] <= k)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int rn_walk_seek(struct rn_walk *w, uint64_t k)
{
	const struct rn_rules *r = w->rules;
	const struct entry *e = entry_at(r, w->root);
	struct rn_walk_frame *f = w->frame;

	if (k > e->length)
		return RN_E_RANGE;
	w->pos = k;
	w->depth = 1;
	*f = (struct rn_walk_frame){ .rule = w->root, .from = SIZE_MAX };
	if (k == e->length) {
		f->item = e->n;
		return RN_OK;
	}
	for (;;) {
		const struct rn_item *it;
		uint64_t unit;

		f->item = item_at(e, k);
		it = &e->item[f->item];
		k -= e->before[f->item];
		if (it->kind != RN_KIND_RULE) {
			f->iter = k;
			return RN_OK;
		}
		unit = entry_at(r, it->id)->length;
		f->iter = k / unit;
		k %= unit;
		if (k == 0)
			return RN_OK;
		e = entry_at(r, it->id);
		f = &w->frame[w->depth++];
		*f = (struct rn_walk_frame){ .rule = it->id, .from = SIZE_MAX };
	}
}

/* Symbols of a terminal or literal item, all repeats. */
static uint64_t flat_length(const struct rn_rules *r, const struct rn_item *it)
{
	return unit_length(r, it) * it->count;
}

static uint32_t flat_symbol(const struct rn_rules *r, const struct rn_item *it, uint64_t k)
{
	const struct literal *l;

	if (it->kind == RN_KIND_TERMINAL)
		return it->id;
	l = literal_at(r, it->id);
	return l->symbol[k % l->n];
}

static struct rn_walk_frame *push(struct rn_walk *w, uint32_t rule, uint32_t item, size_t from)
{
	struct rn_walk_frame *f = &w->frame[w->depth++];

	*f = (struct rn_walk_frame){ .rule = rule, .item = item, .from = from };
	return f;
}

/* Leaves a body at its end: one more repeat of the item it belongs to is behind. */
static struct rn_walk_frame *pop(struct rn_walk *w)
{
	struct rn_walk_frame *f = &w->frame[--w->depth - 1];

	f->iter++;
	return f;
}

int rn_walk_next(struct rn_walk *w, uint32_t *t)
{
	const struct rn_rules *r = w->rules;
	struct rn_walk_frame *f = &w->frame[w->depth - 1];

	for (;;) {
		const struct entry *e = entry_at(r, f->rule);
		const struct rn_item *it = &e->item[f->item];

		if (f->item == e->n) {
			if (w->depth == 1)
				return 0;
			f = pop(w);
		} else if (it->kind == RN_KIND_RULE) {
			if (f->iter < it->count) {
				f = push(w, it->id, 0, SIZE_MAX);
			} else {
				f->item++;
				f->iter = 0;
			}
		} else if (f->iter < flat_length(r, it)) {
			*t = flat_symbol(r, it, f->iter++);
			w->pos++;
			return 1;
		} else {
			f->item++;
			f->iter = 0;
		}
	}
}

int rn_walk_prev(struct rn_walk *w, uint32_t *t)
{
	const struct rn_rules *r = w->rules;
	struct rn_walk_frame *f = &w->frame[w->depth - 1];

	for (;;) {
		const struct entry *e = entry_at(r, f->rule);
		const struct rn_item *it = &e->item[f->item];

		if (f->iter == 0 && f->item == 0) {
			if (w->depth == 1)
				return 0;
			f = &w->frame[--w->depth - 1];
		} else if (f->iter == 0) {
			it = &e->item[--f->item];
			f->iter = it->kind == RN_KIND_RULE ? it->count : flat_length(r, it);
		} else if (it->kind == RN_KIND_RULE) {
			f->iter--;
			f = push(w, it->id, entry_at(r, it->id)->n, SIZE_MAX);
		} else {
			*t = flat_symbol(r, it, --f->iter);
			w->pos--;
			return 1;
		}
	}
}

/* ---- in bulk ---- */

struct bulk {
	uint32_t *out;
	size_t n, cap;
};

/* The last `unit` symbols written are one repeat; writes up to `times` more. */
static uint64_t copy_repeats(struct bulk *b, size_t unit, uint64_t times)
{
	size_t fit = (b->cap - b->n) / unit, have = unit, want;

	if (times > fit)
		times = fit;
	want = (size_t)times * unit;
	while (want) { /* what has been written doubles as the source */
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

/* A body has ended. If all of it is in the buffer, the repeats that follow are copies of it. */
static struct rn_walk_frame *pop_bulk(struct rn_walk *w, struct bulk *b)
{
	size_t from = w->frame[w->depth - 1].from;
	struct rn_walk_frame *f = pop(w);
	const struct rn_item *it = &entry_at(w->rules, f->rule)->item[f->item];

	if (from != SIZE_MAX && f->iter < it->count)
		f->iter += copy_repeats(b, b->n - from, it->count - f->iter);
	return f;
}

/* Positions in the buffer mean nothing to the next call. */
static void forget_buffer(struct rn_walk *w)
{
	for (uint32_t i = 0; i < w->depth; i++)
		w->frame[i].from = SIZE_MAX;
}

size_t rn_walk_read(struct rn_walk *w, uint32_t *out, size_t n)
{
	const struct rn_rules *r = w->rules;
	struct rn_walk_frame *f = &w->frame[w->depth - 1];
	struct bulk b = { out, 0, n };

	while (b.n < n) {
		const struct entry *e = entry_at(r, f->rule);
		const struct rn_item *it = &e->item[f->item];

		if (f->item == e->n) {
			if (w->depth == 1)
				break;
			f = pop_bulk(w, &b);
		} else if (it->kind != RN_KIND_RULE) {
			f->iter += copy_flat(r, &b, it, f->iter);
			if (b.n < n) {
				f->item++;
				f->iter = 0;
			}
		} else if (f->iter < it->count) {
			f = push(w, it->id, 0, b.n);
		} else {
			f->item++;
			f->iter = 0;
		}
	}
	w->pos += b.n;
	forget_buffer(w);
	return b.n;
}

int rn_rules_expand(const struct rn_rules *r, uint32_t root, rn_symbol_fn *cb, void *arg)
{
	struct rn_arena mem;
	struct rn_walk w;
	uint32_t t[2048];
	size_t n;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_walk_init(&w, r, root, &mem);
	while (rc == RN_OK && (n = rn_walk_read(&w, t, sizeof(t) / sizeof(t[0]))) > 0)
		for (size_t i = 0; i < n; i++)
			if (!cb(arg, t[i]))
				goto out;
out:
	rn_arena_free(&mem);
	return rc;
}
