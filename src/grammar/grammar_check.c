/*
 * grammar_check.c - verification of a grammar's invariants, for tests and debug builds.
 *
 * Every index is validated before it is used. Linear in the size of the grammar. Scratch memory is
 * from a separate arena.
 */
#include "grammar/grammar_impl.h"

struct audit {
	const struct rn_grammar *g;
	struct rn_arena mem;
	unsigned char *seen;     /* per node: SEEN if it is in a body, a guard, or free; EXEMPT */
	uint32_t *refs;          /* per rule: number of uses found */
	unsigned char *repeated; /* per rule: a use has a count above one */
	unsigned char *wide;     /* per wide count: used */
	uint64_t *length;        /* per rule: number of symbols in its expansion */
	uint32_t *order;         /* live rules, parents first */
	uint32_t linked, literals, ordered;
};

#define SEEN   1
#define EXEMPT 2

static bool live_rule(const struct rn_grammar *g, uint32_t r)
{
	return r < g->rules.n && rule_at(g, r)->refs != RULE_FREE;
}

/* Whether a count is valid. A wide count must belong to one node and must not fit into 31 bits. */
static bool count_ok(struct audit *a, uint32_t cnt)
{
	const struct rn_grammar *g = a->g;
	uint32_t i = cnt & ~COUNT_WIDE;

	if (!(cnt & COUNT_WIDE))
		return cnt > 0;
	if (i >= g->wide.n || a->wide[i]++)
		return false;
	return *wide_at(g, i) >= COUNT_WIDE && *wide_at(g, i) <= COUNT_MAX;
}

static bool symbol_ok(struct audit *a, uint32_t sym, uint32_t rule)
{
	switch (sym & 3) {
	case RN_KIND_TERMINAL:
		return true;
	case RN_KIND_RULE:
		return sym >> 2 && live_rule(a->g, sym >> 2);
	case RN_KIND_LITERAL: /* each run once, in order, in the start rule only */
		return rule == 0 && sym >> 2 == a->literals++ && sym >> 2 < a->g->runs.n;
	default:
		return false;
	}
}

static bool mark_seen(struct audit *a, uint32_t n)
{
	if (n >= a->g->nodes.n || a->seen[n])
		return false;
	a->seen[n] = SEEN;
	a->linked++;
	return true;
}

static bool body_ok(struct audit *a, uint32_t r)
{
	const struct rn_grammar *g = a->g;
	uint32_t guard = rule_at(g, r)->guard, prev = guard, n;

	if (!mark_seen(a, guard) || node_at(g, guard)->sym != SYM_GUARD ||
	    node_at(g, guard)->cnt != r)
		return false;
	for (n = node_at(g, guard)->next; n != guard; n = node_at(g, n)->next) {
		const struct node *x;

		if (!mark_seen(a, n))
			return false;
		x = node_at(g, n);
		if (x->prev != prev || !symbol_ok(a, x->sym, r) || !count_ok(a, x->cnt))
			return false;
		if (is_rule(x->sym)) {
			a->refs[x->sym >> 2]++;
			a->repeated[x->sym >> 2] |= x->cnt != 1;
		}
		prev = n;
	}
	return node_at(g, guard)->prev == prev && (r == 0 || prev != guard);
}

static bool free_lists_ok(struct audit *a)
{
	const struct rn_grammar *g = a->g;
	uint32_t n, free_nodes = 0, free_rules = 0, live = 0;

	for (n = g->free_node; n != NIL; n = node_at(g, n)->next, free_nodes++)
		if (!mark_seen(a, n) || node_at(g, n)->sym != SYM_FREE)
			return false;
	for (n = g->free_rule; n != NIL; n = rule_at(g, n)->guard, free_rules++)
		if (n >= g->rules.n || live_rule(g, n) || free_rules >= g->rules.n)
			return false;
	for (n = 0; n < g->rules.n; n++)
		live += live_rule(g, n);
	return free_nodes == g->free_nodes && a->linked == g->nodes.n &&
	       free_rules + live == g->rules.n;
}

/* Whether all reference counts are correct. If no work is pending, every rule must also be used
 * twice or repeated. */
static bool refs_ok(const struct audit *a)
{
	for (uint32_t r = 1; r < a->g->rules.n; r++) {
		if (!live_rule(a->g, r))
			continue;
		if (rule_at(a->g, r)->refs != a->refs[r] || a->refs[r] == 0)
			return false;
		if (a->refs[r] == 1 && !a->repeated[r] && !a->g->work.n)
			return false;
	}
	return true;
}

/* Sorts the live rules, parents first, by decrementing the use counts (a->refs) from the start rule
 * on. Returns false if there is a cycle, because its use counts never reach 0. */
