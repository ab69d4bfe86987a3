/*
 * series_snapshot.c - a series as flat bytes, and back.
 *
 * Varints, but for grammars (their own snapshots, each behind its length) and literal values
 * (all of the same number of bytes, which comes before them, in the machine's order): magic, the
 * builder's state in the order of put_state, closed parts, the open part, literal values. `seen` is
 * not in it: it follows from the literal values.
 *
 * Restoring trusts no byte: whatever passes is a series that an honest run could have had, as far
 * as any later append, seal or check can tell. Memory is bounded by the input's size.
 */
#include "base/buf.h"
#include "base/varint.h"
#include "series/series_impl.h"

#include <stddef.h>
#include <string.h>

#define SNAPSHOT_MAGIC 0x32726573u /* "ser2" */

/* ---- writing ---- */

static void put_lane(const struct rn_lane *l, struct rn_buf *out)
{
	rn_buf_i64(out, l->first);
	rn_buf_i64(out, l->last);
	rn_buf_u64(out, l->delta.n);
	for (uint32_t i = 0; i < l->delta.n; i++)
		rn_buf_i64(out, *RN_SEG_AT(&l->delta, int64_t, i));
	rn_buf_u64(out, rn_grammar_snapshot_size(l->g));
	rn_grammar_snapshot(l->g, out);
}

static void put_part(const struct rn_series_part *p, uint64_t n, struct rn_buf *out)
{
	const struct rn_lane *l = p->lane;

	rn_buf_u64(out, p->lanes);
	rn_buf_u64(out, n);
	for (uint32_t k = 0; k < p->lanes; k++, l = l->next)
		put_lane(l, out);
}

static void put_state(const struct rn_series *s, struct rn_buf *out)
{
	const uint64_t state[] = { s->mode,          s->due,      s->sorted,     s->young, s->slow,
				   s->n - s->looked, s->since,    s->patience,   s->lag,   s->run,
				   s->want.lanes,    s->want.cut, s->want.credit };

	rn_buf_le32(out, SNAPSHOT_MAGIC);
	for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
		rn_buf_u64(out, state[i]);
	rn_buf_i64(out, s->credit);
}

static void put_open(const struct rn_series *s, struct rn_buf *out)
{
	uint64_t n = s->n - s->start;

	if (s->mode != RN_SERIES_RAW) {
		put_part(&s->open, n, out);
		return;
	}
	rn_buf_u64(out, n);
	for (uint64_t i = 0; i < n; i++)
		rn_buf_i64(out, s->raw[i]);
}

/* The literal values from i on that lie side by side, at most n. */
static const int64_t *literals_at(const struct rn_series *s, uint32_t i, uint32_t *n)
{
	uint32_t left = s->lit.n - i, chunk = RN_SEG_CHUNK - (i & RN_SEG_MASK);

	*n = left < chunk ? left : chunk;
	return RN_SEG_AT(&s->lit, int64_t, i);
}

/* Bytes that hold each literal value. */
static unsigned literal_width(const struct rn_series *s)
{
	uint64_t bits = 0;
	uint32_t n;

	for (uint32_t i = 0; i < s->lit.n; i += n) {
		const int64_t *v = literals_at(s, i, &n);

		for (uint32_t k = 0; k < n; k++)
			bits |= (uint64_t)v[k];
	}
	return bits >> 32 ? 8 : bits >> 16 ? 4 : bits >> 8 ? 2 : 1;
}

/* Plain loops, so that they become vector instructions: a snapshot may have thousands of them. */
#define NARROW(type)                                            \
	for (uint32_t k = 0; k < n; k++) {                      \
		type x = (type)v[k];                            \
                                                                \
		memcpy(p + k * sizeof(type), &x, sizeof(type)); \
	}

static void put_narrow(unsigned char *p, const int64_t *v, uint32_t n, unsigned width)
{
	if (width == 1)
		NARROW(uint8_t)
	else if (width == 2)
		NARROW(uint16_t)
	else if (width == 4)
		NARROW(uint32_t)
	else
		memcpy(p, v, n * sizeof(*v));
}

static void put_literals(const struct rn_series *s, struct rn_buf *out)
{
	unsigned width = literal_width(s);
	unsigned char *p;
	uint32_t n;

	rn_buf_byte(out, (unsigned char)width);
	p = rn_buf_reserve(out, (size_t)s->lit.n * width);
	for (uint32_t i = 0; p && i < s->lit.n; i += n) {
		const int64_t *v = literals_at(s, i, &n);

		put_narrow(p + (size_t)i * width, v, n, width);
	}
	if (p)
		out->len += (size_t)s->lit.n * width;
}

