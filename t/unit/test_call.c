/* test_call.c - signatures: what is written is read, and nothing else is. */
#include "tap.h"

#include <string.h>

#include "encode/call.h"

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__ })

static const struct rn_func funcs[] = {
	{ 0, "none", NULL, 0 },
	{ 1, "one", PARAMS("a"), 1 },
	{ 7, "three", PARAMS("a", "b", "c"), 3 },
	{ 300, "far", PARAMS("x"), 1 },
};

static const struct rn_word words[] = { { 0, "ZERO" }, { 1, "ONE" }, { 20, "TWENTY" } };

static const struct rn_vocab vocab = { funcs, words, 4, 3 };

static unsigned char buf[RN_CALL_BYTES_MAX + 64];

static void test_vocab(void)
{
	CHECK(rn_vocab_check(&vocab));
	CHECK(rn_vocab_func(&vocab, 0) == &funcs[0]);
	CHECK(rn_vocab_func(&vocab, 1) == &funcs[1]);
	CHECK(rn_vocab_func(&vocab, 7) == &funcs[2]);
	CHECK(rn_vocab_func(&vocab, 300) == &funcs[3]);
	CHECK(!rn_vocab_func(&vocab, 2) && !rn_vocab_func(&vocab, 8));
	CHECK(!rn_vocab_func(&vocab, 301) && !rn_vocab_func(&vocab, UINT64_MAX));
	CHECK(strcmp(rn_vocab_word(&vocab, 20), "TWENTY") == 0);
	CHECK(!rn_vocab_word(&vocab, 2) && !rn_vocab_word(&vocab, 21));
	CHECK(!rn_vocab_word(&(struct rn_vocab){ 0 }, 0));
	CHECK(!rn_vocab_check(
		&(struct rn_vocab){ (struct rn_func[]){ funcs[1], funcs[0] }, words, 2, 3 }));
}

static void test_names(void)
{
	char long_name[256];

	memset(long_name, 'a', sizeof(long_name));
	CHECK(rn_name_valid("MPI_INT", 7) && rn_name_valid("heap:3+0", 8));
	CHECK(rn_name_valid("A|B", 3) && rn_name_valid(long_name, 255));
	CHECK(!rn_name_valid("", 0) && !rn_name_valid(long_name, 256));
	CHECK(!rn_name_valid("a b", 3) && !rn_name_valid("a\"b", 3) && !rn_name_valid("a,b", 3));
	CHECK(!rn_name_valid("a\0b", 3) && !rn_name_valid("a\x7f", 2) &&
	      !rn_name_valid("\xc3\xa9", 2));
}

/* Values that have caused trouble elsewhere: borders of the head byte, of varints, of 64 bits. */
static const int64_t corner[] = { 0,    1,         -1,        7,         -7,        -8,
				  8,    63,        64,        -64,       -65,       8191,
				  8192, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

#define CORNERS (sizeof(corner) / sizeof(*corner))

static void test_numbers(void)
{
	for (size_t i = 0; i < CORNERS; i++) {
		for (enum rn_value_kind k = RN_V_INT; k <= RN_V_XOR; k++) {
			struct rn_call_writer w;
			struct rn_reader in;
			struct rn_value v;
			size_t len;

			rn_call_begin(&w, buf, sizeof(buf), 1);
			rn_call_num(&w, k, corner[i]);
			CHECK(rn_call_end(&w, corner[CORNERS - 1 - i], &len) == RN_OK);
			CHECK(rn_call_valid(buf, len, &vocab));
			in = rn_reader(buf, len);
			CHECK(rn_get_u64(&in) == 1);
			CHECK(rn_call_value(&in, &v) && v.kind == k && v.num == corner[i]);
			CHECK(rn_call_value(&in, &v) && v.num == corner[CORNERS - 1 - i]);
			CHECK(rn_left(&in) == 0);
		}
	}
}

static size_t write_three(void)
{
	struct rn_call_writer w;
	size_t len;

	rn_call_begin(&w, buf, sizeof(buf), 7);
	rn_call_place(&w, 20, 1000, -64);
	rn_call_list(&w, 3);
	rn_call_object(&w, 1, UINT64_MAX);
	rn_call_text(&w, RN_V_NAME, "comm:row", 8);
	rn_call_list(&w, 0);
	rn_call_text(&w, RN_V_STRING, "a\0 \"string\"", 11);
	CHECK(rn_call_end(&w, -1, &len) == RN_OK);
	return len;
}

static void test_kinds(void)
{
	struct rn_reader in = rn_reader(buf, write_three());
	struct rn_value v;

	CHECK(rn_get_u64(&in) == 7);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_PLACE && v.word == 20 && v.id == 1000 &&
	      v.num == -64);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_LIST && v.num == 3);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_OBJECT && v.word == 1 && v.id == UINT64_MAX);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_NAME && v.len == 8 &&
	      memcmp(v.text, "comm:row", 8) == 0);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_LIST && v.num == 0);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_STRING && v.len == 11);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_INT && v.num == -1);
	CHECK(rn_left(&in) == 0 && !in.bad);
	CHECK(!rn_call_value(&in, &v) && in.bad);
}

