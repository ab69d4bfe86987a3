/*
 * rules_codec.c - a pool of rules as bytes, and back. doc/format.md, "Rules", is the law.
 *
 * Decoding adds rule by rule to a fresh pool, which verifies references, lengths and normal form
 * as it always does; a body that is not already in normal form, or was there before, is refused,
 * so that a pool has one encoding only.
 */
#include "base/buf.h"
#include "base/varint.h"
#include "column/column.h"
#include "rules/pool.h"

/* An item's head: number, then two bits of kind, then whether a count follows. */
#define HEAD_COUNT 1u

static int encode_literals(const struct rn_rules *r, struct rn_buf *out)
{
	struct rn_buf wide = { 0 };
	int rc = RN_OK;

	rn_buf_u64(out, r->literals.n);
	for (uint32_t i = 0; i < r->literals.n && rc == RN_OK; i++) {
		const struct literal *l = literal_at(r, i);
		int64_t *v;

		rn_buf_clear(&wide);
		v = (int64_t *)(void *)rn_buf_reserve(&wide, l->n * sizeof(*v));
		for (uint64_t k = 0; v && k < l->n; k++)
			v[k] = l->symbol[k];
		rc = v ? rn_column_encode(v, l->n, out) : RN_E_NOMEM;
	}
	rn_buf_free(&wide);
	return rc;
}

static void encode_item(const struct rn_item *it, uint32_t self, struct rn_buf *out)
{
	/* Children are usually the latest rules: count back from here. */
	uint64_t id = it->kind == RN_KIND_RULE ? self - 1 - it->id : it->id;

	assert(it->count > 0 && (it->kind != RN_KIND_RULE || it->id < self));
	rn_buf_u64(out, id << 3 | (uint64_t)it->kind << 1 | (it->count > 1 ? HEAD_COUNT : 0));
	if (it->count > 1)
		rn_buf_u64(out, it->count - 2);
}

int rn_rules_encode(const struct rn_rules *r, struct rn_buf *out)
{
	int rc = encode_literals(r, out);

	rn_buf_u64(out, r->entries.n);
	for (uint32_t i = 0; i < r->entries.n; i++) {
		const struct entry *e = entry_at(r, i);

		rn_buf_u64(out, e->n);
		for (uint32_t k = 0; k < e->n; k++)
			encode_item(&e->item[k], i, out);
	}
	return rc < 0 ? rc : rn_buf_status(out);
}

struct decoding {
	struct rn_reader *in;
	struct rn_rules *r;
	struct rn_arena scratch;
	uint32_t terminals;
	struct rn_err *err;
};

static int decode_literal(struct decoding *d, uint32_t i)
{
	int64_t *v;
	uint32_t *t, lit;
	size_t n;
	int rc = rn_column_decode(&d->scratch, d->in, RN_LITERAL_MAX, &v, &n, d->err);

	if (rc < 0)
		return rc;
	t = rn_new(&d->scratch, uint32_t, n);
	if (!t)
		return rn_err_nomem(d->err);
	for (size_t k = 0; k < n; k++) {
		if (v[k] < 0 || v[k] >= (int64_t)d->terminals)
			return rn_err_set(d->err, RN_E_DATA,
					  "literal run %u: there is no signature %lld", i,
					  (long long)v[k]);
		t[k] = (uint32_t)v[k];
	}
	rc = n ? rn_rules_add_literal(d->r, t, n, &lit) : RN_E_DATA;
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(d->err);
	if (rc < 0 || lit != i)
		return rn_err_set(d->err, RN_E_DATA, "literal run %u is empty or a copy", i);
	return RN_OK;
}

static bool decode_item(struct decoding *d, uint32_t self, struct rn_item *it)
{
	uint64_t head = rn_get_u64(d->in), id = head >> 3;

	it->kind = (uint32_t)(head >> 1 & 3);
	it->count = 1;
	if (head & HEAD_COUNT)
		it->count = rn_get_max(d->in, LENGTH_MAX) + 2;
	if (d->in->bad || it->kind > RN_KIND_LITERAL || id > RN_TERMINAL_MAX)
		return false;
	it->id = (uint32_t)id;
	if (it->kind == RN_KIND_RULE) {
		if (id >= self)
			return false;
		it->id = self - 1 - (uint32_t)id;
	}
	return it->kind != RN_KIND_TERMINAL || id < d->terminals;
}

/* The pool took the body as it is, and had no such rule before. */
static bool taken_as_is(const struct rn_rules *r, uint32_t self, const struct rn_item *items,
			uint64_t n)
{
	struct entry given = { .item = items, .n = (uint32_t)n };

	return self == r->entries.n - 1 && rn_rules_same_body(entry_at(r, self), &given);
}

static int decode_rule(struct decoding *d, uint32_t self)
{
	uint64_t n = rn_get_count(d->in, 1);
	struct rn_item *items = rn_new(&d->scratch, struct rn_item, n);
	uint32_t rule = UINT32_MAX;
	int rc;

	if (!items)
		return rn_err_nomem(d->err);
	for (uint64_t i = 0; i < n; i++)
		if (!decode_item(d, self, &items[i]))
			return rn_err_set(d->err, RN_E_DATA, "rule %u, item %llu is damaged", self,
					  (unsigned long long)i);
	if (d->in->bad || n > UINT32_MAX)
		return rn_err_set(d->err, RN_E_DATA, "rule %u is cut off", self);
	rc = rn_rules_add(d->r, items, (uint32_t)n, &rule);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(d->err);
	if (rc == RN_E_RANGE)
		return rn_err_set(d->err, RN_E_DATA, "rule %u expands to more than 2^62 symbols",
				  self);
	if (rc < 0 || rule != self || !taken_as_is(d->r, self, items, n))
		return rn_err_set(d->err, RN_E_DATA, "rule %u is not in normal form", self);
	return RN_OK;
}

static int decode_all(struct decoding *d)
{
	int rc = RN_OK;
	uint64_t n = rn_get_count(d->in, 1);

	for (uint64_t i = 0; i < n && rc == RN_OK; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&d->scratch);

		rc = decode_literal(d, (uint32_t)i);
		rn_arena_rewind(&d->scratch, mark);
	}
	n = rc == RN_OK ? rn_get_count(d->in, 1) : 0;
	for (uint64_t i = 0; i < n && rc == RN_OK; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&d->scratch);

		rc = decode_rule(d, (uint32_t)i);
		rn_arena_rewind(&d->scratch, mark);
	}
	if (rc == RN_OK && d->in->bad)
		rc = rn_err_set(d->err, RN_E_DATA, "rules are cut off");
	return rc;
}

int rn_rules_decode(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
		    struct rn_rules **out, struct rn_err *err)
{
	struct decoding d = { .in = in, .terminals = terminals, .err = err };
	int rc;

	d.r = rn_rules_new(mem);
	if (!d.r)
		return rn_err_nomem(err);
	rn_arena_init(&d.scratch, SIZE_MAX);
	rc = decode_all(&d);
	rn_arena_free(&d.scratch);
	if (rc == RN_OK)
		*out = d.r;
	return rc;
}
