/*
 * stream_set_finish.c - the last pass of a merge: from a stream set to the merged streams.
 *
 * 1. Renumber. Groups are visited in order. From each root, rules and signatures are numbered in
 * the order of their first visit, children before their users. Items that no group reaches are
 * dropped. The result depends on the streams alone, not on the order of merges.
 *
 * 2. Share. All bodies, each followed by a unique separator, are the input of one grammar whose
 * symbols are whole items (a^3, R^100). Item sequences that occur in several bodies become rules:
 *
 *    R0 = a b c d      R1 = x b c y        a b c d |0 x b c y |1
 *                                    ->    a T d |0 x T y |1         T = b c
 *
 * A separator occurs once, so no rule of that grammar contains one. Its start rule is split at the
 * separators into the new bodies. The new rules are renumbered again, and used if they encode
 * smaller.
 *
 * Cost: linear in the size of the rules. Sharing needs about 90 bytes of temporary memory per item,
 * so it is omitted beyond SHARE_MAX items; common sequences of streams then remain separate.
 * Results are in `mem`, everything else in `scratch`.
 */
#include "merge/stream_set.h"

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

/* Bodies with shared item sequences. Rule i of `from` is the part of the start rule from begin[i]
 * to the next separator. Rule i of `found` is numbered after all rules of `from`. */
struct share {
	struct rn_sigs *items;  /* distinct items and separators, as symbols */
	struct rn_rules *found; /* rules of the grammar, over symbols */
	const struct rn_item *start;
	uint32_t *begin;
};

struct renumber {
	const struct rn_rules *from;
	struct rn_rules *to;
	const struct rn_sigs *from_sigs;
	struct rn_sigs *to_sigs;   /* NULL: signature ids are unchanged */
	const struct share *share; /* NULL: bodies are unchanged */
	uint32_t *rule, *sig, *literal;
	struct frame *stack; /* sufficient: each rule is entered only once */
	uint32_t depth;
	struct rn_item *body;
	struct rn_arena *scratch;
};

static int renumber_init(struct renumber *n, struct rn_arena *scratch)
{
	const struct rn_rules *found = n->share ? n->share->found : NULL;
	uint32_t rules = rn_rules_count(n->from) + (found ? rn_rules_count(found) : 0);

	n->scratch = scratch;
	n->rule = rn_new_map(scratch, rules);
	n->literal = rn_new_map(scratch, rn_rules_literals(n->from));
	n->sig = rn_new_map(scratch, n->from_sigs ? rn_sigs_count(n->from_sigs) : 0);
	n->stack = rn_new(scratch, struct frame, (size_t)rules + 1);
	n->body =
		rn_new(scratch, struct rn_item, (size_t)longest_body(found ? found : n->from) + 1);
	return n->rule && n->literal && n->sig && n->stack && n->body ? RN_OK : RN_E_NOMEM;
}

static struct rn_item symbol_item(const struct share *s, uint32_t sym)
{
	struct rn_item it;
	size_t len;

	memcpy(&it, rn_sigs_get(s->items, sym, &len), sizeof(it));
	return it;
}

static uint32_t body_length(const struct renumber *n, uint32_t rule)
{
	const struct share *s = n->share;
	uint32_t rules = rn_rules_count(n->from);

	if (!s)
		return rn_rules_body(n->from, rule).n;
	return rule < rules ? s->begin[rule + 1] - s->begin[rule] - 1
			    : rn_rules_body(s->found, rule - rules).n;
}

static struct rn_item body_item(const struct renumber *n, uint32_t rule, uint32_t i)
{
	const struct share *s = n->share;
	uint32_t rules = rn_rules_count(n->from);
	struct rn_item it, old;