static bool order_rules(struct audit *a)
{
	const struct rn_grammar *g = a->g;
	uint32_t live = 0;

	for (uint32_t r = 0; r < g->rules.n; r++)
		live += live_rule(g, r);
	a->order[a->ordered++] = 0;
	for (uint32_t i = 0; i < a->ordered; i++) {
		uint32_t guard = rule_at(g, a->order[i])->guard, n;

		for (n = node_at(g, guard)->next; n != guard; n = node_at(g, n)->next) {
			uint32_t sym = node_at(g, n)->sym;

			if (is_rule(sym) && --a->refs[sym >> 2] == 0)
				a->order[a->ordered++] = sym >> 2;
		}
	}
	return a->ordered == live;
}

static uint64_t unit_length(const struct audit *a, uint32_t sym)
{
	if (kind_of(sym) == RN_KIND_LITERAL)
		return RN_SEG_AT(&a->g->runs, struct literal_run, sym >> 2)->length;
	return is_rule(sym) ? a->length[sym >> 2] : 1;
}

/* Whether no rule is longer than COUNT_MAX, so that no sum of counts can overflow. */
static bool lengths_ok(struct audit *a)
{
	const struct rn_grammar *g = a->g;

	for (uint32_t i = a->ordered; i-- > 0;) {
		uint32_t guard = rule_at(g, a->order[i])->guard, n;
		uint64_t *sum = &a->length[a->order[i]], part;

		for (n = node_at(g, guard)->next; n != guard; n = node_at(g, n)->next) {
			const struct node *x = node_at(g, n);

			if (__builtin_mul_overflow(unit_length(a, x->sym), count_of(g, x), &part) ||
			    part > COUNT_MAX - *sum)
				return false;
			*sum += part;
		}
	}
	return true;
}

static bool firsts_ok(const struct audit *a)
{
	const struct rn_grammar *g = a->g;

	for (uint32_t i = a->ordered; i-- > 1;) {
		const struct rule *r = rule_at(g, a->order[i]);

		if (r->first != first_of(g, node_at(g, node_at(g, r->guard)->next)->sym))
			return false;
	}
	return true;
}

/* Whether the open literal run is the last node of the stream and cannot become too long. */
static bool literal_open_ok(const struct rn_grammar *g)
{
	if (g->runs.n == 0 || g->expect != NIL || g->match != NIL)
		return false;
	return node_at(g, last_node(g))->sym == sym_of(RN_KIND_LITERAL, g->runs.n - 1) &&
	       g->literal_left <= RN_LITERAL_MAX &&
	       RN_SEG_AT(&g->runs, struct literal_run, g->runs.n - 1)->length + g->literal_left <=
		       RN_LITERAL_MAX;
}

static bool literals_ok(const struct audit *a)
{
	const struct rn_grammar *g = a->g;
	uint64_t at = 0;

	if (a->literals != g->runs.n)
		return false;
	for (uint32_t i = 0; i < g->runs.n; i++) {
		const struct literal_run *run = RN_SEG_AT(&g->runs, struct literal_run, i);

		if (run->start != at || run->length > RN_LITERAL_MAX)
			return false;
		at += run->length;
	}
	if (g->literal_left && !literal_open_ok(g))
		return false;
	for (uint32_t i = 0; i < g->literals.n; i++)
		if (*RN_SEG_AT(&g->literals, uint32_t, i) > RN_TERMINAL_MAX)
			return false;
	return at == g->literals.n;
}

/* Whether frame `level` is at a node in the body of the rule that frame `level` - 1 repeats. */
static bool frame_ok(const struct rn_grammar *g, uint32_t level)
{
	const struct frame *f = &g->frame[level];
	uint32_t outer = node_at(g, g->frame[level - 1].node)->sym, guard, n;

	if (!is_rule(outer) || f->node >= g->nodes.n)
		return false;
	guard = rule_at(g, outer >> 2)->guard;
	for (n = node_at(g, guard)->next; n != guard; n = node_at(g, n)->next)
		if (n == f->node)
			return f->iter < count_of(g, node_at(g, n));
	return false;
}

/* Whether the match is valid: the digram at g->match equals the last two nodes, and frame[0]
 * follows it. */
