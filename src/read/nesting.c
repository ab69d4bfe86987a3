/* nesting.c - see nesting.h. */
#include "read/nesting.h"

#include "base/arena.h"
#include "encode/sigs.h"
#include "rules/rules.h"

/* What matters of a piece of a stream. Counts are at most its length, which is at most 2^62. */
struct sum {
	int64_t calls, enters, leaves;
	int64_t closes;      /* leaves whose enter is before the piece */
	int64_t peak;        /* how many more calls are under way than before it, at most */
	uint8_t first, last; /* enum rn_marker */
	bool stray;          /* a leave is followed by a marker */
	bool any;            /* it is not empty */
};

struct rn_nesting {
	const struct rn_rules *rules;
	unsigned char *marker;      /* by signature; NULL: there are no markers */
	struct sum *rule, *literal; /* by number */
};

/*
 * Sums
 */

/* Enters whose leave is behind the piece. */
static int64_t opens(const struct sum *s)
{
	return s->enters - s->leaves + s->closes;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct sum sum_of_symbol(const struct rn_nesting *n, uint32_t sig)
{
	enum rn_marker m = (enum rn_marker)n->marker[sig];

	return (struct sum){ .calls = m == RN_MARKER_NONE,
			     .enters = m == RN_MARKER_ENTER,
			     .leaves = m == RN_MARKER_LEAVE,
			     .closes = m == RN_MARKER_LEAVE,
			     .peak = m == RN_MARKER_ENTER,
			     .first = (uint8_t)m,
			     .last = (uint8_t)m,
			     .any = true };
}

static bool is_stray(const struct sum *a, const struct sum *b)
{
	return a->last == RN_MARKER_LEAVE && b->first != RN_MARKER_NONE;
}

static struct sum join(const struct sum *a, const struct sum *b)
{
	if (!a->any)
		return *b;
	if (!b->any)
		return *a;
	return (struct sum){ .calls = a->calls + b->calls,
			     .enters = a->enters + b->enters,
			     .leaves = a->leaves + b->leaves,
			     .closes = a->closes + max(0, b->closes - opens(a)),
			     .peak = max(a->peak, a->enters - a->leaves + b->peak),
			     .first = a->first,
			     .last = b->last,
			     .stray = a->stray || b->stray || is_stray(a, b),
			     .any = true };
}

/* The piece `times` times, at least once. */
static struct sum repeat(const struct sum *s, uint64_t times)
{
	int64_t more = (int64_t)times - 1, deeper = s->enters - s->leaves;
	struct sum r = *s;

	r.calls += more * s->calls;
	r.enters += more * s->enters;
	r.leaves += more * s->leaves;
	r.closes += more * max(0, -deeper);
	r.peak += more * max(0, deeper);
	r.stray = s->stray || (more && is_stray(s, s));
	return r;
}

/* One repeat of an item. */
static struct sum unit_sum(const struct rn_nesting *n, const struct rn_item *it)
{
	switch (it->kind) {
	case RN_KIND_RULE:
		return n->rule[it->id];
	case RN_KIND_LITERAL:
		return n->literal[it->id];
	default:
		return sum_of_symbol(n, it->id);
	}
}

/* Bodies refer to what has a lower number. */
static void sum_up(struct rn_nesting *n)
{
	for (uint32_t i = 0; i < rn_rules_literals(n->rules); i++) {
		uint64_t len;
		const uint32_t *symbol = rn_rules_literal(n->rules, i, &len);

		for (uint64_t k = 0; k < len; k++) {
			struct sum s = sum_of_symbol(n, symbol[k]);

			n->literal[i] = join(&n->literal[i], &s);
		}
	}
	for (uint32_t i = 0; i < rn_rules_count(n->rules); i++) {
		struct rn_body b = rn_rules_body(n->rules, i);

		for (uint32_t k = 0; k < b.n; k++) {
			struct sum unit = unit_sum(n, &b.item[k]);
			struct sum s = repeat(&unit, b.item[k].count);

			n->rule[i] = join(&n->rule[i], &s);
		}
	}
}

static bool find_markers(struct rn_nesting *n, struct rn_arena *mem, const struct rn_markers *m,
			 const struct rn_sigs *sigs)
{
	n->marker = rn_new(mem, unsigned char, rn_sigs_count(sigs));
	for (uint32_t i = 0; n->marker && i < rn_sigs_count(sigs); i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		n->marker[i] = (unsigned char)rn_marker_of(m, sig, len);
	}
	return n->marker;
}

struct rn_nesting *rn_nesting_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				  const struct rn_sigs *sigs, const struct rn_rules *rules)
{
	struct rn_markers m = rn_markers_of(vocab);
	struct rn_nesting *n = rn_new(mem, struct rn_nesting, 1);

