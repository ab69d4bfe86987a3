/*
 * grammar.c - nodes, rules, digrams, and the rewriting that maintains the invariants of grammar.h.
 *
 * A rewriting step processes one digram from the work list. A new digram is inserted into the
 * table. If the digram is known, both occurrences are replaced by a rule:
 *
 *    S: .. a b .. a b ..     ->   S: .. R .. R ..      R: a b
 *
 * Steps append the digrams that they create to the work list instead of recursing. A long cascade
 * therefore needs no stack and can stop anywhere: pending work is only a missed chance to compress,
 * never a wrong expansion. For the same reason a step that cannot allocate memory may stop.
 */
#include "grammar/grammar_impl.h"

#include <string.h>

/* Reserves memory for one rewriting step. What the rest of this append has reserved (g->held) stays
 * available. */
static bool reserve_all(struct rn_grammar *g, uint32_t nodes, uint32_t rules, uint32_t work)
{
	uint32_t spare = g->free_nodes;

	nodes += g->held;
	work += 2 * g->held;

	return rn_seg_reserve(&g->nodes, g->mem, nodes > spare ? nodes - spare : 0) &&
	       (g->free_rule != NIL && rules == 1 ? true
						  : rn_seg_reserve(&g->rules, g->mem, rules)) &&
	       rn_seg_reserve(&g->work, g->mem, work) && rn_seg_reserve(&g->wide, g->mem, nodes);
}

static uint32_t new_node(struct rn_grammar *g)
{
	uint32_t i = g->free_node;

	if (i == NIL) {
		assert(g->nodes.n < g->nodes.cap);
		return g->nodes.n++;
	}
	assert(node_at(g, i)->sym == SYM_FREE && g->free_nodes > 0);
	g->free_node = node_at(g, i)->next;
	g->free_nodes--;
	return i;
}

static void free_node(struct rn_grammar *g, uint32_t i)
{
	struct node *n = node_at(g, i);

	assert(n->sym != SYM_FREE);
	*n = (struct node){ SYM_FREE, 0, 0, g->free_node };
	g->free_node = i;
	g->free_nodes++;
}

static uint32_t new_rule(struct rn_grammar *g, uint32_t first)
{
	uint32_t r = g->free_rule, q = new_node(g);

	if (r == NIL)
		r = g->rules.n++;
	else
		g->free_rule = rule_at(g, r)->guard;
	*node_at(g, q) = (struct node){ SYM_GUARD, r, q, q };
	*rule_at(g, r) = (struct rule){ q, 0, first };
	return r;
}

static void free_rule(struct rn_grammar *g, uint32_t r)
{
	assert(r != 0 && rule_at(g, r)->refs != RULE_FREE);
	free_node(g, rule_at(g, r)->guard);
	*rule_at(g, r) = (struct rule){ g->free_rule, RULE_FREE, 0 };
	g->free_rule = r;
}

void rn_grammar_set_count(struct rn_grammar *g, struct node *n, uint64_t count)
{
	assert(count > 0 && count <= COUNT_MAX);
	if (LIKELY(count < COUNT_WIDE)) {
		n->cnt = (uint32_t)count;
		return;
	}
	if (!(n->cnt & COUNT_WIDE))
		n->cnt = COUNT_WIDE | g->wide.n++;
	*wide_at(g, n->cnt & ~COUNT_WIDE) = count;
}

bool rn_grammar_same(const struct rn_grammar *g, const struct node *a, const struct node *b)
{
	if (a->sym != b->sym)
		return false;
	return a->cnt == b->cnt ||
	       ((a->cnt & b->cnt & COUNT_WIDE) && count_of(g, a) == count_of(g, b));
}

/* Removes the digram that begins at n from the table, if the table refers to n. */
void rn_digram_forget(struct rn_grammar *g, uint32_t n)
{
	const struct node *a = node_at(g, n), *b;

	if (is_mark(a->sym))
		return;
	b = node_at(g, a->next);
	if (digram_counts(a, b))
		rn_map_remove(&g->digrams, digram_tag(g, a, b), n);
}

uint32_t rn_digram_find(const struct rn_grammar *g, uint32_t tag, const struct node *a,
			const struct node *b)
{
	const struct rn_map_page *page = rn_map_page(&g->digrams, tag);
	uint32_t pos = tag, p;

	while ((p = rn_map_next(page, tag, &pos)) != RN_MAP_NONE) {
		const struct node *x = node_at(g, p);

		if (rn_grammar_same(g, x, a) && rn_grammar_same(g, node_at(g, x->next), b))
			return p;
	}
	return NIL;
}

