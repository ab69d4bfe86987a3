/*
 * test_buf.c - a buffer has the bytes written to it. A failed growth is remembered, and has no
 * other effect.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/varint.h"
#include "tap.h"

#include <string.h>

static void test_fixed(void)
{
	static const unsigned char want[] = { 0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06,
					      0x05, 0x04, 0x03, 0x02, 0x01, 0xff, 'a',
					      'b',  'c',  0xac, 0x02, 0x01 };
	struct rn_buf b = { 0 };

	rn_buf_le32(&b, 0x01020304);
	rn_buf_le64(&b, 0x0102030405060708);
	rn_buf_byte(&b, 0xff);
	rn_buf_add(&b, "abc", 3);
	rn_buf_u64(&b, 300);
	rn_buf_i64(&b, -1);
	CHECK(rn_buf_status(&b) == RN_OK);
	CHECK(b.len == sizeof(want) && memcmp(b.data, want, b.len) == 0);
	rn_buf_free(&b);
	CHECK(!b.data && !b.len && !b.cap);
}

static void test_empty(void)
{
	struct rn_buf b = { 0 };

	rn_buf_add(&b, NULL, 0);
	CHECK(b.len == 0 && rn_buf_status(&b) == RN_OK);
	rn_buf_clear(&b);
	CHECK(rn_buf_reserve(&b, 0) != NULL);
	rn_buf_free(&b);
	rn_buf_free(&b);
}

/* Random writes, compared with a plain array. */
static void test_model(void)
{
	enum { MAX = 1 << 20 };
	unsigned char *model = malloc(MAX);
	struct rn_buf b = { 0 };
	size_t n = 0;

	while (n < MAX - 1000) {
		unsigned char piece[1000];
		size_t len = (size_t)tap_below(tap_below(10) ? 20 : sizeof(piece));

		for (size_t i = 0; i < len; i++)
			piece[i] = (unsigned char)tap_rand();
		memcpy(model + n, piece, len);
		n += len;
		rn_buf_add(&b, piece, len);
		if (tap_below(20000) == 0) {
			CHECK(b.len == n && memcmp(b.data, model, n) == 0);
			rn_buf_clear(&b);
			n = 0;
		}
	}
	CHECK(b.len == n && memcmp(b.data, model, n) == 0);
	rn_buf_free(&b);
	free(model);
}

/* For every growth that can fail: earlier bytes are unchanged, and later writes are ignored. */
static void test_failures(void)
{
	uint64_t fail, bad = 0;

	for (fail = 1;; fail++) {
		struct rn_buf b = { 0 };
		struct rn_reader r;
		uint64_t written = 0;
		bool failed;

		rn_buf_fail_at(fail);
		for (uint64_t i = 0; i < 10000; i++) {
			rn_buf_u64(&b, i);
			written += !b.failed;
		}
		rn_buf_fail_at(0);
		failed = b.failed;
		CHECK(rn_buf_status(&b) == (failed ? RN_E_NOMEM : RN_OK));
		r = rn_reader(b.data, b.len);
		for (uint64_t i = 0; i < written; i++)
			bad += rn_get_u64(&r) != i;
		CHECK(!r.bad && rn_left(&r) == 0);
		CHECK(failed == (rn_buf_reserve(&b, 1) == NULL));
		rn_buf_clear(&b);
		CHECK(rn_buf_status(&b) == RN_OK && rn_buf_reserve(&b, 1) != NULL);
		rn_buf_free(&b);
		if (!failed)
			break;
	}
	CHECK(bad == 0);
	CHECK(fail > 5);
}

static void test_huge(void)
{
	struct rn_buf b = { 0 };

	rn_buf_byte(&b, 1);
	CHECK(rn_buf_reserve(&b, SIZE_MAX) == NULL);
	CHECK(rn_buf_status(&b) == RN_E_NOMEM);
	rn_buf_byte(&b, 2);
	CHECK(b.len == 1 && b.data[0] == 1);
	rn_buf_clear(&b);
	rn_buf_byte(&b, 3);
	CHECK(rn_buf_reserve(&b, SIZE_MAX / 4) == NULL);
	CHECK(b.len == 1 && b.data[0] == 3);
	rn_buf_free(&b);
}

int main(void)
{
	test_fixed();
	ok("each writer writes its format");
	test_empty();
	ok("nothing, written to an empty buffer");
	test_model();
	ok("a megabyte of pieces equals the plain array");
	test_failures();
	ok("every growth that fails keeps what was there");
	test_huge();
	ok("sizes that overflow fail");
	return tap_done();
}
