/*
 * test_flow.c - streams with loops: walking, seeking and counting, compared with their expansion.
 */
#include "random_loops.h"

#include "rules/rule_search.h"
#include "rules/symbol_counts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SYMBOLS 6u
#define MOST    20000u

static struct rn_arena mem;
static struct random_loops *loops;
static uint32_t symbol[MOST];

static void begin(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	loops = rn_new(&mem, struct random_loops, 1);
	loops->rules = rn_rules_new(&mem);
	loops->symbols = SYMBOLS;
	loops->symbol = symbol;
	loops->room = MOST;
}

static uint32_t any_items(const struct random_loops *r, struct rn_item *to)
{
	uint32_t run[5], lit;

	*to = random_item(r, (uint32_t)tap_below(SYMBOLS));
	if (tap_below(8) == 0) {
		for (unsigned i = 0; i < 5; i++)
			run[i] = (uint32_t)tap_below(SYMBOLS);
		CHECK(rn_rules_add_literal(r->rules, run, 5, &lit) == RN_OK);
		*to = (struct rn_item){ .kind = RN_KIND_LITERAL, .id = lit, .count = 2 };
	}
	return 1;
}

static void measure(void)
{
	struct rn_stretch *s = rn_stretch_new(&mem, loops->set, UINT64_MAX);
	struct rn_flow f = loops->flow;
	uint64_t executions[LOOPS_MOST];

	f.length = 0;
	CHECK(rn_flow_measure(s, &f, executions) && f.length == loops->n);
	for (uint32_t k = 0; k < loops->loops; k++)
		CHECK(executions[k] == loops->of[k].n);
	s = rn_stretch_new(&mem, loops->set, 0);
	f.length = 0;
	CHECK(!rn_flow_measure(s, &f, executions) || f.length == rn_rules_length(f.rules, f.root));
}

static bool same_counts(const struct rn_walk *w)
{
	uint64_t *times = rn_new(&mem, uint64_t, rn_rules_count(loops->rules) + 1);
	uint64_t rounds[LOOPS_MOST], has[SYMBOLS] = { 0 }, wanted[SYMBOLS] = { 0 };

	for (uint64_t i = 0; i < rn_walk_pos(w); i++)
		wanted[symbol[i]]++;
	rn_walk_counts(w, times, rounds, has);
	return memcmp(has, wanted, sizeof(has)) == 0;
}

static bool move(struct rn_walk *w, uint64_t *at)
{
	uint64_t n = tap_below(tap_below(4) ? 5 : 300);
	uint32_t t, buf[300];

	switch (tap_below(4)) {
	case 0:
		for (; n && rn_walk_next(w, &t); n--)
			if (*at == loops->n || t != symbol[(*at)++])
				return false;
		return n == 0 || *at == loops->n;
	case 1:
		n = rn_walk_read(w, buf, n);
		if (n > loops->n - *at || memcmp(buf, symbol + *at, n * sizeof(*buf)) != 0)
			return false;
		*at += n;
		return true;
	case 2:
		*at = tap_below(loops->n + 1);
		return rn_walk_seek(w, *at) == RN_OK;
	default:
		return same_counts(w);
	}
}

static void walk(void)
{
	struct rn_walk w;
	uint64_t at = 0;
	bool good = rn_walk_flow(&w, &loops->flow, &mem) == RN_OK;

	for (unsigned i = 0; i < 60 && good; i++)
		good = move(&w, &at) && rn_walk_pos(&w) == at;
	CHECK(good);
	CHECK(rn_walk_seek(&w, loops->n + 1) == RN_E_RANGE);
}

static void test_random(void)
{
	unsigned done = 0;

	for (unsigned i = 0; i < 2000; i++) {
		begin();
		if (random_loops(loops, &mem, any_items)) {
			measure();
			walk();
			done++;
		}
		rn_arena_free(&mem);
	}
	CHECK(done > 1000);
	ok("%u random streams with loops: walked, sought and counted", done);
}

/* ---- very long streams ---- */

static uint64_t each_has(const void *series, uint64_t n)
{
	const uint64_t *rounds = series;
	uint64_t all;

	return __builtin_mul_overflow(*rounds, n, &all) || all > (uint64_t)1 << 62 ? UINT64_MAX
										   : all;
}

static uint32_t add_rule(const struct rn_item *item, uint32_t n)
{
	uint32_t rule;

	CHECK(rn_rules_add(loops->rules, item, n, &rule) == RN_OK);
	return rule;
}

static struct rn_item terminal(uint32_t id, uint64_t count)
{
	return (struct rn_item){ .id = id, .kind = RN_KIND_TERMINAL, .count = count };
}

static struct rn_item rule(uint32_t id, uint64_t count)
{
	return (struct rn_item){ .id = id, .kind = RN_KIND_RULE, .count = count };
}

#define BODY(...)                                         \
	add_rule((const struct rn_item[]){ __VA_ARGS__ }, \
		 sizeof((const struct rn_item[]){ __VA_ARGS__ }) / sizeof(struct rn_item))

/* Creates loop 0 with `inner` iterations and loop 1 with `outer` iterations in each execution.
 * Loop 0 is over symbol 1. The body of loop 1 is loop 0, followed by symbol 2 if `full`. The
 * stream is symbol 0, `times` executions of loop 1, and symbol 3. */
