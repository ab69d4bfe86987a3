/* test_decode.c - calls as text and as JSON: every kind of value, every awkward byte. */
#include "tap.h"

#include <string.h>

#include "base/buf.h"
#include "read/decode.h"

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__ })

static const struct rn_func funcs[] = {
	{ 0, "f", PARAMS("x"), 1 },
	{ 1, "g", NULL, 0 },
	{ 2, "h", PARAMS("x", "y", "z"), 3 },
};
static const struct rn_word words[] = { { 0, "MPI_INT" }, { 1, "request" }, { 2, "heap" } };
static const struct rn_vocab vocab = { funcs, words, 3, 3 };

static unsigned char bytes[RN_CALL_BUFFER];
static struct rn_call_writer w;

/* Ends the call that was begun and compares both forms; rank 5 of 8, call 3. */
static void prints(int64_t ret, const char *text, const char *json)
{
	struct rn_call c = { .sig = bytes, .rank = 5, .seq = 3, .ranks = 8 };
	struct rn_buf out = { 0 };

	CHECK(rn_call_end(&w, ret, &c.len) == RN_OK && rn_call_valid(bytes, c.len, &vocab));
	rn_decode_text(&vocab, &c, &out);
	rn_buf_byte(&out, 0);
	if (!CHECK(strcmp((char *)out.data, text) == 0))
		diag("wanted %s#     got %s", text, (char *)out.data);
	rn_buf_clear(&out);
	rn_decode_json(&vocab, &c, &out);
	rn_buf_byte(&out, 0);
	if (!CHECK(strcmp((char *)out.data, json) == 0))
		diag("wanted %s#     got %s", json, (char *)out.data);
	rn_buf_free(&out);
}

static void begin(uint32_t func)
{
	rn_call_begin(&w, bytes, sizeof(bytes), func);
}

#define J(args, ret) "{\"rank\":5,\"seq\":3,\"call\":" args ",\"ret\":" ret "}\n"

static void number(enum rn_value_kind kind, int64_t v, const char *text, const char *json)
{
	char want_text[128], want_json[128];

	snprintf(want_text, sizeof(want_text), "5 3 f(x=%s) = 0\n", text);
	snprintf(want_json, sizeof(want_json), J("\"f\",\"args\":{\"x\":%s}", "0"), json);
	begin(0);
	rn_call_num(&w, kind, v);
	prints(0, want_text, want_json);
}

static void test_numbers(void)
{
	begin(1);
	prints(-1, "5 3 g() = -1\n", J("\"g\",\"args\":{}", "-1"));
	number(RN_V_INT, 0, "0", "0");
	number(RN_V_INT, -12, "-12", "-12");
	number(RN_V_REL, -6, "-1", "-1");
	number(RN_V_RELMOD, -6, "7", "7");
	number(RN_V_XOR, 1, "4", "4");
	number(RN_V_INT, (int64_t)1 << 53, "9007199254740992", "9007199254740992");
	number(RN_V_INT, ((int64_t)1 << 53) + 1, "9007199254740993", "\"9007199254740993\"");
	number(RN_V_INT, -((int64_t)1 << 53), "-9007199254740992", "-9007199254740992");
	number(RN_V_INT, -((int64_t)1 << 53) - 1, "-9007199254740993", "\"-9007199254740993\"");
	number(RN_V_INT, INT64_MAX, "9223372036854775807", "\"9223372036854775807\"");
	number(RN_V_INT, INT64_MIN, "-9223372036854775808", "\"-9223372036854775808\"");
}

