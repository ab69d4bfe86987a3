/*
 * units.c - a sealed series' plain facts, and the check of everything else about it.
 *
 * The check builds every pattern again from its symbols and counts, in scratch memory, and
 * compares: what was derived (lengths, steps, weights, ranges) must come out the same.
 */
#include "base/err.h"
#include "series/units_impl.h"

#include <string.h>

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

/* Symbols are numbered as they come up: a term with the next number brings a new delta. */
static uint32_t count_deltas(const struct rn_pattern *p)
{
	uint32_t known = 0, deltas = 0, i = 0;

	for (uint32_t r = 0; r < p->nrules; r++, known++) {
		for (uint32_t end = i + p->size[r]; i < end; i++) {
			bool fresh = p->term[i].sym == known;

			known += fresh;
			deltas += fresh;
		}
	}
	return deltas;
}

static int make_again(struct rn_arena *mem, const struct rn_pattern *p, struct rn_pattern *copy)
{
	struct rn_make m;
	uint32_t i = 0, sym;
	int rc = rn_make_begin(&m, mem, copy, p->first, p->nrules, p->nterms, count_deltas(p));

	for (uint32_t r = 0; r < p->nrules && rc == RN_OK; r++) {
		for (uint32_t end = i + p->size[r]; i < end && rc == RN_OK; i++) {
			const struct rn_unit_term *t = &p->term[i];

			if (t->sym == m.nknown)
				rn_make_delta(&m, t->delta);
			rc = rn_make_term(&m, t->sym, t->count);
		}
		if (rc == RN_OK)
			rc = rn_make_rule(&m, &sym);
	}
	return rc == RN_OK ? rn_make_end(&m) : rc;
}

static bool same_pattern(const struct rn_pattern *a, const struct rn_pattern *b)
{
	return a->n == b->n && a->last == b->last && a->root == b->root && a->nroot == b->nroot &&
	       a->monotone == b->monotone && a->nonneg == b->nonneg && a->light == b->light &&
	       a->nitems == b->nitems &&
	       memcmp(a->item, b->item, a->nitems * sizeof(*a->item)) == 0 &&
	       memcmp(a->weight, b->weight, a->nitems * sizeof(*a->weight)) == 0;
}

static bool pattern_check(const struct rn_pattern *p, struct rn_arena *mem)
{
	struct rn_pattern copy;
	uint64_t terms = 0;

	if (p->n == 1)
		return p->nterms == 0 && p->nrules == 0 && p->first == p->last && p->monotone &&
		       p->nonneg == (p->first >= 0);
	for (uint32_t r = 0; r < p->nrules; r++)
		terms += p->size[r];
	return p->nrules && terms == p->nterms && make_again(mem, p, &copy) == RN_OK &&
	       same_pattern(p, &copy);
}

static bool unit_check(const struct rn_unit *u, struct rn_arena *mem, struct rn_unit *copy)
{
	uint64_t n = 0;

	if (u->n == 0)
		return false;
	if (u->lanes == 0)
		return rn_unit_of_values(copy, mem, u->value, u->n) == RN_OK &&
		       memcmp(copy->mark, u->mark,
			      ((u->n >> RN_MARK_SHIFT) + 1) * sizeof(*u->mark)) == 0;
	for (uint32_t k = 0; k < u->lanes; k++) {
		n += u->lane[k].n;
		if (!pattern_check(&u->lane[k], mem) ||
		    u->lane[k].n != u->n / u->lanes + (k < u->n % u->lanes))
			return false;
	}
	rn_unit_of_lanes(copy, u->lane, u->lanes, u->n);
	return n == u->n;
}

static bool same_unit(const struct rn_unit *a, const struct rn_unit *b)
{
	return a->start == b->start && a->n == b->n && a->sum_before == b->sum_before &&
	       a->monotone == b->monotone && a->nonneg == b->nonneg && a->first == b->first &&
	       a->last == b->last;
}

static bool units_check(const struct rn_units *u, struct rn_arena *mem)
{
	struct rn_unit *copy = rn_new(mem, struct rn_unit, u->count);
	struct rn_units all;

	for (uint32_t i = 0; copy && i < u->count; i++)
		if (!unit_check(&u->unit[i], mem, &copy[i]))
			return false;
	if (!copy || rn_units_join(&all, copy, u->count) < 0)
		return false;
	for (uint32_t i = 0; i < u->count; i++)
		if (!same_unit(&u->unit[i], &copy[i]))
			return false;
	return all.n == u->n && all.monotone == u->monotone && all.nonneg == u->nonneg;
}

bool rn_units_check(const struct rn_units *u)
{
	struct rn_arena scratch;
	bool good;

	rn_arena_init(&scratch, SIZE_MAX);
	good = units_check(u, &scratch);
	rn_arena_free(&scratch);
	return good;
}
