/*
 * test_waits.c - deadlocked ranks and their causes, compared with the simplest algorithm on random
 * graphs, and tested on some graphs with known results.
 */
#include "tap.h"

#include <string.h>

#include "analysis/wait_graph.h"
#include "base/arena.h"

#define RANKS 12u

struct graph {
	uint64_t rank[RANKS][RANKS];
	struct rn_wait_set set[RANKS];
	struct rn_waiter waiter[RANKS];
	uint64_t n;
};

static void wait_for(struct graph *g, uint64_t who, uint64_t whom, bool all)
{
	struct rn_wait_set *s = &g->set[who];

	g->rank[who][s->n++] = whom;
	s->rank = g->rank[who];
	s->all = all;
	g->waiter[who].set = s;
}

/* The model: repeats until nothing changes. */
static void plainly(const struct graph *g, bool *goes)
{
	for (uint64_t r = 0; r < g->n; r++)
		goes[r] = !g->waiter[r].gone && !g->waiter[r].set;
	for (uint64_t round = 0; round < g->n; round++)
		for (uint64_t r = 0; r < g->n; r++) {
			const struct rn_wait_set *s = g->waiter[r].set;
			uint64_t can = 0;

			for (uint64_t i = 0; s && i < s->n; i++)
				can += s->rank[i] >= g->n || goes[s->rank[i]];
			if (s && !g->waiter[r].gone && (s->all ? can == s->n : can > 0))
				goes[r] = true;
		}
}

static bool waits_for(const struct graph *g, uint64_t who, uint64_t whom)
{
	const struct rn_wait_set *s = g->waiter[who].set;

	for (uint64_t i = 0; s && i < s->n; i++)
		if (s->rank[i] == whom)
			return true;
	return false;
}

static void judged(const struct graph *g)
{
	bool goes[RANKS];
	struct rn_arena mem;
	struct rn_verdict v;
	uint64_t stuck = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_waits_judge(g->waiter, g->n, &mem, &v) == RN_OK);
	plainly(g, goes);
	for (uint64_t r = 0; r < g->n; r++)
		if (!goes[r] && !g->waiter[r].gone)
			CHECK(stuck < v.stuck_n && v.stuck[stuck++] == r);
	CHECK(stuck == v.stuck_n);
	for (uint64_t i = 0; i < v.circle_n; i++) {
		CHECK(!goes[v.circle[i]] && !g->waiter[v.circle[i]].gone);
		CHECK(v.circle[i] >= v.circle[0]);
		CHECK(waits_for(g, v.circle[i], v.circle[(i + 1) % v.circle_n]));
	}
	for (uint64_t i = 0; i < v.root_n; i++)
		CHECK(g->waiter[v.root[i]].gone || !g->waiter[v.root[i]].set);
	/* A blocked rank is blocked on a blocked rank, or on one that has ended. */
	if (v.stuck_n && !v.circle_n) {
		bool gone = false;

		for (uint64_t i = 0; i < v.root_n; i++)
			gone |= g->waiter[v.root[i]].gone;
		CHECK(gone);
	}
	rn_arena_free(&mem);
}

static void test_random(void)
{
	for (int i = 0; i < 20000; i++) {
		struct graph g = { .n = 1 + tap_below(RANKS) };

		for (uint64_t r = 0; r < g.n; r++) {
			uint64_t n = tap_below(4);
			bool all = tap_below(2);

			g.waiter[r].gone = tap_below(10) == 0;
			for (uint64_t k = 0; k < n && !g.waiter[r].gone; k++)
				wait_for(&g, r, tap_below(g.n + tap_below(2)), all);
		}
		judged(&g);
	}
}

static struct rn_verdict verdict_of(const struct graph *g, struct rn_arena *mem)
{
	struct rn_verdict v;

	CHECK(rn_waits_judge(g->waiter, g->n, mem, &v) == RN_OK);
	return v;
}

static void test_known(void)
{
	struct rn_arena mem;
	struct graph pair = { .n = 3 }, computes = { .n = 3 }, gone = { .n = 2 },
		     chain = { .n = 12 };
	struct rn_verdict v;

	rn_arena_init(&mem, SIZE_MAX);
	wait_for(&pair, 0, 1, true);
	wait_for(&pair, 1, 0, false);
	wait_for(&pair, 1, 2, false);
	wait_for(&pair, 2, 1, true);
	v = verdict_of(&pair, &mem);
	CHECK(v.circle_n == 2 && v.circle[0] == 0 && v.circle[1] == 1 && v.stuck_n == 3);
	wait_for(&computes, 0, 1, true);
	wait_for(&computes, 1, 0, false);
	wait_for(&computes, 1, 2, false);
	v = verdict_of(&computes, &mem);
	CHECK(v.circle_n == 0 && v.stuck_n == 0 && v.root_n == 1 && v.root[0] == 2 &&
	      v.waiting == 2);
	wait_for(&gone, 0, 1, true);
	gone.waiter[1].gone = true;
	v = verdict_of(&gone, &mem);
	CHECK(v.circle_n == 0 && v.stuck_n == 1 && v.root_n == 1 && v.root[0] == 1);
	for (uint64_t r = 0; r + 1 < chain.n; r++)
		wait_for(&chain, r, r + 1, true);
	v = verdict_of(&chain, &mem);
	CHECK(v.stuck_n == 0 && v.waiting == 11 && v.root_n == 1 && v.root[0] == 11);
	rn_arena_free(&mem);
}

static void test_memory(void)
{
	struct graph g = { .n = 2 };

	wait_for(&g, 0, 1, true);
	wait_for(&g, 1, 0, true);
	for (uint64_t at = 1; at < 8; at++) {
		struct rn_arena mem;
		struct rn_verdict v;

		rn_arena_init(&mem, SIZE_MAX);
		mem.fail_at = at;
		CHECK(rn_waits_judge(g.waiter, g.n, &mem, &v) == RN_E_NOMEM);
		rn_arena_free(&mem);
	}
}

int main(void)
{
	test_known();
	ok("circles, ranks that compute, ranks that are gone");
	test_random();
	ok("as the plain way says");
	test_memory();
	ok("no memory is said");
	return tap_done();
}
