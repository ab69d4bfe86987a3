/*
 * rules_codec.c - encodes and decodes a pool of rules. Normative: doc/format.md, "Rules".
 *
 * Decoding adds rule by rule to a new pool, which verifies references, lengths and normal form. A
 * body that is a duplicate or not in normal form is rejected, so that a pool has only one encoding.
 * Bodies that were encoded from a builder are exempt.
 */
#include "base/buf.h"
#include "base/varint.h"
#include "column/column.h"
#include "rules/rules_impl.h"

/* The head of an item: the id, then two bits for the kind, then one bit if a count follows. */
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

static void put_item(unsigned kind, uint32_t id, uint64_t count, uint32_t self, struct rn_buf *out)
{
	/* Children are usually recent rules, so their ids are relative to this rule. */
	uint64_t number = kind == RN_KIND_RULE ? self - 1 - id : id;

	assert(count > 0 && (kind != RN_KIND_RULE || id < self));
	rn_buf_u64(out, number << 3 | (uint64_t)kind << 1 | (count > 1 ? HEAD_COUNT : 0));
	if (count > 1)
		rn_buf_u64(out, count - 2);
}

int rn_rules_encode(const struct rn_rules *r, struct rn_buf *out)
{
	int rc = encode_literals(r, out);

	rn_buf_u64(out, r->entries.n);
	for (uint32_t i = 0; i < r->entries.n; i++) {
		const struct entry *e = entry_at(r, i);

		rn_buf_u64(out, e->n);
		for (uint32_t k = 0; k < e->n; k++)
			put_item(e->item[k].kind, e->item[k].id, e->item[k].count, i, out);
	}
	return rc < 0 ? rc : rn_buf_status(out);
}

/* ---- encoding a builder ---- */

static void put_runs(const struct rn_grammar *g, struct rn_buf *out)
{
	uint32_t runs = rn_grammar_literals(g), block[256];

	rn_buf_u64(out, runs);
	for (uint32_t i = 0; i < runs; i++) {
		uint64_t n = rn_grammar_literal_length(g, i), part;

		rn_column_begin_plain(n, out);
		for (uint64_t at = 0; at < n; at += part) {
			part = n - at < 256 ? n - at : 256;
			rn_grammar_literal_read(g, i, at, block, part);
			for (uint64_t k = 0; k < part; k++)
				rn_buf_i64(out, block[k]);
		}
	}
}

struct ordered {
	uint32_t *number, *rule, *items, n; /* number: by rule; rule, items: by number */
};

static int put_in_order(const struct rn_grammar *g, struct rn_arena *scratch, struct ordered *out)
{
	uint32_t all = rn_grammar_rules(g);
	struct rn_grammar_frame *stack = rn_new(scratch, struct rn_grammar_frame, all);
	struct rn_grammar_order o;

	*out = (struct ordered){ rn_new_map(scratch, all), rn_new(scratch, uint32_t, all),
				 rn_new(scratch, uint32_t, all), 0 };
	if (!stack || !out->number || !out->rule || !out->items)
		return RN_E_NOMEM;
	o = rn_grammar_order(g, out->number, stack);
	for (; rn_grammar_order_next(&o, &out->rule[out->n], &out->items[out->n]); out->n++)
		out->number[out->rule[out->n]] = out->n;
	return RN_OK;
}

int rn_rules_encode_grammar(const struct rn_grammar *g, struct rn_arena *scratch,
			    struct rn_buf *out)
{
	struct ordered l;
	int rc = put_in_order(g, scratch, &l);

	if (rc < 0)
		return rc;
	put_runs(g, out);
	rn_buf_u64(out, l.n);
	for (uint32_t i = 0; i < l.n; i++) {
		struct rn_grammar_iter it = rn_grammar_body(g, l.rule[i]);
		struct rn_grammar_item t;

		rn_buf_u64(out, l.items[i]);
		while (rn_grammar_body_next(&it, &t))
			put_item(t.kind, t.kind == RN_KIND_RULE ? l.number[t.id] : t.id, t.count, i,
				 out);
	}
	return rn_buf_status(out);
}

/* ---- decoding ---- */

