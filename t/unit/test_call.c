/*
 * test_call.c - written signatures can be read, and all other bytes are refused.
 */
#include "tap.h"

#include <string.h>

#include "encode/signature.h"
#include "encode/template.h"
#include "call_writer.h"

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__ })

#define DIRS(...) ((const unsigned char[]){ __VA_ARGS__ })

static const struct rn_func funcs[] = {
	{ 0, "none", NULL, 0, NULL },
	{ 1, "one", PARAMS("a"), 1, NULL },
	{ 7, "three", PARAMS("a", "b", "c"), 3, NULL },
	{ 9, "ways", PARAMS("a", "b", "c"), 3, DIRS(RN_DIR_BOTH, RN_DIR_IN, RN_DIR_OUT) },
	{ 300, "far", PARAMS("x"), 1, DIRS(RN_DIR_OUT) },
};

static const struct rn_word words[] = { { 0, "ZERO" }, { 1, "ONE" }, { 20, "TWENTY" } };

static const struct rn_vocab vocab = { funcs, words, 5, 3 };

static unsigned char buf[RN_CALL_BYTES_MAX + 64];

static void test_vocab(void)
{
	CHECK(rn_vocab_func(&vocab, 0) == &funcs[0]);
	CHECK(rn_vocab_func(&vocab, 1) == &funcs[1]);
	CHECK(rn_vocab_func(&vocab, 7) == &funcs[2]);
	CHECK(rn_vocab_func(&vocab, 300) == &funcs[4]);
	CHECK(!rn_vocab_func(&vocab, 2) && !rn_vocab_func(&vocab, 8));
	CHECK(!rn_vocab_func(&vocab, 301) && !rn_vocab_func(&vocab, UINT64_MAX));
	CHECK(strcmp(rn_vocab_word(&vocab, 20), "TWENTY") == 0);
	CHECK(!rn_vocab_word(&vocab, 2) && !rn_vocab_word(&vocab, 21));
	CHECK(!rn_vocab_word(&(struct rn_vocab){ 0 }, 0));
	CHECK(rn_vocab_find(&vocab, "TWENTY") == 20 && rn_vocab_find(&vocab, "TW") == UINT64_MAX);
	CHECK(rn_func_values(&funcs[0]) == 0 && rn_func_values(&funcs[2]) == 3);
	CHECK(rn_func_values(&funcs[3]) == 4 && rn_func_values(&funcs[4]) == 1);
	CHECK(rn_func_all_in(&funcs[0]) && rn_func_all_in(&funcs[2]) && !rn_func_all_in(&funcs[4]));
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

/* Boundary values of the head byte, of varints and of 64-bit integers. */
static const int64_t corner[] = { 0,    1,         -1,        7,         -7,        -8,
				  8,    63,        64,        -64,       -65,       8191,
				  8192, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

#define CORNERS (sizeof(corner) / sizeof(*corner))

static void test_numbers(void)
{
	for (size_t i = 0; i < CORNERS; i++) {
		for (enum rn_value_kind k = RN_V_INT; k < RN_V_KINDS; k++) {
			struct rn_buf w;
			struct rn_reader in;
			struct rn_value v;
			size_t len;

			if (k == RN_V_ELASTIC ||
			    !rn_value_is_number(&(struct rn_value){ .kind = k }))
				continue;
			call_begin(&w, buf, sizeof(buf), 1);
			rn_call_num(&w, k, corner[i]);
			CHECK(call_end(&w, corner[CORNERS - 1 - i], &len) == RN_OK);
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
	struct rn_buf w;
	size_t len;

	call_begin(&w, buf, sizeof(buf), 7);
	rn_call_place(&w, 20, 1000, -64);
	rn_call_list(&w, 3);
	rn_call_object(&w, 1, UINT64_MAX);
	rn_call_text(&w, RN_V_NAME, "comm:row", 8);
	rn_call_list(&w, 0);
	rn_call_text(&w, RN_V_STRING, "a\0 \"string\"", 11);
	CHECK(call_end(&w, -1, &len) == RN_OK);
	return len;
}

static size_t write_ways(void)
{
	struct rn_buf w;
	size_t len;

	call_begin(&w, buf, sizeof(buf), 9);
	rn_call_list(&w, 2);
	rn_call_const(&w, 20);
	rn_call_in(&w, "comm:world.7", 12);
	rn_call_status(&w, RN_STATUS_FULL);
	for (int64_t i = 0; i < 5; i++)
		rn_call_num(&w, RN_V_REL, i);
	rn_call_in(&w, "MPI_COMM_SELF", 13);
	rn_call_num(&w, RN_V_RELMOD, 2);
	rn_call_status(&w, RN_STATUS_NOTHING);
	rn_call_status(&w, RN_STATUS_MATCHED);
	rn_call_num(&w, RN_V_XOR, 2);
	rn_call_const(&w, 1);
	CHECK(call_end(&w, 0, &len) == RN_OK && rn_call_valid(buf, len, &vocab));
	return len;
}

static void test_made_of_others(void)
{
	struct rn_reader in = rn_reader(buf, write_ways());
	struct rn_value v;

	CHECK(rn_get_u64(&in) == 9);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_LIST && rn_value_parts(&v) == 2);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_CONST && rn_value_parts(&v) == 0);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_IN && rn_value_parts(&v) == 1 &&
	      v.len == 12 && memcmp(v.text, "comm:world.7", 12) == 0);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_STATUS && v.num == RN_STATUS_FULL &&
	      rn_value_parts(&v) == 5);
	for (int64_t i = 0; i < 5; i++)
		CHECK(rn_call_value(&in, &v) && v.kind == RN_V_REL && v.num == i);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_IN && v.len == 13);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_RELMOD && v.num == 2);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_STATUS && rn_value_parts(&v) == 0);
	CHECK(rn_call_value(&in, &v) && v.kind == RN_V_STATUS && rn_value_parts(&v) == 2);
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
	buf[len] = RN_V_LIST;
	CHECK(!rn_call_valid(buf, len + 1, &vocab));
	buf[len] = buf[len + 1] = RN_V_INT; /* the call site, and an extra value */
	CHECK(rn_call_valid(buf, len + 1, &vocab) && !rn_call_valid(buf, len + 2, &vocab));
	fewer.words = 2;
	CHECK(!rn_call_valid(buf, len, &fewer));
	fewer = vocab;
	fewer.funcs = 2;
	CHECK(!rn_call_valid(buf, len, &fewer));
	/* A number that fits the head byte has no second encoding, and 15 + 2^64 - 1 has no
	 * encoding. */
	CHECK(!rn_call_valid("\x01\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 13, &vocab));
	CHECK(!rn_call_valid("\x01\x0d\x00", 3, &vocab));         /* kind 13 */
	CHECK(!rn_call_valid("\x01\x27\x61\x20\x00", 5, &vocab)); /* "a " is not a name */
}

/* Returns whether a signature of `far` with the values that fn writes is valid. */
static bool valid_around(void (*fn)(struct rn_buf *w))
{
	struct rn_buf w;
	size_t len;

	call_begin(&w, buf, sizeof(buf), 300);
	fn(&w);
	CHECK(call_end(&w, 0, &len) == RN_OK);
	return rn_call_valid(buf, len, &vocab);
}

static void integers(struct rn_buf *w, unsigned n)
{
	while (n--)
		rn_call_num(w, RN_V_INT, n);
}

static void full_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_FULL);
	rn_call_num(w, RN_V_RELMOD, -1);
	rn_call_const(w, 20);
	integers(w, 3);
}

