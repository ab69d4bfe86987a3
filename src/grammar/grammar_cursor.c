/*
 * grammar_cursor.c - the cursor: follows known structure instead of appending symbols.
 *
 * A loop repeats the start rule's last node once more.
 *
 *   start rule:  x  y  R^7            frame[0] = R, repeated 7 times so far
 *                      |
 *            R:  a  B^3  c            frame[1] = B, iter = 1: one B is complete
 *                   |
 *            B:     d  e              frame[2] = e: the next terminal, expected
 *
 * At the end of R its count is incremented. Following a loop changes nothing else.
 *
 * A match begins when the last two nodes n m equal two nodes p q elsewhere. Instead of creating a
 * rule of two nodes and extending it symbol by symbol, the cursor follows the nodes after q. Where
 * the match ends, one rule is created for the whole span.
 *
 *   somewhere:   p  q  C^2  d ..      match = p, frame[0] = C (then d, ..), frame[1] inside C
 *   start rule:  ..  n  m             stop = n
 *
 * In both cases a node that contains a rule is entered only when the rule's first terminal has
 * arrived.
 */
#include "grammar/grammar_impl.h"

#include <string.h>

/* A descent to this depth is free. Deeper descents are paid from the credit. Ordinary appends and
 * completed iterations earn credit, and misses spend it. The number of frames that a miss discards
 * is therefore bounded by the number of symbols appended. */
#define FREE_DEPTH  32u
#define EARN_APPEND 4u

void rn_gcursor_earn(struct rn_grammar *g, uint64_t n)
{
	assert(g->credit <= CREDIT_MAX);
	g->credit = n < CREDIT_MAX - g->credit ? g->credit + (uint32_t)n : CREDIT_MAX;
}

void rn_gcursor_enter(struct rn_grammar *g)
{
	uint32_t last = last_node(g);
	const struct node *n = node_at(g, last);

	assert(g->match == NIL);
	rn_gcursor_earn(g, EARN_APPEND);
	if (kind_of(n->sym) > RN_KIND_RULE || (!is_rule(n->sym) && n->cnt == 1))
		return;
	g->frame[0] = (struct frame){ .node = last };
	g->depth = 0;
	g->taken = false;
	g->expect = first_of(g, n->sym);
}

bool rn_gcursor_follow(struct rn_grammar *g, uint32_t p, uint32_t n)
{
	uint32_t next = node_at(g, node_at(g, p)->next)->next;

	if (!g->may_follow || g->work.n || node_at(g, n)->next != last_node(g) || next == n ||
	    kind_of(node_at(g, next)->sym) > RN_KIND_RULE)
		return false;
	g->match = p;
	g->stop = n;
	g->frame[0] = (struct frame){ .node = next };
	g->depth = 0;
	g->expect = first_of(g, node_at(g, next)->sym);
	return true;
}

/* Descends from a node with a rule to the rule's first terminal. Returns false if that is too deep
 * or memory is short. */
static bool descend(struct rn_grammar *g)
{
	uint32_t depth = g->depth;
	const struct node *n = node_at(g, g->frame[depth].node);

	assert(is_rule(n->sym));
	do {
		uint32_t child = node_at(g, rule_at(g, n->sym >> 2)->guard)->next;

		depth++;
		if (!RN_GROW(g->mem, g->frame, depth + 1, g->frame_cap))
			return false;
		if (UNLIKELY(depth > FREE_DEPTH + g->credit))
			return false;
		g->frame[depth] = (struct frame){ .node = child };
		n = node_at(g, child);
	} while (is_rule(n->sym));
	g->depth = depth;
	return true;
}

/* Increments the count of the repeated node. The first change removes the digram before the node
 * from the table. When the cursor is closed, the digram is inserted again, with the final count. */
static void add_round(struct rn_grammar *g, struct node *top)
{
	if (UNLIKELY(!g->taken)) {
		rn_digram_forget(g, top->prev);
		g->taken = true;
	}
	if (LIKELY(top->cnt < COUNT_WIDE - 1))
		top->cnt++;
	else
		rn_grammar_set_count(g, top, count_of(g, top) + 1);
}

/* Whether add_round may need a wide count that cannot be allocated. */
static bool cannot_count(struct rn_grammar *g, const struct node *top)
{
	return UNLIKELY(top->cnt >= COUNT_WIDE - 1) && !rn_seg_reserve(&g->wide, g->mem, 1);
}

bool rn_gcursor_ends_match(const struct rn_grammar *g, uint32_t n)
{
	return n == g->stop || kind_of(node_at(g, n)->sym) > RN_KIND_RULE;
}

static inline void move_to(struct rn_grammar *g, struct frame *f, uint32_t n)
{
	*f = (struct frame){ .node = n };
	if (UNLIKELY(f == g->frame) && rn_gcursor_ends_match(g, n))
		g->expect = NIL;
	else
		g->expect = first_of(g, node_at(g, n)->sym);
}

/* Leaves the leaf's node n, whose repeats are complete: moves to the following node, one level up
 * for each body that ends. */
static inline void step_on(struct rn_grammar *g, struct frame *f, struct node *n)
{
	for (;;) {
		if (LIKELY(node_at(g, n->next)->sym != SYM_GUARD) || f == g->frame) {
			move_to(g, f, n->next);
			return;
		}
		f--;
		n = node_at(g, f->node);
		if (f == g->frame && g->match == NIL) {
			rn_gcursor_earn(g, g->depth);
			g->depth = 0;
			add_round(g, n);
			g->expect = first_of(g, n->sym);
			return;
		}
		g->depth--;
		if (++f->iter < count_of(g, n)) {
			g->expect = first_of(g, n->sym);
			return;
		}
	}
}

