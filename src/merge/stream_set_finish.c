/*
 * stream_set_finish.c - the last pass of a merge: from a part to the finished streams.
 *
 * 1. Renumber. Groups are taken in order; from each root, rules and signatures get numbers as
 *    they are first met, children before their users. What no group reaches gets none. The result
 *    depends on the streams alone, not on how they were merged.
 * 2. Share. All bodies, one after the other with a mark of its own behind each, are the input of
 *    one grammar whose symbols are whole items (a^3, R^100). Stretches that occur in several
 *    bodies become rules:
 *
 *      R0 = a b c d      R1 = x b c y        a b c d |0 x b c y |1
 *                                      ->    a T d |0 x T y |1         T = b c
 *
 *    A mark occurs once, so no rule of that grammar contains one, and its start rule falls apart
 *    into the new bodies. The new rules are renumbered again, and kept if they encode smaller.
 *
 * Cost: linear in the size of the rules. Sharing takes about 90 bytes an item while it lasts, so
 * beyond SHARE_MAX items it is left out, and what streams have in common stays separate. Results
 * in `mem`, everything else in `scratch`.
 */
#include "merge/stream_set.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "model/merged_streams.h"
#include "rules/rules.h"
#include "series/series.h"
#include "series/units.h"

#define NONE      UINT32_MAX
#define SHARE_MAX ((uint64_t)1 << 20)

static uint32_t *new_map(struct rn_arena *mem, uint32_t n)
{
	uint32_t *map = rn_new(mem, uint32_t, (size_t)n + 1);

	if (map)
		memset(map, 0xff, ((size_t)n + 1) * sizeof(*map));
	return map;
}

static uint64_t count_items(const struct rn_rules *r)
{
	uint64_t sum = 0;
	uint32_t n = rn_rules_count(r);

	for (uint32_t i = 0; i < n; i++)
		sum += rn_rules_body(r, i).n;
	return sum;
}

static uint32_t longest_body(const struct rn_rules *r)
{
	uint32_t most = 0, n = rn_rules_count(r);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = rn_rules_body(r, i).n;

		most = len > most ? len : most;
	}
	return most;
}

/* 1. Renumbering */

struct frame {
	uint32_t rule, item;
};

struct renumber {
	const struct rn_rules *from;
	struct rn_rules *to;
	const struct rn_sigs *from_sigs;
	struct rn_sigs *to_sigs; /* NULL: signatures keep their numbers */
	uint32_t *rule, *sig, *literal;
	struct frame *stack; /* a rule is entered once, so the pool's size is enough */
	uint32_t depth;
	struct rn_item *body;
	struct rn_arena *scratch;
};

static int renumber_init(struct renumber *n, struct rn_arena *scratch)
{
	uint32_t rules = rn_rules_count(n->from);

	n->scratch = scratch;
	n->rule = new_map(scratch, rules);
	n->literal = new_map(scratch, rn_rules_literals(n->from));
	n->sig = new_map(scratch, n->from_sigs ? rn_sigs_count(n->from_sigs) : 0);
	n->stack = rn_new(scratch, struct frame, (size_t)rules + 1);
	n->body = rn_new(scratch, struct rn_item, (size_t)longest_body(n->from) + 1);
	return n->rule && n->literal && n->sig && n->stack && n->body ? RN_OK : RN_E_NOMEM;
}

static int renumber_sig(struct renumber *n, uint32_t t, uint32_t *out)
{
	if (!n->to_sigs) {
		*out = t;
		return RN_OK;
	}
	if (n->sig[t] == NONE && rn_sigs_copy(n->to_sigs, n->from_sigs, t, &n->sig[t]) < 0)
		return RN_E_NOMEM;
	*out = n->sig[t];
	return RN_OK;
}

static int renumber_literal(struct renumber *n, uint32_t lit)
{
	struct rn_arena_mark mark = rn_arena_mark(n->scratch);
	uint64_t len;
	const uint32_t *old = rn_rules_literal(n->from, lit, &len);
	uint32_t *t;
	int rc = RN_OK;

	if (n->literal[lit] != NONE)
		return RN_OK;
	t = rn_new(n->scratch, uint32_t, len);
	if (!t)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < len && rc == RN_OK; i++)
		rc = renumber_sig(n, old[i], &t[i]);
	if (rc == RN_OK)
		rc = rn_rules_add_literal(n->to, t, len, &n->literal[lit]);
	rn_arena_rewind(n->scratch, mark);
	return rc;
}

