/* call_nesting.c - see call_nesting.h. */
#include "read/call_nesting.h"

#include "base/arena.h"
#include "base/intern.h"
#include "rules/loop_stream.h"
#include "rules/rule_search.h"
#include "rules/rules.h"

#define TAME_MOST ((int64_t)1 << 60)
#define LOOK_MOST ((uint64_t)1 << 28) /* steps, total for all streams: less than a minute */

/* Summary of a span of a stream. Counts are at most the length of the span, which is at most 2^62.
 * For a span with loops, all fields hold for every iteration count: calls, enters and leaves count
 * only the symbols outside the loops, and the other fields are bounds. */
struct sum {
	int64_t calls, enters, leaves;
	int64_t closes; /* leaves whose enter is before the span */
	int64_t peak;   /* maximum number of calls in flight, minus the number before the span */
	uint8_t first, last; /* enum rn_marker; with loops, a marker if it may be one */
	bool stray;          /* a leave is followed by a marker */
	bool any;            /* the span is not empty */
	bool maybe;          /* the span is empty for some iteration counts */
	bool wild; /* an iteration changes the number of open calls: closes and peak are unknown */
};

struct rn_nesting {
	const struct rn_rules *rules;
	const struct rn_loopset *loops;
	unsigned char *marker;             /* by signature; NULL: the trace has no markers */
	struct sum *rule, *literal, *loop; /* by id */
	uint64_t left;                     /* steps left for checking streams */
};

/*
 * Summaries of spans
 */

/* Number of enters whose leave is after the span. */
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
			     .first = a->maybe && a->first == RN_MARKER_NONE ? b->first : a->first,
			     .last = b->maybe && a->last == RN_MARKER_LEAVE ? a->last : b->last,
			     .stray = a->stray || b->stray || is_stray(a, b),
			     .any = true,
			     .maybe = a->maybe && b->maybe,
			     .wild = a->wild || b->wild };
}

/* Summary of `times` repeats of a span; times >= 1. */
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

/* Summary of any number of iterations, including 0. */
static struct sum sum_of_loop(const struct sum *round)
{
	struct sum s = *round;

	s.calls = s.enters = s.leaves = 0;
	s.stray |= is_stray(round, round);
	s.maybe = true;
	s.wild |= round->enters != round->leaves;
	return s;
}

/* Marks a sum as wild if a bound exceeds the length of any stream, because adding such bounds could
 * overflow. */
static struct sum tame(struct sum s)
{
	s.wild |= s.closes > TAME_MOST || s.peak > TAME_MOST;
	if (s.wild)
		s.closes = s.peak = 0;
	return s;
}

/* Summary of one repeat of an item. */
static struct sum unit_sum(const struct rn_nesting *n, const struct rn_item *it)
{
	uint32_t symbols = rn_loopset_symbols(n->loops);

	switch (it->kind) {
	case RN_KIND_RULE:
		return n->rule[it->id];
	case RN_KIND_LITERAL:
		return n->literal[it->id];
	default:
		return it->id < symbols ? sum_of_symbol(n, it->id) : n->loop[it->id - symbols];
	}
}

static struct sum sum_of_body(const struct rn_nesting *n, struct rn_body b)
{
	struct sum all = { 0 };
	bool loops = false;

	for (uint32_t k = 0; k < b.n; k++) {
		struct sum unit = unit_sum(n, &b.item[k]);
		struct sum s = repeat(&unit, b.item[k].count);

		all = join(&all, &s);
		loops |= rn_loopset_holds(n->loops, &b.item[k]);
	}
	return loops ? tame(all) : all;
}