	if (!s)
		return rn_rules_body(n->from, rule).item[i];
	it = rule < rules ? s->start[s->begin[rule] + i]
			  : rn_rules_body(s->found, rule - rules).item[i];
	if (it.kind == RN_KIND_RULE) {
		it.id += rules;
		return it;
	}
	old = symbol_item(s, it.id);
	old.count *= it.count; /* cannot overflow: the length of the old body includes it */
	return old;
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
	/* `to` may itself be in `scratch`, which must then not be rewound. */
	if (!n->to_sigs)
		return rn_rules_add_literal(n->to, old, len, &n->literal[lit]);
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

/* Adds a rule. Everything that it refers to is already renumbered. */
static int renumber_rule(struct renumber *n, uint32_t rule)
{
	uint32_t len = body_length(n, rule);

	for (uint32_t i = 0; i < len; i++) {
		n->body[i] = body_item(n, rule, i);
		n->body[i].id = new_id(n, &n->body[i]);
	}
	return rn_rules_add(n->to, n->body, len, &n->rule[rule]);
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

/* Depth first, with an explicit stack because rules can be nested deeply. */
static int renumber_root(struct renumber *n, uint32_t root, uint32_t *out)
{
	int rc = RN_OK;

	if (n->rule[root] == NONE)
		n->stack[n->depth++] = (struct frame){ root, 0 };
	while (n->depth && rc == RN_OK) {
		struct frame *f = &n->stack[n->depth - 1];

		if (f->item < body_length(n, f->rule)) {
			struct rn_item it = body_item(n, f->rule, f->item++);

			rc = renumber_item(n, &it);
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

#define MARK UINT32_MAX /* kind of an item: separator after the body of a rule */

static int feed(const struct share *s, struct rn_grammar *g, const struct rn_item *it)
{
	uint32_t sym;
	int rc = rn_sigs_intern(s->items, it, sizeof(*it), &sym);

	return rc == RN_OK ? rn_grammar_append(g, sym) : rc;
}

static int feed_rule(const struct share *s, struct rn_grammar *g, const struct rn_rules *from,
		     uint32_t rule)
{
	struct rn_body b = rn_rules_body(from, rule);
	int rc = RN_OK;

	for (uint32_t i = 0; i < b.n && rc == RN_OK; i++)
		rc = feed(s, g, &b.item[i]);
	return rc == RN_OK ? feed(s, g, &(struct rn_item){ rule, MARK, 1 }) : rc;
}

/* Splits the start rule at its separators into the new bodies. */
static void cut(struct share *s, uint32_t start)
{
	struct rn_body all = rn_rules_body(s->found, start);
	uint32_t rule = 0;

	s->start = all.item;
	for (uint32_t i = 0; i < all.n; i++)
		if (all.item[i].kind == RN_KIND_TERMINAL &&
		    symbol_item(s, all.item[i].id).kind == MARK)
			s->begin[++rule] = i + 1;
}

/* Finds the item sequences that rules share. */
static int find_stretches(struct share *s, const struct rn_rules *from, struct rn_arena *scratch)
{
	struct rn_grammar *g = rn_grammar_new(scratch, NULL);
	uint32_t n = rn_rules_count(from), start;
	int rc = RN_OK;

	*s = (struct share){ .items = rn_sigs_new(scratch),
			     .found = rn_rules_new(scratch),
			     .begin = rn_new(scratch, uint32_t, (size_t)n + 1) };
	if (!g || !s->items || !s->found || !s->begin)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = feed_rule(s, g, from, i);
	if (rc == RN_OK)
		rc = rn_rules_seal(s->found, g, &start);
	if (rc == RN_OK)
		cut(s, start);
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

/* Replaces out->rules and the roots by the shared form if that is smaller. The second pass drops
 * rules that became part of others. */
static int try_sharing(struct rn_streams *out, struct rn_arena *mem, struct rn_arena *scratch)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	uint32_t *root = rn_new(scratch, uint32_t, (size_t)out->groups);
	struct share s;
	struct renumber shared = { .from = out->rules, .share = &s };
	struct renumber used = { .to = rn_rules_new(mem) };
	size_t before = 0, after = 0;
	int rc = root ? encoded_size(out->rules, &before) : RN_E_NOMEM;

	for (uint32_t k = 0; k < out->groups && root; k++)
		root[k] = out->group[k].root;
	if (rc == RN_OK)
		rc = find_stretches(&s, out->rules, scratch);
	used.from = shared.to = rn_rules_new(scratch);
	if (rc == RN_OK)
		rc = renumber_all(&shared, scratch, root, out->groups);
	if (rc == RN_OK)
		rc = renumber_all(&used, scratch, root, out->groups);
	if (rc == RN_OK)
		rc = encoded_size(used.to, &after);
	if (rc < 0 || after >= before) {
		rn_arena_rewind(mem, mark);
		return rc;
	}
	out->rules = used.to;
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
