/*
 * units_build.c - builds sealed patterns from symbols, units from patterns, and series from units.
 *
 * All properties on which a search relies are computed and verified here: lengths are below 2^63,
 * and every element is an int64. Also computed is whether elements never decrease, and whether any
 * is negative. Linear in the number of items, regardless of the number of elements. Range
 * arithmetic in 128 bits cannot overflow, because there are fewer than 2^63 deltas of at most 2^63
 * each.
 */
#include "base/err.h"
#include "series/units_impl.h"

#include <assert.h>

#define SHORT 4u /* maximum number of items of a child that is inlined */

int rn_make_begin(struct rn_make *m, struct rn_arena *mem, struct rn_pattern *p, int64_t first,
		  uint32_t rules, uint32_t terms, uint32_t deltas)
{
	assert(rules >= 1 && terms >= rules);
	*m = (struct rn_make){ .p = p, .mem = mem, .most = rules + deltas };
	m->item = rn_new(mem, struct rn_unit_item, (size_t)terms * SHORT);
	m->weight = rn_new(mem, struct rn_unit_weight, (size_t)terms * SHORT);
	m->term = rn_new(mem, struct rn_unit_term, terms);
	m->size = rn_new(mem, uint32_t, rules);
	m->scratch = rn_arena_mark(mem);
	m->known = rn_new(mem, struct rn_make_sym, (size_t)rules + deltas);
	if (!m->item || !m->weight || !m->term || !m->size || !m->known)
		return RN_E_NOMEM;
	*p = (struct rn_pattern){ .first = first,
				  .item = m->item,
				  .weight = m->weight,
				  .size = m->size,
				  .term = m->term };
	return RN_OK;
}

uint32_t rn_make_delta(struct rn_make *m, int64_t d)
{
	assert(m->nknown < m->most);
	m->known[m->nknown] =
		(struct rn_make_sym){ .step = d, .lo = d, .hi = d, .weight = rn_wide(d), .len = 1 };
	if (d < 0)
		m->falling = true;
	return m->nknown++;
}

/* Computes the number of elements in count repeats of s. False if there would be 2^63 or more. */
static bool length_of(const struct rn_make_sym *s, uint64_t count, uint64_t before, uint64_t *len)
{
	return !__builtin_mul_overflow(s->len, count, len) && *len < (uint64_t)INT64_MAX &&
	       *len + before < (uint64_t)INT64_MAX;
}

static void widen(struct rn_make_sym *to, const struct rn_make_sym *s, uint64_t count)
{
	rn_i128 far = s->step * (rn_i128)(count - 1); /* offset of the last repeat */
	rn_i128 lo = to->step + s->lo + (far < 0 ? far : 0);
	rn_i128 hi = to->step + s->hi + (far > 0 ? far : 0);

	if (to->len == 0 || lo < to->lo)
		to->lo = lo;
	if (to->len == 0 || hi > to->hi)
		to->hi = hi;
}

/* Returns the weight of count repeats of s, the first of which is entered with value `at`. */
static rn_u128 weight_of(const struct rn_make_sym *s, uint64_t count, rn_i128 at)
{
	rn_u128 pairs = (rn_u128)count * (count - 1) / 2;

	return count * (s->len * (rn_u128)at + s->weight) + s->len * (rn_u128)s->step * pairs;
}

static void put_item(struct rn_make *m, struct rn_unit_item item, struct rn_unit_weight weight)
{
	m->item[m->p->nitems] = item;
	m->weight[m->p->nitems++] = weight;
	m->open.nitems++;
}

/* Inlines the items of a child. The contribution of a repeat does not depend on its position. Only
 * the totals before it change. */
static void put_in_place(struct rn_make *m, const struct rn_make_sym *child)
{
	const struct rn_make_sym *to = &m->open;

	for (uint32_t i = child->item; i < child->item + child->nitems; i++) {
		struct rn_unit_item t = m->item[i];
		struct rn_unit_weight w = m->weight[i];

		w.before += to->weight + t.before * (rn_u128)to->step;
		t.before += to->len;
		t.step_before += (uint64_t)to->step;
		put_item(m, t, w);
	}
}

int rn_make_term(struct rn_make *m, uint32_t sym, uint64_t count)
{
	struct rn_make_sym *s, *to = &m->open;
	uint64_t len;

	if (sym >= m->nknown)
		return RN_E_RANGE;
	s = &m->known[sym];
	if (count == 0 || !length_of(s, count, to->len, &len))
		return RN_E_RANGE;
	m->term[m->p->nterms++] = (struct rn_unit_term){ count, (int64_t)s->step, sym };
	if (count == 1 && s->nitems && s->nitems <= SHORT)
		put_in_place(m, s);
	else
		put_item(m,
			 (struct rn_unit_item){ .before = to->len,
						.len = s->len,
						.count = count,
						.step_before = (uint64_t)to->step,
						.step = (uint64_t)s->step,
						.child = s->item,
						.nchild = s->nitems },
			 (struct rn_unit_weight){ to->weight, s->weight, s->step });
	widen(to, s, count);
	to->weight += weight_of(s, count, to->step);
	to->step += s->step * (rn_i128)count;
	to->len += len;
	s->used = true;
	return RN_OK;
}

int rn_make_rule(struct rn_make *m, uint32_t *sym)
{
	if (m->open.nitems == 0)
		return RN_E_RANGE;
	assert(m->nknown < m->most);
	m->size[m->p->nrules++] = m->p->nterms - m->first_term;
	m->first_term = m->p->nterms;
	*sym = m->nknown;
	m->known[m->nknown++] = m->open;
	m->open = (struct rn_make_sym){ .item = m->p->nitems };
	return RN_OK;
}