static void sum_up(struct rn_nesting *n)
{
	uint32_t rules = rn_rules_count(n->rules);

	for (uint32_t i = 0; i < rn_rules_literals(n->rules); i++) {
		uint64_t len;
		const uint32_t *symbol = rn_rules_literal(n->rules, i, &len);

		for (uint64_t k = 0; k < len; k++) {
			struct sum s = sum_of_symbol(n, symbol[k]);

			n->literal[i] = join(&n->literal[i], &s);
		}
	}
	for (uint32_t i = 0; i < rules + rn_loopset_count(n->loops); i++) {
		uint32_t id = rn_loopset_order(n->loops, i);
		struct sum s = sum_of_body(n, rn_loopset_body(n->loops, n->rules, id));

		if (id < rules)
			n->rule[id] = s;
		else
			n->loop[id - rules] = tame(sum_of_loop(&s));
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
				  const struct rn_sigs *sigs, const struct rn_rules *rules,
				  const struct rn_loopset *loops)
{
	struct rn_markers m = rn_markers_of(vocab);
	struct rn_nesting *n = rn_new(mem, struct rn_nesting, 1);

	if (!n)
		return NULL;
	n->rules = rules;
	n->loops = loops;
	n->left = LOOK_MOST;
	if (!rn_markers_any(&m))
		return n;
	n->rule = rn_new(mem, struct sum, rn_rules_count(rules));
	n->literal = rn_new(mem, struct sum, rn_rules_literals(rules));
	n->loop = rn_new(mem, struct sum, (size_t)rn_loopset_count(loops) + 1);
	if (!n->rule || !n->literal || !n->loop || !find_markers(n, mem, &m, sigs))
		return NULL;
	sum_up(n);
	return n;
}

enum rn_marker rn_nesting_marker(const struct rn_nesting *n, uint32_t sig)
{
	return n->marker ? (enum rn_marker)n->marker[sig] : RN_MARKER_NONE;
}

/*
 * Searches (rules/rule_search.h). `number` and `pending` belong to the current position.
 */

struct search {
	struct rn_search search; /* first */
	const struct rn_nesting *n;
	bool flat;       /* the markers do not match */
	bool back;       /* the search moves toward the beginning */
	int64_t number;  /* number of the next call */
	int64_t wanted;  /* number of the call that is searched */
	int64_t pending; /* calls in flight; or passed markers without their counterpart */
	uint8_t last;    /* enum rn_marker of the last symbol passed */
};

static const struct search *search_of(const struct rn_search *q)
{
	return (const struct search *)q;
}

struct fixed {
	const struct rn_nesting *n;
	struct sum sum;
};

static void add_fixed(void *arg, const struct rn_item *it, uint64_t times)
{
	struct fixed *f = arg;
	struct sum s = unit_sum(f->n, it);
	int64_t m = (int64_t)(times * it->count);

	f->sum.calls += m * s.calls;
	f->sum.enters += m * s.enters;
	f->sum.leaves += m * s.leaves;
}

static struct sum sum_of_passage(const struct rn_nesting *n, const struct rn_passage *p)
{
	struct sum unit = unit_sum(n, p->item), s = repeat(&unit, p->n);
	struct fixed f = { .n = n };

	if (!p->stretch)
		return s;
	rn_passage_each(p, add_fixed, &f);
	s.calls = f.sum.calls;
	s.enters = f.sum.enters;
	s.leaves = f.sum.leaves;
	if (s.wild) {
		s.closes = s.leaves;
		s.peak = s.enters;
	}
	return s;
}

/* Number of call numbers that a span assigns. The call after a leave was numbered at its enter. */
static int64_t numbers(bool flat, const struct sum *s)
{
	return flat ? s->calls : s->calls + s->enters - s->leaves;
}

static void pass(struct rn_search *search, const struct rn_passage *p)
{
	struct search *q = (struct search *)search;
	struct sum s = sum_of_passage(q->n, p);
	int64_t on = q->back ? -1 : 1;

	q->number += on * numbers(q->flat, &s);
	q->pending += on * (s.enters - s.leaves);
	q->last = s.last;
}

/* The next number decreases by one at a leave, and increases again at the call after it. It
 * decreases nowhere else. */
static bool number_passes(const struct rn_search *search, const struct rn_passage *p)
{
	const struct search *q = search_of(search);
	struct sum s = sum_of_passage(q->n, p);
	bool dips = !q->flat && s.last == RN_MARKER_LEAVE;

	return q->number + numbers(q->flat, &s) + dips <= q->wanted;
}

static bool leave_passes(const struct rn_search *search, const struct rn_passage *p)
{
	const struct search *q = search_of(search);

	return sum_of_passage(q->n, p).closes <= q->pending;
}

/* For a search toward the beginning. */
static bool enter_passes(const struct rn_search *search, const struct rn_passage *p)
{
	const struct search *q = search_of(search);
	struct sum s = sum_of_passage(q->n, p);

	return opens(&s) <= q->pending;
}

/*
 * Checks of whole streams
 */

static const char *what_is_wrong(bool closes, bool stray, bool deep)
{
	if (closes)
		return "a rondo_leave is there without its rondo_enter";
	if (stray)
		return "a rondo_leave is not followed by the call that it is about";
	if (deep)
		return "calls are inside calls too deep";
	return NULL;
}

/* Passes only spans whose markers certainly match, and of which it is known whether they end with a
 * leave. */
static bool fit_passes(const struct rn_search *search, const struct rn_passage *p)
{
	const struct search *q = search_of(search);
	struct sum s = sum_of_passage(q->n, p);

	if (q->last == RN_MARKER_LEAVE && (s.maybe || s.first != RN_MARKER_NONE))
		return false;
	if (p->stretch && (s.wild || s.last == RN_MARKER_LEAVE))
		return false;
	return !s.stray && s.closes <= q->pending && s.peak <= RN_NESTING_MAX - q->pending;
}

/* Describes the error in the markers at the symbol where the search stopped. */
static const char *wrong_symbol(const struct search *q, struct rn_walk *w)
{
	uint32_t sig = 0;
	struct sum s;

	if (q->search.left == 0)
		return "its markers take too long to follow";
	rn_walk_next(w, &sig);
	s = sum_of_symbol(q->n, sig);
	return what_is_wrong(s.closes > q->pending, q->last == RN_MARKER_LEAVE, true);
}

/* Checks a stream with loops. The search skips most of it. */
static int look_at_loops(struct rn_nesting *n, const struct rn_flow *f, struct rn_arena *mem,
			 struct rn_nested *out)
{
	struct search q = { .search = { NULL, fit_passes, pass, n->left, false }, .n = n };
	struct fixed all = { .n = n };
	struct rn_walk w;

	if (rn_walk_flow(&w, f, mem) < 0)
		return RN_E_NOMEM;
	if (rn_search_on(&q.search, &w) || q.search.left == 0)
		out->wrong = wrong_symbol(&q, &w);
	n->left = q.search.left;
	rn_flow_each(w.stretch, f, add_fixed, &all);
	out->numbers = (uint64_t)(numbers(out->wrong, &all.sum) +
				  (!out->wrong && q.last == RN_MARKER_LEAVE));
	return RN_OK;
}

int rn_nesting_look(struct rn_nesting *n, const struct rn_flow *f, struct rn_nested *out)
{
	struct rn_item all = { .kind = RN_KIND_RULE, .id = f->root, .count = 1 };
	struct rn_arena mem;
	const struct sum *s;
	int rc;

	*out = (struct rn_nested){ .numbers = f->length };
	if (!n->marker)
		return RN_OK;
	if (!rn_loopset_holds(f->loops, &all)) {
		s = &n->rule[f->root];
		out->wrong = what_is_wrong(s->closes, s->stray, s->peak > RN_NESTING_MAX);
		out->numbers = (uint64_t)(numbers(out->wrong, s) +
					  (!out->wrong && s->last == RN_MARKER_LEAVE));
		return RN_OK;
	}
	rn_arena_init(&mem, SIZE_MAX);
	rc = look_at_loops(n, f, &mem, out);
	rn_arena_free(&mem);
	return rc;
}

/*
 * Call numbers
 */

/* Finds the calls in flight at the walker, innermost first, and returns their number. Moves the
 * walker to the beginning of the stream. */
static uint32_t find_open(const struct rn_nesting *n, struct rn_walk *w, uint64_t number,
			  uint64_t *open)
{
	struct search q = { .search = { NULL, enter_passes, pass, UINT64_MAX, false },
			    .n = n,
			    .back = true,
			    .number = (int64_t)number };
	uint32_t depth = 0;

	while (rn_search_back(&q.search, w))
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

int rn_nesting_seek(const struct rn_nesting *n, const struct rn_nested *of, struct rn_walk *w,
		    uint64_t number, uint64_t *open, uint32_t *depth)
{
	struct search q = { .search = { NULL, number_passes, pass, UINT64_MAX, false },
			    .n = n,
			    .flat = of->wrong,
			    .wanted = (int64_t)number };
	uint64_t pos;

	*depth = 0;
	if (number >= of->numbers)
		return RN_E_RANGE;
	if (!n->marker)
		return rn_walk_seek(w, number);
	rn_walk_seek(w, 0);
	rn_search_on(&q.search, w);
	if (q.flat)
		return RN_OK;
	pos = rn_walk_pos(w);
	*depth = find_open(n, w, number, open);
	reverse(open, *depth);
	return rn_walk_seek(w, pos);
}

bool rn_nesting_leave(const struct rn_nesting *n, struct rn_walk *w)
{
	struct search q = { .search = { NULL, leave_passes, pass, UINT64_MAX, false }, .n = n };
	uint32_t leave;

	if (!n->marker)
		return false;
	return rn_search_on(&q.search, w) && rn_walk_next(w, &leave);
}