/* A^i A^j -> A^(i+j) */
static void join(struct rn_grammar *g, uint32_t n, uint32_t m)
{
	struct node *a = node_at(g, n), *b = node_at(g, m);

	assert(a->sym == b->sym);
	rn_digram_forget(g, a->prev);
	rn_digram_forget(g, m);
	rule_unref(g, b->sym);
	rn_grammar_set_count(g, a, count_of(g, a) + count_of(g, b));
	link_nodes(g, n, b->next);
	free_node(g, m);
	pend(g, n);
	pend(g, a->prev);
}

void rn_digram_replace(struct rn_grammar *g, uint32_t n, uint32_t r)
{
	struct node *a = node_at(g, n);
	uint32_t m = a->next;
	struct node *b = node_at(g, m);

	assert(!is_mark(a->sym) && !is_mark(b->sym));
	rn_digram_forget(g, a->prev);
	rn_digram_forget(g, m);
	rule_unref(g, a->sym);
	rule_unref(g, b->sym);
	a->sym = sym_of(RN_KIND_RULE, r);
	a->cnt = 1;
	link_nodes(g, n, b->next);
	rule_at(g, r)->refs++;
	free_node(g, m);
	pend(g, n);
	pend(g, a->prev);
}

/* Node u is the only use of its rule. Replaces the node by the body. */
static void inline_rule(struct rn_grammar *g, uint32_t u)
{
	struct node *n = node_at(g, u);
	uint32_t r = n->sym >> 2, q = rule_at(g, r)->guard, before = n->prev;
	uint32_t last = node_at(g, q)->prev;

	assert(rule_at(g, r)->refs == 1 && n->cnt == 1);
	assert(last != q); /* the body is not empty */
	rn_digram_forget(g, before);
	rn_digram_forget(g, u);
	link_nodes(g, before, node_at(g, q)->next);
	link_nodes(g, last, n->next);
	pend(g, last);
	pend(g, before);
	free_node(g, u);
	free_rule(g, r);
}

void rn_grammar_inline_single(struct rn_grammar *g, uint32_t u)
{
	const struct node *n = node_at(g, u);

	if (is_rule(n->sym) && n->cnt == 1 && rule_at(g, n->sym >> 2)->refs == 1)
		inline_rule(g, u);
}

uint32_t rn_grammar_whole_body(const struct rn_grammar *g, uint32_t first, uint32_t last)
{
	uint32_t before = node_at(g, first)->prev;
	const struct node *q = node_at(g, before);

	return before == node_at(g, last)->next && q->sym == SYM_GUARD && q->cnt ? q->cnt : NIL;
}

static uint32_t whole_digram(const struct rn_grammar *g, uint32_t n)
{
	return rn_grammar_whole_body(g, n, node_at(g, n)->next);
}

/*
 *   .. a b c e ..   ->   .. P e ..,   P: a b c
 * The digrams inside remain in the table unchanged, because their nodes only move.
 */
uint32_t rn_grammar_rule_of(struct rn_grammar *g, uint32_t first, uint32_t last)
{
	uint32_t r = new_rule(g, first_of(g, node_at(g, first)->sym)), y = new_node(g);
	uint32_t guard = rule_at(g, r)->guard;
	uint32_t before = node_at(g, first)->prev, after = node_at(g, last)->next;

	assert(first != last && !is_mark(node_at(g, last)->sym));
	rn_digram_forget(g, before);
	rn_digram_forget(g, last);
	*node_at(g, y) = (struct node){ sym_of(RN_KIND_RULE, r), 1, 0, 0 };
	link_nodes(g, before, y);
	link_nodes(g, y, after);
	link_nodes(g, guard, first);
	link_nodes(g, last, guard);
	rule_at(g, r)->refs = 1;
	pend(g, y);
	pend(g, before);
	return r;
}

/*
 * The digrams at p and n are A b, and A has no other use: moves b into A's body.
 *
 *    S: .. A b c .. A b   A: x y      ->   S: .. A c .. A   A: x y b
 *
 * A new rule for A b, into which A would be inlined at once, has the same result at twice the cost.
 */
static void extend(struct rn_grammar *g, uint32_t p, uint32_t n)
{
	uint32_t q = node_at(g, p)->next, m = node_at(g, n)->next;
	uint32_t guard = rule_at(g, node_at(g, p)->sym >> 2)->guard;
	uint32_t last = node_at(g, guard)->prev;

	assert(rn_grammar_same(g, node_at(g, p), node_at(g, n)));
	assert(rn_grammar_same(g, node_at(g, q), node_at(g, m)));
	rn_digram_forget(g, p);
	rn_digram_forget(g, q);
	rn_digram_forget(g, m);
	link_nodes(g, p, node_at(g, q)->next);
	link_nodes(g, n, node_at(g, m)->next);
	link_nodes(g, last, q);
	link_nodes(g, q, guard);
	rule_unref(g, node_at(g, m)->sym);
	free_node(g, m);
	pend(g, n);
	pend(g, p);
	pend(g, last);
	rn_grammar_inline_single(g, q);
}