int rn_series_snapshot(const struct rn_series *s, struct rn_buf *out)
{
	put_state(s, out);
	rn_buf_u64(out, s->parts.n);
	for (uint32_t i = 0; i < s->parts.n; i++) {
		const struct rn_series_part *p = rn_series_part_at(s, i);

		put_part(p, p->n, out);
	}
	put_open(s, out);
	put_literals(s, out);
	return rn_buf_status(out);
}

/* ---- reading ---- */

static int get_deltas(struct rn_series *s, struct rn_lane *l, struct rn_reader *in)
{
	uint64_t n = rn_get_count(in, 1);

	for (uint64_t i = 0; i < n; i++) {
		int64_t d = rn_get_i64(in);

		if (in->bad || rn_lane_find(l, d) != RN_MAP_NONE)
			return RN_E_DATA;
		if (rn_lane_intern(l, s->mem, d) < 0)
			return RN_E_NOMEM;
	}
	return in->bad ? RN_E_DATA : RN_OK;
}

/* Every symbol in every body is a difference or a rule; the sealed form shows only those that the
 * stream reaches. */
static bool symbols_known(const struct rn_lane *l)
{
	uint32_t rules = rn_grammar_rules(l->g);

	for (uint32_t r = 0; r < rules; r++) {
		struct rn_grammar_iter it = rn_grammar_body(l->g, r);
		struct rn_grammar_item item;

		while (rn_grammar_body_next(&it, &item)) {
			if (item.kind == RN_KIND_LITERAL)
				return false;
			if (item.kind == RN_KIND_TERMINAL && item.id >= l->delta.n)
				return false;
		}
	}
	return true;
}

static int get_lane(struct rn_series *s, struct rn_lane *l, uint64_t n, struct rn_reader *in)
{
	const unsigned char *bytes;
	uint64_t len;
	int rc;

	l->first = rn_get_i64(in);
	l->last = rn_get_i64(in);
	rc = get_deltas(s, l, in);
	if (rc < 0)
		return rc;
	len = rn_get_count(in, 1);
	bytes = rn_get_bytes(in, len);
	if (!bytes || in->bad)
		return RN_E_DATA;
	rc = rn_grammar_restore(s->mem, bytes, len, &l->g, NULL);
	if (rc == RN_OK && !symbols_known(l))
		rc = RN_E_DATA;
	return rc == RN_OK ? rn_lane_verify(l, n) : rc;
}

static int get_lanes(struct rn_series *s, struct rn_series_part *p, struct rn_reader *in)
{
	struct rn_lane *last = NULL;

	for (uint32_t k = 0; k < p->lanes; k++) {
		struct rn_lane *l = rn_lane_new(s->mem);
		int rc = l ? get_lane(s, l, rn_lane_length(p->n, p->lanes, k), in) : RN_E_NOMEM;

		if (rc < 0)
			return rc;
		if (last)
			last->next = l;
		else
			p->lane = l;
		last = l;
		l->next = p->lane;
	}
	return RN_OK;
}

/* *lit: literal values in the parts so far. */
static int get_part(struct rn_series *s, struct rn_series_part *p, uint64_t *lit,
		    struct rn_reader *in)
{
	p->lanes = (uint32_t)rn_get_max(in, RN_LANES_MAX);
	p->n = rn_get_max(in, (uint64_t)INT64_MAX - s->start);
	if (in->bad || p->n == 0 || p->n < p->lanes)
		return RN_E_DATA;
	if (p->lanes)
		return get_lanes(s, p, in);
	if (p->n > rn_left(in) || p->n + *lit > UINT32_MAX)
		return RN_E_DATA;
	p->lit = (uint32_t)*lit;
	*lit += p->n;
	return RN_OK;
}

static int get_closed(struct rn_series *s, uint64_t *lit, struct rn_reader *in)
{
	uint64_t n = rn_get_count(in, 2);

	for (uint64_t i = 0; i < n; i++) {
		struct rn_series_part p = { 0 };
		int rc = get_part(s, &p, lit, in);

		if (rc < 0)
			return rc;
		if (!rn_seg_reserve(&s->parts, s->mem, 1))
			return RN_E_NOMEM;
		*RN_SEG_AT(&s->parts, struct rn_series_part, s->parts.n) = p;
		s->parts.n++;
		s->start += p.n;
	}
	return in->bad ? RN_E_DATA : RN_OK;
}

static int get_raw(struct rn_series *s, struct rn_reader *in)
{
	uint64_t n = rn_get_max(in, RAW_FULL);

	if (n > RAW_FEW || s->parts.n) {
		s->raw = rn_new(s->mem, int64_t, RAW_FULL);
		if (!s->raw)
			return RN_E_NOMEM;
		s->raw_cap = RAW_FULL;
	}
	for (uint64_t i = 0; i < n; i++)
		s->raw[i] = rn_get_i64(in);
	s->n = s->start + n;
	return in->bad ? RN_E_DATA : RN_OK;
}

