/*
 * series.c - the series builder: selects the unit for each element, and changes units.
 *
 *   raw        8 equally spaced values, or 64 with a pattern            -> pattern
 *              64 values without a pattern                              -> literal
 *   pattern    credit spent: the unit is closed, the next one begins    -> raw
 *              credit spent, and not worth its grammar: undone          -> literal
 *   literal    the latest values have a pattern: they leave the unit    -> pattern
 *
 * An append has two steps. `settle` makes the change of units that is due; then the element is
 * added. Each step is done completely or, if memory is short, not at all. Changing units changes no
 * element. The number of values that one settle moves is bounded (CUT_MAX, KEEP), so no append is
 * slow.
 *
 * Credit of a pattern unit: each difference that the grammar did not predict costs one credit, and
 * five predicted ones earn one. The credit is limited to CREDIT_MAX. This bounds the noise that
 * enters a good grammar. It is also the longest loop body that a unit can learn. Longer loop bodies
 * are found by their lag, and receive the credit for three passes when their unit begins.
 */
#include "series/series_impl.h"

#include <assert.h>
#include <string.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* The credit is updated after this number of differences that were not predicted. */
#define LOOK         64u
#define EARN         5u  /* predicted differences that earn one credit */
#define CREDIT_WEAK  128 /* initial credit: few distinct differences, in no apparent order */
#define CREDIT_FIRST 256
#define CREDIT_MAX   512
#define CREDIT_MOST  (CREDIT_FIRST + 3 * (int64_t)LAG_MAX)

/* A closed pattern unit shorter than KEEP is undone, unless its grammar is small in comparison. */
#define KEEP      4096u
#define KEEP_LANE 256u

#define PATIENCE_MIN 64u
#define PATIENCE_MAX 65536u
/* With strong evidence, an attempt waits for at most this number of values. */
#define PATIENCE_STRONG 4096u

/* A lag is evidence when 32 differences plus a quarter of the period have repeated. Where patterns
 * have failed before, 96 differences plus a quarter are required. */
#define LAG_RUN 32u
#define LAG_MAX 8192u

struct rn_series *rn_series_new(struct rn_arena *mem)
{
	struct rn_series *s = rn_new(mem, struct rn_series, 1);

	if (!s)
		return NULL;
	s->mem = mem;
	s->patience = PATIENCE_MIN;
	s->raw = s->few;
	s->raw_cap = RAW_FEW;
	rn_seg_init(&s->parts, sizeof(struct rn_series_part));
	rn_seg_init(&s->lit, sizeof(int64_t));
	return s;
}

struct rn_series *rn_series_new_sorted(struct rn_arena *mem)
{
	struct rn_series *s = rn_series_new(mem);

	if (s)
		s->sorted = true;
	return s;
}

/* ---- changing units ---- */

static void begin_pattern(struct rn_series *s, struct rn_lane *ring, uint32_t lanes, int64_t credit)
{
	uint64_t n = s->n - s->start;

	assert(lanes >= 1 && lanes <= RN_LANES_MAX && n >= lanes && credit > 0);
	s->mode = RN_SERIES_PATTERN;
	s->due = RN_DUE_NOTHING;
	s->open = (struct rn_series_part){ .lane = ring, .lanes = lanes };
	s->lane = ring;
	for (uint64_t i = n % lanes; i; i--)
		s->lane = s->lane->next;
	s->credit = credit;
	s->slow = 0;
	s->looked = s->n;
	s->lag = s->run = 0;
}

static void begin_raw(struct rn_series *s)
{
	s->mode = RN_SERIES_RAW;
	s->due = RN_DUE_NOTHING;
	s->lane = NULL;
	s->open = (struct rn_series_part){ 0 };
}

static void begin_literal(struct rn_series *s)
{
	assert(s->seen);
	s->mode = RN_SERIES_LITERAL;
	s->due = RN_DUE_NOTHING;
	s->lane = NULL;
	s->open = (struct rn_series_part){ .lit = s->lit.n };
	s->since = 0;
	rn_seen_clear(s);
}

/* Closes the first n elements of the open unit as a unit. The caller must have reserved its entry.
 */
static void file_part(struct rn_series *s, uint64_t n)
{
	struct rn_series_part *p = RN_SEG_AT(&s->parts, struct rn_series_part, s->parts.n);

	assert(n > 0 && n <= s->n - s->start && s->parts.n < s->parts.cap);
	*p = s->open;
	p->n = n;
	s->parts.n++;
	s->start += n;
}

