/* test_varint.c - each value has one encoding, and every other byte string is rejected. */
#include "base/varint.h"
#include "tap.h"

#include <string.h>

static bool round_trip(uint64_t v)
{
	unsigned char b[RN_VARINT_MAX + 1] = { 0 };
	size_t n = (size_t)(rn_varint_put(b, v) - b);
	struct rn_reader r = rn_reader(b, sizeof(b));

	return n == rn_varint_size(v) && n <= RN_VARINT_MAX && rn_get_u64(&r) == v && !r.bad &&
	       r.p == b + n;
}

static void test_boundaries(void)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (int64_t d = -2; d <= 2; d++)
			CHECK(round_trip(((uint64_t)1 << bit) + (uint64_t)d));
	CHECK(round_trip(0));
	CHECK(round_trip(UINT64_MAX));
	CHECK(rn_varint_size(127) == 1 && rn_varint_size(128) == 2);
	CHECK(rn_varint_size(UINT64_MAX) == 10 && rn_varint_size(UINT64_MAX >> 1) == 9);
}

static void test_random(void)
{
	uint64_t bad = 0;

	for (int i = 0; i < 1000000; i++)
		bad += !round_trip(tap_rand() >> tap_below(64));
	CHECK(bad == 0);
}

static void test_zigzag(void)
{
	static const int64_t v[] = { 0,
				     -1,
				     1,
				     -2,
				     2,
				     63,
				     -64,
				     64,
				     -65,
				     INT64_MAX,
				     INT64_MIN,
				     INT64_MAX - 1,
				     INT64_MIN + 1 };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		CHECK(rn_unzigzag(rn_zigzag(v[i])) == v[i]);
	for (uint64_t z = 0; z < 5; z++)
		CHECK(rn_zigzag(v[z]) == z);
	CHECK(rn_zigzag(INT64_MIN) == UINT64_MAX);
}

static bool refused(const unsigned char *bytes, size_t n)
{
	struct rn_reader r = rn_reader(bytes, n);

	return rn_get_u64(&r) == 0 && r.bad && rn_left(&r) == 0;
}

/* n - 1 bytes `fill` and then `last`. */
static bool refused_fill(unsigned char fill, size_t n, unsigned char last)
{
	unsigned char b[16];

	memset(b, fill, sizeof(b));
	b[n - 1] = last;
	return refused(b, n);
}

static void test_overlong(void)
{
	for (size_t n = 2; n <= 12; n++) {
		CHECK(refused_fill(0x80, n, 0)); /* 0 with redundant bytes */
		CHECK(refused_fill(0xff, n, 0)); /* 2^k - 1 with one redundant byte */
	}
	for (unsigned last = 2; last < 256; last++) /* more than 64 bits, or unterminated */
		CHECK(refused_fill(0xff, 10, (unsigned char)last));
	CHECK(refused_fill(0xff, 11, 1));
	CHECK(!refused_fill(0xff, 10, 1));
	CHECK(!refused_fill(0x80, 10, 1));
}

static void test_truncated(void)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		unsigned char b[RN_VARINT_MAX];
		size_t n = (size_t)(rn_varint_put(b, (uint64_t)1 << bit) - b);

		for (size_t cut = 0; cut < n; cut++)
			CHECK(refused(b, cut));
	}
	CHECK(refused(NULL, 0));
}

/* Every string of three bytes is rejected, or is exactly the encoding of the value that it decodes
 * to. */
static void test_unique(void)
{
	uint64_t bad = 0, good = 0;

	for (uint32_t x = 0; x < 1u << 24; x++) {
		unsigned char in[3] = { (unsigned char)x, (unsigned char)(x >> 8),
					(unsigned char)(x >> 16) };
		struct rn_reader r = rn_reader(in, sizeof(in));
		unsigned char out[RN_VARINT_MAX];
		uint64_t v = rn_get_u64(&r);
		size_t used = (size_t)(r.p - in);

		if (r.bad)
			continue;
		good++;
		bad += (size_t)(rn_varint_put(out, v) - out) != used || memcmp(in, out, used) != 0;
	}
	CHECK(bad == 0);
	/* one byte: 128 * 2^16; two: 128 * 127 * 2^8; three: 128^2 * 127 */
	CHECK(good == (128u << 16) + (128 * 127u << 8) + 128 * 128u * 127u);
}

static void test_reader(void)
{
	static const unsigned char bytes[] = { 5, 3, 'a', 'b', 'c', 200, 1, 9 };
	struct rn_reader r = rn_reader(bytes, sizeof(bytes));

	CHECK(rn_get_max(&r, 5) == 5 && !r.bad);
	CHECK(rn_get_count(&r, 2) == 3 && !r.bad); /* 3 of 2 bytes fit into the 6 that are left */
	CHECK(rn_get_bytes(&r, 3) == bytes + 2 && !r.bad);
	CHECK(rn_get_bytes(&r, 0) == bytes + 5 && !r.bad);
	CHECK(rn_get_i64(&r) == 100 && !r.bad);
	CHECK(rn_left(&r) == 1);
	CHECK(rn_get_bytes(&r, UINT64_MAX) == NULL && r.bad && rn_left(&r) == 0);
	CHECK(rn_get_u64(&r) == 0 && rn_get_i64(&r) == 0 && r.bad); /* bad stays bad */
	CHECK(rn_get_bytes(&r, 1) == NULL);

	r = rn_reader(bytes, sizeof(bytes));
	CHECK(rn_get_max(&r, 4) == 0 && r.bad);
	r = rn_reader(bytes, sizeof(bytes));
	CHECK(rn_get_count(&r, 1) == 5 && !r.bad);
	r = rn_reader(bytes, sizeof(bytes));
	CHECK(rn_get_count(&r, 2) == 0 && r.bad); /* 5 of 2 bytes do not fit into 7 */
	r = rn_reader(bytes, sizeof(bytes));
	CHECK(rn_get_count(&r, 0) == 5 && !r.bad);
}

int main(void)
{
	test_boundaries();
	ok("every boundary goes there and back");
	test_random();
	ok("a million random values too");
	test_zigzag();
	ok("signed values too");
	test_overlong();
	ok("overlong and overlarge forms are refused");
	test_truncated();
	ok("every truncation is refused");
	test_unique();
	ok("a value has one encoding (all strings of three bytes)");
	test_reader();
	ok("a reader stays inside, and bad stays bad");
	return tap_done();
}
