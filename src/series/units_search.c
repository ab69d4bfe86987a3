/*
 * units_search.c - questions to a sealed series: element, position, sums.
 *
 * All of them go down the same way: the part by binary search, then level by level the item in a
 * body (a scan where it is short, as most are) and the repeat of that item by one division; for
 * sums, where repeats grow linearly, by one square root. Nothing recurses and nothing is allocated:
 * rules may be nested as deeply as their number.
 */
#include "base/bisect.h"
#include "base/err.h"
#include "series/units_impl.h"

#include <assert.h>
#include <math.h>

#define SCAN_MAX 8u /* items; longer bodies are searched by halving */
#define FEW      8u /* repeats; of more of them the sum is not added up, but solved for */

/* Moves p to the last of n elements for which `holds`, a condition on p[k], is true. It is true for
 * the first element, and for no element after one for which it is false. Halving compiles to
 * conditional moves. Changes n. */
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

/* 64-bit division costs several times a 32-bit one, and most lengths are short. */
static inline uint64_t divide(uint64_t a, uint64_t b)
{
	if (b == 1)
		return a;
	if (((a | b) >> 32) == 0)
		return (uint32_t)a / (uint32_t)b;
	return a / b;
}

/* ---- elements ---- */

/* The last of n items that begins before element i > 0 of the body (they count from 1). */
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

/* The part that element i is in. */
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

/* The last element not above x; the first one is not. */
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

/* q repeats of an item that is entered with v. */
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

/* ---- find_sum: no element is negative, so sums only grow ---- */

/* Repeats of an item: the first adds `first`, each one `more` more than the one before it. */
struct growth {
	rn_i128 first, more;
	uint64_t count;
};

static inline rn_i128 grown(const struct growth *g, uint64_t q)
{
	/* As unsigned: q * first alone may be out of range when `more` is negative. */
	return (rn_i128)(q * (rn_u128)g->first + (rn_u128)g->more * ((rn_u128)q * (q - 1) / 2));
}

/* About how many repeats fit r: the root of  more/2 q^2 + (first - more/2) q - r. The usual form of
 * the solution loses digits when `more` is small; the other one has a division that has to wait
 * for the square root. */
static inline uint64_t repeats_about(double first, double more, double r, uint64_t count)
{
	double b = first - more / 2, root = b * b + 2 * more * r, q;

	root = sqrt(root > 0 ? root : 0);
	if (b <= 0x1p36 * fabs(more))
		q = (root - b) * (1 / more);
	else
		q = 2 * r / (b + root);
	if (!(q > 0)) /* not a number, too */
		return 0;
	return q < (double)count ? (uint64_t)(int64_t)q : count;
}

static uint64_t repeats_by_halving(const struct growth *g, rn_i128 *r)
{
	struct rn_bisect b = { 0, g->count, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, grown(g, b.mid + 1) <= *r);
	*r -= grown(g, b.lo);
	return b.lo;
}

static inline double to_double(rn_i128 v)
{
	/* The lowest bit is dropped: converting an unsigned word costs a branch. */
	return (double)(int64_t)(v >> 64) * 0x1p64 + (double)(int64_t)((uint64_t)v >> 1) * 2;
}

/* The largest q <= count such that q repeats add up to at most *r; takes their sum off it. The
 * estimate is good to some 50 bits if nothing cancels out; if it is not, it is not used. */
static inline uint64_t repeats_within(const struct growth *g, rn_i128 *r)
{
	uint64_t q =
		repeats_about(to_double(g->first), to_double(g->more), to_double(*r), g->count);
	rn_i128 left = *r - grown(g, q), one = g->first + g->more * (rn_i128)q;

	for (int i = 0; i < 4; i++) {
		if (left < 0) {
			one -= g->more;
			left += one;
			q--;
		} else if (q < g->count && one <= left) {
			left -= one;
			one += g->more;
			q++;
		} else {
			*r = left;
			return q;
		}
	}
	return repeats_by_halving(g, r);
}

