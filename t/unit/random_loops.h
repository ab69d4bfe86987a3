/*
 * random_loops.h - random rules that contain loops, and the expansion of a stream of these rules.
 *
 * The expansion is computed here, item by item, and chooses the iteration count of each execution
 * when it reaches that execution. It uses no code under test.
 */
#ifndef RN_T_RANDOM_LOOPS_H
#define RN_T_RANDOM_LOOPS_H

#include "base/arena.h"
#include "rules/loop_stream.h"
#include "rules/rules.h"
#include "tap.h"

#define LOOPS_MOST      5u
#define EXECUTIONS_MOST 3000u

/* sum[i] is the number of iterations of the first i executions; sum[n] is the total. */
struct executions {
	uint64_t n;
	uint64_t sum[EXECUTIONS_MOST + 1];
};

struct random_loops {
	struct rn_rules *rules;
	uint32_t symbols;
	struct rn_loop loop[LOOPS_MOST];
	uint32_t loops;
	struct executions of[LOOPS_MOST];
	const void *series[LOOPS_MOST];
	uint64_t rounds[LOOPS_MOST];
	struct rn_loopset *set;
	struct rn_flow flow;
	/* The expansion. */
	uint32_t *symbol;
	uint64_t n, room;
	uint64_t most; /* iterations of one execution, at most */
	bool full;
};

static inline uint64_t random_loops_sum(const void *series, uint64_t n)
{
	const struct executions *e = series;

	return n > e->n ? UINT64_MAX : e->sum[n];
}

/* Adds a few items to a body; the test chooses which. Returns their number. */
typedef uint32_t random_items_fn(const struct random_loops *r, struct rn_item *to);

#define RANDOM_ITEMS_ROOM 8

/* Returns a random rule, any loop defined so far, or the symbol. */
static inline struct rn_item random_item(const struct random_loops *r, uint32_t symbol)
{
	struct rn_item it = { .kind = RN_KIND_TERMINAL, .id = symbol, .count = 1 + tap_below(3) };
	uint64_t kind = tap_below(5);

	if (kind < 2 && rn_rules_count(r->rules)) {
		it.kind = RN_KIND_RULE;
		it.id = (uint32_t)tap_below(rn_rules_count(r->rules));
	} else if (kind < 4 && r->loops) {
		it.id = r->symbols + (uint32_t)tap_below(r->loops);
	}
	return it;
}

static inline uint32_t random_body(struct random_loops *r, random_items_fn *items)
{
	struct rn_item body[4 * RANDOM_ITEMS_ROOM];
	uint32_t n = 0, rule;

	for (uint64_t i = 1 + tap_below(4); i; i--)
		n += items(r, body + n);
	CHECK(rn_rules_add(r->rules, body, n, &rule) == RN_OK);
	return rule;
}

static inline void random_expand(struct random_loops *r, const struct rn_item *it);

static inline void random_expand_once(struct random_loops *r, const struct rn_item *it)
{
	uint64_t n;

	if (it->kind == RN_KIND_RULE) {
		struct rn_body b = rn_rules_body(r->rules, it->id);

		for (uint32_t i = 0; i < b.n && !r->full; i++)
			random_expand(r, &b.item[i]);
	} else if (it->kind == RN_KIND_LITERAL) {
		const uint32_t *run = rn_rules_literal(r->rules, it->id, &n);

		for (uint64_t i = 0; i < n; i++)
			random_expand(r, &(struct rn_item){ .kind = RN_KIND_TERMINAL,
							    .id = run[i],
							    .count = 1 });
	} else if (it->id >= r->symbols) {
		uint32_t k = it->id - r->symbols;
		struct executions *e = &r->of[k];
		uint64_t rounds = tap_below(3) ? tap_below(r->most + 1) : 0;
		struct rn_item round = { .kind = r->loop[k].kind, .id = r->loop[k].id };

		r->full |= e->n == EXECUTIONS_MOST;
		if (r->full)
			return;
		e->sum[e->n + 1] = e->sum[e->n] + rounds;
		e->n++;
		round.count = rounds;
		random_expand(r, &round);
	} else if (r->n == r->room) {
		r->full = true;
	} else {
		r->symbol[r->n++] = it->id;
	}
}

static inline void random_expand(struct random_loops *r, const struct rn_item *it)
{
	for (uint64_t i = 0; i < it->count && !r->full; i++)
		random_expand_once(r, it);
}

/* Creates rules in an empty pool, and a stream of at most r->room symbols. Returns false if the
 * stream became too long. The caller owns the symbols and their memory, the pool and the arena. */
static inline bool random_loops(struct random_loops *r, struct rn_arena *mem,
				random_items_fn *items)
{
	struct rn_item all = { .kind = RN_KIND_RULE, .count = 1 };
	uint32_t loops = 1 + (uint32_t)tap_below(LOOPS_MOST);

	r->most = 1 + tap_below(6);
	while (r->loops < loops) {
		struct rn_loop *l = &r->loop[r->loops];

		for (uint64_t i = tap_below(3); i; i--)
			random_body(r, items);
		*l = (struct rn_loop){ RN_KIND_RULE, random_body(r, items) };
		if (tap_below(4) == 0)
			*l = (struct rn_loop){ RN_KIND_TERMINAL, (uint32_t)tap_below(r->symbols) };
		r->series[r->loops] = &r->of[r->loops];
		r->loops++;
	}
	all.id = random_body(r, items);
	random_expand(r, &all);
	if (r->full)
		return false;
	for (uint32_t k = 0; k < loops; k++)
		r->rounds[k] = r->of[k].sum[r->of[k].n];
	CHECK(rn_loopset_new(mem, r->rules, r->symbols, r->loop, loops, random_loops_sum,
			     &r->set) == RN_OK);
	r->flow = (struct rn_flow){ r->rules, all.id, r->set, r->series, r->n };
	return true;
}

#endif
