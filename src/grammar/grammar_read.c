/*
 * grammar_read.c - read access to a builder: its bodies and its literal runs.
 *
 * While the cursor follows known structure, the symbols that it has passed are not in any body yet.
 * The functions return the bodies as they would be if the cursor were closed now, and change
 * nothing. The nodes passed on level k become a separate rule. These rules are numbered after
 * the existing ones, in the order of levels. Each is used twice: where the cursor passed the nodes,
 * and at the end of the start rule.
 */
#include "grammar/grammar_impl.h"

uint64_t rn_grammar_nodes(const struct rn_grammar *g)
{
	return g->nodes.n - g->free_nodes;
}

static bool is_open(const struct rn_grammar *g)
{
	return g->match != NIL || (g->expect != NIL && g->depth > 0);
}

uint32_t rn_grammar_rules(const struct rn_grammar *g)
{
	return g->rules.n + (is_open(g) ? g->depth + 1 : 0);
}

/* Finds the passed nodes that are in the body of `rule`, if any. Those of a match can be in any
 * body, so rn_grammar_body_next compares each node with their first one. */
static void find_cut(struct rn_grammar_iter *it, uint32_t rule)
{
	const struct rn_grammar *g = it->g;
	uint32_t first, end;

	if (rn_gcursor_walked(g, 0, &first, &end)) {
		it->cut = first;
		it->cut_end = end;
		it->cut_rule = g->rules.n;
	}
	for (uint32_t level = 1; level <= g->depth; level++) {
		uint32_t outer = node_at(g, g->frame[level - 1].node)->sym >> 2;

		if (outer == rule && rn_gcursor_walked(g, level, &first, &end)) {
			it->cut = first;
			it->cut_end = end;
			it->cut_rule = g->rules.n + level;
		}
	}
}

struct rn_grammar_iter rn_grammar_body(const struct rn_grammar *g, uint32_t rule)
{
	struct rn_grammar_iter it = { .g = g, .cut = NIL };
	const struct rule *r;

	if (rule >= g->rules.n) {
		if (!rn_gcursor_walked(g, rule - g->rules.n, &it.node, &it.end))
			it.node = it.end;
		return it;
	}
	r = rule_at(g, rule);
	if (r->refs == RULE_FREE)
		return it;
	it.end = r->guard;
	it.node = node_at(g, r->guard)->next;
	if (!is_open(g))
		return it;
	find_cut(&it, rule);
	it.open = rule == 0;
	if (it.open && it.cut_rule == g->rules.n)
		it.end = g->stop; /* the tail includes the two nodes of the repetition */
	return it;
}

static struct rn_grammar_item item_of(uint32_t sym, uint64_t count)
{
	return (struct rn_grammar_item){ kind_of(sym), sym >> 2, count };
}

/* Returns the next item of the tail. Each level has up to two: the nodes that were passed, and the
 * repeats of the node after them. */
static bool tail_next(struct rn_grammar_iter *it, struct rn_grammar_item *item)
{
	const struct rn_grammar *g = it->g;

	for (; it->level <= g->depth; it->level++, it->half = false) {
		const struct frame *f = &g->frame[it->level];
		uint32_t first, end;

		if (!it->half) {
			it->half = true;
			if (rn_gcursor_walked(g, it->level, &first, &end)) {
				*item = item_of(sym_of(RN_KIND_RULE, g->rules.n + it->level), 1);
				return true;
			}
			if (it->level && first != end) {
				const struct node *n = node_at(g, first);

				*item = item_of(n->sym, count_of(g, n));
				return true;
			}
		}
		if (f->iter) {
			*item = item_of(node_at(g, f->node)->sym, f->iter);
			it->level++;
			it->half = false;
			return true;
		}
	}
	return false;
}

/* Whether a symbol is a literal run that was opened and has no symbols yet. Such a run is the last
 * node of the start rule. */
static bool is_empty_run(const struct rn_grammar *g, uint32_t sym)
{
	return kind_of(sym) == RN_KIND_LITERAL && sym >> 2 == rn_grammar_literals(g);
}

bool rn_grammar_body_next(struct rn_grammar_iter *it, struct rn_grammar_item *item)
{
	const struct node *n;

	if (it->node == it->end)
		return it->open && tail_next(it, item);
	if (it->node == it->cut) {
		*item = item_of(sym_of(RN_KIND_RULE, it->cut_rule), 1);
		it->node = it->cut_end;
		return true;
	}
	n = node_at(it->g, it->node);
	*item = item_of(n->sym, count_of(it->g, n));
	it->node = n->next;
	return !is_empty_run(it->g, n->sym);
}

struct rn_grammar_order rn_grammar_order(const struct rn_grammar *g, uint32_t *number,
					 struct rn_grammar_frame *stack)
{
	stack[0] = (struct rn_grammar_frame){ rn_grammar_body(g, 0), 0, 0 };
	return (struct rn_grammar_order){ g, number, stack, 1 };
}

bool rn_grammar_order_next(struct rn_grammar_order *o, uint32_t *rule, uint32_t *items)
{
	struct rn_grammar_frame *f;
	struct rn_grammar_item item;

	if (o->depth == 0)
		return false;
	f = &o->stack[o->depth - 1];
	while (rn_grammar_body_next(&f->it, &item)) {
		f->items++;
		if (item.kind == RN_KIND_RULE && o->number[item.id] == NIL)
			*(f = &o->stack[o->depth++]) =
				(struct rn_grammar_frame){ rn_grammar_body(o->g, item.id), item.id,
							   0 };
	}
	*rule = f->rule;
	*items = f->items;
	o->depth--;
	return true;
}

uint32_t rn_grammar_literals(const struct rn_grammar *g)
{
	return g->runs.n && rn_grammar_literal_length(g, g->runs.n - 1) == 0 ? g->runs.n - 1
									     : g->runs.n;
}

uint64_t rn_grammar_literal_length(const struct rn_grammar *g, uint32_t id)
{
	assert(id < g->runs.n);
	return RN_SEG_AT(&g->runs, struct literal_run, id)->length;
}

void rn_grammar_literal_read(const struct rn_grammar *g, uint32_t id, uint64_t from, uint32_t *out,
			     size_t n)
{
	uint32_t i = RN_SEG_AT(&g->runs, struct literal_run, id)->start + (uint32_t)from;

	assert(from + n <= rn_grammar_literal_length(g, id));
	for (size_t k = 0; k < n; k++, i++)
		out[k] = *RN_SEG_AT(&g->literals, uint32_t, i);
}