static void matched_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	integers(w, 2);
}

static void unknown_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_NOTHING);
}

static void status_in(struct rn_buf *w)
{
	rn_call_in(w, "comm:world.0", 12);
	full_status(w);
}

static void number_in(struct rn_buf *w)
{
	rn_call_in(w, "MPI_COMM_WORLD", 14);
	rn_call_num(w, RN_V_XOR, 1);
}

static void varying_in(struct rn_buf *w)
{
	rn_call_in(w, "comm:world.0", 12);
	rn_call_num(w, RN_V_VARIES, 3);
}

static void varying_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	rn_call_num(w, RN_V_VARIES, 0);
	rn_call_num(w, RN_V_VARIES, 1);
}

/* Nested lists of the maximum depth. The innermost list has one element of each form. */
static void deep_statuses(struct rn_buf *w)
{
	for (unsigned i = 0; i < RN_CALL_DEPTH_MAX; i++)
		rn_call_list(w, i == RN_CALL_DEPTH_MAX - 1 ? 5 : 1);
	status_in(w);
	matched_status(w);
	number_in(w);
	unknown_status(w);
	full_status(w);
}

static void short_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_FULL);
	integers(w, 4);
}

static void fourth_form(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_FORMS);
}

static void text_in_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	rn_call_text(w, RN_V_STRING, "a", 1);
	integers(w, 1);
}

static void list_in_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	rn_call_list(w, 0);
	integers(w, 1);
}

static void in_in_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	number_in(w);
	integers(w, 1);
}

static void status_in_status(struct rn_buf *w)
{
	rn_call_status(w, RN_STATUS_MATCHED);
	unknown_status(w);
	integers(w, 1);
}

static void in_in(struct rn_buf *w)
{
	rn_call_in(w, "comm:a", 6);
	number_in(w);
}

static void list_in(struct rn_buf *w)
{
	rn_call_in(w, "comm:a", 6);
	rn_call_list(w, 0);
}

static void constant_in(struct rn_buf *w)
{
	rn_call_in(w, "comm:a", 6);
	rn_call_const(w, 0);
}

static void in_nothing(struct rn_buf *w)
{
	rn_call_in(w, "comm:", 5);
	integers(w, 1);
}

