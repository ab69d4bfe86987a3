/*
 * units_seal.c - converts a builder to the sealed form.
 *
 * A pattern unit, closed or open, becomes patterns by way of rules.h, which converts the grammar to
 * normal form. The few values of a unit that has just begun are also tried as a pattern. The
 * builder is not changed. A second pass, which may run later, converts a unit to literal if that
 * takes fewer bytes, and joins neighboring literal units. This pass is slow, because each trial
 * compresses.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/varint.h"
#include "column/column.h"
#include "rules/rules.h"
#include "series/series_impl.h"
#include "series/units_impl.h"

#include <assert.h>
#include <string.h>

#define NONE UINT32_MAX

/* A pattern of up to WEIGH_SMALL elements is always compared with its values as a literal unit. One
 * of up to WEIGH_MAX elements is compared if its size is large for its length. Longer patterns are
 * accepted without comparison. */
#define WEIGH_SMALL 4096u
#define WEIGH_MAX   (1u << 20)
/* Number of values for a trial column. Their size is extrapolated to all values. */
#define WEIGH_SAMPLE 8192u

/* ---- one lane ---- */

/* Whether a lane is first, first + d, ... This is the most frequent pattern and needs no rules. */
static bool lane_even(const struct rn_lane *l, int64_t *d, uint64_t *n)
{
	struct rn_grammar_iter it = rn_grammar_body(l->g, 0);
	struct rn_grammar_item item, more;

	*d = 0;
	*n = 1;
	if (!rn_grammar_body_next(&it, &item))
		return true;
	if (item.kind != RN_KIND_TERMINAL || item.id >= l->delta.n ||
	    rn_grammar_body_next(&it, &more))
		return false;
	*d = *RN_SEG_AT(&l->delta, int64_t, item.id);
	*n += item.count;
	return true;
}

struct from_rules {
	const struct rn_rules *rules;
	const struct rn_seg *delta;
	uint32_t *rule_sym;  /* rule -> symbol; before it has one: 0 if it is reached, or NONE */
	uint32_t *delta_sym; /* delta -> symbol, or NONE */
	uint32_t nrules, nitems, ndeltas;
};

/* Finds all rules that are reached. One descending pass is sufficient, because rules refer only to
 * lower numbers. */
static int reach(struct from_rules *f, uint32_t root)
{
	f->rule_sym[root] = 0;
	for (uint32_t r = root + 1; r-- > 0;) {
		struct rn_body b = rn_rules_body(f->rules, r);

		if (f->rule_sym[r] == NONE)
			continue;
		f->nrules++;
		f->nitems += b.n;
		for (uint32_t i = 0; i < b.n; i++) {
			uint32_t id = b.item[i].id;

			if (b.item[i].kind == RN_KIND_RULE) {
				f->rule_sym[id] = 0;
				continue;
			}
			if (b.item[i].kind != RN_KIND_TERMINAL || id >= f->delta->n)
				return RN_E_DATA;
			f->ndeltas += f->delta_sym[id] == NONE;
			f->delta_sym[id] = 0;
		}
	}
	memset(f->delta_sym, 0xff, f->delta->n * sizeof(*f->delta_sym));
	return RN_OK;
}

static int make_body(struct from_rules *f, struct rn_make *m, uint32_t rule)
{
	struct rn_body b = rn_rules_body(f->rules, rule);

	for (uint32_t i = 0; i < b.n; i++) {
		uint32_t id = b.item[i].id, *sym = &f->rule_sym[id];
		int rc;

		assert(b.item[i].kind != RN_KIND_RULE || id < rule);
		if (b.item[i].kind == RN_KIND_TERMINAL) {
			sym = &f->delta_sym[id];
			if (*sym == NONE)
				*sym = rn_make_delta(m, *RN_SEG_AT(f->delta, int64_t, id));
		}
		rc = rn_make_term(m, *sym, b.item[i].count);
		if (rc < 0)
			return rc;
	}
	return rn_make_rule(m, &f->rule_sym[rule]);
}

