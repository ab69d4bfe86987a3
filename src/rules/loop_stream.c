/* loop_stream.c - see loop_stream.h. */
#include "rules/loop_span.h"

#include <string.h>

#include "base/arena.h"
#include "rules/rules_impl.h"

#define NONE      UINT32_MAX
#define WORK_MOST ((uint64_t)1 << 26) /* levels times items; limits the cost of a seek */

struct inner {
	uint32_t unit;
	uint64_t count;
};

struct unit {
	uint32_t id;     /* a rule, or the number of rules plus the id of a loop */
	uint32_t height; /* levels of bodies and executions below, including its own */
	uint32_t levels; /* levels of units only */
	uint64_t fixed;  /* symbols in one body or iteration, without those in units */
	const struct inner *inner;
	uint32_t inners;
};

struct rn_loopset {
	const struct rn_rules *rules;
	uint32_t symbols, loops, units;
	struct rn_item *round; /* by loop: the only item of its body */
	rn_rounds_fn *rounds;
	uint32_t *order; /* rules and loops, inner ones first; the units are last */
	uint32_t *place; /* by rule and loop: the index of its unit, or NONE */
	struct unit *unit;
};

/*
 * Order: a rule belongs to the highest loop that it contains at any depth, and follows that loop. A
 * loop follows all lower loops and the rules that belong to them. One of these rules is its
 * iteration.
 */

static bool is_loop(const struct rn_loopset *l, const struct rn_item *it)
{
	return it->kind == RN_KIND_TERMINAL && it->id >= l->symbols;
}

/* Computes, for each rule, the highest loop in it plus 1; 0: no loop. */
static void rank_rules(const struct rn_loopset *l, uint32_t *highest)
{
	for (uint32_t r = 0; r < rn_rules_count(l->rules); r++) {
		const struct entry *e = entry_at(l->rules, r);

		for (uint32_t i = 0; i < e->n; i++) {
			const struct rn_item *it = &e->item[i];
			uint32_t h = 0;

			if (is_loop(l, it))
				h = it->id - l->symbols + 1;
			else if (it->kind == RN_KIND_RULE)
				h = highest[it->id];
			if (h > highest[r])
				highest[r] = h;
		}
	}
}

/* Whether no iteration is empty, and every iteration contains only loops with lower ids. */
static bool loops_ascend(const struct rn_loopset *l, const uint32_t *highest)
{
	for (uint32_t k = 0; k < l->loops; k++) {
		struct rn_item of = l->round[k];

		if (of.kind == RN_KIND_RULE
			    ? of.id >= rn_rules_count(l->rules) || highest[of.id] > k ||
				      entry_at(l->rules, of.id)->n == 0
			    : of.kind != RN_KIND_TERMINAL || of.id >= l->symbols)
			return false;
	}
	return true;
}

/* Whether all terminals are symbols or loops, and all literal runs consist of symbols. */
static bool terminals_fit(const struct rn_loopset *l)
{
	uint32_t end = l->symbols + l->loops;

	for (uint32_t i = 0; i < rn_rules_literals(l->rules); i++) {
		const struct literal *run = literal_at(l->rules, i);

		for (uint64_t k = 0; k < run->n; k++)
			if (run->symbol[k] >= l->symbols)
				return false;
	}
	for (uint32_t r = 0; r < rn_rules_count(l->rules); r++) {
		const struct entry *e = entry_at(l->rules, r);

		for (uint32_t i = 0; i < e->n; i++)
			if (e->item[i].kind == RN_KIND_TERMINAL && e->item[i].id >= end)
				return false;
	}
	return true;
}

/* Sorts rules and loops by rank. next[h] becomes the position of the first element that belongs to
 * loop h - 1, that loop included. */
static void sort_by_rank(struct rn_loopset *l, const uint32_t *highest, uint32_t *next)
{
	uint32_t rules = rn_rules_count(l->rules), at = 0;

	for (uint32_t r = 0; r < rules; r++)
		next[highest[r]]++;
	for (uint32_t h = 0; h <= l->loops; h++) {
		uint32_t n = next[h] + (h > 0);

		next[h] = at;
		if (h)
			l->order[next[h]++] = rules + h - 1;
		at += n;
	}
	l->units = rules - next[1] + 1 + l->loops;
	for (uint32_t r = 0; r < rules; r++)
		l->order[next[highest[r]]++] = r;
}

