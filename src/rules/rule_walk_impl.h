/* rule_walk_impl.h - walker internals shared by rule_walk.c and rule_search.c. */
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

/* Returns the items of the body that a frame is in. */
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

/* Returns the number of symbols in all repeats of a terminal or literal item. */
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
	f->from = from; /* `round` is used only by executions */
	return f;
}

/* Leaves a body at its end. The item to which the body belongs has one more complete repeat. */
static inline struct rn_walk_frame *pop(struct rn_walk *w)
{
	struct rn_walk_frame *f;

	assert(w->depth > 1);
	f = &w->frame[--w->depth - 1];
	f->iter++;
	return f;
}

/* Leaves a body at its beginning. An execution that is left no longer counts as begun. */
static inline struct rn_walk_frame *pop_back(struct rn_walk *w)
{
	struct rn_walk_frame *f = &w->frame[--w->depth];

	assert(w->depth > 0);
	assert(!in_loop(f) || w->done[f->rule - RN_IN_LOOP] > 0);
	if (in_loop(f))
		w->done[f->rule - RN_IN_LOOP]--;
	return f - 1;
}

/* Enters the next execution of a loop or, if `back`, the previous one at its end. */
struct rn_walk_frame *rn_walk_enter(struct rn_walk *w, const struct rn_item *loop, bool back);

#endif
