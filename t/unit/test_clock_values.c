/*
 * test_clock_values.c - clock readings as ticks, and the values of order events as differences.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "order/clock_value.h"
#include "order/event_codec.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MOST 20000u

static struct rn_order_site site[4];
static struct rn_order_row row[MOST];
static int64_t value[MOST];
static struct rn_order events;

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static uint64_t below(uint64_t n)
{
	return (uint64_t)tap_rand() % n;
}

/* ---- ticks ---- */

/* Three ways in which MPI libraries convert ticks to seconds. Volatile: each operation rounds. */
static double with_quotient(uint64_t ticks, uint32_t hz)
{
	volatile double part = (double)(ticks % hz) / hz;

	return (double)(ticks / hz) + part;
}

static double with_negative(uint64_t ticks, uint32_t hz)
{
	volatile double part = ((double)(ticks % hz) - hz) / hz;

	return (double)(ticks / hz + 1) + part;
}

static double with_product(uint64_t ticks, uint32_t hz)
{
	volatile double part = (double)(ticks % hz) * (hz == RN_CLOCK_NS ? 1e-9 : 1e-6);

	return (double)(ticks / hz) + part;
}

static double nearest(uint64_t ticks, uint32_t hz)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu.%0*llu", (unsigned long long)(ticks / hz),
		 hz == RN_CLOCK_NS ? 9 : 6, (unsigned long long)(ticks % hz));
	return strtod(text, NULL);
}

static uint32_t compare(double a, double b)
{
	return 1u + (a > b) - (a < b);
}

static void check_ticks(uint64_t ticks, uint32_t hz)
{
	double is = nearest(ticks, hz);

	CHECK(rn_clock_seconds(ticks, hz) == bits_of(is));
	CHECK(rn_clock_rounding(ticks, hz) == 9 * compare(with_quotient(ticks, hz), is) +
						      3 * compare(with_negative(ticks, hz), is) +
						      compare(with_product(ticks, hz), is));
	/* From 2^22 seconds on, a double cannot distinguish nanoseconds. */
	if (ticks / hz < (hz == RN_CLOCK_NS ? 1u << 22 : UINT32_MAX))
		CHECK(rn_clock_ticks(bits_of(is), hz) == ticks);
}

static void test_ticks(void)
{
	static const uint64_t some[] = { 0, 1, 2, 999999, 1000000, 999999999, 1000000000 };

	for (uint32_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		check_ticks(some[i], RN_CLOCK_NS);
		check_ticks(some[i], RN_CLOCK_US);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t ticks = (uint64_t)tap_rand() >> (1 + below(63));

		check_ticks(ticks, RN_CLOCK_NS);
		check_ticks(ticks % ((uint64_t)RN_CLOCK_US << 32), RN_CLOCK_US);
	}
}

static void test_readings(void)
{
	static const double are[] = { 0, 1e-9, 0.5, 1, 1.7e9 }, are_not[] = { -1, 1e10, 1e-15 };

	for (uint32_t i = 0; i < sizeof(are) / sizeof(*are); i++)
		CHECK(rn_clock_is_reading(bits_of(are[i])));
	for (uint32_t i = 0; i < sizeof(are_not) / sizeof(*are_not); i++)
		CHECK(!rn_clock_is_reading(bits_of(are_not[i])));
	CHECK(!rn_clock_is_reading(1) && !rn_clock_is_reading(12345) &&
	      !rn_clock_is_reading(UINT64_MAX));
}

/* ---- events ---- */

static void begin(void)
{
	for (uint32_t i = 0; i < 4; i++)
		site[i] = (struct rn_order_site){ .kind = i == 3 ? RN_ORDER_TEST : RN_ORDER_VALUE };
	events = (struct rn_order){ .site = site, .sites = 4, .row = row, .value = value };
}

static void add(uint32_t at, uint64_t v)
{
	row[events.rows++] = (struct rn_order_row){ at, 0, 1 };
	value[events.values++] = (int64_t)v;
}