/*
 * Units
 */

/* Returns the unit of an item, or NONE. */
static uint32_t unit_of(const struct rn_loopset *l, const struct rn_item *it)
{
	if (it->kind == RN_KIND_RULE)
		return l->place[it->id];
	return is_loop(l, it) ? l->place[rn_rules_count(l->rules) + it->id - l->symbols] : NONE;
}

/* Collects the units in the body of u, or in its iteration, and computes the sizes of u. */
static void look_inside(const struct rn_loopset *l, struct unit *u, struct inner *inner)
{
	struct rn_body b = rn_loopset_body(l, l->rules, u->id);

	u->inner = inner;
	u->levels = 1;
	for (uint32_t i = 0; i < b.n; i++) {
		const struct rn_item *it = &b.item[i];
		uint32_t unit = unit_of(l, it), height = 0;

		if (unit != NONE) {
			inner[u->inners++] = (struct inner){ unit, it->count };
			height = l->unit[unit].height;
			if (l->unit[unit].levels >= u->levels)
				u->levels = l->unit[unit].levels + 1;
		} else {
			u->fixed += unit_length(l->rules, it) * it->count;
			height = it->kind == RN_KIND_RULE ? rn_rules_height(l->rules, it->id) : 0;
		}
		u->height = height + 1 > u->height ? height + 1 : u->height;
	}
}

static uint64_t count_items(const struct rn_loopset *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->units; i++)
		n += rn_loopset_body(l, l->rules, l->unit[i].id).n;
	return n;
}

/* Creates the units, inner ones first, because a unit depends on those that it contains. */
static int make_units(struct rn_loopset *l, struct rn_arena *mem)
{
	uint32_t all = rn_rules_count(l->rules) + l->loops, levels = 0;
	struct inner *inner;

	for (uint32_t i = 0; i < all; i++)
		l->place[l->order[i]] = i < all - l->units ? NONE : all - 1 - i;
	for (uint32_t i = 0; i < l->units; i++)
		l->unit[i].id = l->order[all - 1 - i];
	inner = rn_new(mem, struct inner, count_items(l) + 1);
	if (!inner)
		return RN_E_NOMEM;
	for (uint32_t i = l->units; i-- > 0;) {
		struct unit *u = &l->unit[i];

		look_inside(l, u, inner);
		inner += u->inners;
		levels = u->levels > levels ? u->levels : levels;
	}
	return (uint64_t)(inner - l->unit[l->units - 1].inner) * levels > WORK_MOST ? RN_E_DATA
										    : RN_OK;
}

int rn_loopset_new(struct rn_arena *mem, const struct rn_rules *r, uint32_t symbols,
		   const struct rn_loop *loop, uint32_t loops, rn_rounds_fn *rounds,
		   struct rn_loopset **out)
{
	struct rn_loopset *l = rn_new(mem, struct rn_loopset, 1);
	size_t all = (size_t)rn_rules_count(r) + loops;
	uint32_t *highest = rn_new(mem, uint32_t, (size_t)rn_rules_count(r) + 1);
	uint32_t *next = rn_new(mem, uint32_t, (size_t)loops + 2);

	*out = l;
	if (!l || !highest || !next)
		return RN_E_NOMEM;
	*l = (struct rn_loopset){ .rules = r, .symbols = symbols, .loops = loops };
	l->rounds = rounds;
	l->round = rn_new(mem, struct rn_item, loops);
	if (!l->round)
		return RN_E_NOMEM;
	for (uint32_t k = 0; k < loops; k++)
		l->round[k] = (struct rn_item){ loop[k].id, loop[k].kind, 1 };
	if (loops == 0 || loops > RN_LOOPS_MOST || symbols > UINT32_MAX - loops ||
	    all > UINT32_MAX - RN_LOOPS_MOST || !terminals_fit(l))
		return RN_E_DATA;
	rank_rules(l, highest);
	if (!loops_ascend(l, highest))
		return RN_E_DATA;
	l->order = rn_new(mem, uint32_t, all + 1);
	l->place = rn_new(mem, uint32_t, all + 1);
	if (!l->order || !l->place)
		return RN_E_NOMEM;
	sort_by_rank(l, highest, next);
	l->unit = rn_new(mem, struct unit, (size_t)l->units + 1);
	return l->unit ? make_units(l, mem) : RN_E_NOMEM;
}