static uint32_t new_id(const struct renumber *n, const struct rn_item *it)
{
	if (it->kind == RN_KIND_RULE)
		return n->rule[it->id];
	if (it->kind == RN_KIND_LITERAL)
		return n->literal[it->id];
	return n->to_sigs ? n->sig[it->id] : it->id;
}

/* All that the rule refers to has its number now. */
static int renumber_rule(struct renumber *n, uint32_t rule)
{
	struct rn_body b = rn_rules_body(n->from, rule);

	for (uint32_t i = 0; i < b.n; i++) {
		n->body[i] = b.item[i];
		n->body[i].id = new_id(n, &b.item[i]);
	}
	return rn_rules_add(n->to, n->body, b.n, &n->rule[rule]);
}

static int renumber_item(struct renumber *n, const struct rn_item *it)
{
	uint32_t id;

	if (it->kind == RN_KIND_TERMINAL)
		return renumber_sig(n, it->id, &id);
	if (it->kind == RN_KIND_LITERAL)
		return renumber_literal(n, it->id);
	if (n->rule[it->id] == NONE)
		n->stack[n->depth++] = (struct frame){ it->id, 0 };
	return RN_OK;
}

/* Depth first, with a stack of our own: rules can be nested deeply. */
static int renumber_root(struct renumber *n, uint32_t root, uint32_t *out)
{
	int rc = RN_OK;

	if (n->rule[root] == NONE)
		n->stack[n->depth++] = (struct frame){ root, 0 };
	while (n->depth && rc == RN_OK) {
		struct frame *f = &n->stack[n->depth - 1];
		struct rn_body b = rn_rules_body(n->from, f->rule);

		if (f->item < b.n) {
			rc = renumber_item(n, &b.item[f->item++]);
		} else {
			rc = renumber_rule(n, f->rule);
			n->depth--;
		}
	}
	*out = n->rule[root];
	return rc;
}

static int renumber_all(struct renumber *n, struct rn_arena *scratch, uint32_t *root,
			uint32_t roots)
{
	int rc = n->to ? renumber_init(n, scratch) : RN_E_NOMEM;

	for (uint32_t k = 0; k < roots && rc == RN_OK; k++)
		rc = renumber_root(n, root[k], &root[k]);
	return rc;
}

/* 2. Sharing */

struct share {
	const struct rn_rules *from;
	/* Distinct items as symbols; symbol items + i is the mark of rule i. */
	struct rn_sigs *items;
	struct rn_rules *found; /* the grammar's rules, over symbols */
	struct rn_rules *to;
	uint32_t *rule;  /* from -> to */
	uint32_t *again; /* found -> to */
	uint32_t *need;  /* per found rule: 1 + the highest rule of `from` in it, or 0 */
	uint32_t *order; /* found rules, by need */
	struct rn_item *body;
};

static int feed_rule(const struct share *s, struct rn_grammar *g, uint32_t rule, bool dry)
{
	struct rn_body b = rn_rules_body(s->from, rule);
	uint32_t sym;
	int rc = RN_OK;

	for (uint32_t i = 0; i < b.n && rc == RN_OK; i++) {
		rc = rn_sigs_intern(s->items, &b.item[i], sizeof(b.item[i]), &sym);
		if (rc == RN_OK && !dry)
			rc = rn_grammar_append(g, sym);
	}
	if (rc == RN_OK && !dry)
		rc = rn_grammar_append(g, rn_sigs_count(s->items) + rule);
	return rc;
}

/* Twice: marks are numbered behind the symbols, so all symbols must be known first. */
static int find_stretches(struct share *s, struct rn_arena *scratch, uint32_t *root)
{
	struct rn_grammar *g = rn_grammar_new(scratch, NULL);
	uint32_t n = rn_rules_count(s->from);
	int rc = g ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = feed_rule(s, g, i, true);
	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = feed_rule(s, g, i, false);
	return rc == RN_OK ? rn_rules_seal(s->found, g, root) : rc;
}

static struct rn_item symbol_item(const struct share *s, uint32_t sym)
{
	struct rn_item it;
	size_t len;

	memcpy(&it, rn_sigs_get(s->items, sym, &len), sizeof(it));
	return it;
}

static bool is_mark(const struct share *s, const struct rn_item *it)
{
	return it->kind == RN_KIND_TERMINAL && it->id >= rn_sigs_count(s->items);
}