/*
 * The same in 64 bits for light repeats, each of which adds up to less than 2^57, and of which
 * there are less than 2^31; *r is the low half of what there is, `about` all of it. Whatever wraps
 * on the way comes back: a `more` that is negative can make the estimate wrong by q / 2^26, some 32
 * repeats, and so what is left after it fits.
 */
static inline uint64_t repeats_light(int64_t first, int64_t more, uint64_t count, double about,
				     int64_t *r)
{
	uint64_t q = repeats_about((double)first, (double)more, about, count);
	uint64_t pairs = (q >> 1) * ((q - 1) | 1); /* q * (q - 1) / 2 */
	int64_t left = (int64_t)((uint64_t)*r - q * (uint64_t)first - (uint64_t)more * pairs);
	int64_t one = (int64_t)((uint64_t)first + q * (uint64_t)more); /* if one more is added */

	while (left < 0) {
		one -= more;
		left += one;
		q--;
	}
	while (q < count && one <= left) {
		left -= one;
		one += more;
		q++;
	}
	*r = left;
	return q;
}

/* Adding up a few takes less time than a square root, and nothing is guessed. */
static inline uint64_t repeats_few(int64_t first, int64_t more, uint64_t count, int64_t *r)
{
	int64_t one = first, sum = 0, within = 0;
	uint64_t q = 0;

	for (uint64_t k = 0; k < count; k++) {
		sum += one;
		one += more;
		q += sum <= *r;
		within = sum <= *r ? sum : within;
	}
	*r -= within;
	return q;
}

static inline uint64_t repeats_narrow(int64_t first, int64_t more, uint64_t count, int64_t *r)
{
	uint64_t q;

	if (count == 1) {
		q = first <= *r;
	} else if (count <= FEW) {
		return repeats_few(first, more, count, r);
	} else if (more == 0) {
		q = first ? divide((uint64_t)*r, (uint64_t)first) : count;
		q = q < count ? q : count;
	} else if (count >> 31 == 0) {
		return repeats_light(first, more, count, (double)*r, r);
	} else {
		struct growth g = { first, more, count };
		rn_i128 wide = *r;

		q = repeats_within(&g, &wide);
		*r = (int64_t)wide;
		return q;
	}
	*r -= (int64_t)q * first;
	return q;
}

/* Where a search for a sum has come to: the body ahead is entered with v, after i elements, and r
 * is left. */
struct sum_search {
	const struct rn_pattern *p;
	const struct rn_unit_item *t;
	uint32_t n; /* items in the body; 0: at the end */
	uint64_t v, i;
	rn_i128 r;
};

/* What the items before t add up to in a body that is entered with v. */
static inline rn_i128 sum_before(const struct sum_search *s, const struct rn_unit_item *t)
{
	return (rn_i128)(t->before * (rn_u128)s->v + s->p->weight[t - s->p->item].before);
}

static inline int64_t narrow_before(const struct sum_search *s, const struct rn_unit_item *t)
{
	return (int64_t)(t->before * s->v + (uint64_t)s->p->weight[t - s->p->item].before);
}

/* The last item before which there is no more than r. A scan is guessed right most of the time,
 * and then the search does not wait for it. */
static inline const struct rn_unit_item *item_within(const struct sum_search *s)
{
	const struct rn_unit_item *t = s->t;
	uint32_t n = s->n;

	FIND_LAST(t, n, k, sum_before(s, t + k) <= s->r);
	return t;
}

/* Moves past q repeats of t, and down into the next one. */
static inline void go_down(struct sum_search *s, const struct rn_unit_item *t, uint64_t q)
{
	s->i += t->before + q * t->len;
	s->v += t->step_before + q * t->step;
	s->n = q < t->count ? t->nchild : 0;
	s->t = s->p->item + t->child;
}