static int make_rules(struct from_rules *f, uint32_t root, struct rn_arena *mem, int64_t first,
		      struct rn_pattern *p)
{
	struct rn_make m;
	int rc = reach(f, root);

	if (rc == RN_OK)
		rc = rn_make_begin(&m, mem, p, first, f->nrules, f->nitems, f->ndeltas);
	for (uint32_t r = 0; r <= root && rc == RN_OK; r++)
		if (f->rule_sym[r] != NONE)
			rc = make_body(f, &m, r);
	return rc == RN_OK ? rn_make_end(&m) : rc;
}

/* Returns RN_OK or RN_E_NOMEM. Returns RN_E_DATA or RN_E_RANGE only if the lane is inconsistent. */
static int seal_lane(const struct rn_lane *l, struct rn_arena *mem, struct rn_arena *scratch,
		     struct rn_pattern *p)
{
	struct from_rules f = { .delta = &l->delta };
	struct rn_rules *rules;
	uint32_t root;
	uint64_t n;
	int64_t d;
	int rc;

	if (lane_even(l, &d, &n))
		return rn_make_even(mem, p, l->first, d, n);
	f.rules = rules = rn_rules_new(scratch);
	rc = rules ? rn_rules_seal(rules, l->g, &root) : RN_E_NOMEM;
	if (rc < 0)
		return rc;
	f.rule_sym = rn_new_map(scratch, (size_t)root + 1);
	f.delta_sym = rn_new_map(scratch, l->delta.n);
	if (!f.rule_sym || !f.delta_sym)
		return RN_E_NOMEM;
	return make_rules(&f, root, mem, l->first, p);
}

/* ---- all units ---- */

struct sealer {
	const struct rn_series *s;
	struct rn_arena *mem, *scratch;
	struct rn_seg units; /* struct rn_unit, in scratch */
	struct rn_seg lit;   /* int64_t, in scratch: literal values since the last pattern */
	struct rn_buf trial; /* latest column with which a pattern was compared */
	uint64_t tried;      /* number of first values of `lit` in trial; 0: none */
};

static int add_unit(struct sealer *z, const struct rn_unit *u)
{
	return RN_SEG_PUSH(&z->units, z->scratch, struct rn_unit, *u) ? RN_OK : RN_E_NOMEM;
}

static int keep_column(struct sealer *z, struct rn_unit *u)
{
	unsigned char *bytes = rn_new(z->mem, unsigned char, z->trial.len);

	if (!bytes)
		return RN_E_NOMEM;
	memcpy(bytes, z->trial.data, z->trial.len);
	u->column = bytes;
	u->column_len = z->trial.len;
	return RN_OK;
}

/* Creates one unit from the literal values collected so far. */
static int flush_literal(struct sealer *z)
{
	struct rn_unit u;
	int64_t *v;
	int rc;

	if (z->lit.n == 0)
		return RN_OK;
	v = rn_new(z->mem, int64_t, z->lit.n);
	if (!v)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < z->lit.n; i++)
		v[i] = *RN_SEG_AT(&z->lit, int64_t, i);
	rc = rn_unit_of_values(&u, z->mem, v, z->lit.n);
	if (rc == RN_OK && z->tried == z->lit.n)
		rc = keep_column(z, &u);
	z->lit.n = 0;
	z->tried = 0;
	return rc == RN_OK ? add_unit(z, &u) : rc;
}

static int add_values(struct sealer *z, const int64_t *v, uint64_t n)
{
	if (!rn_seg_reserve(&z->lit, z->scratch, n))
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < n; i++)
		RN_SEG_PUT(&z->lit, int64_t, v[i]);
	return RN_OK;
}

/* Estimates the size of the values as a literal unit, in bytes: varints of the values or of their
 * differences. */
static size_t literal_estimate(const int64_t *v, uint64_t n)
{
	size_t plain = 0, differences = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t d = (uint64_t)v[i] - (i ? (uint64_t)v[i - 1] : 0);

		plain += rn_varint_size(rn_zigzag(v[i]));
		differences += rn_varint_size(rn_zigzag((int64_t)d));
	}
	return 1 + (plain <= differences ? plain : differences + 1);
}