static int get_open(struct rn_series *s, uint64_t *lit, struct rn_reader *in)
{
	int rc;

	if (s->mode == RN_SERIES_RAW)
		return get_raw(s, in);
	rc = get_part(s, &s->open, lit, in);
	if (rc < 0)
		return rc;
	s->n = s->start + s->open.n;
	s->open.n = 0;
	return (s->open.lanes == 0) == (s->mode == RN_SERIES_LITERAL) ? RN_OK : RN_E_DATA;
}

/* The open part's `seen`, or that of the literal part that it would join. */
static int restore_seen(struct rn_series *s)
{
	struct rn_series_part open = s->open;
	uint32_t lag = s->lag, run = s->run;
	uint64_t n = s->n - s->start;

	if (s->mode != RN_SERIES_LITERAL) {
		const struct rn_series_part *p;

		p = s->parts.n ? rn_series_part_at(s, s->parts.n - 1) : NULL;
		if (!p || p->lanes)
			return RN_OK;
		s->open = *p;
		n = p->n;
	}
	if (rn_seen_reserve(s) < 0)
		return RN_E_NOMEM;
	rn_seen_enter(s, 0, (uint32_t)n);
	s->lag = lag;
	s->run = run;
	s->open = open;
	return RN_OK;
}

static int64_t get_literal(struct rn_reader *in, unsigned width)
{
	const unsigned char *p = rn_get_bytes(in, width);
	uint8_t x1;
	uint16_t x2;
	uint32_t x4;
	int64_t x8 = 0;

	if (width == 1)
		return memcpy(&x1, p, sizeof(x1)), x1;
	if (width == 2)
		return memcpy(&x2, p, sizeof(x2)), x2;
	if (width == 4)
		return memcpy(&x4, p, sizeof(x4)), x4;
	memcpy(&x8, p, sizeof(x8));
	return x8;
}

static int get_literals(struct rn_series *s, uint64_t n, struct rn_reader *in)
{
	const unsigned char *width = rn_get_bytes(in, 1);

	if (!width || (*width != 1 && *width != 2 && *width != 4 && *width != 8) ||
	    rn_left(in) % *width || rn_left(in) / *width != n)
		return RN_E_DATA;
	if (n && !rn_seg_reserve(&s->lit, s->mem, n))
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		*RN_SEG_AT(&s->lit, int64_t, i) = get_literal(in, *width);
	s->lit.n = (uint32_t)n;
	return restore_seen(s);
}

static void get_state(struct rn_series *s, struct rn_reader *in)
{
	const unsigned char *magic = rn_get_bytes(in, 4);

	if (!magic || memcmp(magic, "ser2", 4) != 0)
		rn_fail(in);
	s->mode = (uint8_t)rn_get_max(in, RN_SERIES_LITERAL);
	s->due = (uint8_t)rn_get_max(in, RN_DUE_CONVERT);
	s->sorted = rn_get_max(in, 1);
	s->young = rn_get_max(in, 1);
	s->slow = (uint32_t)rn_get_max(in, UINT32_MAX);
	s->looked = rn_get_u64(in); /* distance to n, which is not known yet */
	s->since = rn_get_u64(in);
	s->patience = rn_get_u64(in);
	s->lag = (uint32_t)rn_get_max(in, UINT32_MAX);
	s->run = (uint32_t)rn_get_max(in, UINT32_MAX);
	s->want.lanes = (uint32_t)rn_get_max(in, RN_LANES_MAX);
	s->want.cut = (uint32_t)rn_get_max(in, CUT_MAX);
	s->want.credit = (uint32_t)rn_get_max(in, INT32_MAX);
	s->credit = rn_get_i64(in);
}

static int fill(struct rn_series *s, struct rn_reader *in)
{
	uint64_t lit = 0;
	int rc;

	get_state(s, in);
	rc = in->bad ? RN_E_DATA : get_closed(s, &lit, in);
	if (rc == RN_OK)
		rc = get_open(s, &lit, in);
	if (rc == RN_OK)
		rc = get_literals(s, lit, in);
	if (rc < 0)
		return rc;
	if (s->looked > s->n)
		return RN_E_DATA;
	s->looked = s->n - s->looked;
	return rn_series_resume(s);
}

int rn_series_restore(struct rn_arena *mem, const void *bytes, size_t len, struct rn_series **out,
		      struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_series *s = rn_series_new(mem);
	int rc = s ? fill(s, &in) : RN_E_NOMEM;

	if (rc < 0)
		rn_arena_rewind(mem, mark);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0)
		return rn_err_set(err, RN_E_DATA, "series snapshot damaged at byte %zu of %zu",
				  len - rn_left(&in), len);
	*out = s;
	return RN_OK;
}