static int raw_grow(struct rn_series *s)
{
	int64_t *raw = s->raw_cap < RAW_FULL ? rn_new(s->mem, int64_t, RAW_FULL) : s->raw;

	if (!raw)
		return RN_E_NOMEM;
	if (s->raw_cap < RAW_FULL)
		memcpy(raw, s->raw, RAW_FEW * sizeof(*raw));
	s->raw = raw;
	s->raw_cap = RAW_FULL;
	return RN_OK;
}

static int raw_to_pattern(struct rn_series *s, uint32_t lanes, int64_t credit)
{
	struct rn_lane *ring;
	int rc = rn_lanes_build(s, s->raw, (uint32_t)(s->n - s->start), lanes, &ring);

	if (rc < 0)
		return rc;
	s->young = s->n - s->start == RAW_FEW;
	begin_pattern(s, ring, lanes, credit);
	return RN_OK;
}

/* Converts a young pattern unit, which fails before it has RAW_FULL values, back to raw, so that it
 * is classified as a whole. The first iteration of lanes is often equally spaced. */
static int young_to_raw(struct rn_series *s)
{
	struct rn_lane *l = s->open.lane;
	uint64_t n = s->n - s->start;
	int64_t d = *RN_SEG_AT(&l->delta, int64_t, 0);
	int rc = raw_grow(s);

	assert(s->young && s->open.lanes == 1 && n >= RAW_FEW && n < RAW_FULL);
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; i < n; i++)
		s->raw[i] = (int64_t)((uint64_t)l->first + i * (uint64_t)d);
	assert(s->raw[n - 1] == l->last);
	rn_lanes_recycle(s, l);
	begin_raw(s);
	return RN_OK;
}

static int raw_to_literal(struct rn_series *s)
{
	assert(s->n - s->start == RAW_FULL);
	if (rn_seen_reserve(s) < 0 || !rn_seg_reserve(&s->lit, s->mem, RAW_FULL))
		return RN_E_NOMEM;
	begin_literal(s);
	for (uint32_t i = 0; i < RAW_FULL; i++)
		RN_SEG_PUT(&s->lit, int64_t, s->raw[i]);
	s->since = RAW_FULL;
	rn_seen_enter(s, 0, RAW_FULL);
	return RN_OK;
}

static uint32_t judge(const struct rn_series *s, const int64_t *v, bool *strong)
{
	uint32_t lanes = rn_series_judge(v, strong);

	return lanes > 1 && s->sorted ? 0 : lanes;
}

static int settle_raw(struct rn_series *s)
{
	uint64_t n = s->n - s->start;
	uint32_t lanes;
	bool strong;
	int rc;

	if (n == RAW_FEW)
		return rn_series_even(s->raw, RAW_FEW) ? raw_to_pattern(s, 1, CREDIT_FIRST)
						       : raw_grow(s);
	if (n < RAW_FULL)
		return RN_OK;
	lanes = judge(s, s->raw, &strong);
	rc = RN_E_RANGE;
	if (lanes)
		rc = raw_to_pattern(s, lanes, strong ? CREDIT_FIRST : CREDIT_WEAK);
	return rc == RN_E_RANGE ? raw_to_literal(s) : rc;
}

/* Records a failed attempt: the next one has to wait longer. */
static void lose_patience(struct rn_series *s)
{
	s->since = 0;
	if (s->patience < PATIENCE_MAX)
		s->patience *= 4;
}

static void want(struct rn_series *s, uint32_t lanes, uint32_t cut, uint32_t credit)
{
	assert(s->mode == RN_SERIES_LITERAL && cut <= CUT_MAX && lanes <= cut);
	assert(cut <= s->lit.n - s->open.lit);
	s->due = RN_DUE_CONVERT;
	s->want.lanes = lanes;
	s->want.cut = cut;
	s->want.credit = credit;
}

static bool lag_is_evidence(const struct rn_series *s)
{
	uint32_t run = s->patience > PATIENCE_MIN ? 3 * LAG_RUN : LAG_RUN;

	return s->lag && s->lag <= LAG_MAX && s->run >= run + s->lag / 4;
}

/* Requests conversion from the first occurrence of the period on, within CUT_MAX values. */
static void want_period(struct rn_series *s, uint32_t n)
{
	uint32_t cut = s->lag + s->run + 4;

	if (cut > n)
		cut = n;
	want(s, 1, cut < CUT_MAX ? cut : CUT_MAX, CREDIT_FIRST + 3 * s->lag);
}