/* Encodes and decodes the values with all codecs. Returns the size of the coded values. */
static size_t there_and_back(void)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	for (unsigned codec = 0; codec < RN_ORDER_CODECS; codec++) {
		struct rn_order back;
		struct rn_err err = { 0 };

		rn_buf_clear(&b);
		CHECK(rn_order_encode(&mem, codec, &events, &b) == RN_OK);
		if (!CHECK(rn_order_decode(&mem, site, 4, b.data, b.len, &back, &err) == RN_OK))
			continue;
		CHECK(back.values == events.values &&
		      memcmp(back.value, value, events.values * sizeof(*value)) == 0);
	}
	rn_buf_clear(&b);
	CHECK(rn_order_encode(&mem, RN_ORDER_MODEL, &events, &b) == RN_OK);
	len = b.len;
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return len;
}

typedef double convert_fn(uint64_t ticks, uint32_t hz);

/* Readings of two sites, some of 4 steps apart. */
static size_t clock_bytes(convert_fn *convert, uint32_t hz, uint64_t from)
{
	begin();
	for (uint32_t i = 0; i < 4000; i++) {
		add(i & 1, bits_of(convert(from, hz)));
		from += 40 + 10 * below(4);
	}
	return there_and_back();
}

static void test_clocks(void)
{
	static convert_fn *const convert[] = { with_quotient, with_product, nearest };
	static const uint64_t from[] = { 0, 1234567891, 2123683536451, 86400000000123 };

	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 4; k++) {
			/* The entropy of the steps is two bits. */
			CHECK(clock_bytes(convert[i], RN_CLOCK_NS, from[k]) < 4000 * 3 / 8 + 300);
			CHECK(clock_bytes(convert[i], RN_CLOCK_US, from[k]) < 4000 * 3 / 8 + 300);
		}
	/* The time of day. */
	CHECK(clock_bytes(with_product, RN_CLOCK_US, 1794960000000000) < 4000 * 3 / 8 + 300);
}

static void test_even_steps(void)
{
	begin();
	for (uint32_t i = 0; i < MOST; i++)
		add(0, bits_of(with_product(1000000000 + 50 * (uint64_t)i, RN_CLOCK_NS)));
	CHECK(there_and_back() < 400);
}

/* Pairs of alternating values, as from clock_gettime. */
static void test_pairs(void)
{
	uint64_t ns = 12345678901234;

	begin();
	for (uint32_t i = 0; i < 4000; i++) {
		add(2, ns / 1000000000);
		add(2, ns % 1000000000);
		ns += 40 + 10 * below(4);
	}
	CHECK(there_and_back() < 4000 * 3 / 8 + 300);
}

static void test_anything(void)
{
	for (uint32_t tries = 0; tries < 30; tries++) {
		begin();
		for (uint32_t i = 0; i < 500; i++)
			add((uint32_t)below(3), (uint64_t)tap_rand() >> below(64));
		add(0, UINT64_MAX);
		add(0, (uint64_t)1 << 63);
		add(1, bits_of(-0.0));
		there_and_back();
	}
}

static void test_no_memory(void)
{
	struct rn_buf b = { 0 };
	int rc = RN_E_NOMEM;

	clock_bytes(with_product, RN_CLOCK_NS, 5);
	for (size_t limit = 0; rc == RN_E_NOMEM; limit += 4096) {
		struct rn_arena mem;

		rn_arena_init(&mem, limit);
		rn_buf_clear(&b);
		rc = rn_order_encode(&mem, RN_ORDER_MODEL, &events, &b);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		rn_arena_free(&mem);
	}
	CHECK(rc == RN_OK);
	rn_buf_free(&b);
}

int main(void)
{
	test_ticks();
	ok("ticks convert to the nearest double and back, and rounding is predicted");
	test_readings();
	ok("clock readings are distinguished from other numbers");
	test_clocks();
	ok("the size of clock readings is the entropy of their differences, and decoding is exact");
	test_even_steps();
	ok("the size of readings at even steps is almost zero");
	test_pairs();
	ok("the size of alternating seconds and nanoseconds is the entropy of their differences");
	test_anything();
	ok("all other numbers are decoded exactly");
	test_no_memory();
	ok("encoding fails without memory");
	return tap_done();
}
