/* rule_walk_impl.h - inside walkers: what rule_walk.c and rule_search.c share. */
#ifndef RN_RULES_RULE_WALK_IMPL_H
#define RN_RULES_RULE_WALK_IMPL_H

#include "rules/loop_span.h"
#include "rules/rules_impl.h"

static inline bool in_loop(const struct rn_walk_frame *f)
{
	return f->rule >= RN_IN_LOOP;
}

static inline bool is_loop(const struct rn_walk *w, const struct rn_item *it)
{
	return it->kind == RN_KIND_TERMINAL && it->id >= w->symbols;
}

/* The items that a frame stands in. */
static inline const struct rn_item *items_of(const struct rn_walk *w, const struct rn_walk_frame *f,
					     uint32_t *n)
{
	const struct entry *e;

	if (in_loop(f)) {
		*n = 1;
		return &f->round;
	}
	e = entry_at(w->rules, f->rule);
	*n = e->n;
	return e->item;
}

/* Symbols of a terminal or literal item, all repeats. */
static inline uint64_t flat_length(const struct rn_rules *r, const struct rn_item *it)
{
	return unit_length(r, it) * it->count;
}

static inline uint32_t flat_symbol(const struct rn_rules *r, const struct rn_item *it, uint64_t k)
{
	const struct literal *l;

	if (it->kind == RN_KIND_TERMINAL)
		return it->id;
	l = literal_at(r, it->id);
	assert(it->kind == RN_KIND_LITERAL && l->n > 0);
	return l->symbol[k % l->n];
}

static inline struct rn_walk_frame *push(struct rn_walk *w, uint32_t rule, uint32_t item,
					 size_t from)
{
	struct rn_walk_frame *f = &w->frame[w->depth++];

	f->rule = rule;
	f->item = item;
	f->iter = 0;
	f->from = from; /* `round` is for executions alone */
	return f;
}

/* Leaves a body at its end: one more repeat of the item it belongs to is behind. */
static inline struct rn_walk_frame *pop(struct rn_walk *w)
{
	struct rn_walk_frame *f;

	assert(w->depth > 1);
	f = &w->frame[--w->depth - 1];
	f->iter++;
	return f;
}

/* Leaves a body at its beginning. */
static inline struct rn_walk_frame *pop_back(struct rn_walk *w)
{
	struct rn_walk_frame *f = &w->frame[--w->depth];

	assert(w->depth > 0);
	assert(!in_loop(f) || w->done[f->rule - RN_IN_LOOP] > 0);
	if (in_loop(f))
		w->done[f->rule - RN_IN_LOOP]--;
	return f - 1;
}

/* Into the execution of a loop that comes next, or, at its end, into the one before. */
struct rn_walk_frame *rn_walk_enter(struct rn_walk *w, const struct rn_item *loop, bool back);

#endif
