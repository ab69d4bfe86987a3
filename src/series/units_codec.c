/*
 * units_codec.c - encodes and decodes a sealed series. The format is described in doc/format.md.
 *
 * Lengths that follow from other values are not encoded. Rules are encoded children first, and each
 * symbol where it is first needed, so that the input cannot contain a cycle. Decoder input is
 * untrusted. Decoding is linear in the input, and the input bounds its memory: nothing is expanded,
 * and columns enforce their own limit.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/varint.h"
#include "column/column.h"
#include "series/series_impl.h"
#include "series/units_impl.h"

#include <assert.h>

/* The head of a unit: a kind, a number, and whether another unit follows. */
enum kind { KIND_INLINE, KIND_EVEN, KIND_NESTED, KIND_MORE };
enum more { MORE_COLUMN, MORE_EVEN_LANES, MORE_LANES, MORE_RESERVED };

#define NUMBER_MAX (UINT64_MAX >> 3)

/* The symbol of an item: a new delta, the escape for elastic counts, or a known symbol. */
enum { REF_NEW, REF_ELASTIC, REF_KNOWN };

/* Up to this number of values, the head of a column is not worth its size. */
#define INLINE_MAX 16u

/* ---- encoding: to a buffer, or only counting ---- */

struct sink {
	struct rn_buf *out; /* NULL: only count the bytes */
	size_t n;
	bool quick;   /* without columns */
	int64_t base; /* subtracted from elements */
};

static void put(struct sink *s, uint64_t v)
{
	if (s->out)
		rn_buf_u64(s->out, v);
	else
		s->n += rn_varint_size(v);
}

static void put_signed(struct sink *s, int64_t v)
{
	put(s, rn_zigzag(v));
}

static void put_element(struct sink *s, int64_t v)
{
	put_signed(s, (int64_t)((uint64_t)v - (uint64_t)s->base));
}

static bool is_even(const struct rn_pattern *p)
{
	return p->n == 1 || (p->nterms == 1 && p->nrules == 1);
}

/* Writes the first element and, if there is a second one, the difference. */
static void put_even(const struct rn_pattern *p, struct sink *s)
{
	put_element(s, p->first);
	if (p->n > 1)
		put_signed(s, p->term[0].delta);
}

static void put_term(const struct rn_pattern *p, uint32_t i, uint32_t *known, struct sink *s)
{
	const struct rn_unit_term *t = &p->term[i];
	bool fresh = t->sym == *known;
	uint64_t ref = fresh ? REF_NEW : REF_KNOWN + (*known - 1 - t->sym);

	assert(t->sym <= *known && t->count);
	put(s, ref << 1 | (t->count > 1));
	if (fresh) {
		put_signed(s, t->delta);
		++*known;
	}
	if (t->count > 1)
		put(s, t->count - 2);
}

static void put_nested(const struct rn_pattern *p, struct sink *s)
{
	uint32_t known = 0, i = 0;

	assert(p->nrules);
	put_element(s, p->first);
	for (uint32_t r = 0; r < p->nrules; r++) {
		put(s, p->size[r] - 1);
		for (uint32_t end = i + p->size[r]; i < end; i++)
			put_term(p, i, &known, s);
		known++;
	}
}

static uint64_t head(enum kind kind, uint64_t number, bool follows)
{
	assert(number <= NUMBER_MAX);
	return number << 3 | (uint64_t)kind << 1 | follows;
}

static void put_lanes(const struct rn_unit *u, bool follows, struct sink *s)
{
	bool even = true;

	for (uint32_t k = 0; k < u->lanes; k++)
		even = even && is_even(&u->lane[k]);
	put(s, head(KIND_MORE, u->lanes << 2 | (even ? MORE_EVEN_LANES : MORE_LANES), follows));
	put(s, u->n);
	for (uint32_t k = 0; k < u->lanes; k++) {
		const struct rn_pattern *p = &u->lane[k];

		if (!even)
			put(s, is_even(p) ? 0 : p->nrules);
		if (is_even(p))
			put_even(p, s);
		else
			put_nested(p, s);
	}
}