static bool all_used(const struct rn_make *m)
{
	for (uint32_t i = 0; i + 1 < m->nknown; i++)
		if (!m->known[i].used)
			return false;
	return true;
}

int rn_make_end(struct rn_make *m)
{
	const struct rn_make_sym *root = &m->known[m->nknown - 1];
	struct rn_pattern *p = m->p;
	int rc = RN_E_RANGE;

	assert(p->nrules && m->open.nitems == 0 && m->nknown == m->most);
	if (p->first + root->lo >= INT64_MIN && p->first + root->hi <= INT64_MAX && all_used(m)) {
		p->n = root->len + 1;
		p->last = (int64_t)(p->first + root->step);
		p->root = root->item;
		p->nroot = root->nitems;
		p->monotone = !m->falling;
		p->nonneg = p->first >= 0 && p->first + root->lo >= 0;
		rc = RN_OK;
	}
	rn_arena_rewind(m->mem, m->scratch);
	return rc;
}

/* The item of a pattern of one element, so that a search can also start there. */
static const struct rn_unit_item nothing;

int rn_make_even(struct rn_arena *mem, struct rn_pattern *p, int64_t first, int64_t d, uint64_t n)
{
	struct rn_make m;
	uint32_t sym;
	int rc;

	if (n <= 1) {
		*p = (struct rn_pattern){ .first = first,
					  .last = first,
					  .n = 1,
					  .item = &nothing,
					  .monotone = true,
					  .nonneg = first >= 0 };
		return n == 1 ? RN_OK : RN_E_RANGE;
	}
	rc = rn_make_begin(&m, mem, p, first, 1, 1, 1);
	if (rc == RN_OK)
		rc = rn_make_term(&m, rn_make_delta(&m, d), n - 1);
	if (rc == RN_OK)
		rc = rn_make_rule(&m, &sym);
	return rc == RN_OK ? rn_make_end(&m) : rc;
}

/*
 * Whether interleaved lanes never decrease. If two lanes are even, the step from one to the other
 * is linear, so it is nonnegative everywhere if it is in the first and in the last iteration. If
 * the stride of a lane changes, the function does not decide this and returns false.
 */
static bool lanes_monotone(const struct rn_unit *u)
{
	uint64_t last = u->n - 1;

	for (uint32_t k = 0; k < u->lanes; k++)
		if (u->lane[k].nterms > 1 || u->lane[k].nrules > 1 || !u->lane[k].monotone)
			return false;
	for (uint64_t k = 0; k < u->lanes && k < last; k++)
		if (rn_unit_at(u, k) > rn_unit_at(u, k + 1) ||
		    rn_unit_at(u, last - k - 1) > rn_unit_at(u, last - k))
			return false;
	return true;
}

void rn_unit_of_lanes(struct rn_unit *u, const struct rn_pattern *lane, uint32_t lanes, uint64_t n)
{
	assert(lanes >= 1 && n >= lanes);
	*u = (struct rn_unit){ .n = n, .lanes = lanes, .lane = lane, .nonneg = true };
	for (uint32_t k = 0; k < lanes; k++)
		u->nonneg = u->nonneg && lane[k].nonneg;
	u->first = lane[0].first;
	u->last = lane[(n - 1) % lanes].last;
	u->monotone = lanes == 1 ? lane[0].monotone : lanes_monotone(u);
}

int rn_unit_of_values(struct rn_unit *u, struct rn_arena *mem, const int64_t *v, uint64_t n)
{
	rn_u128 *mark = rn_new(mem, rn_u128, (n >> RN_MARK_SHIFT) + 1), sum = 0;

	assert(n > 0);
	if (!mark)
		return RN_E_NOMEM;
	*u = (struct rn_unit){ .n = n, .value = v, .mark = mark, .monotone = true, .nonneg = true };
	for (uint64_t i = 0; i < n; i++) {
		if (i % (1u << RN_MARK_SHIFT) == 0)
			mark[i >> RN_MARK_SHIFT] = sum;
		sum += rn_wide(v[i]);
		u->nonneg = u->nonneg && v[i] >= 0;
		u->monotone = u->monotone && (i == 0 || v[i - 1] <= v[i]);
	}
	if (n % (1u << RN_MARK_SHIFT) == 0)
		mark[n >> RN_MARK_SHIFT] = sum;
	u->first = v[0];
	u->last = v[n - 1];
	return RN_OK;
}

int rn_units_join(struct rn_units *u, struct rn_unit *unit, uint32_t count)
{
	rn_u128 sum = 0;

	*u = (struct rn_units){ .unit = unit, .count = count, .monotone = true, .nonneg = true };
	for (uint32_t i = 0; i < count; i++) {
		if (unit[i].n > (uint64_t)INT64_MAX - u->n)
			return RN_E_RANGE;
		unit[i].start = u->n;
		unit[i].sum_before = sum;
		u->n += unit[i].n;
		sum += rn_unit_sum(&unit[i], unit[i].n);
		u->nonneg = u->nonneg && unit[i].nonneg;
		u->monotone = u->monotone && unit[i].monotone &&
			      (i == 0 || unit[i - 1].last <= unit[i].first);
	}
	return RN_OK;
}

int rn_units_concat(struct rn_arena *mem, const struct rn_units *const *list, uint32_t n,
		    struct rn_units **out)
{
	struct rn_units *u = rn_new(mem, struct rn_units, 1);
	struct rn_unit *unit;
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += list[i]->count;
	unit = rn_new(mem, struct rn_unit, count);
	if (!u || !unit)
		return RN_E_NOMEM;
	count = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < list[i]->count; k++)
			unit[count++] = list[i]->unit[k];
	*out = u;
	return rn_units_join(u, unit, count);
}