static bool large_for(size_t pattern, uint64_t n)
{
	return pattern > 64 && pattern > n / 32;
}

/* Computes the size of the values as a literal unit, in bytes. If the pattern is large for its
 * length, encodes a real column; otherwise estimates. */
static int literal_size(struct sealer *z, const int64_t *v, uint64_t n, size_t pattern,
			size_t *size)
{
	uint64_t sample = n < WEIGH_SAMPLE ? n : WEIGH_SAMPLE;
	int rc;

	rn_buf_clear(&z->trial);
	z->tried = 0;
	*size = literal_estimate(v, n);
	if (*size <= pattern || !large_for(pattern, n))
		return RN_OK;
	rc = rn_column_encode(v + (n - sample) / 2, sample, &z->trial);
	*size = (size_t)((z->trial.len + 1) * n / sample);
	if (n > WEIGH_SMALL) /* a reader stores every value: not for a few bytes */
		*size += *size / 3;
	return rc;
}

static bool worth_weighing(size_t pattern, uint64_t n)
{
	if (n == 1 || n > WEIGH_MAX)
		return false;
	return n <= WEIGH_SMALL ? pattern > 3 : large_for(pattern, n);
}

static int take_pattern(struct sealer *z, const struct rn_unit *u)
{
	int rc = flush_literal(z);

	return rc == RN_OK ? add_unit(z, u) : rc;
}

/* Adds the pattern, or its values if these take fewer bytes. */
static int take_smaller(struct sealer *z, const struct rn_unit *u)
{
	size_t pattern = rn_unit_pattern_size(u), literal = SIZE_MAX;
	int64_t *v = NULL;
	int rc = RN_OK;

	if (worth_weighing(pattern, u->n)) {
		v = rn_new(z->scratch, int64_t, u->n);
		if (!v)
			return RN_E_NOMEM;
		rn_unit_read(u, 0, v, u->n);
		rc = literal_size(z, v, u->n, pattern, &literal);
		/* After literal values it needs no separate head. */
		if (z->lit.n && literal < SIZE_MAX)
			literal--;
	}
	if (rc < 0)
		return rc;
	if (literal >= pattern)
		return take_pattern(z, u);
	if (z->lit.n == 0 && z->trial.len && u->n <= WEIGH_SAMPLE)
		z->tried = u->n;
	return add_values(z, v, u->n);
}

static int seal_lanes(struct sealer *z, const struct rn_lane *l, uint32_t lanes, uint64_t n)
{
	struct rn_pattern *p = rn_new(z->mem, struct rn_pattern, lanes);
	struct rn_unit u;

	if (!p)
		return RN_E_NOMEM;
	for (uint32_t k = 0; k < lanes; k++, l = l->next) {
		int rc = seal_lane(l, z->mem, z->scratch, &p[k]);

		if (rc < 0)
			return rc;
		assert(p[k].n == rn_lane_length(n, lanes, k) && p[k].last == l->last);
	}
	rn_unit_of_lanes(&u, p, lanes, n);
	return take_pattern(z, &u);
}

static int seal_part(struct sealer *z, const struct rn_series_part *part, uint64_t n)
{
	if (part->lanes)
		return seal_lanes(z, part->lane, part->lanes, n);
	if (!rn_seg_reserve(&z->lit, z->scratch, n))
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		RN_SEG_PUT(&z->lit, int64_t, rn_lit_at(z->s, part->lit + i));
	return RN_OK;
}

/* Seals raw values with some order as a pattern, which is built in a separate series. */
static int seal_raw_pattern(struct sealer *z, uint32_t n)
{
	struct rn_series *side = rn_series_new(z->scratch);
	struct rn_lane *ring;
	int rc = side ? rn_lanes_build(side, z->s->raw, n, 1, &ring) : RN_E_NOMEM;

	return rc == RN_OK ? seal_lanes(z, ring, 1, n) : rc;
}