static inline uint64_t repeats_wide(const struct sum_search *s, const struct rn_unit_item *t,
				    rn_i128 *r)
{
	uint64_t v = s->v + t->step_before;
	struct growth g = { .count = t->count };

	g.first = (rn_i128)(t->len * (rn_u128)v + s->p->weight[t - s->p->item].one);
	g.more = t->count > 1 ? (rn_i128)t->len * (int64_t)t->step : 0;
	return repeats_within(&g, r);
}

/* What one repeat of t adds, the first of them, where that fits 64 bits. */
static inline int64_t narrow_first(const struct sum_search *s, const struct rn_unit_item *t)
{
	uint64_t v = s->v + t->step_before;

	return (int64_t)(t->len * v + (uint64_t)s->p->weight[t - s->p->item].one);
}

/* Levels down, until what is ahead is light. Often that is one level, of many light repeats. */
static void search_wide(struct sum_search *s)
{
	while (s->n) {
		const struct rn_unit_item *t = item_within(s);
		rn_i128 r = s->r - sum_before(s, t);
		int64_t more = (int64_t)(t->len * t->step), low = (int64_t)r;

		if (t->len > s->p->light) {
			go_down(s, t, repeats_wide(s, t, &r));
			s->r = r;
		} else if (t->count == 1 || more == 0 || t->count >> 31) {
			go_down(s, t, repeats_wide(s, t, &r));
			s->r = r;
			return;
		} else {
			go_down(s, t,
				repeats_light(narrow_first(s, t), more, t->count, to_double(r),
					      &low));
			s->r = low;
			return;
		}
	}
}

static void search_narrow(struct sum_search *s)
{
	int64_t r = (int64_t)s->r;

	while (s->n) {
		const struct rn_unit_item *t = s->t, *last = t + s->n - 1;

		if (s->n > SCAN_MAX) {
			s->r = r;
			t = item_within(s);
		}
		while (t < last && narrow_before(s, t + 1) <= r)
			t++;
		r -= narrow_before(s, t);
		go_down(s, t,
			repeats_narrow(narrow_first(s, t), (int64_t)(t->len * t->step), t->count,
				       &r));
	}
}

/* How many elements from the beginning add up to at most r. */
static uint64_t pattern_find_sum(const struct rn_pattern *p, rn_i128 r)
{
	struct sum_search s = {
		p, p->item + p->root, p->nroot, (uint64_t)p->first, 1, r - p->first
	};

	assert(p->nonneg);
	if (s.r < 0)
		return 0;
	if (p->n > p->light)
		search_wide(&s);
	else if (s.r >> 62)
		return p->n;
	search_narrow(&s);
	return s.i;
}

/* Lanes and literals: by halving, on whole sums. */
static uint64_t unit_find_sum(const struct rn_unit *u, rn_i128 r)
{
	struct rn_bisect b = { 0, u->n, 0 };

	if (u->lanes == 1)
		return pattern_find_sum(u->lane, r);
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, (rn_i128)rn_unit_sum(u, b.mid + 1) <= r);
	return b.lo;
}

int rn_units_find_sum(const struct rn_units *u, rn_i128 x, uint64_t *i)
{
	const struct rn_unit *p = u->unit;
	uint32_t n = u->count;

	if (!u->nonneg)
		return RN_E_ARG;
	if (x < 0)
		return RN_E_RANGE;
	if (n == 0) {
		*i = 0;
		return RN_OK;
	}
	FIND_LAST(p, n, k, (rn_i128)p[k].sum_before <= x);
	*i = p->start + unit_find_sum(p, x - (rn_i128)p->sum_before);
	return RN_OK;
}

/* ---- reading a stretch ---- */

struct output {
	int64_t *at;
	size_t n, stride; /* n: still to be written */
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

/* The elements after the first i deltas: down to the next delta, and then along its body as long
 * as there are deltas in it. */
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
