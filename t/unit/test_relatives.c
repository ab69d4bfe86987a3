/*
 * test_relatives.c - delta-coded runs of signatures: they decode to the same signatures, are
 * small, and reject hostile bytes.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "encode/signature.h"
#include "model/payload.h"
#include "model/signature_delta.h"
#include "tap.h"
#include "call_writer.h"
#include "whole.h"

#include <string.h>

static const struct rn_func funcs[] = {
	{ 0, "f", (const char *const[]){ "a", "b", "c", "d", "e" }, 5, NULL },
	{ 1, "g", (const char *const[]){ "a", "b", "c", "d", "e" }, 5, NULL },
};
static const struct rn_word words[] = { { 0, "type" }, { 1, "heap" } };
static const struct rn_vocab vocab = { funcs, words, 2, 2 };

#define NUMBERS 6

static struct rn_arena mem;
static struct rn_sigs *table;
static struct rn_buf stored;

/* ---- tables ---- */

/* Two functions with a few forms each result in several templates. */
struct call {
	uint32_t func, form;
	uint64_t number[NUMBERS];
};

static void put(const struct call *c)
{
	unsigned char bytes[CALL_BUFFER];
	const uint64_t *v = c->number;
	struct rn_buf w;
	uint32_t id;
	size_t len;

	call_begin(&w, bytes, sizeof(bytes), c->func);
	rn_call_num(&w, c->form & 1 ? RN_V_XOR : RN_V_INT, (int64_t)v[0]);
	rn_call_place(&w, 1, v[1], (int64_t)v[2]);
	rn_call_list(&w, 1 + (c->form & 2));
	rn_call_num(&w, RN_V_VARIES, (int64_t)v[3]);
	for (uint32_t i = 0; i < (c->form & 2); i++)
		rn_call_text(&w, RN_V_STRING, "text", 4);
	rn_call_object(&w, 0, v[4]);
	rn_call_const(&w, 1);
	CHECK(call_end(&w, (int64_t)v[5], &len) == RN_OK);
	CHECK(rn_sigs_intern(table, bytes, len, &id) == RN_OK);
}

static uint64_t some_number(void)
{
	return tap_rand() >> tap_below(64);
}

static struct call random_call(void)
{
	struct call c = { (uint32_t)tap_below(2), (uint32_t)tap_below(4), { 0 } };

	for (int i = 0; i < NUMBERS; i++)
		c.number[i] = some_number();
	return c;
}

/* Numbers that are constant, rise or fall evenly, double, or are halved. */
static void put_line(struct call *c, uint64_t n)
{
	uint64_t how[NUMBERS], step[NUMBERS];

	for (int i = 0; i < NUMBERS; i++) {
		how[i] = tap_below(8);
		step[i] = some_number() * (tap_below(2) ? 1 : UINT64_MAX);
	}
	for (; n > 0; n--) {
		put(c);
		for (int i = 0; i < NUMBERS; i++) {
			uint64_t *v = &c->number[i];

			*v = how[i] == 0   ? *v + step[i]
			     : how[i] == 1 ? 2 * *v
			     : how[i] == 2 ? (uint64_t)((int64_t)*v >> 1)
					   : *v;
		}
	}
}

static void random_table(void)
{
	struct call c = random_call();

	for (uint64_t n = tap_below(12); n > 0; n--) {
		if (tap_below(3) == 0)
			c = random_call();
		if (tap_below(2)) {
			put_line(&c, tap_below(30));
			continue;
		}
		c.number[tap_below(NUMBERS)] = some_number();
		put(&c);
		if (tap_below(3) == 0)
			c.func = 1 - c.func;
	}
}

/* ---- both ways ---- */

static int decode(size_t len, struct rn_sigs **out)
{
	struct rn_err err = { 0 };
	int rc = WHOLE(stored.data, len, &err, rn_sigs_decode(&mem, &whole, &vocab, out, &err));

	CHECK(rc == RN_OK || (rc == RN_E_DATA && err.text[0]));
	return rc;
}

static bool same(const struct rn_sigs *a, const struct rn_sigs *b)
{
	bool good = rn_sigs_count(a) == rn_sigs_count(b);

	for (uint32_t i = 0; good && i < rn_sigs_count(a); i++) {
		size_t n, m;
		const void *x = rn_sigs_get(a, i, &n), *y = rn_sigs_get(b, i, &m);

		good = n == m && memcmp(x, y, n) == 0;
	}
	return good;
}

static void begin(void)
{
	rn_arena_free(&mem);
	table = rn_sigs_new(&mem);
	rn_buf_clear(&stored);
}

/* Encodes and decodes the table. Returns the encoded size in bytes. */
static size_t round_trip(void)
{
	struct rn_sigs *back;

	rn_buf_clear(&stored);
	CHECK(rn_sigs_encode_small(table, &stored) == RN_OK);
	CHECK(decode(stored.len, &back) == RN_OK && same(table, back));
	return stored.len;
}

/* Whether some signatures are stored as delta-coded runs. */
static bool has_lines(void)
{
	struct rn_buf plain = { 0 };
	bool has;

	rn_sigs_encode(table, &plain);
	has = plain.len != stored.len || memcmp(plain.data, stored.data, plain.len) != 0;
	rn_buf_free(&plain);
	return has;
}