static void in_something(struct rn_buf *w)
{
	rn_call_in(w, "win:3", 5);
	integers(w, 1);
}

static void in_no_name(struct rn_buf *w)
{
	rn_call_in(w, "comm:a b", 8);
	integers(w, 1);
}

static void test_parts(void)
{
	void (*const good[])(struct rn_buf *) = { full_status, matched_status, unknown_status,
						  status_in,   number_in,      deep_statuses,
						  varying_in,  varying_status };
	void (*const bad[])(struct rn_buf *) = {
		short_status, fourth_form,      text_in_status, list_in_status,
		in_in_status, status_in_status, in_in,          list_in,
		constant_in,  in_nothing,       in_something,   in_no_name,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK(valid_around(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!CHECK(!valid_around(bad[i])))
			diag("bad one number %zu", i);
}

/* Input values precede output values; one parameter is both. If there is one value more, the
 * last one is the call site. */
static void test_directions(void)
{
	for (unsigned n = 0; n < 7; n++) {
		struct rn_buf w;
		size_t len;

		call_begin(&w, buf, sizeof(buf), 9);
		integers(&w, n);
		CHECK(call_end(&w, 0, &len) == RN_OK);
		CHECK(rn_call_valid(buf, len, &vocab) == (n == 4 || n == 5));
	}
}

static void test_returned(void)
{
	struct rn_buf w;
	size_t len;

	for (enum rn_value_kind kind = RN_V_INT; kind <= RN_V_XOR; kind++) {
		call_begin(&w, buf, sizeof(buf), 0);
		rn_call_num(&w, kind, 3);
		CHECK(call_done(&w, &len) == RN_OK);
		CHECK(rn_call_valid(buf, len, &vocab) == (kind == RN_V_INT));
	}
	CHECK(rn_call_valid("\x00\x17\x61", 3, &vocab)); /* a name */
	CHECK(rn_call_valid("\x00\x14", 2, &vocab));     /* a constant */
	CHECK(!rn_call_valid("\x00\x24", 2, &vocab));    /* an unknown constant */
	CHECK(!rn_call_valid("\x00\x09", 2, &vocab));    /* a list */
	CHECK(!rn_call_valid("\x00\x2b", 2, &vocab));    /* a status */
	CHECK(!rn_call_valid("\x00\x2c", 2, &vocab));    /* a status that differs between ranks */
	CHECK(!rn_call_valid("\x00\x6a"
			     "comm:a\x00",
			     9, &vocab)); /* a number somewhere */
}

static void test_depth(void)
{
	for (unsigned depth = 0; depth <= RN_CALL_DEPTH_MAX + 1; depth++) {
		struct rn_buf w;
		size_t len;

		call_begin(&w, buf, sizeof(buf), 1);
		for (unsigned i = 0; i < depth; i++)
			rn_call_list(&w, 1);
		rn_call_num(&w, RN_V_INT, 5);
		CHECK(call_end(&w, 0, &len) == RN_OK);
		CHECK(rn_call_valid(buf, len, &vocab) == (depth <= RN_CALL_DEPTH_MAX));
	}
}

static void test_full(void)
{
	static const char text[RN_CALL_BYTES_MAX + 1];

	for (size_t cap = 0; cap < 200; cap++) {
		struct rn_buf w;
		size_t len;

		memset(buf, 0xee, 256);
		call_begin(&w, buf, cap, 1);
		rn_call_text(&w, RN_V_STRING, text, 100);
		CHECK(call_end(&w, 0, &len) == (cap >= 104 ? RN_OK : RN_E_RANGE));
		CHECK(len <= cap && buf[cap] == 0xee);
	}
	for (size_t n = RN_CALL_BYTES_MAX - 8; n <= sizeof(text); n++) {
		struct rn_buf w;
		size_t len;
		int rc;

		call_begin(&w, buf, sizeof(buf), 1);
		rn_call_text(&w, RN_V_STRING, text, n);
		rc = call_end(&w, 0, &len);
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
	CHECK(resolve(RN_V_REL, INT64_MAX, 1, 10) == INT64_MIN); /* wraps and does not trap */
}

static void count_word(void *arg, uint64_t word)
{
	*(uint64_t *)arg += word + 1;
}

/* Random bytes, and random changes of valid signatures: whatever is accepted can be read to its
 * end. */
static void test_random(void)
{
	for (int round = 0; round < 300000; round++) {
		size_t len = tap_below(2)   ? write_three()
			     : tap_below(2) ? write_ways()
					    : tap_below(24);
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
	test_made_of_others();
	ok("every kind of value is read as it was written");
	test_refused();
	test_depth();
	test_parts();
	test_directions();
	test_returned();
	ok("anything else is refused");
	test_full();
	ok("a call that is too long is refused as a whole");
	test_resolve();
	ok("numbers are resolved for a rank");
	test_random();
	ok("random bytes do no harm");
	return tap_done();
}