struct decoding {
	struct rn_reader *in;
	struct rn_rules *r;
	struct rn_arena scratch;
	uint32_t terminals;
	bool normal; /* accept only runs and rules that are new and in normal form */
	uint32_t *literal, *rule, literals, rules; /* by id in the input: the id in the pool */
	struct rn_err *err;
};

static int decode_literal(struct decoding *d, uint32_t i)
{
	int64_t *v;
	uint32_t *t;
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
	rc = n ? rn_rules_add_literal(d->r, t, n, &d->literal[i]) : RN_E_DATA;
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(d->err);
	if (rc < 0 || (d->normal && d->literal[i] != i))
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
	if (d->in->bad)
		return false;
	switch (it->kind) {
	case RN_KIND_TERMINAL:
		it->id = (uint32_t)id;
		return id < d->terminals && id <= RN_TERMINAL_MAX;
	case RN_KIND_RULE:
		it->id = id < self ? d->rule[self - 1 - id] : 0;
		return id < self;
	case RN_KIND_LITERAL:
		it->id = id < d->literals ? d->literal[id] : 0;
		return id < d->literals;
	default: /* reserved */
		return false;
	}
}

/* Whether the pool has added the body unchanged, as a new rule. */
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
	int rc;

	if (!items)
		return rn_err_nomem(d->err);
	for (uint64_t i = 0; i < n; i++)
		if (!decode_item(d, self, &items[i]))
			return rn_err_set(d->err, RN_E_DATA, "rule %u, item %llu is damaged", self,
					  (unsigned long long)i);
	if (d->in->bad || n > UINT32_MAX)
		return rn_err_set(d->err, RN_E_DATA, "rule %u is cut off", self);
	rc = rn_rules_add(d->r, items, (uint32_t)n, &d->rule[self]);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(d->err);
	if (rc == RN_E_RANGE)
		return rn_err_set(d->err, RN_E_DATA, "rule %u expands to more than 2^62 symbols",
				  self);
	if (rc < 0 || (d->normal && (d->rule[self] != self || !taken_as_is(d->r, self, items, n))))
		return rn_err_set(d->err, RN_E_DATA, "rule %u is not in normal form", self);
	return RN_OK;
}

/* Decodes a list, each element with `decode`. *map receives the ids of the elements in the pool. */
static int decode_list(struct decoding *d, int (*decode)(struct decoding *d, uint32_t i),
		       uint32_t **map, uint32_t *count)
{
	uint64_t n = rn_get_count(d->in, 1);
	int rc = RN_OK;

	*map = rn_new(&d->scratch, uint32_t, n + 1);
	if (!*map || n > UINT32_MAX)
		return rn_err_nomem(d->err);
	*count = (uint32_t)n;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&d->scratch);

		rc = decode(d, i);
		rn_arena_rewind(&d->scratch, mark);
	}
	return rc;
}

static int decode_all(struct decoding *d)
{
	int rc = decode_list(d, decode_literal, &d->literal, &d->literals);

	if (rc == RN_OK)
		rc = decode_list(d, decode_rule, &d->rule, &d->rules);
	if (rc == RN_OK && d->in->bad)
		rc = rn_err_set(d->err, RN_E_DATA, "rules are cut off");
	return rc;
}

static int decode(struct decoding *d, struct rn_arena *mem, struct rn_rules **out, uint32_t *root)
{
	int rc;

	d->r = rn_rules_new(mem);
	if (!d->r)
		return rn_err_nomem(d->err);
	rn_arena_init(&d->scratch, SIZE_MAX);
	rc = decode_all(d);
	if (rc == RN_OK && root && d->rules == 0)
		rc = rn_err_set(d->err, RN_E_DATA, "there are no rules");
	if (rc == RN_OK && root)
		*root = d->rule[d->rules - 1];
	rn_arena_free(&d->scratch);
	if (rc == RN_OK)
		*out = d->r;
	return rc;
}

int rn_rules_decode(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
		    struct rn_rules **out, struct rn_err *err)
{
	struct decoding d = { .in = in, .terminals = terminals, .normal = true, .err = err };

	return decode(&d, mem, out, NULL);
}

int rn_rules_decode_grammar(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
			    struct rn_rules **out, uint32_t *root, struct rn_err *err)
{
	struct decoding d = { .in = in, .terminals = terminals, .err = err };

	return decode(&d, mem, out, root);
}
