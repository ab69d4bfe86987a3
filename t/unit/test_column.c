/*
 * test_column.c - columns are decoded to the values that were encoded. Hostile bytes are refused.
 */
#include "tap.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "column/column.h"

#define LONG 100000

static struct rn_arena mem;
static struct rn_buf out;
static int64_t values[LONG];

static int64_t any(void)
{
	return (int64_t)tap_rand();
}

static int64_t extreme(void)
{
	static const int64_t list[] = {
		INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX
	};

	return list[tap_below(7)];
}

/* The values of columns: one function per form, called with each index in turn. */
static int64_t base, step;

static int64_t s_zero(size_t i)
{
	return (void)i, 0;
}

static int64_t s_constant(size_t i)
{
	return (void)i, base;
}

static int64_t s_bit(size_t i)
{
	return (void)i, (int64_t)tap_below(2);
}

static int64_t s_small(size_t i)
{
	return (void)i, (int64_t)tap_below(200) - 100;
}

static int64_t s_medium(size_t i)
{
	return (void)i, (int64_t)tap_below(100000);
}

static int64_t s_rare_large(size_t i)
{
	return (void)i, tap_below(20) ? (int64_t)tap_below(3) : any();
}

static int64_t s_any(size_t i)
{
	return (void)i, any();
}

static int64_t s_extreme(size_t i)
{
	return (void)i, extreme();
}

static int64_t s_clock(size_t i)
{
	return base = (i ? base : 1700000000000000000) + 1000 + (int64_t)tap_below(500);
}

static int64_t s_ramp(size_t i)
{
	return (int64_t)((uint64_t)base + (uint64_t)step * i);
}

static int64_t s_jumps(size_t i)
{
	return i && tap_below(30) ? base : (base = any());
}

static int64_t s_text(size_t i)
{
	return "the quick brown fox and the lazy dog "[i % 37];
}

static int64_t (*const shapes[])(size_t) = { s_zero,   s_constant,   s_bit,   s_small,
					     s_medium, s_rare_large, s_any,   s_extreme,
					     s_clock,  s_ramp,       s_jumps, s_text };

#define SHAPES (sizeof(shapes) / sizeof(*shapes))

static void fill(size_t n, size_t shape)
{
	base = any();
	step = any();
	for (size_t i = 0; i < n; i++)
		values[i] = shapes[shape](i);
}

static bool one_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

static int decode(const void *bytes, size_t len, uint64_t max_n, int64_t **v, size_t *n,
		  struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);

	return rn_column_decode(&mem, &in, max_n, v, n, err);
}

static unsigned seen[8];

static void round_trip(size_t n)
{
	struct rn_arena_mark mark = rn_arena_mark(&mem);
	struct rn_reader in;
	struct rn_err err = { 0 };
	int64_t *v;
	size_t got;

	rn_buf_clear(&out);
	rn_buf_byte(&out, 'a');
	CHECK(rn_column_encode(values, n, &out) == RN_OK);
	rn_buf_byte(&out, 'z');
	in = rn_reader(out.data + 1, out.len - 1);
	if (!CHECK(rn_column_decode(&mem, &in, n, &v, &got, &err) == RN_OK)) {
		diag("%s", err.text);
		return;
	}
	CHECK(got == n && (n == 0 || memcmp(v, values, n * sizeof(*v)) == 0));
	CHECK(rn_left(&in) == 1 && *in.p == 'z');
	CHECK(out.data[0] == 'a' && out.data[1] < 8);
	seen[out.data[1]]++;
	rn_arena_rewind(&mem, mark);
}

static void test_round_trips(void)
{
	for (int round = 0; round < 400; round++) {
		for (size_t shape = 0; shape < SHAPES; shape++) {
			size_t n = tap_below(tap_below(20) ? 100 : 2000);

			fill(n, shape);
			round_trip(n);
		}
	}
}

static void test_lengths(void)
{
	for (size_t n = 0; n < 40; n++) {
		for (size_t shape = 0; shape < SHAPES; shape++) {
			fill(n, shape);
			round_trip(n);
		}
	}
}

/* Beyond 8192 values the encoding is chosen from a sample. */
static void test_long(void)
{
	static const size_t lengths[] = { 8191, 8192, 8193, 20000, LONG };

	for (size_t i = 0; i < 5; i++) {
		for (size_t shape = 0; shape < SHAPES; shape++) {
			fill(lengths[i], shape);
			round_trip(lengths[i]);
		}
	}
}