static void test_names(void)
{
	begin(2);
	rn_call_const(&w, 0);
	rn_call_object(&w, 1, 12);
	rn_call_place(&w, 2, 3, 64);
	prints(0, "5 3 h(x=MPI_INT, y=request:12, z=heap:3+64) = 0\n",
	       J("\"h\",\"args\":{\"x\":\"MPI_INT\",\"y\":\"request:12\",\"z\":\"heap:3+64\"}",
		 "0"));
	begin(2);
	rn_call_place(&w, 2, 0, -8);
	rn_call_text(&w, RN_V_NAME, "comm:row", 8);
	rn_call_list(&w, 3);
	rn_call_num(&w, RN_V_REL, 1);
	rn_call_list(&w, 0);
	rn_call_list(&w, 2);
	rn_call_const(&w, 0);
	rn_call_text(&w, RN_V_STRING, "s", 1);
	prints(0, "5 3 h(x=heap:0-8, y=comm:row, z=[6, [], [MPI_INT, \"s\"]]) = 0\n",
	       J("\"h\",\"args\":{\"x\":\"heap:0-8\",\"y\":\"comm:row\","
		 "\"z\":[6,[],[\"MPI_INT\",\"s\"]]}",
		 "0"));
}

static void string(const char *s, size_t n, const char *text, const char *json)
{
	char want_text[256], want_json[256];

	snprintf(want_text, sizeof(want_text), "5 3 f(x=\"%s\") = 0\n", text);
	snprintf(want_json, sizeof(want_json), J("\"f\",\"args\":{\"x\":\"%s\"}", "0"), json);
	begin(0);
	rn_call_text(&w, RN_V_STRING, s, n);
	prints(0, want_text, want_json);
}

#define S(s) s, sizeof(s) - 1

static void test_strings(void)
{
	string(S(""), "", "");
	string(S("a b/c"), "a b/c", "a b/c");
	string(S("\"\\\b\f\n\r\t"), "\\\"\\\\\\b\\f\\n\\r\\t", "\\\"\\\\\\b\\f\\n\\r\\t");
	string(S("\0\x01\x1f\x7f"), "\\000\\001\\037\\177", "\\u0000\\u0001\\u001f\\u007f");
	string(S("\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xb5"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xb5",
	       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xb5");
	/* An escape ends by itself, whatever follows it. */
	string(S("\x01"
		 "a\x01"
		 "1"),
	       "\\001a\\0011", "\\u0001a\\u00011");
	/* C1: control characters that are UTF-8, and their neighbours that are none. */
	string(S("\xc2\x80\xc2\x9b\xc2\x9f"), "\\302\\200\\302\\233\\302\\237",
	       "\\u0080\\u009b\\u009f");
	string(S("\xc2\xa0\xc3\x80"), "\xc2\xa0\xc3\x80", "\xc2\xa0\xc3\x80");
	string(S("\x9b"), "\\233", "\\udc9b");
	/* Not UTF-8: a lone byte, a cut character, an overlong one, a surrogate, too high. */
	string(S("\xff"), "\\377", "\\udcff");
	string(S("\xe2\x82"), "\\342\\202", "\\udce2\\udc82");
	string(S("\xc0\xaf"), "\\300\\257", "\\udcc0\\udcaf");
	string(S("\xe0\x80\xaf"), "\\340\\200\\257", "\\udce0\\udc80\\udcaf");
	string(S("\xed\xa0\x80"), "\\355\\240\\200", "\\udced\\udca0\\udc80");
	string(S("\xf4\x90\x80\x80"), "\\364\\220\\200\\200", "\\udcf4\\udc90\\udc80\\udc80");
	string(S("\xf5"), "\\365", "\\udcf5");
}

static void test_no_memory(void)
{
	struct rn_buf out = { 0 };
	struct rn_call c = { .sig = bytes, .ranks = 1 };

	begin(0);
	rn_call_num(&w, RN_V_INT, 1);
	CHECK(rn_call_end(&w, 0, &c.len) == RN_OK);
	rn_buf_fail_at(1);
	rn_decode_json(&vocab, &c, &out);
	rn_buf_fail_at(0);
	CHECK(rn_buf_status(&out) == RN_E_NOMEM);
	rn_buf_free(&out);
}

int main(void)
{
	test_numbers();
	ok("numbers are absolute, and exact in JSON too");
	test_names();
	ok("constants, handles, places, lists");
	test_strings();
	ok("strings are quoted, byte for byte");
	test_no_memory();
	ok("a buffer that cannot grow is noticed");
	return tap_done();
}