static int seal_raw_even(struct sealer *z, const int64_t *v, uint32_t n)
{
	struct rn_pattern *p = rn_new(z->mem, struct rn_pattern, 1);
	int64_t d = n > 1 ? v[1] - v[0] : 0;
	struct rn_unit u;
	int rc = p ? rn_make_even(z->mem, p, v[0], d, n) : RN_E_NOMEM;

	if (rc < 0)
		return rc;
	rn_unit_of_lanes(&u, p, 1, n);
	return take_pattern(z, &u);
}

static int seal_raw(struct sealer *z)
{
	uint32_t n = (uint32_t)(z->s->n - z->s->start);
	int rc = RN_E_RANGE;

	if (n == 0)
		return RN_OK;
	if (rn_series_even(z->s->raw, n))
		return seal_raw_even(z, z->s->raw, n);
	if (n > RAW_FEW)
		rc = seal_raw_pattern(z, n);
	return rc == RN_E_RANGE ? add_values(z, z->s->raw, n) : rc;
}

static int seal_all(struct sealer *z)
{
	const struct rn_series *s = z->s;
	int rc = RN_OK;

	for (uint32_t i = 0; i < s->parts.n && rc == RN_OK; i++) {
		const struct rn_series_part *part = rn_series_part_at(s, i);

		rc = seal_part(z, part, part->n);
	}
	if (rc == RN_OK)
		rc = s->mode == RN_SERIES_RAW ? seal_raw(z)
					      : seal_part(z, &s->open, s->n - s->start);
	return rc == RN_OK ? flush_literal(z) : rc;
}

static int shrink_all(struct sealer *z, const struct rn_units *u)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < u->count && rc == RN_OK; i++) {
		const struct rn_unit *part = &u->unit[i];

		rc = part->lanes ? take_smaller(z, part) : add_values(z, part->value, part->n);
	}
	return rc == RN_OK ? flush_literal(z) : rc;
}

static int finish(struct sealer *z, struct rn_units **out)
{
	struct rn_unit *unit = rn_new(z->mem, struct rn_unit, z->units.n);
	struct rn_units *u = rn_new(z->mem, struct rn_units, 1);
	int rc;

	if (!unit || !u)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < z->units.n; i++)
		unit[i] = *RN_SEG_AT(&z->units, struct rn_unit, i);
	rc = rn_units_join(u, unit, z->units.n);
	*out = u;
	return rc;
}

/* Seals a builder or, if `from` is not NULL, a sealed series. */
static int seal(struct sealer *z, const struct rn_units *from, struct rn_units **out)
{
	struct rn_arena_mark mark = rn_arena_mark(z->mem), used = rn_arena_mark(z->scratch);
	int rc;

	rn_seg_init(&z->units, sizeof(struct rn_unit));
	rn_seg_init(&z->lit, sizeof(int64_t));
	rc = from ? shrink_all(z, from) : seal_all(z);
	if (rc == RN_OK)
		rc = finish(z, out);
	rn_buf_free(&z->trial);
	rn_arena_rewind(z->scratch, used);
	assert(rc < 0 || (*out)->n == (from ? from->n : z->s->n));
	if (rc < 0)
		rn_arena_rewind(z->mem, mark);
	return rc;
}

int rn_units_seal_quickly(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_series *s,
			  struct rn_units **out)
{
	struct sealer z = { .s = s, .mem = mem, .scratch = scratch };

	return seal(&z, NULL, out);
}

int rn_units_shrink(struct rn_arena *mem, struct rn_arena *scratch, const struct rn_units *u,
		    struct rn_units **out)
{
	struct sealer z = { .mem = mem, .scratch = scratch };

	return seal(&z, u, out);
}

int rn_units_seal(struct rn_arena *mem, const struct rn_series *s, struct rn_units **out)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct rn_arena scratch;
	struct rn_units *quick;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_units_seal_quickly(mem, &scratch, s, &quick);
	if (rc == RN_OK)
		rc = rn_units_shrink(mem, &scratch, quick, out);
	if (rc < 0)
		rn_arena_rewind(mem, mark);
	rn_arena_free(&scratch);
	return rc;
}