	if (!n)
		return NULL;
	n->rules = rules;
	if (!rn_markers_any(&m))
		return n;
	n->rule = rn_new(mem, struct sum, rn_rules_count(rules));
	n->literal = rn_new(mem, struct sum, rn_rules_literals(rules));
	if (!n->rule || !n->literal || !find_markers(n, mem, &m, sigs))
		return NULL;
	sum_up(n);
	return n;
}

enum rn_marker rn_nesting_marker(const struct rn_nesting *n, uint32_t sig)
{
	return n->marker ? (enum rn_marker)n->marker[sig] : RN_MARKER_NONE;
}

const char *rn_nesting_wrong(const struct rn_nesting *n, uint32_t root)
{
	const struct sum *s;

	if (!n->marker)
		return NULL;
	s = &n->rule[root];
	if (s->closes)
		return "a rondo_leave is there without its rondo_enter";
	if (s->stray)
		return "a rondo_leave is not followed by the call that it is about";
	if (s->peak > RN_NESTING_MAX)
		return "calls are inside calls too deep";
	return NULL;
}

/*
 * Searches: each passes over pieces of a stream until it comes to a symbol that it must not pass.
 * What it may pass many times it may pass once. Number, enters and leaves are as of the place that
 * it has come to.
 */

struct search {
	const struct rn_nesting *n;
	bool (*passes)(const struct search *q, const struct sum *s);
	void (*pass)(struct search *q, const struct sum *s);
	bool flat;      /* the markers do not fit */
	int64_t number; /* of the next call */
	int64_t wanted;
	int64_t pending; /* markers that were passed without their other half */
};

/* How far the numbers of calls get on in the piece. The call behind a leave has one already. */
static int64_t numbers(const struct search *q, const struct sum *s)
{
	return q->flat ? s->calls : s->calls + s->enters - s->leaves;
}

/* Numbers go down by one at a leave and up again with the call; nowhere else do they go down. */
static bool number_passes(const struct search *q, const struct sum *s)
{
	bool dips = !q->flat && s->last == RN_MARKER_LEAVE;

	return q->number + numbers(q, s) + dips <= q->wanted;
}

static void number_pass(struct search *q, const struct sum *s)
{
	q->number += numbers(q, s);
}

static bool leave_passes(const struct search *q, const struct sum *s)
{
	return s->closes <= q->pending;
}

static void leave_pass(struct search *q, const struct sum *s)
{
	q->pending += opens(s) - s->closes;
}

/* This one goes backwards. */
static bool enter_passes(const struct search *q, const struct sum *s)
{
	return opens(s) <= q->pending;
}

static void enter_pass(struct search *q, const struct sum *s)
{
	q->pending += s->closes - opens(s);
	q->number -= numbers(q, s);
}

/* Passes as many of `times` repeats as it may, and says how many. */
static uint64_t pass_units(struct search *q, const struct rn_item *it, uint64_t times)
{
	struct sum unit = unit_sum(q->n, it), s;
	uint64_t good = 0, bad = times + 1;

	while (bad - good > 1) {
		/* All of them, or none, is what it nearly always is. */
		uint64_t k = good == 0 && bad == times + 1 ? times : good + (bad - good) / 2;

		s = repeat(&unit, k);
		if (q->passes(q, &s))
			good = k;
		else
			bad = k;
	}
	if (good) {
		s = repeat(&unit, good);
		q->pass(q, &s);
	}
	return good;
}

/* Symbols in one repeat of an item. */
static uint64_t unit_length(const struct search *q, const struct rn_item *it)
{
	uint64_t n = 1;

	if (it->kind == RN_KIND_RULE)
		return rn_rules_length(q->n->rules, it->id);
	if (it->kind == RN_KIND_LITERAL)
		rn_rules_literal(q->n->rules, it->id, &n);
	return n;
}

/* How much a frame's `iter` counts in one repeat of an item. */
static uint64_t unit_steps(const struct search *q, const struct rn_item *it)
{
	return it->kind == RN_KIND_RULE ? 1 : unit_length(q, it);
}

static bool try_symbol(struct search *q, const struct rn_item *it, uint64_t k)
{
	uint64_t n = 1;
	const uint32_t *symbol = &it->id;
	struct sum s;

	if (it->kind == RN_KIND_LITERAL)
		symbol = rn_rules_literal(q->n->rules, it->id, &n);
	s = sum_of_symbol(q->n, symbol[k % n]);
	if (!q->passes(q, &s))
		return false;
	q->pass(q, &s);
	return true;
}

static void push(struct rn_walk *w, uint32_t rule, uint32_t item)
{
	w->frame[w->depth++] =
		(struct rn_walk_frame){ .rule = rule, .item = item, .from = SIZE_MAX };
}