static bool can_extend(const struct rn_grammar *g, uint32_t n)
{
	const struct node *a = node_at(g, n);

	return is_rule(a->sym) && a->cnt == 1 && rule_at(g, a->sym >> 2)->refs == 2;
}

/* Replaces the digram at n and the equal one at p, which is in the table, by a rule. */
static void share(struct rn_grammar *g, uint32_t tag, uint32_t p, uint32_t n)
{
	uint32_t r = whole_digram(g, p), guard;

	assert(p != n);
	if (r == NIL && can_extend(g, n) && whole_digram(g, n) == NIL) {
		extend(g, p, n);
		return;
	}
	if (r != NIL) {
		rn_digram_replace(g, n, r);
	} else if ((r = whole_digram(g, n)) != NIL) {
		rn_map_remove(&g->digrams, tag, p);
		rn_map_insert(&g->digrams, tag, n);
		rn_digram_replace(g, p, r);
	} else {
		r = rn_grammar_rule_of(g, p, node_at(g, p)->next);
		rn_digram_replace(g, n, r);
	}
	/* Each symbol of the digram lost a use. Its only remaining use may be the one in r. */
	guard = rule_at(g, r)->guard;
	rn_grammar_inline_single(g, node_at(g, guard)->next);
	rn_grammar_inline_single(g, node_at(g, guard)->prev);
}

/* The digrams that a rewriting creates are scattered over the table: prefetches all of them. */
static void prefetch_work(const struct rn_grammar *g, uint32_t from)
{
	for (; from < g->work.n; from++) {
		const struct node *a = node_at(g, *RN_SEG_AT(&g->work, uint32_t, from)), *b;

		if (is_mark(a->sym))
			continue;
		b = node_at(g, a->next);
		if (digram_counts(a, b))
			rn_map_prefetch(&g->digrams, digram_tag(g, a, b));
	}
}

/* Processes the digram that begins at n. Returns false, with nothing changed, if out of memory. */
static bool step(struct rn_grammar *g, uint32_t n)
{
	const struct node *a = node_at(g, n), *b;
	uint32_t tag, p, pending;

	if (is_mark(a->sym))
		return true;
	b = node_at(g, a->next);
	if (a->sym == b->sym) {
		if (!reserve_all(g, 1, 0, STEP_WORK))
			return false;
		join(g, n, a->next);
		return true;
	}
	if (!digram_counts(a, b))
		return true;
	tag = digram_tag(g, a, b);
	p = rn_digram_find(g, tag, a, b);
	if (p == n)
		return true;
	if (p == NIL) {
		if (rn_map_reserve(&g->digrams, tag) < 0)
			return false;
		rn_map_insert(&g->digrams, tag, n);
		return true;
	}
	if (rn_gcursor_follow(g, p, n))
		return true;
	if (!reserve_all(g, STEP_NODES, 1, STEP_WORK))
		return false;
	pending = g->work.n;
	share(g, tag, p, n);
	prefetch_work(g, pending);
	return true;
}

void rn_grammar_drain(struct rn_grammar *g)
{
	for (int budget = STEP_BUDGET; g->work.n && budget; budget--) {
		uint32_t n = *RN_SEG_AT(&g->work, uint32_t, g->work.n - 1);

		g->work.n--;
		if (!step(g, n)) {
			pend(g, n);
			break;
		}
	}
}

void rn_grammar_append_symbol(struct rn_grammar *g, uint32_t sym, uint64_t count, bool held)
{
	uint32_t guard = start_guard(g), last = node_at(g, guard)->prev;
	struct node *l = node_at(g, last);

	if (g->held)
		g->held--;
	if (l->sym == sym) {
		rn_digram_forget(g, l->prev);
		rn_grammar_set_count(g, l, count_of(g, l) + count);
		if (held)
			rule_unref(g, sym);
		pend(g, l->prev);
	} else {
		uint32_t y = new_node(g);
		struct node *n = node_at(g, y);

		*n = (struct node){ sym, 1, 0, 0 };
		rn_grammar_set_count(g, n, count);
		link_nodes(g, last, y);
		link_nodes(g, y, guard);
		if (!held)
			rule_ref(g, sym);
		pend(g, last);
	}
	rn_grammar_drain(g);
}

/* ---- literal runs ---- */

static void literal_open(struct rn_grammar *g)
{
	uint32_t id = g->runs.n++;

	assert(!g->literal_left && id < g->runs.cap);
	*RN_SEG_AT(&g->runs, struct literal_run, id) =
		(struct literal_run){ .start = g->literals.n };
	g->expect = NIL;
	rn_grammar_append_symbol(g, sym_of(RN_KIND_LITERAL, id), 1, false);
	g->literal_left = g->literal_span;
	if (g->literal_span < RN_LITERAL_MAX)
		g->literal_span *= 2;
}

