/*
 * units_search.c - queries on a sealed series: properties, element, position, sums.
 *
 * All queries descend in the same way. A binary search finds the unit. On each level, they find the
 * item in a body (by a scan if it is short, as most are), and then the repeat of that item by one
 * division. Nothing recurses and nothing is allocated, because rules can be nested as deeply as
 * there are rules.
 */
#include "base/err.h"
#include "series/units_impl.h"

#include <assert.h>

#define SCAN_MAX 8u /* maximum number of items to scan; longer bodies are bisected */

/* Moves p to the last of n elements for which `holds`, a condition on p[k], is true. It must be
 * true for the first element, and for no element after one for which it is false. Bisection
 * compiles to conditional moves. Changes n. */
#define FIND_LAST(p, n, k, holds)                              \
	do {                                                   \
		__typeof__(n) k = 1;                           \
		if ((n) <= SCAN_MAX)                           \
			for (; (n) > 1 && (holds); (n)--)      \
				(p)++;                         \
		else                                           \
			for (; (n) > 1; (n) -= k) {            \
				k = (n) / 2;                   \
				(p) = (holds) ? (p) + k : (p); \
			}                                      \
	} while (0)

/* A 64-bit division costs several times a 32-bit one, and most lengths are short. */
static inline uint64_t divide(uint64_t a, uint64_t b)
{
	if (b == 1)
		return a;
	if (((a | b) >> 32) == 0)
		return (uint32_t)a / (uint32_t)b;
	return a / b;
}

uint64_t rn_units_length(const struct rn_units *u)
{
	return u->n;
}

bool rn_units_monotone(const struct rn_units *u)
{
	return u->monotone;
}

bool rn_units_nonneg(const struct rn_units *u)
{
	return u->nonneg;
}

/* ---- elements ---- */

/* Returns the last of n items that begins before element i > 0 of the body (counted from 1). */
static inline const struct rn_unit_item *item_of(const struct rn_unit_item *t, uint32_t n,
						 uint64_t i)
{
	FIND_LAST(t, n, k, t[k].before < i);
	return t;
}

static int64_t pattern_at(const struct rn_pattern *p, uint64_t i)
{
	const struct rn_unit_item *t = p->item + p->root;
	uint64_t v = (uint64_t)p->first;
	uint32_t n = p->nroot;

	while (i) {
		uint64_t q;

		t = item_of(t, n, i);
		i -= t->before;
		q = divide(i, t->len);
		v += t->step_before + q * t->step;
		i -= q * t->len;
		n = t->nchild;
		t = p->item + t->child;
	}
	return (int64_t)v;
}

int64_t rn_unit_at(const struct rn_unit *u, uint64_t i)
{
	if (u->lanes == 1)
		return pattern_at(u->lane, i);
	if (u->lanes == 0)
		return u->value[i];
	return pattern_at(&u->lane[i % u->lanes], divide(i, u->lanes));
}

/* Returns the unit that contains element i. */
static inline const struct rn_unit *unit_of(const struct rn_units *u, uint64_t i)
{
	const struct rn_unit *p = u->unit;
	uint32_t n = u->count;

	FIND_LAST(p, n, k, p[k].start <= i);
	return p;
}

int64_t rn_units_at(const struct rn_units *u, uint64_t i)
{
	const struct rn_unit *p = unit_of(u, i);

	assert(i < u->n);
	return rn_unit_at(p, i - p->start);
}

/* ---- find ---- */

static inline const struct rn_unit_item *item_up_to(const struct rn_unit_item *t, uint32_t n,
						    uint64_t rise)
{
	FIND_LAST(t, n, k, t[k].step_before <= rise);
	return t;
}

/* Returns the index of the last element not above x. The first element must not be above x. */
static uint64_t pattern_find(const struct rn_pattern *p, int64_t x)
{
	const struct rn_unit_item *t = p->item + p->root;
	uint64_t rise = (uint64_t)x - (uint64_t)p->first, i = 0;
	uint32_t n = p->nroot;

	assert(p->monotone && x >= p->first);
	while (n) {
		uint64_t q;

		t = item_up_to(t, n, rise);
		i += t->before;
		rise -= t->step_before;
		q = t->step ? divide(rise, t->step) : t->count;
		if (q >= t->count)
			return i + t->count * t->len;
		i += q * t->len;
		rise -= q * t->step;
		n = t->nchild;
		t = p->item + t->child;
	}
	return i;
}

static uint64_t lanes_find(const struct rn_unit *u, int64_t x)
{
	uint64_t best = 0;

	for (uint32_t k = 0; k < u->lanes && u->lane[k].first <= x; k++) {
		uint64_t i = pattern_find(&u->lane[k], x) * u->lanes + k;

		if (i > best)
			best = i;
	}
	return best;
}

static uint64_t values_find(const struct rn_unit *u, int64_t x)
{
	const int64_t *v = u->value;
	uint64_t n = u->n;

	FIND_LAST(v, n, k, v[k] <= x);
	return (uint64_t)(v - u->value);
}

int rn_units_find(const struct rn_units *u, int64_t x, uint64_t *i)
{
	const struct rn_unit *p = u->unit;
	uint32_t n = u->count;

	if (!u->monotone)
		return RN_E_ARG;
	if (u->n == 0 || p->first > x)
		return RN_E_RANGE;
	FIND_LAST(p, n, k, p[k].first <= x);
	if (p->lanes == 1)
		*i = p->start + pattern_find(p->lane, x);
	else
		*i = p->start + (p->lanes ? lanes_find(p, x) : values_find(p, x));
	return RN_OK;
}

