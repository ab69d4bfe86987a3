/*
 * test_idpool.c - the id pool, compared with an array of flags that mark the ids in use.
 */
#include "base/arena.h"
#include "base/err.h"
#include "track/id_pool.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define N 700000u /* more than 64 + 64^3: three levels of nodes */

struct model {
	struct rn_idpool pool;
	struct rn_arena mem;
	bool out[N];
	uint32_t lowest, n; /* all ids below `lowest` are in use; n ids are in use in total */
};

static struct model m;

static void start(void)
{
	memset(&m, 0, sizeof(m));
	rn_idpool_init(&m.pool);
	rn_arena_init(&m.mem, SIZE_MAX);
}

static uint32_t expected(void)
{
	while (m.out[m.lowest])
		m.lowest++;
	return m.lowest;
}

static bool take(void)
{
	uint32_t got = UINT32_MAX;

	if (rn_idpool_take(&m.pool, &m.mem, &got) < 0 || got != expected())
		return false;
	m.out[got] = true;
	m.n++;
	return true;
}

static void give(uint32_t i)
{
	rn_idpool_give(&m.pool, i);
	m.out[i] = false;
	m.n--;
	if (i < m.lowest)
		m.lowest = i;
}

/* Releases an id that is in use, the first at or after a random one. */
static void give_any(uint32_t range)
{
	uint32_t i = (uint32_t)tap_below(range);

	while (!m.out[i])
		i = (i + 1) % range;
	give(i);
}

static void test_small(void)
{
	start();
	for (uint32_t i = 0; i < 64; i++)
		CHECK(take());
	for (uint32_t i = 0; i < 1000; i++) {
		give_any(64);
		CHECK(take());
	}
	CHECK(m.mem.mapped == 0 && m.pool.more == NULL && sizeof(m.pool) <= 24);
	CHECK(take() && m.lowest == 64 && m.mem.mapped > 0);
	rn_arena_free(&m.mem);
}

/* Alternates phases that mostly acquire ids with phases that mostly release ids. */
static void test_random(uint32_t ops, uint32_t most)
{
	uint32_t takes = 7;
	uint64_t wrong = 0;

	start();
	for (uint32_t i = 0; i < ops; i++) {
		if (i % (ops / 10) == 0) {
			takes = takes == 7 ? 4 : 7;
			CHECK(rn_idpool_check(&m.pool));
		}
		if (m.n == 0 || (m.n < most && tap_below(10) < takes))
			wrong += !take();
		else
			give_any(most);
	}
	CHECK(wrong == 0);
	CHECK(rn_idpool_check(&m.pool));
	rn_arena_free(&m.mem);
}

static void test_large(void)
{
	uint64_t wrong = 0;

	start();
	for (uint32_t i = 0; i < N; i++)
		wrong += !take();
	CHECK(wrong == 0 && m.n == N && rn_idpool_check(&m.pool));
	CHECK(m.mem.mapped < N); /* less than one byte per id */
	for (uint32_t i = 0; i < N; i++)
		if (tap_below(3))
			give(i);
	CHECK(rn_idpool_check(&m.pool));
	while (m.n < N)
		wrong += !take();
	for (uint32_t i = 0; i < N; i++)
		give(N - 1 - i);
	CHECK(wrong == 0 && rn_idpool_check(&m.pool));
	CHECK(take() && m.lowest == 0);
	rn_arena_free(&m.mem);
}

/* Each allocation fails in turn, including the second and third of one operation. The pool is
 * unchanged. */
static void test_failures(void)
{
	uint64_t wrong = 0, failures = 0;

	start();
	for (uint32_t i = 0; i < N; i++) {
		for (uint64_t at = 1; at <= 3; at++) {
			uint32_t got = 12345;

			m.mem.fail_at = at;
			errno = EDOM;
			if (rn_idpool_take(&m.pool, &m.mem, &got) == RN_OK) {
				rn_idpool_give(&m.pool, got);
				break;
			}
			failures++;
			CHECK(got == 12345 && errno == EDOM && rn_idpool_check(&m.pool));
		}
		m.mem.fail_at = 0;
		wrong += !take();
	}
	CHECK(wrong == 0 && failures > N / 4096);
	rn_arena_free(&m.mem);
}

/* An arena without free memory. */
static void test_limit(void)
{
	uint32_t got;

	start();
	m.mem.limit = 0;
	for (uint32_t i = 0; i < 64; i++)
		CHECK(take());
	errno = EDOM;
	CHECK(rn_idpool_take(&m.pool, &m.mem, &got) == RN_E_NOMEM && errno == EDOM);
	give(13);
	CHECK(take());
}

/* A copy has the same ids in use and is independent of the original. */
static void test_copy(uint32_t n)
{
	struct rn_arena mem;
	struct rn_idpool from, to;
	uint32_t got, other;

	rn_arena_init(&mem, SIZE_MAX);
	rn_idpool_init(&from);
	CHECK(!rn_idpool_any(&from));
	for (uint32_t i = 0; i < n; i++)
		CHECK(rn_idpool_take(&from, &mem, &got) == RN_OK);
	for (uint32_t i = 0; i + 1 < n; i++)
		rn_idpool_give(&from, i);
	CHECK(rn_idpool_any(&from) == (n > 0));
	for (uint64_t fail = 1; mem.fail_at = fail, rn_idpool_copy(&to, &from, &mem) < 0; fail++)
		CHECK(mem.fail_at == 0);
	mem.fail_at = 0;
	CHECK(rn_idpool_check(&to));
	for (uint32_t i = 0; i < 2 * n; i++)
		CHECK(rn_idpool_take(&from, &mem, &got) == RN_OK &&
		      rn_idpool_take(&to, &mem, &other) == RN_OK && got == other);
	for (uint32_t i = 0; i < 2 * n + (n > 0); i++)
		rn_idpool_give(&to, i);
	CHECK(!rn_idpool_any(&to) && rn_idpool_any(&from) == (n > 0));
	rn_arena_free(&mem);
}

int main(void)
{
	test_small();
	ok("64 numbers without memory");
	test_random(500000, 60);
	test_random(500000, 200);
	test_random(500000, 5000);
	ok("1.5 million operations agree with the model");
	test_large();
	ok("700 thousand out at once");
	test_failures();
	test_limit();
	ok("every allocation fails in turn and the pool is as it was");
	test_copy(0);
	test_copy(1);
	test_copy(64);
	test_copy(100);
	test_copy(10000);
	ok("a copy is the same, and on its own");
	return tap_done();
}