static void put_pattern(const struct rn_unit *u, bool follows, struct sink *s)
{
	const struct rn_pattern *p = u->lane;

	if (u->lanes > 1) {
		put_lanes(u, follows, s);
	} else if (is_even(p) && p->n <= NUMBER_MAX) {
		put(s, head(KIND_EVEN, p->n, follows));
		put_even(p, s);
	} else {
		put(s, head(KIND_NESTED, p->nrules, follows));
		put_nested(p, s);
	}
}

size_t rn_unit_pattern_size(const struct rn_unit *u)
{
	struct sink s = { 0 };

	put_pattern(u, false, &s);
	return s.n;
}

static void put_inline(const struct rn_unit *u, bool follows, struct sink *s)
{
	put(s, head(KIND_INLINE, u->n, follows));
	for (uint64_t i = 0; i < u->n; i++)
		put_element(s, u->value[i]);
}

static int put_column(const struct rn_unit *u, struct rn_buf *out)
{
	if (!u->column)
		return rn_column_encode(u->value, u->n, out);
	rn_buf_add(out, u->column, u->column_len);
	return RN_OK;
}

/* Writes values as a column, or inline if the column is not smaller. */
static int put_values(const struct rn_unit *u, bool follows, struct sink *s)
{
	struct sink count = { 0 };
	struct rn_buf *out = s->out;
	size_t begin = out->len;
	int rc;

	if (u->n > INLINE_MAX && !s->quick) {
		put_inline(u, follows, &count);
		put(s, head(KIND_MORE, MORE_COLUMN, follows));
		rc = put_column(u, out);
		if (rc < 0)
			return rc;
		if (out->len - begin < count.n)
			return RN_OK;
		out->len = begin;
	}
	put_inline(u, follows, s);
	return RN_OK;
}

static int encode(const struct rn_units *u, struct sink *s)
{
	size_t begin = s->out->len;
	int rc = RN_OK;

	if (u->count == 0)
		put(s, head(KIND_INLINE, 0, false));
	for (uint32_t i = 0; i < u->count && rc == RN_OK; i++) {
		if (u->unit[i].lanes)
			put_pattern(&u->unit[i], i + 1 < u->count, s);
		else
			rc = put_values(&u->unit[i], i + 1 < u->count, s);
	}
	if (rc == RN_OK)
		rc = rn_buf_status(s->out);
	if (rc < 0)
		s->out->len = begin;
	return rc;
}

int rn_units_encode(const struct rn_units *u, struct rn_buf *out)
{
	return encode(u, &(struct sink){ .out = out });
}

int rn_units_encode_quickly(const struct rn_units *u, int64_t base, struct rn_buf *out)
{
	return encode(u, &(struct sink){ .out = out, .quick = true, .base = base });
}

/* ---- decoding ---- */

struct source {
	struct rn_reader *in;
	struct rn_arena *mem;
	struct rn_err *err;
};

static int damaged(struct source *s, const char *what)
{
	rn_fail(s->in);
	return rn_err_set(s->err, RN_E_DATA, "series damaged: %s", what);
}

static int make_failed(struct source *s, int rc)
{
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(s->err);
	return damaged(s, "a length or an element is out of range");
}

static int get_even(struct source *s, struct rn_pattern *p, uint64_t n)
{
	int64_t first = rn_get_i64(s->in), d = n > 1 ? rn_get_i64(s->in) : 0;
	int rc;

	if (s->in->bad)
		return damaged(s, "cut off");
	rc = rn_make_even(s->mem, p, first, d, n);
	return rc < 0 ? make_failed(s, rc) : RN_OK;
}

struct item {
	bool fresh;
	int64_t d;
	uint64_t back, count;
};

static struct item get_item(struct rn_reader *in)
{
	uint64_t tag = rn_get_u64(in), ref = tag >> 1;
	struct item t = { .fresh = ref == REF_NEW, .count = 1 };

	if (ref == REF_ELASTIC)
		rn_fail(in);
	if (t.fresh)
		t.d = rn_get_i64(in);
	else
		t.back = ref - REF_KNOWN;
	if (tag & 1)
		t.count = rn_get_max(in, INT64_MAX) + 2;
	return t;
}