/* ---- sums ---- */

/* Returns the sum of q repeats of an item that is entered with value v. */
static inline rn_u128 repeats_sum(const struct rn_unit_item *t, const struct rn_unit_weight *w,
				  uint64_t v, uint64_t q)
{
	rn_u128 pairs = (rn_u128)q * (q - 1) / 2;

	return q * (t->len * rn_wide((int64_t)v) + w->one) + t->len * (rn_u128)w->step * pairs;
}

static rn_u128 pattern_sum(const struct rn_pattern *p, uint64_t i)
{
	const struct rn_unit_item *t = p->item + p->root;
	uint64_t v = (uint64_t)p->first;
	rn_u128 sum = rn_wide(p->first);
	uint32_t n = p->nroot;

	if (i-- == 0)
		return 0;
	while (i) {
		const struct rn_unit_weight *w;
		uint64_t q;

		t = item_of(t, n, i);
		w = p->weight + (t - p->item);
		sum += t->before * rn_wide((int64_t)v) + w->before;
		v += t->step_before;
		i -= t->before;
		q = divide(i, t->len);
		sum += repeats_sum(t, w, v, q);
		v += q * t->step;
		i -= q * t->len;
		n = t->nchild;
		t = p->item + t->child;
	}
	return sum;
}

static rn_u128 values_sum(const struct rn_unit *u, uint64_t i)
{
	uint64_t k = i >> RN_MARK_SHIFT << RN_MARK_SHIFT;
	rn_u128 sum = u->mark[i >> RN_MARK_SHIFT];

	for (; k < i; k++)
		sum += rn_wide(u->value[k]);
	return sum;
}

rn_u128 rn_unit_sum(const struct rn_unit *u, uint64_t i)
{
	rn_u128 sum = 0;

	if (u->lanes == 0)
		return values_sum(u, i);
	for (uint32_t k = 0; k < u->lanes; k++)
		sum += pattern_sum(&u->lane[k], i / u->lanes + (k < i % u->lanes));
	return sum;
}

rn_i128 rn_units_sum(const struct rn_units *u, uint64_t i)
{
	const struct rn_unit *p = unit_of(u, i);

	assert(i <= u->n);
	return u->n ? (rn_i128)(p->sum_before + rn_unit_sum(p, i - p->start)) : 0;
}

/* ---- reading a range ---- */

struct output {
	int64_t *at;
	size_t n, stride; /* n: elements still to be written */
};

static void put_run(struct output *o, uint64_t *v, uint64_t step, uint64_t count)
{
	uint64_t n = count < o->n ? count : o->n;

	for (uint64_t k = 0; k < n; k++) {
		*v += step;
		*o->at = (int64_t)*v;
		o->at += o->stride;
	}
	o->n -= n;
}

/* Reads the elements after the first i deltas: descends to the next delta, then continues along its
 * body while the items are deltas. */
static uint64_t read_body(const struct rn_pattern *p, uint64_t i, struct output *o)
{
	const struct rn_unit_item *t = p->item + p->root, *end;
	uint64_t v = (uint64_t)p->first, done = i, q;
	uint32_t n = p->nroot;

	assert(i + 1 < p->n && o->n);
	for (;;) {
		end = t + n;
		t = item_of(t, n, i + 1);
		i -= t->before;
		q = divide(i, t->len);
		v += t->step_before + q * t->step;
		i -= q * t->len;
		if (!t->nchild)
			break;
		n = t->nchild;
		t = p->item + t->child;
	}
	for (; t < end && !t->nchild && o->n; t++, q = 0) {
		size_t left = o->n;

		put_run(o, &v, t->step, t->count - q);
		done += left - o->n;
	}
	return done;
}

static void pattern_read(const struct rn_pattern *p, uint64_t from, struct output o)
{
	if (o.n && from == 0) {
		*o.at = p->first;
		o.at += o.stride;
		o.n--;
		from = 1;
	}
	while (o.n)
		from = read_body(p, from - 1, &o) + 1;
}

void rn_unit_read(const struct rn_unit *u, uint64_t from, int64_t *out, size_t n)
{
	for (size_t k = 0; u->lanes == 0 && k < n; k++)
		out[k] = u->value[from + k];
	for (size_t k = 0; k < u->lanes && k < n; k++) {
		uint64_t i = from + k;
		struct output o = { out + k, (n - k + u->lanes - 1) / u->lanes, u->lanes };

		pattern_read(&u->lane[i % u->lanes], i / u->lanes, o);
	}
}

size_t rn_units_read(const struct rn_units *u, uint64_t from, int64_t *out, size_t n)
{
	const struct rn_unit *p;
	size_t done = 0;

	if (from >= u->n)
		return 0;
	if (n > u->n - from)
		n = (size_t)(u->n - from);
	for (p = unit_of(u, from); done < n; p++) {
		uint64_t at = from + done - p->start;
		size_t m = p->n - at < n - done ? (size_t)(p->n - at) : n - done;

		rn_unit_read(p, at, out + done, m);
		done += m;
	}
	return done;
}