uint32_t rn_loopset_order(const struct rn_loopset *l, uint32_t i)
{
	return l ? l->order[i] : i;
}

uint32_t rn_loopset_count(const struct rn_loopset *l)
{
	return l ? l->loops : 0;
}

uint32_t rn_loopset_symbols(const struct rn_loopset *l)
{
	return l ? l->symbols : UINT32_MAX;
}

struct rn_item rn_loopset_round(const struct rn_loopset *l, uint32_t loop)
{
	return l->round[loop];
}

struct rn_body rn_loopset_body(const struct rn_loopset *l, const struct rn_rules *r, uint32_t id)
{
	if (id < rn_rules_count(r))
		return rn_rules_body(r, id);
	return (struct rn_body){ .item = &l->round[id - rn_rules_count(r)], .n = 1 };
}

bool rn_loopset_holds(const struct rn_loopset *l, const struct rn_item *it)
{
	return l && unit_of(l, it) != NONE;
}

/*
 * Spans of a stream
 */

uint64_t rn_flow_rounds(const struct rn_flow *f, uint32_t loop, uint64_t n)
{
	if (n == 0)
		return 0;
	return f->series[loop] ? f->loops->rounds(f->series[loop], n) : UINT64_MAX;
}

uint32_t rn_flow_height(const struct rn_flow *f)
{
	uint32_t unit = f->loops ? f->loops->place[f->root] : NONE;

	return unit == NONE ? rn_rules_height(f->rules, f->root) : f->loops->unit[unit].height;
}

struct rn_stretch *rn_stretch_new(struct rn_arena *mem, const struct rn_loopset *l, uint64_t left)
{
	struct rn_stretch *s = rn_new(mem, struct rn_stretch, 1);
	size_t units = (size_t)l->units + 1;

	if (!s)
		return NULL;
	s->left = left;
	s->times = rn_new(mem, uint64_t, units);
	s->heap = rn_new(mem, uint32_t, units);
	s->part = rn_new(mem, struct rn_part, units);
	return s->times && s->heap && s->part ? s : NULL;
}