static uint32_t item_need(const struct share *s, const struct rn_item *it)
{
	struct rn_item old;

	if (it->kind == RN_KIND_RULE)
		return s->need[it->id];
	old = symbol_item(s, it->id);
	return old.kind == RN_KIND_RULE ? old.id + 1 : 0;
}

/* A found rule can be added as soon as the last old rule in it is there. So they are sorted by
 * that (counting sort, which keeps children before their users). */
static int order_found(struct share *s, struct rn_arena *scratch, uint32_t root)
{
	uint32_t rules = rn_rules_count(s->from);
	uint32_t *place = rn_new(scratch, uint32_t, (size_t)rules + 2);

	assert(root + 1 == rn_rules_count(s->found));
	if (!place)
		return RN_E_NOMEM;
	for (uint32_t t = 0; t < root; t++) {
		struct rn_body b = rn_rules_body(s->found, t);

		for (uint32_t i = 0; i < b.n; i++) {
			uint32_t need = item_need(s, &b.item[i]);

			s->need[t] = need > s->need[t] ? need : s->need[t];
		}
		place[s->need[t] + 1]++;
	}
	for (uint32_t i = 0; i <= rules; i++)
		place[i + 1] += place[i];
	for (uint32_t t = 0; t < root; t++)
		s->order[place[s->need[t]]++] = t;
	return RN_OK;
}

static struct rn_item shared_item(const struct share *s, const struct rn_item *it)
{
	struct rn_item out = *it;

	if (it->kind == RN_KIND_RULE) {
		out.id = s->again[it->id];
		return out;
	}
	out = symbol_item(s, it->id);
	out.count *= it->count; /* cannot overflow: the length of the old body includes it */
	if (out.kind == RN_KIND_RULE)
		out.id = s->rule[out.id];
	return out;
}

static int add_shared(struct share *s, const struct rn_item *item, uint32_t n, uint32_t *rule)
{
	for (uint32_t i = 0; i < n; i++)
		s->body[i] = shared_item(s, &item[i]);
	return rn_rules_add(s->to, s->body, n, rule);
}

static int add_found(struct share *s, uint32_t need, uint32_t *done, uint32_t n)
{
	while (*done < n && s->need[s->order[*done]] <= need) {
		uint32_t t = s->order[(*done)++];
		struct rn_body b = rn_rules_body(s->found, t);
		int rc = add_shared(s, b.item, b.n, &s->again[t]);

		if (rc < 0)
			return rc;
	}
	return RN_OK;
}

/* The start rule, cut at its marks, is the list of the new bodies. */
static int cut(struct share *s, uint32_t root)
{
	struct rn_body all = rn_rules_body(s->found, root);
	uint32_t from = 0, rule = 0, done = 0;

	for (uint32_t i = 0; i < all.n; i++) {
		int rc;

		if (!is_mark(s, &all.item[i]))
			continue;
		assert(all.item[i].id == rn_sigs_count(s->items) + rule);
		rc = add_found(s, rule, &done, root);
		if (rc == RN_OK)
			rc = add_shared(s, all.item + from, i - from, &s->rule[rule]);
		if (rc < 0)
			return rc;
		from = i + 1;
		rule++;
	}
	assert(rule == rn_rules_count(s->from) && from == all.n);
	return RN_OK;
}

static int copy_literals(struct share *s)
{
	uint32_t n = rn_rules_literals(s->from), id;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t len;
		const uint32_t *t = rn_rules_literal(s->from, i, &len);
		int rc = rn_rules_add_literal(s->to, t, len, &id);

		if (rc < 0)
			return rc;
		assert(id == i);
	}
	return RN_OK;
}

static int share_init(struct share *s, const struct rn_rules *from, struct rn_arena *scratch)
{
	*s = (struct share){ .from = from };
	s->items = rn_sigs_new(scratch);
	s->found = rn_rules_new(scratch);
	s->to = rn_rules_new(scratch);
	return s->items && s->found && s->to ? copy_literals(s) : RN_E_NOMEM;
}

/* The same streams with shared stretches, in s->to; root[] is renumbered. */
static int share(struct share *s, const struct rn_rules *from, struct rn_arena *scratch,
		 uint32_t *root, uint32_t roots)
{
	uint32_t start, n;
	int rc = share_init(s, from, scratch);

	if (rc == RN_OK)
		rc = find_stretches(s, scratch, &start);
	if (rc < 0)
		return rc;
	n = rn_rules_count(s->found);
	s->rule = new_map(scratch, rn_rules_count(from));
	s->again = new_map(scratch, n);
	s->need = rn_new(scratch, uint32_t, (size_t)n + 1);
	s->order = rn_new(scratch, uint32_t, (size_t)n + 1);
	s->body = rn_new(scratch, struct rn_item, (size_t)longest_body(s->found) + 1);
	if (!s->rule || !s->again || !s->need || !s->order || !s->body)
		return RN_E_NOMEM;
	rc = order_found(s, scratch, start);
	if (rc == RN_OK)
		rc = cut(s, start);
	for (uint32_t k = 0; k < roots && rc == RN_OK; k++)
		root[k] = s->rule[root[k]];
	return rc;
}