/* Computes the sizes of the arrays to allocate, by reading ahead on a copy of the reader. */
static bool survey(struct rn_reader in, uint64_t rules, uint32_t *items, uint32_t *deltas)
{
	uint64_t n = 0, fresh = 0;

	for (uint64_t r = 0; r < rules && !in.bad; r++) {
		uint64_t size = rn_get_u64(&in);

		if (size >= rn_left(&in))
			return false;
		for (uint64_t i = 0; i <= size; i++)
			fresh += get_item(&in).fresh;
		n += size + 1;
	}
	*items = (uint32_t)n;
	*deltas = (uint32_t)fresh;
	return !in.bad && n + rules < UINT32_MAX;
}

static int get_body(struct source *s, struct rn_make *m)
{
	uint64_t size = rn_get_u64(s->in);
	uint32_t sym;

	for (uint64_t i = 0; i <= size; i++) {
		struct item t = get_item(s->in);
		int rc;

		if (!t.fresh && t.back >= m->nknown)
			return damaged(s, "a rule uses a symbol that does not exist yet");
		sym = t.fresh ? rn_make_delta(m, t.d) : m->nknown - 1 - (uint32_t)t.back;
		rc = rn_make_term(m, sym, t.count);
		if (rc < 0)
			return make_failed(s, rc);
	}
	return rn_make_rule(m, &sym);
}

static int get_nested(struct source *s, struct rn_pattern *p, uint64_t rules)
{
	int64_t first = rn_get_i64(s->in);
	uint32_t items, deltas;
	struct rn_make m;
	int rc;

	if (rules == 0 || rules > rn_left(s->in) || !survey(*s->in, rules, &items, &deltas))
		return damaged(s, "cut off, or a rule that this program does not know");
	rc = rn_make_begin(&m, s->mem, p, first, (uint32_t)rules, items, deltas);
	if (rc < 0)
		return rn_err_nomem(s->err);
	for (uint64_t r = 0; r < rules && rc == RN_OK; r++)
		rc = get_body(s, &m);
	if (rc < 0)
		return rc;
	rc = rn_make_end(&m);
	return rc < 0 ? make_failed(s, rc) : RN_OK;
}

static struct rn_pattern *new_patterns(struct source *s, uint32_t n)
{
	struct rn_pattern *p = rn_new(s->mem, struct rn_pattern, n);

	if (!p)
		rn_err_nomem(s->err);
	return p;
}

static int get_pattern(struct source *s, enum kind kind, uint64_t number, struct rn_unit *u)
{
	struct rn_pattern *p = new_patterns(s, 1);
	int rc;

	if (!p)
		return RN_E_NOMEM;
	rc = kind == KIND_EVEN ? get_even(s, p, number) : get_nested(s, p, number);
	if (rc == RN_OK)
		rn_unit_of_lanes(u, p, 1, p->n);
	return rc;
}

static int get_lane(struct source *s, struct rn_pattern *p, bool even, uint64_t n)
{
	uint64_t rules = even ? 0 : rn_get_u64(s->in);
	int rc = rules ? get_nested(s, p, rules) : get_even(s, p, n);

	if (rc == RN_OK && p->n != n)
		return damaged(s, "lanes of different lengths");
	return rc;
}

static int get_lanes(struct source *s, uint64_t lanes, bool even, struct rn_unit *u)
{
	uint64_t n = rn_get_max(s->in, INT64_MAX);
	struct rn_pattern *p;
	int rc = RN_OK;

	if (lanes < 2 || lanes > RN_LANES_MAX || n < lanes)
		return damaged(s, "impossible lanes");
	p = new_patterns(s, (uint32_t)lanes);
	if (!p)
		return RN_E_NOMEM;
	for (uint32_t k = 0; k < lanes && rc == RN_OK; k++)
		rc = get_lane(s, &p[k], even, rn_lane_length(n, (uint32_t)lanes, k));
	if (rc == RN_OK)
		rn_unit_of_lanes(u, p, (uint32_t)lanes, n);
	return rc;
}

