/* test_units.c - sealed series, compared with a plain array: every query, every encoding. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "series/series.h"
#include "series/units.h"

#include <string.h>

#include "numbers.h"

static struct numbers in;
static rn_i128 prefix[NUMBERS_MAX + 1];
static int64_t out[NUMBERS_MAX];
static struct rn_arena mem;
static struct rn_buf buf, again;
static uint64_t elements, undecided;

static struct rn_series *build(struct rn_arena *a)
{
	struct rn_series *s = rn_series_new(a);

	for (uint32_t i = 0; i < in.n; i++)
		CHECK(rn_series_append(s, in.v[i]) == RN_OK);
	return s;
}

static struct rn_units *seal(struct rn_arena *a)
{
	struct rn_units *u = NULL;

	CHECK(rn_units_seal(a, build(a), &u) == RN_OK);
	elements += in.n;
	return u;
}

static struct rn_units *decode(struct rn_arena *a, const struct rn_buf *b, size_t len)
{
	struct rn_reader r = rn_reader(b->data, len);
	struct rn_units *u = NULL;

	return rn_units_decode(a, &r, &u, NULL) < 0 ? NULL : u;
}

static bool model_monotone(void)
{
	for (uint32_t i = 1; i < in.n; i++)
		if (in.v[i - 1] > in.v[i])
			return false;
	return true;
}

static bool model_nonneg(void)
{
	for (uint32_t i = 0; i < in.n; i++)
		if (in.v[i] < 0)
			return false;
	return true;
}

static void check_elements(const struct rn_units *u)
{
	CHECK(rn_units_length(u) == in.n);
	CHECK(rn_units_read(u, 0, out, NUMBERS_MAX) == in.n);
	CHECK(memcmp(out, in.v, in.n * sizeof(*out)) == 0);
	for (uint32_t k = 0; in.n && k < 500; k++) {
		uint64_t i = k < in.n && k < 100 ? k : tap_below(in.n), n = tap_below(50);
		size_t left = in.n - i < n ? in.n - i : n;

		CHECK(rn_units_at(u, i) == in.v[i]);
		CHECK(rn_units_read(u, i, out, n) == left);
		CHECK(memcmp(out, in.v + i, left * sizeof(*out)) == 0);
	}
	CHECK(rn_units_read(u, in.n, out, 1) == 0);
}

/* Index of the last element not above x, or -1. */
static int64_t model_find(int64_t x)
{
	int64_t lo = -1, hi = (int64_t)in.n - 1;

	while (lo < hi) {
		int64_t mid = hi - (hi - lo) / 2;

		if (in.v[mid] <= x)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

static void check_find(const struct rn_units *u)
{
	uint64_t i = 0;

	if (!rn_units_monotone(u)) {
		CHECK(rn_units_find(u, 0, &i) == RN_E_ARG);
		undecided += model_monotone();
		return;
	}
	CHECK(model_monotone());
	for (uint32_t k = 0; in.n && k < 300; k++) {
		uint64_t wrong = tap_below(3) ? tap_below(7) : tap_rand();
		int64_t x = (int64_t)((uint64_t)in.v[tap_below(in.n)] + 3 - wrong);
		int64_t want = model_find(x);
		int rc = rn_units_find(u, x, &i);

		CHECK(want < 0 ? rc == RN_E_RANGE : rc == RN_OK && i == (uint64_t)want);
	}
}

static void check_sums(const struct rn_units *u)
{
	prefix[0] = 0;
	for (uint32_t i = 0; i < in.n; i++)
		prefix[i + 1] = prefix[i] + in.v[i];
	for (uint32_t k = 0; k < 300; k++) {
		uint64_t i = k ? tap_below(in.n + 1) : in.n;

		CHECK(rn_units_sum(u, i) == prefix[i]);
	}
}

static void check_all(const struct rn_units *u)
{
	check_elements(u);
	check_find(u);
	check_sums(u);
}

static void check_bytes(const struct rn_units *u)
{
	struct rn_units *v = NULL;
	struct rn_reader r;

	rn_buf_clear(&buf);
	CHECK(rn_units_encode(u, &buf) == RN_OK);
	r = rn_reader(buf.data, buf.len);
	if (!CHECK(rn_units_decode(&mem, &r, &v, NULL) == RN_OK))
		return;
	CHECK(rn_left(&r) == 0);
	check_all(v);
	rn_buf_clear(&again);
	CHECK(rn_units_encode(v, &again) == RN_OK);
	CHECK(again.len == buf.len && memcmp(again.data, buf.data, buf.len) == 0);
}

/* A series is sealed and encoded quickly, with an offset subtracted, and recompressed later. Its
 * bytes are then those of `u`, which was compressed at once. */
static void check_quick(const struct rn_units *u)
{
	int64_t base = model_nonneg() && in.n ? in.v[0] : 0;
	struct rn_units *quick = NULL, *small = NULL;
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	CHECK(rn_units_seal_quickly(&mem, &scratch, build(&mem), &quick) == RN_OK);
	check_elements(quick);
	CHECK(rn_units_nonneg(quick) == model_nonneg());
	rn_buf_clear(&buf);
	CHECK(rn_units_encode_quickly(quick, base, &buf) == RN_OK);
	quick = decode(&mem, &buf, buf.len);
	CHECK(rn_units_read(quick, 0, out, NUMBERS_MAX) == in.n);
	for (uint32_t i = 0; i < in.n; i++)
		CHECK(out[i] == in.v[i] - base);
	rn_buf_clear(&buf);
	CHECK(rn_units_encode_quickly(quick, -base, &buf) == RN_OK);
	quick = decode(&mem, &buf, buf.len);
	CHECK(rn_units_shrink(&mem, &scratch, quick, &small) == RN_OK);
	check_all(small);
	rn_buf_clear(&buf);
	rn_buf_clear(&again);
	CHECK(rn_units_encode(u, &buf) == RN_OK && rn_units_encode(small, &again) == RN_OK);
	CHECK(again.len == buf.len && memcmp(again.data, buf.data, buf.len) == 0);
	rn_arena_free(&scratch);
}

static void test_model(void)
{
	for (int round = 0; round < 500; round++) {
		struct rn_units *u;

		numbers_random(&in, round % 5 ? 1500 : NUMBERS_MAX);
		u = seal(&mem);
		check_all(u);
		check_bytes(u);
		check_quick(u);
		rn_arena_free(&mem);
	}
	diag("%llu elements; %llu growing series not known to grow", (unsigned long long)elements,
	     (unsigned long long)undecided);
	CHECK(undecided < 10);
}

/* Every length from 0 to a few blocks: raw tails, first lanes. */
static void test_short(void)
{
	for (uint32_t n = 0; n < 200; n++) {
		for (int kind = 0; kind < 7; kind++) {
			const struct rn_units *u;

			in.n = 0;
			in.limit = n;
			if (kind < 2)
				numbers_even(&in, n);
			else if (kind < 3)
				numbers_cycle(&in, n, 3);
			else if (kind < 5)
				numbers_lanes(&in, n, 2 + tap_below(15));
			else
				numbers_noise(&in, n, kind == 5 ? 0 : 2);
			u = seal(&mem);
			check_bytes(u);
			check_quick(u);
			rn_arena_free(&mem);
		}
	}
}

static size_t size_of(void)
{
	rn_buf_clear(&buf);
	CHECK(rn_units_encode(seal(&mem), &buf) == RN_OK);
	rn_arena_free(&mem);
	return buf.len;
}

static void fill_nested(void)
{
	in.n = 0;
	in.limit = NUMBERS_MAX;
	for (uint64_t i = 0; i < 30; i++)
		for (uint64_t j = 0; j < 30; j++)
			for (uint64_t k = 0; k < 30; k++)
				numbers_put(&in, i * 1000000000000u + j * 1000000000u + k * 4096);
}

static void fill_lanes(uint64_t apart)
{
	in.n = 0;
	in.limit = NUMBERS_MAX;
	for (uint64_t i = 0; i < 20000; i++)
		numbers_put(&in, i % 8 * apart + i / 8 * (8 + i % 8 * 24));
}

static void fill_even(uint64_t n, uint64_t first, uint64_t d)
{
	in.n = 0;
	in.limit = NUMBERS_MAX;
	for (uint64_t i = 0; i < n; i++)
		numbers_put(&in, first + i * d);
}

static void test_sizes(void)
{
	size_t size;

	fill_nested();
	CHECK((size = size_of()) <= 40);
	diag("three nested strides: %zu bytes", size);
	fill_lanes(1000000);
	CHECK((size = size_of()) <= 64);
	diag("eight lanes: %zu bytes", size);
	fill_lanes(1000000007);
	CHECK(size_of() <= 64);
	fill_even(NUMBERS_MAX, 0, 1);
	CHECK(size_of() <= 6);
	fill_even(NUMBERS_MAX, 7, 0);
	CHECK(size_of() <= 6);
	fill_even(5, 100, 0);
	CHECK(size_of() <= 4);
	fill_even(6, 0, 3);
	CHECK(size_of() == 3);
	fill_even(1, 5, 0);
	CHECK(size_of() == 2);
	fill_even(0, 0, 0);
	CHECK(size_of() == 1);
}

/* 2^62 elements in a few bytes, and sums of 2^123. */
static void test_huge(void)
{
	struct rn_units *u;
	uint64_t i = 0, n = (uint64_t)1 << 60;
	rn_i128 total;

	rn_buf_clear(&buf);
	rn_buf_u64(&buf, n << 3 | 1 << 1);
	rn_buf_i64(&buf, 5);
	rn_buf_i64(&buf, 7);
	u = decode(&mem, &buf, buf.len);
	if (!CHECK(u != NULL))
		return;
	CHECK(rn_units_length(u) == n);
	CHECK(rn_units_at(u, n - 1) == (int64_t)(5 + (n - 1) * 7));
	total = (rn_i128)n * 5 + (rn_i128)7 * (rn_i128)n * (rn_i128)(n - 1) / 2;
	CHECK(rn_units_sum(u, n) == total);
	for (uint64_t k = 0; k < 2000; k++) {
		uint64_t want = tap_rand() >> (4 + tap_below(60));

		CHECK(rn_units_find(u, rn_units_at(u, want), &i) == RN_OK && i == want);
	}
	rn_arena_free(&mem);
}

/* Ranges from negative to positive: elements rise from one end of int64 to the other and return. */
static void test_range(void)
{
	in.n = 0;
	in.limit = NUMBERS_MAX;
	for (int round = 0; round < 20; round++) {
		for (int64_t k = 0; k < 64; k++)
			numbers_put(&in, (uint64_t)INT64_MIN + (uint64_t)k * ((uint64_t)1 << 58));
		for (int64_t k = 63; k >= 0; k--)
			numbers_put(&in, (uint64_t)INT64_MIN + (uint64_t)k * ((uint64_t)1 << 58));
	}
	check_bytes(seal(&mem));
	in.n = 0;
	for (int64_t k = 0; k < 30000; k++)
		numbers_put(&in, (uint64_t)(INT64_MAX - k * (INT64_MAX / 30000)));
	check_bytes(seal(&mem));
	for (unsigned bits = 20; bits < 63; bits++) { /* sums from 2^30 to 2^77 */
		in.n = 0;
		for (uint64_t i = 0; i < 8; i++)
			for (uint64_t k = 0; k < 1024; k++)
				numbers_put(&in, ((uint64_t)1 << bits) - (i << (bits - 3)) -
							 k % 32 * (bits - 19) - (k >> 5));
		check_bytes(seal(&mem));
	}
	rn_arena_free(&mem);
}

/* Three lanes with slightly different strides: they grow together until one overtakes. */
static void test_growing_lanes(void)
{
	for (uint64_t rounds = 100; rounds < 300; rounds++) {
		struct rn_units *u;

		in.n = 0;
		in.limit = NUMBERS_MAX;
		for (uint64_t i = 0; i < 3 * rounds + rounds % 3; i++)
			numbers_put(&in, i / 3 * (1000 + i % 3) + i % 3 * 300);
		u = seal(&mem);
		CHECK(rn_units_monotone(u) == model_monotone());
		check_bytes(u);
		rn_arena_free(&mem);
	}
}

/* Bytes that the encoder did not write are rejected, or decode to a sound series. */
static void poke(const struct rn_units *u)
{
	uint64_t n = rn_units_length(u), i;

	for (int k = 0; k < 4 && n; k++) {
		i = tap_rand() % n;
		rn_units_find(u, rn_units_at(u, i), &i);
		rn_units_sum(u, i);
		rn_units_read(u, i, out, 20);
	}
}

/* Ascending lists that are searched are detected as ascending: lanes that drift, rows, blocks,
 * noise. */
static void test_sorted(void)
{
	for (unsigned round = 0; round < 400; round++) {
		uint64_t period = 1 + tap_below(12), kind = tap_below(3), i;
		struct rn_series *s;
		struct rn_units *u = NULL;
		int64_t x = 0;

		rn_arena_free(&mem);
		s = rn_series_new_sorted(&mem);
		in.n = 1 + (uint32_t)tap_below(3000);
		for (i = 0; i < in.n; i++) {
			in.v[i] = x;
			x += kind == 0 ? (int64_t)tap_below(period + 1)
				       : 1 + (int64_t)(i % period * (kind == 1 ? 1 : i / 300));
			CHECK(rn_series_append(s, in.v[i]) == RN_OK);
		}
		CHECK(rn_units_seal(&mem, s, &u) == RN_OK);
		if (!CHECK(rn_units_monotone(u)))
			return;
		check_elements(u);
		CHECK(rn_units_find(u, in.v[in.n / 2], &i) == RN_OK && in.v[i] == in.v[in.n / 2]);
	}
}

static void test_damage(void)
{
	struct rn_arena a;

	rn_arena_init(&a, SIZE_MAX);
	for (int round = 0; round < 150; round++) {
		numbers_random(&in, 400);
		rn_buf_clear(&buf);
		CHECK(rn_units_encode(seal(&mem), &buf) == RN_OK);
		rn_arena_free(&mem);
		for (int k = 0; k < 60; k++) {
			size_t cut = tap_below(2) ? buf.len : tap_below(buf.len + 1);
			unsigned char *byte = &buf.data[tap_below(buf.len)], old = *byte;
			struct rn_units *u;

			if (cut == buf.len)
				*byte = (unsigned char)(*byte ^ (1u << tap_below(8)));
			u = decode(&a, &buf, cut);
			if (u)
				poke(u);
			*byte = old;
			rn_arena_rewind(&a, (struct rn_arena_mark){ 0 });
		}
	}
	rn_arena_free(&a);
}

static bool refused(const char *bytes, size_t len)
{
	struct rn_reader r = rn_reader(bytes, len);
	struct rn_err err = { 0 };
	struct rn_units *u;
	int rc = rn_units_decode(&mem, &r, &u, &err);

	return rc == RN_E_DATA && err.code == rc && err.text[0];
}
#define REFUSED(s) CHECK(refused(s, sizeof(s) - 1))

static void test_refused(void)
{
	REFUSED("");
	REFUSED("\x01");             /* the unit has a successor, which is missing */
	REFUSED("\x02");             /* even, no elements */
	REFUSED("\x01\x01");         /* an empty unit before another one */
	REFUSED("\x04\x00");         /* nested without rules */
	REFUSED("\x0c\x00\x00\x02"); /* the elastic escape */
	REFUSED("\x0c\x00\x00\x04"); /* an undefined symbol */
	REFUSED("\x14\x00\x00\x00\x02\x00\x00\x02"); /* an unused rule */
	REFUSED("\x1e\x00");                         /* reserved kind */
	REFUSED("\x2e\x02\x00\x00");                 /* one lane */
	REFUSED("\x4e\x01\x00\x00");                 /* more lanes than elements */
	REFUSED("\x06\x00\x00");                     /* an empty column */
	/* 2^63 - 1 and one more */
	REFUSED("\x12\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02");
	/* 2 * 2^62 deltas */
	REFUSED("\x0c\x00\x01\x01\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x3f"
		"\x05\xfe\xff\xff\xff\xff\xff\xff\xff\x3f");
	rn_arena_free(&mem);
}

/* Every allocation of sealing and decoding fails once, and every growth of the buffer. */
static void test_no_memory(void)
{
	for (int round = 0; round < 40; round++) {
		struct rn_series *s = rn_series_new(&mem);
		struct rn_units *u = NULL;
		struct rn_arena a;
		int rc = RN_E_NOMEM;

		numbers_random(&in, 700);
		for (uint32_t i = 0; i < in.n; i++)
			rn_series_append(s, in.v[i]);
		rn_arena_init(&a, SIZE_MAX);
		for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
			a.fail_at = n;
			rc = rn_units_seal(&a, s, &u);
			CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		}
		a.fail_at = 0;
		check_elements(u);
		rc = RN_E_NOMEM;
		for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
			rn_buf_free(&buf);
			rn_buf_fail_at(n);
			rc = rn_units_encode(u, &buf);
			CHECK(rc == RN_OK || (rc == RN_E_NOMEM && buf.len == 0));
		}
		rn_buf_fail_at(0);
		rc = RN_E_NOMEM;
		for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
			struct rn_reader r = rn_reader(buf.data, buf.len);

			a.fail_at = n;
			rc = rn_units_decode(&a, &r, &u, NULL);
			CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		}
		a.fail_at = 0;
		check_elements(u);
		rn_arena_free(&a);
		rn_arena_free(&mem);
	}
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_model();
	ok("sealed and decoded series agree with a plain array");
	test_short();
	ok("so do all short ones");
	test_sizes();
	ok("patterns take few bytes");
	test_huge();
	ok("2^60 elements");
	test_range();
	ok("the whole range of int64");
	test_growing_lanes();
	ok("lanes that grow");
	test_sorted();
	ok("what is meant to be searched can be");
	test_damage();
	ok("damaged bytes are refused or harmless");
	test_refused();
	ok("impossible bytes are refused");
	test_no_memory();
	ok("memory that runs out");
	rn_buf_free(&buf);
	rn_buf_free(&again);
	return tap_done();
}