static void test_refused(void)
{
	size_t len = write_three();
	struct rn_vocab fewer = vocab;

	CHECK(rn_call_valid(buf, len, &vocab));
	for (size_t i = 0; i < len; i++)
		CHECK(!rn_call_valid(buf, i, &vocab));
	buf[len] = 0;
	CHECK(!rn_call_valid(buf, len + 1, &vocab));
	fewer.words = 2;
	CHECK(!rn_call_valid(buf, len, &fewer));
	fewer = vocab;
	fewer.funcs = 2;
	CHECK(!rn_call_valid(buf, len, &fewer));
	/* A number that the head byte could hold has no second form, and 15 + 2^64 - 1 none at all.
	 */
	CHECK(!rn_call_valid("\x01\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 13, &vocab));
	CHECK(!rn_call_valid("\x01\x0a\x00", 3, &vocab));         /* kind 10 */
	CHECK(!rn_call_valid("\x01\x00\x17\x61", 4, &vocab));     /* returns a name */
	CHECK(!rn_call_valid("\x01\x27\x61\x20\x00", 5, &vocab)); /* "a " is not a name */
}

static void test_depth(void)
{
	for (unsigned depth = 0; depth <= RN_CALL_DEPTH_MAX + 1; depth++) {
		struct rn_call_writer w;
		size_t len;

		rn_call_begin(&w, buf, sizeof(buf), 1);
		for (unsigned i = 0; i < depth; i++)
			rn_call_list(&w, 1);
		rn_call_num(&w, RN_V_INT, 5);
		CHECK(rn_call_end(&w, 0, &len) == RN_OK);
		CHECK(rn_call_valid(buf, len, &vocab) == (depth <= RN_CALL_DEPTH_MAX));
	}
}

static void test_full(void)
{
	static const char text[RN_CALL_BYTES_MAX + 1];

	for (size_t cap = 0; cap < 200; cap++) {
		struct rn_call_writer w;
		size_t len;

		memset(buf, 0xee, 256);
		rn_call_begin(&w, buf, cap, 1);
		rn_call_text(&w, RN_V_STRING, text, 100);
		CHECK(rn_call_end(&w, 0, &len) == (cap >= 114 ? RN_OK : RN_E_RANGE));
		CHECK(len <= cap && buf[cap] == 0xee);
	}
	for (size_t n = RN_CALL_BYTES_MAX - 8; n <= sizeof(text); n++) {
		struct rn_call_writer w;
		size_t len;
		int rc;

		rn_call_begin(&w, buf, sizeof(buf), 1);
		rn_call_text(&w, RN_V_STRING, text, n);
		rc = rn_call_end(&w, 0, &len);
		CHECK(rc == (n + 7 <= RN_CALL_BYTES_MAX ? RN_OK : RN_E_RANGE));
		CHECK(rc == RN_OK ? rn_call_valid(buf, len, &vocab) : true);
	}
}

static int64_t resolve(enum rn_value_kind k, int64_t v, uint64_t rank, uint64_t ranks)
{
	return rn_value_resolve(&(struct rn_value){ .kind = k, .num = v }, rank, ranks);
}

static void test_resolve(void)
{
	CHECK(resolve(RN_V_INT, -3, 5, 10) == -3);
	CHECK(resolve(RN_V_REL, -3, 5, 10) == 2);
	CHECK(resolve(RN_V_RELMOD, 1, 9, 10) == 0);
	CHECK(resolve(RN_V_RELMOD, -1, 0, 10) == 9);
	CHECK(resolve(RN_V_RELMOD, INT64_MIN, 0, 10) == 2);
	CHECK(resolve(RN_V_RELMOD, INT64_MAX, 9, 1) == 0);
	CHECK(resolve(RN_V_XOR, 4, 5, 10) == 1);
	CHECK(resolve(RN_V_REL, INT64_MAX, 1, 10) == INT64_MIN); /* wraps, does not trap */
}

static void count_word(void *arg, uint64_t word)
{
	*(uint64_t *)arg += word + 1;
}

/* Random bytes, and random changes of good ones: whatever is accepted can be read to its end. */
static void test_random(void)
{
	for (int round = 0; round < 300000; round++) {
		size_t len = tap_below(2) ? write_three() : tap_below(24);
		uint64_t sum = 0;

		if (len >= 24)
			for (uint64_t k = tap_below(4); k > 0; k--)
				buf[tap_below(len)] = (unsigned char)tap_rand();
		else
			for (size_t i = 0; i < len; i++)
				buf[i] = (unsigned char)(tap_below(3) ? tap_below(16) * 16
								      : tap_rand());
		if (rn_call_valid(buf, len, &vocab))
			CHECK(rn_vocab_func(&vocab, rn_call_words(buf, len, count_word, &sum)));
	}
}

int main(void)
{
	test_vocab();
	test_names();
	ok("vocabularies and names");
	test_numbers();
	test_kinds();
	ok("every kind of value is read as it was written");
	test_refused();
	test_depth();
	ok("anything else is refused");
	test_full();
	ok("a call that is too long is refused as a whole");
	test_resolve();
	ok("numbers are resolved for a rank");
	test_random();
	ok("random bytes do no harm");
	return tap_done();
}