/* Returns the number of latest values for which each value is on the line of its lane. */
static uint32_t reach_back(const struct rn_series *s, uint32_t lanes, uint32_t n)
{
	uint32_t cut = RAW_FULL, most = n < CUT_MAX ? n : CUT_MAX;
	int64_t a, b;

	for (; cut < most; cut++) {
		uint32_t at = s->lit.n - cut - 1;

		if (!rn_difference(rn_lit_at(s, at), rn_lit_at(s, at + lanes), &a) ||
		    !rn_difference(rn_lit_at(s, at + lanes), rn_lit_at(s, at + 2 * lanes), &b) ||
		    a != b)
			break;
	}
	return cut;
}

/* Classifies the latest RAW_FULL values. Weak evidence has to wait, and a pattern (not lanes) that
 * has just failed is not attempted again at once. */
static void judge_block(struct rn_series *s, bool failed)
{
	uint32_t n = s->lit.n - s->open.lit, lanes;
	int64_t v[RAW_FULL];
	bool strong;

	if (n < RAW_FULL)
		return;
	for (uint32_t i = 0; i < RAW_FULL; i++)
		v[i] = rn_lit_at(s, s->lit.n - RAW_FULL + i);
	lanes = judge(s, v, &strong);
	if (lanes > 1)
		want(s, lanes, reach_back(s, lanes, n), CREDIT_FIRST);
	else if (lanes && !failed && (strong || s->since >= s->patience))
		want(s, 1, RAW_FULL, strong ? CREDIT_FIRST : CREDIT_WEAK);
}

/* Moves the latest values of the literal unit to a new pattern unit. */
static int literal_to_pattern(struct rn_series *s)
{
	uint64_t n = s->n - s->start;
	uint32_t cut = s->want.cut;
	int64_t v[CUT_MAX];
	struct rn_lane *ring;
	int rc;

	assert(cut <= CUT_MAX && cut <= n && n == s->lit.n - s->open.lit);
	if (!rn_seg_reserve(&s->parts, s->mem, 1))
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < cut; i++)
		v[i] = rn_lit_at(s, s->lit.n - cut + i);
	rc = rn_lanes_build(s, v, cut, s->want.lanes, &ring);
	if (rc == RN_E_RANGE) {
		s->due = RN_DUE_NOTHING;
		lose_patience(s);
		return RN_OK;
	}
	if (rc < 0)
		return rc;
	if (n > cut)
		file_part(s, n - cut);
	s->lit.n -= cut;
	s->young = false;
	begin_pattern(s, ring, s->want.lanes, s->want.credit);
	return RN_OK;
}

static bool worth_keeping(const struct rn_series *s)
{
	uint64_t n = s->n - s->start;

	if (n >= KEEP)
		return true;
	return n >= (uint64_t)KEEP_LANE * s->open.lanes && rn_lanes_nodes(s->open.lane) * 3 <= n;
}

/* Continues the open unit as a literal unit, joined to the preceding one if that is also literal.
 */
static void adopt_literal(struct rn_series *s)
{
	const struct rn_series_part *last;

	last = s->parts.n ? rn_series_part_at(s, s->parts.n - 1) : NULL;
	if (!last || last->lanes) {
		begin_literal(s);
		return;
	}
	assert(last->lit + last->n == s->lit.n);
	s->mode = RN_SERIES_LITERAL;
	s->due = RN_DUE_NOTHING;
	s->lane = NULL;
	s->open = *last;
	s->start -= last->n;
	s->parts.n--;
}

/* Converts a pattern unit to literal values. Returns RN_E_RANGE, with nothing changed, if it is too
 * deep to expand. */
static int pattern_to_literal(struct rn_series *s)
{
	uint32_t n = (uint32_t)(s->n - s->start), lanes = s->open.lanes, from;
	struct rn_lane *ring = s->open.lane, *l = ring;
	int rc = RN_OK;

	assert(s->n - s->start < KEEP);
	if (rn_seen_reserve(s) < 0 || !rn_seg_reserve(&s->lit, s->mem, n))
		return RN_E_NOMEM;
	for (uint32_t k = 0; k < lanes && rc == RN_OK; k++, l = l->next)
		rc = rn_lane_expand(l, &s->lit, s->lit.n + k, lanes);
	if (rc < 0)
		return rc;
	adopt_literal(s);
	from = s->lit.n - s->open.lit;
	s->lit.n += n;
	assert(s->n - s->start == s->lit.n - s->open.lit);
	rn_seen_enter(s, from, from + n);
	rn_lanes_recycle(s, ring);
	lose_patience(s);
	return RN_OK;
}