/* Gets on in an item: over repeats, over a symbol of a run, or into a rule. False at a symbol. */
static bool go_on(struct search *q, struct rn_walk *w, struct rn_walk_frame *f,
		  const struct rn_item *it)
{
	uint64_t steps = unit_steps(q, it), passed = 0;

	if (f->iter % steps == 0)
		passed = pass_units(q, it, it->count - f->iter / steps);
	f->iter += passed * steps;
	w->pos += passed * unit_length(q, it);
	if (passed)
		return true;
	if (it->kind == RN_KIND_RULE) {
		push(w, it->id, 0);
		return true;
	}
	if (!try_symbol(q, it, f->iter))
		return false;
	f->iter++;
	w->pos++;
	return true;
}

/* To before the symbol that is looked for; false at the end of the stream. */
static bool search_on(struct search *q, struct rn_walk *w)
{
	for (;;) {
		struct rn_walk_frame *f = &w->frame[w->depth - 1];
		struct rn_body b = rn_rules_body(q->n->rules, f->rule);
		const struct rn_item *it = &b.item[f->item];

		if (f->item == b.n) {
			if (w->depth == 1)
				return false;
			w->frame[--w->depth - 1].iter++;
		} else if (f->iter == it->count * unit_steps(q, it)) {
			f->item++;
			f->iter = 0;
		} else if (!go_on(q, w, f, it)) {
			return true;
		}
	}
}

/* The same towards the beginning; ends before the symbol, too. */
static bool go_back(struct search *q, struct rn_walk *w, struct rn_walk_frame *f,
		    const struct rn_item *it)
{
	uint64_t steps = unit_steps(q, it), passed = 0;

	if (f->iter % steps == 0)
		passed = pass_units(q, it, f->iter / steps);
	f->iter -= passed * steps;
	w->pos -= passed * unit_length(q, it);
	if (passed)
		return true;
	f->iter--;
	if (it->kind == RN_KIND_RULE) {
		push(w, it->id, rn_rules_body(q->n->rules, it->id).n);
		return true;
	}
	w->pos--;
	return try_symbol(q, it, f->iter);
}

static bool search_back(struct search *q, struct rn_walk *w)
{
	for (;;) {
		struct rn_walk_frame *f = &w->frame[w->depth - 1];
		const struct rn_item *item = rn_rules_body(q->n->rules, f->rule).item;

		if (f->iter) {
			if (!go_back(q, w, f, &item[f->item]))
				return true;
		} else if (f->item) {
			f->item--;
			f->iter = item[f->item].count * unit_steps(q, &item[f->item]);
		} else if (--w->depth == 0) {
			w->depth = 1;
			return false;
		}
	}
}

/*
 * Numbers
 */

uint64_t rn_nesting_numbers(const struct rn_nesting *n, uint32_t root)
{
	struct search q = { .flat = rn_nesting_wrong(n, root) };
	const struct sum *s;

	if (!n->marker)
		return rn_rules_length(n->rules, root);
	s = &n->rule[root];
	return (uint64_t)(numbers(&q, s) + (!q.flat && s->last == RN_MARKER_LEAVE));
}

/* The calls that are under way where the walker stands, innermost first; ends at the beginning. */
static uint32_t find_open(const struct rn_nesting *n, struct rn_walk *w, uint64_t number,
			  uint64_t *open)
{
	struct search q = {
		.n = n, .passes = enter_passes, .pass = enter_pass, .number = (int64_t)number
	};
	uint32_t depth = 0;

	while (search_back(&q, w))
		open[depth++] = (uint64_t)--q.number;
	return depth;
}

static void reverse(uint64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint64_t x = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = x;
	}
}

int rn_nesting_seek(const struct rn_nesting *n, struct rn_walk *w, uint64_t number, uint64_t *open,
		    uint32_t *depth)
{
	struct search q = { .n = n,
			    .passes = number_passes,
			    .pass = number_pass,
			    .flat = rn_nesting_wrong(n, w->root),
			    .wanted = (int64_t)number };
	uint64_t pos;

	*depth = 0;
	if (number >= rn_nesting_numbers(n, w->root))
		return RN_E_RANGE;
	if (!n->marker)
		return rn_walk_seek(w, number);
	rn_walk_seek(w, 0);
	search_on(&q, w);
	if (q.flat)
		return RN_OK;
	pos = rn_walk_pos(w);
	*depth = find_open(n, w, number, open);
	reverse(open, *depth);
	return rn_walk_seek(w, pos);
}

bool rn_nesting_leave(const struct rn_nesting *n, struct rn_walk *w)
{
	struct search q = { .n = n, .passes = leave_passes, .pass = leave_pass };
	uint32_t leave;

	if (!n->marker)
		return false;
	return search_on(&q, w) && rn_walk_next(w, &leave);
}