static size_t size_of(size_t n, size_t shape)
{
	fill(n, shape);
	rn_buf_clear(&out);
	CHECK(rn_column_encode(values, n, &out) == RN_OK);
	return out.len;
}

static void test_sizes(void)
{
	CHECK(size_of(0, 0) == 2);
	CHECK(size_of(1, 0) == 3);
	for (size_t i = 0; i < SHAPES; i++) {
		/* Longer columns must need more bytes, so that a reader can trust their length.
		 * The section that holds them is compressed again. */
		if (shapes[i] == s_constant || shapes[i] == s_ramp) {
			CHECK(size_of(4096, i) <= (shapes[i] == s_constant ? 15 : 200));
			CHECK(size_of(LONG, i) >= (LONG - 4096) / 256);
		}
		if (shapes[i] == s_any)
			CHECK(size_of(LONG, i) <= 8 * LONG + 16);
		if (shapes[i] == s_small)
			CHECK(size_of(LONG, i) <= LONG + 16);
		if (shapes[i] == s_bit)
			CHECK(size_of(LONG, i) <= LONG / 8 * 3 / 2);
		if (shapes[i] == s_clock)
			CHECK(size_of(LONG, i) <= LONG * 3 / 2);
	}
}

/* The bytes that doc/format.md lists as examples. */
static void test_documented(void)
{
	static const int64_t seven = 7, two[] = { -1, 300 };
	int64_t fives[1000];

	rn_buf_clear(&out);
	for (size_t i = 0; i < 1000; i++)
		fives[i] = 5;
	CHECK(rn_column_encode(NULL, 0, &out) == RN_OK);
	CHECK(rn_column_encode(&seven, 1, &out) == RN_OK);
	CHECK(rn_column_encode(fives, 1000, &out) == RN_OK);
	CHECK(rn_column_encode(two, 2, &out) == RN_OK);
	CHECK(out.len == 2 + 3 + 5 + 5);
	CHECK(memcmp(out.data, "\0\0\0\1\x0e\3\xe8\7\x0a\0\0\2\1\xd8\4", out.len) == 0);
}

static void refused(const void *bytes, size_t len, uint64_t max_n)
{
	struct rn_err err = { 0 };
	int64_t *v;
	size_t n, mapped = mem.mapped;

	CHECK(decode(bytes, len, max_n, &v, &n, &err) == RN_E_DATA && one_line(&err));
	CHECK(mem.mapped <= mapped + (1 << 20));
}

/* The bytes are refused, or decoded to at most max_n values. */
static void survived(const void *bytes, size_t len, uint64_t max_n)
{
	struct rn_arena_mark mark = rn_arena_mark(&mem);
	struct rn_err err = { 0 };
	int64_t *v;
	size_t n;
	int rc = decode(bytes, len, max_n, &v, &n, &err);

	CHECK(rc == RN_OK ? n <= max_n : rc == RN_E_DATA && one_line(&err));
	rn_arena_rewind(&mem, mark);
}

static void test_damage(void)
{
	for (int round = 0; round < 20; round++) {
		for (size_t shape = 0; shape < SHAPES; shape++) {
			size_t n = 1 + tap_below(60);

			fill(n, shape);
			rn_buf_clear(&out);
			CHECK(rn_column_encode(values, n, &out) == RN_OK);
			refused(out.data, out.len, n - 1);
			for (size_t cut = 0; cut < out.len; cut++)
				refused(out.data, cut, n);
			for (size_t i = 0; i < out.len; i++) {
				for (unsigned bit = 0; bit < 8; bit++) {
					out.data[i] ^= (unsigned char)(1 << bit);
					survived(out.data, out.len, n);
					out.data[i] ^= (unsigned char)(1 << bit);
				}
			}
		}
	}
}