static int close_pattern(struct rn_series *s)
{
	uint64_t n = s->n - s->start;

	if (!worth_keeping(s)) {
		int rc = pattern_to_literal(s);

		if (rc != RN_E_RANGE)
			return rc;
	}
	if (!rn_seg_reserve(&s->parts, s->mem, 1))
		return RN_E_NOMEM;
	file_part(s, n);
	begin_raw(s);
	if (n >= KEEP)
		s->patience = PATIENCE_MIN;
	return RN_OK;
}

static int settle(struct rn_series *s)
{
	if (s->mode == RN_SERIES_RAW)
		return settle_raw(s);
	if (s->due == RN_DUE_CLOSE) {
		bool plain = s->open.lanes == 1;
		int rc = close_pattern(s);

		if (rc < 0)
			return rc;
		if (plain && s->mode == RN_SERIES_LITERAL)
			judge_block(s, true);
	}
	return s->due == RN_DUE_CONVERT ? literal_to_pattern(s) : RN_OK;
}

/* ---- adding an element ---- */

static int take_raw(struct rn_series *s, int64_t x)
{
	assert(s->n - s->start < s->raw_cap);
	s->raw[s->n - s->start] = x;
	s->n++;
	return RN_OK;
}

static int take_literal(struct rn_series *s, int64_t x)
{
	uint32_t i = s->lit.n - s->open.lit;

	assert(s->n - s->start == i && !s->due);
	if (!RN_SEG_PUSH(&s->lit, s->mem, int64_t, x))
		return RN_E_NOMEM;
	s->n++;
	s->since++;
	rn_seen_look(s, i);
	if (s->since < s->patience && s->since < PATIENCE_STRONG)
		return RN_OK;
	if (lag_is_evidence(s))
		want_period(s, i + 1);
	else if (i % RAW_FULL == RAW_FULL - 1)
		judge_block(s, false);
	return RN_OK;
}

static void look(struct rn_series *s)
{
	uint64_t hits = s->n - s->looked - LOOK;
	int64_t earned = hits / EARN < CREDIT_MAX ? (int64_t)(hits / EARN) : CREDIT_MAX;

	if (s->credit < CREDIT_MAX)
		s->credit = s->credit + earned < CREDIT_MAX ? s->credit + earned : CREDIT_MAX;
	s->credit -= LOOK;
	s->slow = 0;
	s->looked = s->n;
	if (s->credit <= 0) {
		s->due = RN_DUE_CLOSE;
		s->lane = NULL;
	}
}

static int take_pattern(struct rn_series *s, int64_t x)
{
	struct rn_lane *l = s->lane;
	bool foreseen;
	int rc;

	assert(l && s->due == RN_DUE_NOTHING);
	rc = rn_lane_step(l, s->mem, x, &foreseen);
	if (rc < 0)
		return rc;
	s->n++;
	s->lane = l->next;
	if (foreseen)
		return RN_OK;
	s->young = false;
	if (++s->slow == LOOK)
		look(s);
	return RN_OK;
}

static bool breaks_young(const struct rn_series *s, int64_t x)
{
	const struct rn_lane *l = s->open.lane;
	int64_t d;

	return s->young && s->n - s->start < RAW_FULL &&
	       (!rn_difference(l->last, x, &d) || d != *RN_SEG_AT(&l->delta, int64_t, 0));
}

static int take(struct rn_series *s, int64_t x)
{
	int rc = RN_OK;

	if (s->mode == RN_SERIES_PATTERN && breaks_young(s, x))
		rc = young_to_raw(s);
	if (rc < 0)
		return rc;
	if (s->mode == RN_SERIES_RAW)
		return take_raw(s, x);
	if (s->mode == RN_SERIES_LITERAL)
		return take_literal(s, x);
	rc = take_pattern(s, x);
	if (rc != RN_E_RANGE)
		return rc;
	/* The difference does not fit. A unit of any other kind accepts every x. */
	rc = close_pattern(s);
	if (rc < 0)
		return rc;
	return s->mode == RN_SERIES_RAW ? take_raw(s, x) : take_literal(s, x);
}

static __attribute__((noinline)) int append_unforeseen(struct rn_series *s, int64_t x)
{
	int rc = s->n < INT64_MAX ? settle(s) : RN_E_NOMEM;

	return rc < 0 ? rc : take(s, x);
}

