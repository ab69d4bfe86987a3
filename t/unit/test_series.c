/* test_series.c - the series builder: random sequences, expected values, lack of memory. */
#include "base/arena.h"
#include "base/buf.h"
#include "series/series.h"
#include "series/units.h"

#include <string.h>

#include "numbers.h"

static struct numbers in;
static int64_t out[NUMBERS_MAX];
static struct rn_arena mem;
static struct rn_buf buf;

/* The series is equal to the first n numbers. */
static bool holds(const struct rn_series *s, uint32_t n)
{
	struct rn_units *u = NULL;
	struct rn_arena a;
	bool good;

	rn_arena_init(&a, SIZE_MAX);
	good = rn_units_seal(&a, s, &u) == RN_OK && rn_units_read(u, 0, out, NUMBERS_MAX) == n &&
	       memcmp(out, in.v, n * sizeof(*out)) == 0;
	rn_arena_free(&a);
	return good;
}

static void append(struct rn_series *s, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		CHECK(rn_series_append(s, in.v[i]) == RN_OK);
}

static void test_random(void)
{
	uint64_t elements = 0;

	for (int round = 0; round < 400; round++) {
		struct rn_series *s = rn_series_new(&mem);
		uint32_t stop;

		numbers_random(&in, round % 4 ? 3000 : NUMBERS_MAX);
		stop = (uint32_t)tap_below(in.n + 1);
		append(s, 0, stop);
		CHECK(rn_series_check(s));
		CHECK(holds(s, stop)); /* sealing in the middle changes nothing */
		append(s, stop, in.n);
		CHECK(rn_series_check(s));
		CHECK(holds(s, in.n));
		elements += in.n;
		rn_arena_free(&mem);
	}
	diag("%llu elements", (unsigned long long)elements);
}

/* After a pattern was detected, the expected values are the next values. */
static void check_expected(uint32_t from, uint32_t k)
{
	struct rn_series *s = rn_series_new(&mem);

	append(s, 0, from);
	for (uint32_t i = from; i < from + k; i++) {
		int64_t next = 0;

		CHECK(rn_series_expect(s, &next) && next == in.v[i]);
		append(s, i, i + 1);
	}
	rn_arena_free(&mem);
}

/* Appends n equally spaced numbers that are far from the limits of int64. */
static void put_even(uint64_t n)
{
	uint64_t x = tap_rand() >> 20, d = tap_below(1000) - 500;

	for (uint64_t i = 0; i < n; i++)
		numbers_put(&in, x + i * d);
}

static void test_expect(void)
{
	in.limit = NUMBERS_MAX;
	for (uint32_t from = 3; from < 100; from++) {
		in.n = 0;
		put_even(1000);
		check_expected(from, 20);
	}
	for (uint32_t from = 500; from < 600; from++) {
		in.n = 0;
		for (uint64_t i = 0; i < 1000; i++)
			numbers_put(&in, i / 7 * 1000 + i % 7 * (i % 7));
		check_expected(from, 100);
		in.n = 0;
		for (uint64_t i = 0; i < 3000; i++)
			numbers_put(&in, i % 9 * 1000000 + i / 9 * (i % 9 + 1));
		check_expected(from, 1024);
	}
}

static void test_none_expected(void)
{
	struct rn_series *s = rn_series_new(&mem);
	int64_t next = 0;

	CHECK(!rn_series_expect(s, &next));
	for (int i = 0; i < 5000; i++)
		CHECK(rn_series_append(s, (int64_t)tap_rand()) == RN_OK);
	CHECK(!rn_series_expect(s, &next));
	rn_arena_free(&mem);
	/* The pattern ends at the limit of int64. */
	s = rn_series_new(&mem);
	for (int64_t i = 0; i < 51; i++)
		CHECK(rn_series_append(s, INT64_MAX - 102 + 2 * i) == RN_OK);
	CHECK(rn_series_expect(s, &next) && next == INT64_MAX);
	CHECK(rn_series_append(s, next) == RN_OK && !rn_series_expect(s, &next));
	rn_arena_free(&mem);
}

/* ---- memory that runs out ---- */

/* Appends everything while allocation number fail_at fails. Returns false if there was no such
 * allocation. */
static bool survives(uint64_t fail_at)
{
	struct rn_series *s;
	bool failed = false;

	mem.fail_at = fail_at;
	s = rn_series_new(&mem);
	if (!s)
		return true;
	for (uint32_t i = 0; i < in.n; i++) {
		int rc = rn_series_append(s, in.v[i]);

		if (rc == RN_OK)
			continue;
		failed = true;
		CHECK(rc == RN_E_NOMEM);
		CHECK(rn_series_check(s));
		CHECK(holds(s, i));
		i--; /* the next attempt does not fail */
	}
	mem.fail_at = 0;
	CHECK(holds(s, in.n));
	return failed;
}

static void test_no_memory(void)
{
	for (int round = 0; round < 40; round++) {
		bool failed = true;

		numbers_random(&in, 1200);
		for (uint64_t n = 1; failed && n < 5000; n++) {
			failed = survives(n);
			rn_arena_free(&mem);
		}
		CHECK(!failed);
	}
}

/* ---- compression: sizes of sequences whose pattern does not start at once ---- */

static size_t sealed_size(void)
{
	struct rn_series *s = rn_series_new(&mem);
	struct rn_units *u = NULL;

	append(s, 0, in.n);
	rn_buf_clear(&buf);
	CHECK(rn_units_seal(&mem, s, &u) == RN_OK && rn_units_encode(u, &buf) == RN_OK);
	rn_arena_free(&mem);
	return buf.len;
}

static void test_late_patterns(void)
{
	in.n = 0;
	in.limit = NUMBERS_MAX;
	numbers_noise(&in, 5000, 0);
	put_even(20000);
	CHECK(sealed_size() < 5000 * 8 + 600);
	in.n = 0;
	numbers_noise(&in, 2000, 0);
	for (uint64_t i = 0; i < 20000; i++)
		numbers_put(&in, i % 5 * 1000 + i / 5 * (i % 5 + 1));
	numbers_noise(&in, 2000, 0);
	CHECK(sealed_size() < 4000 * 8 + 3000);
	in.n = 0;
	numbers_noise(&in, 5000, 2);
	put_even(20000);
	CHECK(sealed_size() < 2000);
	in.n = 0;
	numbers_places(&in, 30000, 900);
	CHECK(sealed_size() < 900 * 5 * 3);
	in.n = 0;
	numbers_noise(&in, 3000, 0);
	numbers_places(&in, 30000, 60);
	CHECK(sealed_size() < 3000 * 8 + 60 * 5 * 3);
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_random();
	ok("what goes in comes out");
	test_expect();
	ok("patterns are expected to continue");
	test_none_expected();
	ok("and nothing else is");
	test_late_patterns();
	ok("patterns are found after noise, and long loops");
	test_no_memory();
	ok("every failed allocation leaves the series as it was");
	rn_buf_free(&buf);
	return tap_done();
}