static int literal_append(struct rn_grammar *g, uint32_t t)
{
	assert(g->literal_left && g->runs.n);
	if (!RN_SEG_PUSH(&g->literals, g->mem, uint32_t, t))
		return RN_E_NOMEM;
	RN_SEG_AT(&g->runs, struct literal_run, g->runs.n - 1)->length++;
	if (--g->literal_left == 0)
		g->nodes_then = g->nodes.n - g->free_nodes;
	return RN_OK;
}

/* Called after every LITERAL_WINDOW appends that the cursor did not accept. Opens a literal run if
 * the stream no longer compresses. */
static void judge(struct rn_grammar *g)
{
	uint32_t live = g->nodes.n - g->free_nodes;
	bool grows = live > g->nodes_then && live - g->nodes_then > LITERAL_WINDOW / 2;

	g->judged = 0;
	g->nodes_then = live;
	if (!grows || live <= g->opts.literal_limit) {
		g->literal_span = LITERAL_SPAN;
		return;
	}
	if (rn_seg_reserve(&g->runs, g->mem, 1) && reserve_all(g, 1, 0, STEP_WORK))
		literal_open(g);
}

/* ---- public functions ---- */

static void start_over(struct rn_grammar *g)
{
	g->expect = NIL;
	g->depth = 0;
	g->taken = g->may_follow = false;
	g->match = g->stop = NIL;
	g->credit = 0;
	g->misses = g->in_bulk = 0;
	g->held = 0;
	g->nodes.n = g->rules.n = g->wide.n = g->work.n = g->prefix.n = 0;
	g->runs.n = g->literals.n = 0;
	g->free_node = g->free_rule = NIL;
	g->free_nodes = 0;
	g->literal_left = 0;
	g->literal_span = LITERAL_SPAN;
	g->judged = g->nodes_then = 0;
	new_rule(g, NIL);
	rule_at(g, 0)->refs = 1;
}

struct rn_grammar *rn_grammar_new(struct rn_arena *mem, const struct rn_grammar_opts *opts)
{
	struct rn_grammar *g = rn_new(mem, struct rn_grammar, 1);

	if (!g || rn_map_init(&g->digrams, mem) < 0)
		return NULL;
	g->mem = mem;
	if (opts)
		g->opts = *opts;
	rn_seg_init(&g->nodes, sizeof(struct node));
	rn_seg_init(&g->rules, sizeof(struct rule));
	rn_seg_init(&g->wide, sizeof(uint64_t));
	rn_seg_init(&g->work, sizeof(uint32_t));
	rn_seg_init(&g->prefix, sizeof(struct prefix_item));
	rn_seg_init(&g->runs, sizeof(struct literal_run));
	rn_seg_init(&g->literals, sizeof(uint32_t));
	g->frame_cap = 8;
	g->frame = rn_new(mem, struct frame, g->frame_cap);
	if (!g->frame || !rn_seg_reserve(&g->nodes, mem, 1) || !rn_seg_reserve(&g->rules, mem, 1))
		return NULL;
	start_over(g);
	return g;
}

void rn_grammar_reset(struct rn_grammar *g)
{
	rn_map_clear(&g->digrams);
	start_over(g);
}

/* Prefetches the table entry with which the new digram will be compared. The rest of the append
 * overlaps the load. */
static void prefetch_append(const struct rn_grammar *g, uint32_t sym)
{
	const struct node *last = node_at(g, last_node(g)), next = { .sym = sym, .cnt = 1 };

	if (!is_mark(last->sym))
		rn_map_prefetch(&g->digrams, digram_tag(g, last, &next));
}

int rn_grammar_append_slowly(struct rn_grammar *g, uint32_t t)
{
	uint32_t sym = sym_of(RN_KIND_TERMINAL, t);

	if (g->literal_left)
		return literal_append(g, t);
	prefetch_append(g, sym);
	if (rn_gcursor_reserve(g, 1) < 0)
		return RN_E_NOMEM;
	g->misses++;
	if (g->expect != NIL || g->match != NIL) {
		bool moved = g->depth > 0 || g->match != NIL;

		rn_gcursor_leave(g);
		if (moved) {
			rn_gcursor_enter(g);
			if (g->expect == sym && rn_gcursor_advance(g)) {
				g->held = 0;
				return RN_OK;
			}
			g->expect = NIL;
		}
	}
	g->may_follow = true;
	rn_grammar_append_symbol(g, sym, 1, false);
	g->may_follow = false;
	if (g->match == NIL)
		rn_gcursor_enter(g);
	if (g->opts.literal_limit && ++g->judged >= LITERAL_WINDOW && g->match == NIL)
		judge(g);
	return RN_OK;
}