static bool match_ok(const struct rn_grammar *g)
{
	const struct node *m = node_at(g, last_node(g)), *p, *q, *f;
	uint32_t n;

	if (is_mark(m->sym) || m->prev != g->stop || g->match >= g->nodes.n ||
	    g->frame[0].node >= g->nodes.n || is_mark(node_at(g, g->stop)->sym))
		return false;
	p = node_at(g, g->match);
	if (is_mark(p->sym) || is_mark(node_at(g, p->next)->sym))
		return false;
	q = node_at(g, p->next);
	if (!digram_counts(p, q) || !rn_grammar_same(g, p, node_at(g, g->stop)) ||
	    !rn_grammar_same(g, q, m) || g->match == g->stop)
		return false;
	for (n = q->next; n != g->frame[0].node; n = node_at(g, n)->next)
		if (rn_gcursor_ends_match(g, n))
			return false;
	f = node_at(g, n);
	if (rn_gcursor_ends_match(g, n))
		return g->expect == NIL && g->depth == 0 && g->frame[0].iter == 0;
	return g->expect != NIL && g->frame[0].iter < count_of(g, f);
}

static bool loop_ok(const struct rn_grammar *g)
{
	return g->frame[0].node == last_node(g) && !g->frame[0].iter &&
	       kind_of(node_at(g, last_node(g))->sym) <= RN_KIND_RULE;
}

static bool cursor_ok(const struct rn_grammar *g)
{
	if (g->expect == NIL && g->match == NIL)
		return g->depth == 0;
	if (g->depth >= g->frame_cap || !(g->match == NIL ? loop_ok(g) : match_ok(g)))
		return false;
	if (g->expect == NIL)
		return true;
	for (uint32_t level = 1; level <= g->depth; level++)
		if (!frame_ok(g, level))
			return false;
	return g->expect == first_of(g, node_at(g, g->frame[g->depth].node)->sym);
}

static bool rates_ok(const struct rn_grammar *g)
{
	return g->credit <= CREDIT_MAX && g->literal_span >= LITERAL_SPAN &&
	       g->literal_span <= RN_LITERAL_MAX && (g->literal_span & (g->literal_span - 1)) == 0;
}

static bool sound(struct audit *a)
{
	const struct rn_grammar *g = a->g;

	if (!live_rule(g, 0) || !rates_ok(g))
		return false;
	for (uint32_t r = 0; r < g->rules.n; r++)
		if (live_rule(g, r) && !body_ok(a, r))
			return false;
	for (uint32_t i = 0; i < g->work.n; i++)
		if (*RN_SEG_AT(&g->work, uint32_t, i) >= g->nodes.n)
			return false;
	return free_lists_ok(a) && refs_ok(a) && order_rules(a) && literals_ok(a) &&
	       lengths_ok(a) && firsts_ok(a) && cursor_ok(g);
}

static bool audit(struct audit *a)
{
	const struct rn_grammar *g = a->g;

	rn_arena_init(&a->mem, SIZE_MAX);
	a->seen = rn_new(&a->mem, unsigned char, g->nodes.n);
	a->refs = rn_new(&a->mem, uint32_t, g->rules.n);
	a->repeated = rn_new(&a->mem, unsigned char, g->rules.n);
	a->order = rn_new(&a->mem, uint32_t, g->rules.n);
	a->wide = rn_new(&a->mem, unsigned char, g->wide.n);
	a->length = rn_new(&a->mem, uint64_t, g->rules.n);
	if (!a->seen || !a->refs || !a->repeated || !a->order || !a->wide || !a->length)
		return false;
	return sound(a);
}

/* Marks the digrams that may currently be duplicates or missing from the table. */
static void mark_exempt(struct audit *a)
{
	const struct rn_grammar *g = a->g;

	for (uint32_t i = 0; i < g->work.n; i++)
		a->seen[*RN_SEG_AT(&g->work, uint32_t, i)] |= EXEMPT;
	if (g->match != NIL)
		a->seen[g->stop] |= EXEMPT;
	else if (g->expect != NIL && g->taken)
		a->seen[node_at(g, g->frame[0].node)->prev] |= EXEMPT;
}

static bool digrams_ok(const struct audit *a)
{
	const struct rn_grammar *g = a->g;
	uint64_t own = 0;

	for (uint32_t n = 0; n < g->nodes.n; n++) {
		const struct node *x = node_at(g, n), *y;
		bool exempt = a->seen[n] & EXEMPT;
		uint32_t found;

		if (is_mark(x->sym))
			continue;
		y = node_at(g, x->next);
		if (x->sym == y->sym && !exempt)
			return false;
		if (!digram_counts(x, y))
			continue;
		found = rn_digram_find(g, digram_tag(g, x, y), x, y);
		own += found == n;
		if (found != n && !exempt)
			return false;
	}
	return own == g->digrams.used && rn_map_check(&g->digrams);
}

bool rn_grammar_check(const struct rn_grammar *g)
{
	struct audit a = { .g = g };
	bool ok = audit(&a);

	if (ok) {
		mark_exempt(&a);
		ok = digrams_ok(&a);
	}
	rn_arena_free(&a.mem);
	return ok;
}
