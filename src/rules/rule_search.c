/* rule_search.c - see rule_search.h. */
#include "rules/rule_search.h"

#include "rules/rule_walk_impl.h"

void rn_passage_each(const struct rn_passage *p, rn_fixed_fn *fn, void *arg)
{
	rn_stretch_each(p->stretch, fn, arg);
}

/* Measures n repeats of an item after the walker's position or, if `back`, before it. */
static struct rn_passage measure(const struct rn_walk *w, const struct rn_item *it, uint64_t n,
				 bool back)
{
	struct rn_passage p = { .item = it, .n = n };

	if (w->stretch && rn_loopset_holds(w->stretch->flow.loops, it)) {
		p.cost = w->stretch->left;
		rn_stretch_measure(w->stretch, w->done, it, n, back);
		p.cost -= w->stretch->left;
		p.stretch = w->stretch;
		p.length = w->stretch->length;
	} else {
		p.length = n * unit_length(w->rules, it);
	}
	return p;
}

static void pass(struct rn_search *q, struct rn_walk *w, const struct rn_passage *p, bool back)
{
	q->pass(q, p);
	w->pos = back ? w->pos - p->length : w->pos + p->length;
	if (p->stretch)
		rn_stretch_move(p->stretch, w->done, back);
}

/* Passes as many of `times` repeats as the callback permits, and returns their number. */
static uint64_t pass_units(struct rn_search *q, struct rn_walk *w, const struct rn_item *it,
			   uint64_t times, bool back)
{
	uint64_t good = 0, bad = times + 1;
	struct rn_passage p;

	while (bad - good > 1) {
		/* Usually all repeats may be passed, or none. */
		uint64_t k = good == 0 && bad == times + 1 ? times : good + (bad - good) / 2;

		p = measure(w, it, k, back);
		if (q->passes(q, &p))
			good = k;
		else
			bad = k;
	}
	if (good) {
		p = measure(w, it, good, back);
		pass(q, w, &p, back);
	}
	return good;
}

static bool is_flat(const struct rn_walk *w, const struct rn_item *it)
{
	return it->kind != RN_KIND_RULE && !is_loop(w, it);
}

/* Returns the amount by which one repeat of an item increases a frame's `iter`. */
static uint64_t unit_steps(const struct rn_walk *w, const struct rn_item *it)
{
	return is_flat(w, it) ? unit_length(w->rules, it) : 1;
}

static bool try_symbol(struct rn_search *q, struct rn_walk *w, const struct rn_item *it, uint64_t k,
		       bool back)
{
	struct rn_item one = { .kind = RN_KIND_TERMINAL, .count = 1 };
	struct rn_passage p = { .item = &one, .n = 1, .length = 1 };

	one.id = flat_symbol(w->rules, it, k);
	if (!q->passes(q, &p))
		return false;
	pass(q, w, &p, back);
	return true;
}

/* Advances in an item, in either direction: over repeats, over a symbol of a run, or into a rule or
 * an execution. Returns false if the search ends here, before the symbol. */
static bool move(struct rn_search *q, struct rn_walk *w, struct rn_walk_frame *f,
		 const struct rn_item *it, bool back)
{
	uint64_t steps = unit_steps(w, it), done = f->iter / steps, passed = 0;

	if (f->iter % steps == 0 && !(q->enters && q->enters(q, w, it)))
		passed = pass_units(q, w, it, back ? done : it->count - done, back);
	f->iter = back ? f->iter - passed * steps : f->iter + passed * steps;
	if (passed)
		return true;
	if (q->whole_items && !(w->stretch && rn_loopset_holds(w->stretch->flow.loops, it)))
		return false;
	f->iter -= back;
	if (is_loop(w, it)) {
		rn_walk_enter(w, it, back);
	} else if (it->kind == RN_KIND_RULE) {
		push(w, it->id, back ? entry_at(w->rules, it->id)->n : 0, SIZE_MAX);
	} else if (try_symbol(q, w, it, f->iter, back)) {
		f->iter += !back;
	} else {
		w->pos -= back;
		return false;
	}
	return true;
}

bool rn_search_on(struct rn_search *q, struct rn_walk *w)
{
	for (; q->left; q->left--) {
		struct rn_walk_frame *f = &w->frame[w->depth - 1];
		uint32_t n;
		const struct rn_item *it = &items_of(w, f, &n)[f->item];

		if (f->item == n) {
			if (w->depth == 1)
				return false;
			pop(w);
		} else if (f->iter == it->count * unit_steps(w, it)) {
			f->item++;
			f->iter = 0;
		} else if (!move(q, w, f, it, false)) {
			return true;
		}
	}
	return false;
}

bool rn_search_back(struct rn_search *q, struct rn_walk *w)
{
	for (; q->left; q->left--) {
		struct rn_walk_frame *f = &w->frame[w->depth - 1];
		uint32_t n;
		const struct rn_item *item = items_of(w, f, &n);

		if (f->iter) {
			if (!move(q, w, f, &item[f->item], true))
				return true;
		} else if (f->item) {
			f->item--;
			f->iter = item[f->item].count * unit_steps(w, &item[f->item]);
		} else if (w->depth == 1) {
			return false;
		} else {
			pop_back(w);
		}
	}
	return false;
}