static int values_unit(struct source *s, const int64_t *v, uint64_t n, struct rn_unit *u)
{
	if (n == 0)
		return damaged(s, "a part without elements");
	return rn_unit_of_values(u, s->mem, v, n) < 0 ? rn_err_nomem(s->err) : RN_OK;
}

static int get_column(struct source *s, struct rn_unit *u)
{
	int64_t *v;
	size_t n;
	int rc = rn_column_decode(s->mem, s->in, UINT64_MAX, &v, &n, s->err);

	return rc < 0 ? rc : values_unit(s, v, n, u);
}

static int get_inline(struct source *s, uint64_t n, struct rn_unit *u)
{
	int64_t *v;

	if (n > rn_left(s->in))
		return damaged(s, "cut off");
	v = rn_new(s->mem, int64_t, n);
	if (!v)
		return rn_err_nomem(s->err);
	for (uint64_t i = 0; i < n; i++)
		v[i] = rn_get_i64(s->in);
	return s->in->bad ? damaged(s, "cut off") : values_unit(s, v, n, u);
}

static int get_unit(struct source *s, uint64_t h, struct rn_unit *u)
{
	enum kind kind = (enum kind)(h >> 1 & 3);
	uint64_t number = h >> 3;

	if (kind == KIND_INLINE)
		return get_inline(s, number, u);
	if (kind != KIND_MORE)
		return get_pattern(s, kind, number, u);
	if (number == MORE_COLUMN)
		return get_column(s, u);
	if ((number & 3) == MORE_EVEN_LANES || (number & 3) == MORE_LANES)
		return get_lanes(s, number >> 2, (number & 3) == MORE_EVEN_LANES, u);
	return damaged(s, "a part of a kind that this program does not know");
}

struct unit_list {
	struct rn_unit *unit;
	uint32_t n, cap;
};

/* Returns a new unit. The list doubles in the arena; the abandoned copies have the same total size.
 */
static struct rn_unit *next_unit(struct source *s, struct unit_list *l)
{
	return RN_GROW(s->mem, l->unit, l->n + 1, l->cap) ? &l->unit[l->n++] : NULL;
}

static int get_units(struct source *s, struct unit_list *l)
{
	uint64_t h;

	do {
		struct rn_unit *u;
		int rc;

		h = rn_get_u64(s->in);
		if (s->in->bad)
			return damaged(s, "cut off");
		if (h == head(KIND_INLINE, 0, false) && l->n == 0)
			return RN_OK;
		u = next_unit(s, l);
		rc = u ? get_unit(s, h, u) : rn_err_nomem(s->err);
		if (rc < 0)
			return rc;
	} while (h & 1);
	return RN_OK;
}

int rn_units_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_units **out,
		    struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct source s = { in, mem, err };
	struct rn_units *u = rn_new(mem, struct rn_units, 1);
	struct unit_list l = { 0 };
	int rc = u ? get_units(&s, &l) : rn_err_nomem(err);

	if (rc == RN_OK && rn_units_join(u, l.unit, l.n) < 0)
		rc = damaged(&s, "too many elements");
	if (rc == RN_OK)
		*out = u;
	else
		rn_arena_rewind(mem, mark);
	return rc;
}

int rn_units_decode_all(struct rn_arena *mem, const struct rn_sigs *bytes,
			const struct rn_units ***out, struct rn_err *err)
{
	uint32_t n = rn_sigs_count(bytes);
	const struct rn_units **units = rn_new(mem, const struct rn_units *, (size_t)n + 1);
	int rc = units ? RN_OK : rn_err_nomem(err);

	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		size_t len;
		const void *p = rn_sigs_get(bytes, i, &len);
		struct rn_reader in = rn_reader(p, len);
		struct rn_units *u = NULL;

		rc = rn_units_decode(mem, &in, &u, err);
		if (rc == RN_OK)
			rc = rn_err_end(&in, err);
		units[i] = u;
	}
	*out = units;
	return rc;
}