bool rn_gcursor_advance(struct rn_grammar *g)
{
	struct frame *f = &g->frame[g->depth];
	struct node *n = node_at(g, f->node);
	bool at_loop = g->depth == 0 && g->match == NIL;

	assert(g->depth < g->frame_cap && g->expect != NIL);
	if (at_loop && cannot_count(g, n))
		return false;
	if (is_rule(n->sym)) {
		if (UNLIKELY(!descend(g)))
			return false;
		f = &g->frame[g->depth];
		n = node_at(g, f->node);
	} else if (at_loop) {
		add_round(g, n);
		return true;
	}
	if (UNLIKELY(++f->iter < count_of(g, n)))
		g->expect = n->sym;
	else
		step_on(g, f, n);
	return true;
}

int rn_grammar_append(struct rn_grammar *g, uint32_t t)
{
	if (UNLIKELY(t > RN_TERMINAL_MAX))
		return RN_E_ARG;
	if (LIKELY(sym_of(RN_KIND_TERMINAL, t) == g->expect) && LIKELY(rn_gcursor_advance(g)))
		return RN_OK;
	return rn_grammar_append_slowly(g, t);
}

int rn_gcursor_reserve(struct rn_grammar *g, uint32_t more_nodes)
{
	uint64_t levels = g->expect == NIL && g->match == NIL ? 0 : (uint64_t)g->depth + 1;
	uint64_t nodes = 4 * levels + more_nodes;

	if (g->free_nodes < nodes && !rn_seg_reserve(&g->nodes, g->mem, nodes - g->free_nodes))
		return RN_E_NOMEM;
	if (!rn_seg_reserve(&g->rules, g->mem, levels) ||
	    !rn_seg_reserve(&g->work, g->mem, 8 * levels + 8) ||
	    !rn_seg_reserve(&g->wide, g->mem, 2 * levels + 2) ||
	    !rn_seg_reserve(&g->prefix, g->mem, 2 * levels + 1))
		return RN_E_NOMEM;
	return RN_OK;
}

static void keep(struct rn_grammar *g, uint32_t sym, uint64_t count)
{
	assert(count > 0 && g->prefix.n < g->prefix.cap);
	RN_SEG_PUT(&g->prefix, struct prefix_item, (struct prefix_item){ count, sym });
	rule_ref(g, sym); /* rewriting must not inline the rule before the symbol is appended */
}

bool rn_gcursor_walked(const struct rn_grammar *g, uint32_t level, uint32_t *first, uint32_t *end)
{
	uint32_t second;

	*end = g->frame[level].node;
	if (level == 0) {
		if (g->match == NIL)
			return false;
		*first = g->match;
		second = node_at(g, *first)->next;
		return node_at(g, second)->next != *end;
	}
	*first =
		node_at(g, rule_at(g, node_at(g, g->frame[level - 1].node)->sym >> 2)->guard)->next;
	return *first != *end && node_at(g, *first)->next != *end;
}

/* Appends the nodes that the cursor passed in the body of frame `level` to g->prefix. */
static void keep_level(struct rn_grammar *g, uint32_t level)
{
	const struct frame *f = &g->frame[level];
	uint32_t first, end;

	if (rn_gcursor_walked(g, level, &first, &end))
		keep(g, sym_of(RN_KIND_RULE, rn_grammar_rule_of(g, first, node_at(g, end)->prev)),
		     1);
	else if (first != end)
		keep(g, node_at(g, first)->sym, count_of(g, node_at(g, first)));
	if (f->iter)
		keep(g, node_at(g, f->node)->sym, f->iter);
}

/* Ends a match. The nodes from p to before frame[0] were repeated. In the start rule, their
 * repetition is only the digram at n so far. */
static void close_match(struct rn_grammar *g, uint32_t p, uint32_t n)
{
	uint32_t last = node_at(g, g->frame[0].node)->prev, q = node_at(g, p)->next;

	assert(n == g->stop && node_at(g, n)->next == last_node(g));
	if (last == q) {
		pend(g, n); /* a digram only: process it as if there were no match */
	} else {
		uint32_t r = rn_grammar_whole_body(g, p, last);

		rn_digram_replace(g, n, r != NIL ? r : rn_grammar_rule_of(g, p, last));
		rn_grammar_inline_single(g, p);
		rn_grammar_inline_single(g, q);
	}
	rn_grammar_drain(g);
}

void rn_gcursor_leave(struct rn_grammar *g)
{
	uint32_t match = g->match;

	/* Collect all levels first: appending rewrites the bodies to which the frames refer. */
	g->prefix.n = 0;
	if (match != NIL && g->frame[0].iter)
		keep(g, node_at(g, g->frame[0].node)->sym, g->frame[0].iter);
	for (uint32_t level = 1; level <= g->depth; level++)
		keep_level(g, level);
	if (match == NIL && g->taken)
		pend(g, node_at(g, g->frame[0].node)->prev);
	g->credit -= g->depth < g->credit ? g->depth : g->credit;
	g->expect = g->match = NIL;
	g->depth = 0;
	g->held = g->prefix.n + 1;
	if (match != NIL)
		close_match(g, match, g->stop);
	for (uint32_t i = 0; i < g->prefix.n; i++) {
		struct prefix_item p = *RN_SEG_AT(&g->prefix, struct prefix_item, i);

		rn_grammar_append_symbol(g, p.sym, p.count, true);
	}
}