int rn_series_append(struct rn_series *s, int64_t x)
{
	struct rn_lane *l = s->lane;
	uint32_t e;
	int64_t d;
	int rc;

	if (!l || __builtin_sub_overflow(x, l->last, &d))
		return append_unforeseen(s, x);
	e = rn_grammar_expect(l->g);
	if (e == RN_EXPECT_NONE || *RN_SEG_AT(&l->delta, int64_t, e) != d)
		return append_unforeseen(s, x);
	rc = rn_grammar_append(l->g, e);
	if (LIKELY(rc == RN_OK)) {
		l->last = x;
		s->lane = l->next;
		s->n++;
	}
	return rc;
}

/* ---- the next element ---- */

static struct rn_lane *next_lane(const struct rn_series *s)
{
	struct rn_lane *l = s->open.lane;

	for (uint64_t i = (s->n - s->start) % s->open.lanes; i; i--)
		l = l->next;
	return l;
}

/* Equally spaced values are expected to continue. */
static bool raw_expect(const struct rn_series *s, int64_t *next)
{
	uint64_t n = s->n - s->start;

	return n >= 3 && rn_series_even(s->raw, (uint32_t)n) &&
	       !__builtin_add_overflow(s->raw[n - 1], s->raw[n - 1] - s->raw[n - 2], next);
}

bool rn_series_expect(const struct rn_series *s, int64_t *next)
{
	const struct rn_lane *l;
	uint32_t e;

	if (s->mode != RN_SERIES_PATTERN)
		return s->mode == RN_SERIES_RAW && raw_expect(s, next);
	l = next_lane(s);
	e = rn_grammar_expect(l->g);
	return e != RN_EXPECT_NONE &&
	       !__builtin_add_overflow(l->last, *RN_SEG_AT(&l->delta, int64_t, e), next);
}

/* ---- checking ---- */

static bool lane_check(const struct rn_lane *l)
{
	if (!rn_grammar_check(l->g) || !rn_map_check(&l->ids) || l->ids.used != l->delta.n)
		return false;
	for (uint32_t i = 0; i < l->delta.n; i++)
		if (rn_lane_find(l, *RN_SEG_AT(&l->delta, int64_t, i)) != i)
			return false;
	return true;
}

static bool part_check(const struct rn_series_part *p, uint64_t n, uint64_t *lit)
{
	const struct rn_lane *l = p->lane;

	if (n == 0 || p->lanes > RN_LANES_MAX || p->lanes > n)
		return false;
	if (p->lanes == 0) {
		bool there = p->lit == *lit;

		*lit += n;
		return there;
	}
	for (uint32_t k = 0; k < p->lanes; k++, l = l->next)
		if (!lane_check(l))
			return false;
	return l == p->lane;
}

/* Whether the state of the open unit is possible. */
static bool state_check(const struct rn_series *s)
{
	uint64_t n = s->n - s->start;

	if (s->patience < PATIENCE_MIN || s->patience > 4 * PATIENCE_MAX || s->slow >= LOOK ||
	    s->credit > CREDIT_MOST || s->credit < -CREDIT_MOST || s->looked > s->n)
		return false;
	if (s->mode == RN_SERIES_LITERAL)
		return s->due != RN_DUE_CLOSE && s->seen && s->lag < n &&
		       s->want.credit <= CREDIT_MOST &&
		       (!s->due || (s->want.cut <= CUT_MAX && s->want.cut <= n && s->want.lanes &&
				    s->want.lanes <= s->want.cut));
	if (s->mode == RN_SERIES_RAW)
		return n <= s->raw_cap && !s->due && !s->lag;
	if (s->young && (s->open.lanes > 1 || s->open.lane->delta.n != 1 || n < RAW_FEW))
		return false;
	return s->due != RN_DUE_CONVERT && !s->lag && s->looked >= s->start &&
	       s->n - s->looked >= s->slow;
}

static bool open_check(const struct rn_series *s, uint64_t *lit)
{
	bool healthy = s->mode == RN_SERIES_PATTERN && !s->due;

	if (!state_check(s) || s->lane != (healthy ? next_lane(s) : NULL))
		return false;
	if (s->mode == RN_SERIES_RAW)
		return true;
	return (s->open.lanes == 0) == (s->mode == RN_SERIES_LITERAL) &&
	       part_check(&s->open, s->n - s->start, lit);
}

bool rn_series_check(const struct rn_series *s)
{
	uint64_t n = 0, lit = 0;

	for (uint32_t i = 0; i < s->parts.n; i++) {
		const struct rn_series_part *p = rn_series_part_at(s, i);

		if (!part_check(p, p->n, &lit))
			return false;
		n += p->n;
	}
	return n == s->start && s->n >= n && open_check(s, &lit) && lit == s->lit.n;
}