static void test_codecs(void)
{
	unsigned char column[16] = { 0 };

	for (unsigned codec = 8; codec < 256; codec++) {
		column[0] = (unsigned char)codec;
		column[1] = 1;
		refused(column, sizeof(column), 1);
	}
	for (unsigned codec = 1; codec < 8; codec++) {
		column[0] = (unsigned char)codec;
		column[1] = 0;
		refused(column, sizeof(column), 1);
	}
	refused("\2\1\x9yyyyyyyyy", 12, 1); /* nine planes */
	refused("\2\1\xffyyyyyyyyy", 12, 1);
	refused("\0\1\x80\0", 4, 1); /* overlong varint */
	refused("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11, UINT64_MAX);
	refused("\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0", 13, UINT64_MAX);
}

/* Writes a column of n values with the compressed frame `frame`, which holds one plane or
 * varints. */
static void forge(unsigned codec, uint64_t n, const void *frame, size_t len)
{
	rn_buf_clear(&out);
	rn_buf_byte(&out, (unsigned char)codec);
	rn_buf_u64(&out, n);
	if (codec & 1)
		rn_buf_i64(&out, 0);
	if (codec & 2)
		rn_buf_byte(&out, 1);
	rn_buf_u64(&out, len);
	rn_buf_add(&out, frame, len);
}

static void test_frames(void)
{
	static const unsigned char skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
	/* One frame that states 2^40 bytes of content and holds one empty last block. */
	static const unsigned char liar[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
					      0,    0,    1,    0,    0,    1, 0, 0 };
	static const unsigned char zeros[100];
	unsigned char frame[256];
	int64_t *v;
	size_t len, n;

	len = ZSTD_compress(frame, sizeof(frame), zeros, sizeof(zeros), 3);
	for (unsigned codec = 4; codec < 8; codec++) {
		uint64_t want = 100 + (codec & 1);
		struct rn_err err;

		forge(codec, want, frame, len);
		CHECK(decode(out.data, out.len, want, &v, &n, &err) == RN_OK && n == want);
		forge(codec, want + 1, frame, len);
		refused(out.data, out.len, 1000);
		forge(codec, want - 1, frame, len); /* excess bytes */
		refused(out.data, out.len, 1000);
		forge(codec, codec & 1, frame, len);
		refused(out.data, out.len, 1000);
		forge(codec, want, liar, sizeof(liar));
		refused(out.data, out.len, UINT64_MAX);
		forge(codec, ((uint64_t)1 << 40) + (codec & 1), liar, sizeof(liar));
		refused(out.data, out.len, UINT64_MAX);
		memcpy(frame + len, skippable, sizeof(skippable));
		forge(codec, want, frame, len + sizeof(skippable));
		refused(out.data, out.len, 1000);
		forge(codec, want, skippable, sizeof(skippable));
		refused(out.data, out.len, 1000);
		forge(codec, want, "", 0);
		refused(out.data, out.len, 1000);
	}
}

static void fail_encode(size_t n)
{
	int rc = RN_E_NOMEM;

	for (uint64_t at = 1; rc != RN_OK && at < 1000; at++) {
		struct rn_buf b = { 0 };

		rn_buf_byte(&b, 'a');
		rn_buf_fail_at(at);
		rc = rn_column_encode(values, n, &b);
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && b.len == 1));
		CHECK(b.data[0] == 'a');
		rn_buf_free(&b);
	}
	CHECK(rc == RN_OK);
}

static void fail_decode(size_t n)
{
	int rc = RN_E_NOMEM;
	int64_t *v = NULL;
	size_t got;

	rn_buf_clear(&out);
	CHECK(rn_column_encode(values, n, &out) == RN_OK);
	for (uint64_t at = 1; rc != RN_OK && at < 100; at++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct rn_err err = { 0 };

		mem.fail_at = at;
		rc = decode(out.data, out.len, n, &v, &got, &err);
		mem.fail_at = 0;
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && one_line(&err) && mem.beg == mark.beg));
	}
	CHECK(rc == RN_OK && memcmp(v, values, n * sizeof(*v)) == 0);
}

static void test_no_memory(void)
{
	static const size_t lengths[] = { 1, 40, 1000, 10000 };

	(void)rn_alloc(&mem, 1, 1, 1); /* so that a rewind has a block to return to */
	for (size_t i = 0; i < 4; i++) {
		for (size_t shape = 0; shape < SHAPES; shape++) {
			fill(lengths[i], shape);
			fail_encode(lengths[i]);
			fail_decode(lengths[i]);
		}
	}
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_round_trips();
	ok("random columns of all shapes come back");
	test_lengths();
	ok("short columns of every length come back");
	test_long();
	ok("long columns come back");
	for (unsigned i = 0; i < 8; i++)
		if (!CHECK(seen[i] > 0))
			diag("codec %u was never the smallest", i);
	ok("every codec is the smallest for something");
	test_sizes();
	ok("sizes are what the shape allows");
	test_documented();
	ok("the examples of the format document");
	test_damage();
	ok("every truncation is refused, every flipped bit survived");
	test_codecs();
	ok("unknown codecs and impossible heads are refused");
	test_frames();
	ok("frames that lie are refused before memory is taken");
	test_no_memory();
	ok("every failed allocation leaves things as they were");
	rn_buf_free(&out);
	rn_arena_free(&mem);
	return tap_done();
}