static void heap_push(struct rn_stretch *s, uint32_t unit)
{
	uint32_t i = s->heaped++;

	for (; i && s->heap[(i - 1) / 2] > unit; i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = unit;
}

/* Removes and returns the lowest index, which is that of the outermost unit. */
static uint32_t heap_pop(struct rn_stretch *s)
{
	uint32_t top = s->heap[0], x = s->heap[--s->heaped], i = 0, child;

	while ((child = 2 * i + 1) < s->heaped) {
		if (child + 1 < s->heaped && s->heap[child + 1] < s->heap[child])
			child++;
		if (s->heap[child] >= x)
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = x;
	return top;
}

static bool add_up(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t n;

	return !__builtin_mul_overflow(a, b, &n) && !__builtin_add_overflow(*sum, n, sum) &&
	       *sum <= LENGTH_MAX;
}

static bool add_unit(struct rn_stretch *s, uint32_t unit, uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return true;
	if (s->times[unit] == 0)
		heap_push(s, unit);
	return add_up(&s->times[unit], a, b);
}

/* Computes the number of iterations in p->times executions that begin after `done` executions or,
 * if `back`, end after them. */
static bool count_rounds(const struct rn_stretch *s, uint32_t loop, uint64_t done, bool back,
			 struct rn_part *p)
{
	uint64_t from = back ? done - p->times : done, before, after;

	if (back && p->times > done)
		return false;
	before = rn_flow_rounds(&s->flow, loop, from);
	after = rn_flow_rounds(&s->flow, loop, from + p->times);
	p->bodies = after - before;
	return after != UINT64_MAX;
}

/* Processes a unit. No unit that contains it is left in the heap, so its occurrences are final. */
static bool settle(struct rn_stretch *s, uint32_t unit, const uint64_t *done, bool back)
{
	const struct rn_loopset *l = s->flow.loops;
	const struct unit *u = &l->unit[unit];
	uint32_t rules = rn_rules_count(l->rules);
	struct rn_part *p = &s->part[s->parts++];
	bool good = true;

	*p = (struct rn_part){ unit, s->times[unit], s->times[unit] };
	s->times[unit] = 0;
	if (s->left < (uint64_t)u->inners + 1)
		return false;
	s->left -= (uint64_t)u->inners + 1;
	if (u->id >= rules &&
	    !count_rounds(s, u->id - rules, done ? done[u->id - rules] : 0, back, p))
		return false;
	if (!add_up(&s->length, p->bodies, u->fixed))
		return false;
	for (uint32_t i = 0; i < u->inners && good; i++)
		good = add_unit(s, u->inner[i].unit, p->bodies, u->inner[i].count);
	return good;
}

bool rn_stretch_measure(struct rn_stretch *s, const uint64_t *done, const struct rn_item *it,
			uint64_t n, bool back)
{
	bool good;

	s->length = 0;
	s->parts = 0;
	good = add_unit(s, unit_of(s->flow.loops, it), n, 1);
	while (good && s->heaped)
		good = settle(s, heap_pop(s), done, back);
	while (s->heaped)
		s->times[s->heap[--s->heaped]] = 0;
	return good;
}

void rn_stretch_move(const struct rn_stretch *s, uint64_t *done, bool back)
{
	const struct rn_loopset *l = s->flow.loops;
	uint32_t rules = rn_rules_count(l->rules);

	for (uint32_t i = 0; i < s->parts; i++) {
		uint32_t id = l->unit[s->part[i].unit].id;

		if (id < rules)
			continue;
		if (back)
			done[id - rules] -= s->part[i].times;
		else
			done[id - rules] += s->part[i].times;
	}
}

void rn_stretch_each(const struct rn_stretch *s, rn_fixed_fn *fn, void *arg)
{
	const struct rn_loopset *l = s->flow.loops;

	for (uint32_t i = 0; i < s->parts; i++) {
		const struct rn_part *p = &s->part[i];
		struct rn_body b = rn_loopset_body(l, l->rules, l->unit[p->unit].id);

		for (uint32_t k = 0; k < b.n && p->bodies; k++)
			if (unit_of(l, &b.item[k]) == NONE)
				fn(arg, &b.item[k], p->bodies);
	}
}

/*
 * Whole streams
 */

/* Measures the whole stream, from its beginning. */
static bool measure_all(struct rn_stretch *s)
{
	struct rn_item all = { .kind = RN_KIND_RULE, .id = s->flow.root, .count = 1 };

	return rn_stretch_measure(s, NULL, &all, 1, false);
}

bool rn_flow_measure(struct rn_stretch *s, struct rn_flow *f, uint64_t *executions)
{
	uint32_t loops = f->loops->loops;

	s->flow = *f;
	memset(executions, 0, loops * sizeof(*executions));
	if (f->loops->place[f->root] == NONE) {
		f->length = rn_rules_length(f->rules, f->root);
		return true;
	}
	if (!measure_all(s))
		return false;
	f->length = s->length;
	rn_stretch_move(s, executions, false);
	return true;
}

void rn_flow_each(struct rn_stretch *s, const struct rn_flow *f, rn_fixed_fn *fn, void *arg)
{
	struct rn_item all = { .kind = RN_KIND_RULE, .id = f->root, .count = 1 };

	if (!rn_loopset_holds(f->loops, &all)) {
		fn(arg, &all, 1);
		return;
	}
	s->flow = *f;
	if (measure_all(s))
		rn_stretch_each(s, fn, arg);
}