static int encoded_size(const struct rn_rules *r, size_t *size)
{
	struct rn_buf b = { 0 };
	int rc = rn_rules_encode(r, &b);

	*size = b.len;
	rn_buf_free(&b);
	return rc;
}

/* Replaces out->rules and the roots by the shared form if that is smaller. */
static int try_sharing(struct rn_streams *out, struct rn_arena *mem, struct rn_arena *scratch)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct renumber n = { .to = rn_rules_new(mem) };
	uint32_t *root = rn_new(scratch, uint32_t, (size_t)out->groups);
	struct share s;
	size_t before = 0, after = 0;
	int rc = root ? encoded_size(out->rules, &before) : RN_E_NOMEM;

	for (uint32_t k = 0; k < out->groups && root; k++)
		root[k] = out->group[k].root;
	if (rc == RN_OK)
		rc = share(&s, out->rules, scratch, root, out->groups);
	if (rc == RN_OK) {
		n.from = s.to;
		rc = renumber_all(&n, scratch, root, out->groups);
	}
	if (rc == RN_OK)
		rc = encoded_size(n.to, &after);
	if (rc < 0 || after >= before) {
		rn_arena_rewind(mem, mark);
		return rc;
	}
	out->rules = n.to;
	for (uint32_t k = 0; k < out->groups; k++)
		out->group[k].root = root[k];
	return RN_OK;
}

static int append_run(struct rn_series *s, const struct rn_run *r)
{
	int rc = RN_OK;

	for (uint64_t i = 0; i < r->n && rc == RN_OK; i++)
		rc = rn_series_append(s, (int64_t)(r->first + i * r->step));
	return rc;
}

static int seal_ranks(const struct rn_ranks *l, struct rn_arena *mem, struct rn_arena *scratch,
		      const struct rn_units **out)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_series *s = rn_series_new_sorted(scratch);
	struct rn_units *u = NULL;
	int rc = s ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < l->n && rc == RN_OK; i++)
		rc = append_run(s, &l->run[i]);
	if (rc == RN_OK)
		rc = rn_units_seal(mem, s, &u);
	*out = u;
	rn_arena_rewind(scratch, mark);
	return rc;
}

static int finish(const struct rn_stream_set *p, struct rn_arena *mem, struct rn_arena *scratch,
		  struct rn_streams *out)
{
	struct rn_sigs *sigs = rn_sigs_new(mem);
	struct rn_rules *rules = rn_rules_new(mem);
	struct renumber n = { p->rules, rules, p->sigs, sigs, .depth = 0 };
	uint32_t *root = rn_new(scratch, uint32_t, p->groups);
	int rc = RN_OK;

	*out = (struct rn_streams){ .sigs = sigs, .rules = rules, .ranks = p->ranks };
	out->group = rn_new(mem, struct rn_stream_group, p->groups);
	if (!sigs || !root || !out->group)
		return RN_E_NOMEM;
	for (; out->groups < p->groups && rc == RN_OK; out->groups++) {
		root[out->groups] = p->group[out->groups].root;
		rc = seal_ranks(&p->group[out->groups].ranks, mem, scratch,
				&out->group[out->groups].ranks);
	}
	if (rc == RN_OK)
		rc = renumber_all(&n, scratch, root, p->groups);
	for (uint32_t k = 0; k < p->groups && rc == RN_OK; k++)
		out->group[k].root = root[k];
	if (rc == RN_OK && count_items(rules) <= SHARE_MAX)
		rc = try_sharing(out, mem, scratch);
	return rc == RN_OK ? rn_streams_index(out, NULL) : rc;
}

int rn_part_finish(const struct rn_stream_set *p, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch), mem_mark = rn_arena_mark(mem);
	int rc = finish(p, mem, scratch, out);

	rn_arena_rewind(scratch, mark);
	if (rc < 0) {
		rn_arena_rewind(mem, mem_mark);
		*out = (struct rn_streams){ 0 };
	}
	return rc;
}
