/* symbol_counts.c - see symbol_counts.h. */
#include "rules/symbol_counts.h"

#include <assert.h>
#include <string.h>

#include "base/saturate.h"
#include "rules/loop_span.h"

struct sums {
	const struct rn_rules *rules;
	uint32_t symbols; /* terminals from here on are loops */
	uint64_t *times, *count;
};

/* Adds n times an item with its count. The contents of a loop are counted by its iterations. */
static void count_item(const struct sums *s, const struct rn_item *it, uint64_t n)
{
	const uint32_t *symbol;
	uint64_t len;

	n = rn_sat_mul(n, it->count);
	if (it->kind == RN_KIND_TERMINAL) {
		if (it->id < s->symbols)
			rn_sat_add(&s->count[it->id], n);
	} else if (it->kind == RN_KIND_RULE) {
		rn_sat_add(&s->times[it->id], n);
	} else {
		symbol = rn_rules_literal(s->rules, it->id, &len);
		for (uint64_t k = 0; k < len; k++)
			rn_sat_add(&s->count[symbol[k]], n);
	}
}

void rn_rules_counts(const struct rn_rules *r, const struct rn_loopset *loops,
		     const uint64_t *rounds, uint64_t *times, uint64_t *count)
{
	struct sums s = { r, rn_loopset_symbols(loops), times, count };
	uint32_t rules = rn_rules_count(r);

	for (uint32_t i = rules + rn_loopset_count(loops); i-- > 0;) {
		uint32_t id = rn_loopset_order(loops, i);
		struct rn_body b = rn_loopset_body(loops, r, id);
		uint64_t n = id < rules ? times[id] : rounds[id - rules];

		for (uint32_t k = 0; n && k < b.n; k++)
			count_item(&s, &b.item[k], n);
	}
}

/* Counts the repeats of an item before the frame's position and, of a literal run, the symbols. */
static void count_begun(const struct sums *s, const struct rn_item *it, uint64_t iter)
{
	struct rn_item whole = *it;
	const uint32_t *symbol = NULL;
	uint64_t len = 1;

	if (it->kind == RN_KIND_LITERAL)
		symbol = rn_rules_literal(s->rules, it->id, &len);
	whole.count = iter / len;
	count_item(s, &whole, 1);
	for (uint64_t k = 0; k < iter % len; k++)
		rn_sat_add(&s->count[symbol[k]], 1);
}

/* Computes the iterations of executions that have ended. The frames count those of the others. */
static void count_rounds(const struct rn_walk *w, uint64_t *rounds)
{
	const struct rn_flow *f = &w->stretch->flow;

	memcpy(rounds, w->done, rn_loopset_count(f->loops) * sizeof(*rounds));
	for (uint32_t d = 0; d < w->depth; d++)
		if (w->frame[d].rule >= RN_IN_LOOP) {
			assert(rounds[w->frame[d].rule - RN_IN_LOOP] > 0);
			rounds[w->frame[d].rule - RN_IN_LOOP]--;
		}
	for (uint32_t k = 0; k < rn_loopset_count(f->loops); k++)
		rounds[k] = rn_flow_rounds(f, k, rounds[k]);
}

void rn_walk_counts(const struct rn_walk *w, uint64_t *times, uint64_t *rounds, uint64_t *count)
{
	struct sums s = { w->rules, w->symbols, times, count };

	for (uint32_t d = 0; d < w->depth; d++) {
		const struct rn_walk_frame *f = &w->frame[d];
		struct rn_body b = rn_walk_body(w, f);

		for (uint32_t i = 0; i < f->item && i < b.n; i++)
			count_item(&s, &b.item[i], 1);
		if (f->item < b.n)
			count_begun(&s, &b.item[f->item], f->iter);
	}
	if (w->stretch)
		count_rounds(w, rounds);
	rn_rules_counts(w->rules, w->stretch ? w->stretch->flow.loops : NULL, rounds, times, count);
}