static bool long_stream(uint64_t inner, uint64_t outer, uint64_t times, bool full)
{
	static uint64_t rounds[2];
	struct rn_stretch *s;
	uint64_t executions[2];
	uint32_t round, root;

	begin();
	rounds[0] = inner;
	rounds[1] = outer;
	loops->loop[0] = (struct rn_loop){ RN_KIND_TERMINAL, 1 };
	round = full ? BODY(terminal(SYMBOLS, 1), terminal(2, 1)) : BODY(terminal(SYMBOLS, 1));
	loops->loop[1] = (struct rn_loop){ RN_KIND_RULE, round };
	loops->series[0] = &rounds[0];
	loops->series[1] = &rounds[1];
	root = BODY(terminal(0, 1), terminal(SYMBOLS + 1, times), terminal(3, 1));
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, loops->loop, 2, each_has, &loops->set) ==
	      RN_OK);
	loops->flow = (struct rn_flow){ loops->rules, root, loops->set, loops->series, 0 };
	s = rn_stretch_new(&mem, loops->set, 1000);
	return rn_flow_measure(s, &loops->flow, executions);
}

static void expect(struct rn_walk *w, uint64_t k, uint32_t wanted)
{
	uint32_t t = UINT32_MAX;

	CHECK(rn_walk_seek(w, k) == RN_OK && rn_walk_next(w, &t) == 1 && t == wanted);
	CHECK(rn_walk_pos(w) == k + 1);
}

static void test_long(void)
{
	const uint64_t huge = (uint64_t)1 << 40;
	clock_t start = clock();
	struct rn_walk w;
	uint32_t t;

	/* 2^40 executions of loop 1 with 2^10 iterations each. An iteration is loop 0 with 2^6
	 * iterations, and a symbol. */
	CHECK(long_stream(64, 1024, huge, true) && loops->flow.length == huge * 1024 * 65 + 2);
	CHECK(rn_walk_flow(&w, &loops->flow, &mem) == RN_OK);
	expect(&w, 0, 0);
	expect(&w, 1, 1);
	expect(&w, 65, 2);
	expect(&w, huge * 65 + 64, 1);
	expect(&w, huge * 65 + 65, 2);
	expect(&w, huge * 1024 * 65, 2);
	expect(&w, huge * 1024 * 65 + 1, 3);
	rn_arena_free(&mem);

	/* Only executions without iterations between two symbols. */
	CHECK(long_stream(0, huge, 1024, false) && loops->flow.length == 2);
	CHECK(rn_walk_flow(&w, &loops->flow, &mem) == RN_OK);
	CHECK(rn_walk_next(&w, &t) == 1 && t == 0 && rn_walk_next(&w, &t) == 1 && t == 3);
	CHECK(rn_walk_next(&w, &t) == 0);
	CHECK(rn_walk_seek(&w, 0) == RN_OK && rn_walk_read(&w, symbol, 9) == 2 && symbol[1] == 3);
	rn_arena_free(&mem);
	CHECK(clock() - start < CLOCKS_PER_SEC);
	ok("as long as can be, and as empty: found at once");
}

static void test_hostile(void)
{
	struct rn_loop itself[2] = { { RN_KIND_RULE, 0 }, { RN_KIND_RULE, 0 } };
	struct rn_loop empty = { RN_KIND_RULE, 0 };
	struct rn_loopset *set;
	uint32_t run[2] = { 0, SYMBOLS }, lit, last;

	CHECK(!long_stream((uint64_t)1 << 31, (uint64_t)1 << 31, 2, true));
	rn_arena_free(&mem);
	CHECK(!long_stream(0, (uint64_t)1 << 62, 2, false));
	rn_arena_free(&mem);
	begin();
	BODY(terminal(SYMBOLS, 1), terminal(SYMBOLS + 1, 1));
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, itself, 2, each_has, &set) == RN_E_DATA);
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, itself, 1, each_has, &set) == RN_E_DATA);
	rn_arena_free(&mem);
	begin();
	CHECK(rn_rules_add(loops->rules, NULL, 0, &last) == RN_OK);
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, &empty, 1, each_has, &set) == RN_E_DATA);
	empty = (struct rn_loop){ RN_KIND_TERMINAL, SYMBOLS };
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, &empty, 1, each_has, &set) == RN_E_DATA);
	empty.id = 0;
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, &empty, 1, each_has, &set) == RN_OK);
	CHECK(rn_rules_add_literal(loops->rules, run, 2, &lit) == RN_OK);
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, &empty, 1, each_has, &set) == RN_E_DATA);
	rn_arena_free(&mem);
	begin();
	last = BODY(terminal(SYMBOLS, 1), terminal(1, 1));
	for (unsigned i = 0; i < 20000; i++)
		last = BODY(rule(last, 1), terminal(SYMBOLS, 1));
	empty.id = 0;
	CHECK(rn_loopset_new(&mem, loops->rules, SYMBOLS, &empty, 1, each_has, &set) == RN_E_DATA);
	rn_arena_free(&mem);
	ok("what contradicts itself, or goes too deep, is refused");
}

int main(void)
{
	test_random();
	test_long();
	test_hostile();
	return tap_done();
}