static void test_random(void)
{
	uint64_t with_lines = 0;

	for (int round = 0; round < 3000; round++) {
		begin();
		random_table();
		round_trip();
		with_lines += has_lines();
	}
	CHECK(with_lines > 1000);
}

/* The size of a table of signatures whose numbers follow one pattern. */
static size_t size_of_line(uint64_t n, uint64_t first, int how, uint64_t step)
{
	struct call c = { 0 };

	begin();
	c.number[0] = c.number[4] = first;
	for (uint64_t i = 0; i < n; i++) {
		put(&c);
		c.number[4] += how == 0 ? step : 0;
		c.number[0] = how == 0   ? c.number[0] + step
			      : how == 1 ? c.number[0] * 2
					 : c.number[0] / 2;
	}
	round_trip();
	CHECK(has_lines() && rn_sigs_count(table) == n);
	return stored.len;
}

static void test_sizes(void)
{
	size_t plain = size_of_line(3, 5, 0, 7);

	CHECK(plain < 32);
	CHECK(size_of_line(10000, 5, 0, 7) <= plain + 4);
	CHECK(size_of_line(10000, 1u << 30, 0, (uint64_t)-1000) <= plain + 16);
	CHECK(size_of_line(60, 1, 1, 0) <= plain + 2);
	CHECK(size_of_line(40, 1ull << 40, 2, 0) <= plain + 8);
}

/* More signatures than a reader accepts in one run. */
static void test_long(void)
{
	CHECK(size_of_line(500000, 0, 0, 1) > (size_t)100000);
}

/* ---- hostile bytes ---- */

static void test_damaged(void)
{
	uint64_t taken = 0;
	struct rn_sigs *back;

	for (int round = 0; round < 20000; round++) {
		begin();
		random_table();
		CHECK(rn_sigs_encode_small(table, &stored) == RN_OK);
		for (uint64_t n = tap_below(3); n > 0; n--)
			stored.data[tap_below(stored.len)] = (unsigned char)tap_rand();
		taken += decode(tap_below(2) ? stored.len : tap_below(stored.len + 1), &back) ==
			 RN_OK;
	}
	diag("%llu of 20000 damaged tables were still tables", (unsigned long long)taken);
}

/* Decodes a signature of function 0, and what follows it. */
static int decode_after_one(uint64_t count, const char *bytes, size_t n)
{
	const char one[] =
		"\x07\x00\x00\x00\x00\x00\x00\x00"; /* five numbers, and the return value */
	struct rn_sigs *back;

	begin();
	rn_buf_u64(&stored, count);
	rn_buf_add(&stored, one, sizeof(one) - 1);
	rn_buf_add(&stored, bytes, n);
	return decode(stored.len, &back);
}

#define AFTER_ONE(count, bytes) decode_after_one(count, bytes, sizeof(bytes) - 1)

static void test_refused(void)
{
	CHECK(AFTER_ONE(1, "") == RN_OK);
	CHECK(AFTER_ONE(4, "\x00\x00\x02\x01\x00\x02") == RN_OK);     /* 1, 2, 3 */
	CHECK(AFTER_ONE(2, "\x00\x01\x00\x01\x00\x02") == RN_E_DATA); /* refers to none before it */
	CHECK(AFTER_ONE(4, "\x00\x00\x03\x01\x00\x02") == RN_E_DATA); /* more than the table has */
	CHECK(AFTER_ONE(4, "\x00\x00\x01\x01\x00\x02") == RN_E_DATA); /* fewer signatures */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x00") == RN_E_DATA);         /* a repeated signature */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x01\x01") == RN_E_DATA);     /* equal: 0 is added twice */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x01\x18\x02") == RN_E_DATA); /* it has no number 6 */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x01\x14\x02") == RN_OK);     /* but number 5 */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x02\x14\x02") == RN_E_DATA); /* cut off */
	CHECK(AFTER_ONE(2, "\x00\x00\x00\x01\x03") == RN_E_DATA);     /* not assigned */
	CHECK(AFTER_ONE(2, "\x00\x00\x00") == RN_E_DATA);
	CHECK(AFTER_ONE(2, "\x00") == RN_E_DATA);
	/* 2^29 signatures without data */
	CHECK(AFTER_ONE((1u << 29) + 1, "\x00\x00\xff\xff\xff\xff\x01\x01\x00\x02") == RN_E_DATA);
	CHECK(mem.mapped < (size_t)64 << 20);
	/* a run without a signature before it */
	rn_buf_clear(&stored);
	rn_buf_add(&stored, "\x01\x00\x00\x00\x01\x00\x02", 7);
	CHECK(decode(stored.len, &table) == RN_E_DATA);
}

/* Every growth of a buffer fails once. */
static void test_no_memory(void)
{
	int rc = RN_E_NOMEM;

	begin();
	random_table();
	size_of_line(20, 3, 1, 0);
	for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
		rn_buf_free(&stored);
		rn_buf_fail_at(n);
		rc = rn_sigs_encode_small(table, &stored);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	rn_buf_fail_at(0);
	CHECK(rc == RN_OK);
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_random();
	ok("tables come back as they were");
	test_sizes();
	ok("a line takes no more bytes the longer it is");
	test_long();
	ok("but for what a reader would not believe");
	test_refused();
	ok("what is no line is refused");
	test_damaged();
	ok("damaged tables are refused, or are others");
	test_no_memory();
	ok("memory may be short");
	rn_buf_free(&stored);
	rn_arena_free(&mem);
	return tap_done();
}
