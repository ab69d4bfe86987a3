/*
 * test_decode.c - calls as text and as JSON: every kind of value, and every byte that needs an
 * escape.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/template.h"
#include "identity/comm_table.h"
#include "read/call_text.h"
#include "read/calls.h"
#include "call_writer.h"

#define PARAMS(...) ((const char *const[]){ __VA_ARGS__ })

#define DIRS(...) ((const unsigned char[]){ __VA_ARGS__ })

static const struct rn_func funcs[] = {
	{ 0, "f", PARAMS("x"), 1, NULL },
	{ 1, "g", NULL, 0, NULL },
	{ 2, "h", PARAMS("x", "y", "z"), 3, NULL },
	{ 3, "d", PARAMS("x", "y", "z"), 3, DIRS(RN_DIR_OUT, RN_DIR_BOTH, RN_DIR_IN) },
};
static const struct rn_word words[] = {
	{ 0, "MPI_INT" },       { 1, "request" },  { 2, "heap" },  { 3, "MPI_COMM_WORLD" },
	{ 4, "MPI_COMM_SELF" }, { 5, "request+" }, { 6, "unset" }, { 7, "-" },
};
static const struct rn_vocab vocab = { funcs, words, 4, 8 };
static struct rn_comms *comms;
static uint64_t thread;
static bool inside; /* the call is nested in call 2 */

static unsigned char bytes[CALL_BUFFER];
static struct rn_buf w;

static struct rn_arena args_mem;

/* Parses the written call as one of a rank of `ranks`. */
static const struct rn_template *args_of(size_t len, uint64_t rank, uint64_t ranks)
{
	static struct rn_template t;
	const struct rn_keywords k = rn_keywords_of(&vocab);

	rn_arena_init(&args_mem, SIZE_MAX);
	CHECK(rn_template_parse(&args_mem, &k, bytes, len, &t) == RN_OK);
	rn_template_locate(&t, comms, ranks, rank);
	return &t;
}

/* Ends the current call and compares both output forms. The call is call 3 of rank 5 of 8. */
static void prints(int64_t ret, const char *text, const char *json)
{
	struct rn_call c = { .rank = 5, .thread = thread, .seq = 3, .depth = inside, .parent = 2 };
	const struct rn_decoder d = { .keywords = rn_keywords_of(&vocab) };
	struct rn_buf out = { 0 };
	size_t len;

	CHECK(call_end(&w, ret, &len) == RN_OK && rn_call_valid(bytes, len, &vocab));
	c.args = args_of(len, 5, 8);
	rn_decode_text(&d, &c, &out);
	rn_buf_byte(&out, 0);
	if (!CHECK(strcmp((char *)out.data, text) == 0))
		diag("wanted %s#     got %s", text, (char *)out.data);
	rn_buf_clear(&out);
	rn_decode_json(&d, &c, &out);
	rn_buf_byte(&out, 0);
	if (!CHECK(strcmp((char *)out.data, json) == 0))
		diag("wanted %s#     got %s", json, (char *)out.data);
	rn_buf_free(&out);
	rn_arena_free(&args_mem);
}

static void begin(uint32_t func)
{
	call_begin(&w, bytes, sizeof(bytes), func);
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
	rn_call_text(&w, RN_V_NAME, "comma", 5);
	rn_call_list(&w, 3);
	rn_call_num(&w, RN_V_REL, 1);
	rn_call_list(&w, 0);
	rn_call_list(&w, 2);
	rn_call_const(&w, 0);
	rn_call_text(&w, RN_V_STRING, "s", 1);
	prints(0, "5 3 h(x=heap:0-8, y=comma, z=[6, [], [MPI_INT, \"s\"]]) = 0\n",
	       J("\"h\",\"args\":{\"x\":\"heap:0-8\",\"y\":\"comma\","
		 "\"z\":[6,[],[\"MPI_INT\",\"s\"]]}",
		 "0"));
}

/* If the call changes a parameter, only the new value is printed, in the parameter's
 * position. */
static void test_directions(void)
{
	begin(3);
	rn_call_num(&w, RN_V_INT, 1); /* y before */
	rn_call_num(&w, RN_V_INT, 2); /* z */
	rn_call_num(&w, RN_V_INT, 3); /* x */
	rn_call_num(&w, RN_V_INT, 4); /* y after */
	prints(7, "5 3 d(x=3, y=4, z=2) = 7\n", J("\"d\",\"args\":{\"x\":3,\"y\":4,\"z\":2}", "7"));
	thread = 2;
	begin(1);
	prints(0, "5.2 3 g() = 0\n",
	       "{\"rank\":5,\"thread\":2,\"seq\":3,\"call\":\"g\",\"args\":{},\"ret\":0}\n");
	thread = 0;
}

/* Writes x, y and z, each relative in a different form, to the communicator given. */
static void relative(const char *text, const char *json)
{
	rn_call_list(&w, 3);
	rn_call_num(&w, RN_V_REL, -6);
	rn_call_num(&w, RN_V_RELMOD, 4);
	rn_call_num(&w, RN_V_XOR, 3);
	rn_call_const(&w, 0);
	prints(0, text, json);
}

/* Rank 5 is rank 2 of 3 in comm:row, and 1 of 4 in comm:inter, whose remote group has 7 ranks. */
static void test_communicators(void)
{
	const struct rn_comm_entry row = { .my_rank = 2, .size = 3, .key = 3 };
	const struct rn_comm_entry inter = {
		.my_rank = 1, .size = 4, .remote = 7, .key = 4, .remote_key = 0
	};
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	comms = rn_comms_new(&mem);
	CHECK(rn_comms_add(comms, "comm:row", 8, 5, &row) == RN_OK);
	CHECK(rn_comms_add(comms, "comm:inter", 10, 5, &inter) == RN_OK);
	begin(2);
	rn_call_const(&w, 3);
	relative("5 3 h(x=MPI_COMM_WORLD, y=[-1, 1, 6], z=MPI_INT) = 0\n",
		 J("\"h\",\"args\":{\"x\":\"MPI_COMM_WORLD\",\"y\":[-1,1,6],\"z\":\"MPI_INT\"}",
		   "0"));
	begin(2);
	rn_call_const(&w, 4);
	relative("5 3 h(x=MPI_COMM_SELF, y=[-6, 0, 3], z=MPI_INT) = 0\n",
		 J("\"h\",\"args\":{\"x\":\"MPI_COMM_SELF\",\"y\":[-6,0,3],\"z\":\"MPI_INT\"}",
		   "0"));
	begin(2);
	rn_call_text(&w, RN_V_NAME, "comm:row", 8);
	relative("5 3 h(x=comm:row, y=[-4, 0, 1], z=MPI_INT) = 0\n",
		 J("\"h\",\"args\":{\"x\":\"comm:row\",\"y\":[-4,0,1],\"z\":\"MPI_INT\"}", "0"));
	begin(2);
	rn_call_text(&w, RN_V_NAME, "comm:inter", 10);
	relative("5 3 h(x=comm:inter, y=[-5, 5, 2], z=MPI_INT) = 0\n",
		 J("\"h\",\"args\":{\"x\":\"comm:inter\",\"y\":[-5,5,2],\"z\":\"MPI_INT\"}", "0"));
	/* The communicator is unknown. */
	begin(2);
	rn_call_text(&w, RN_V_NAME, "comm:other", 10);
	relative("5 3 h(x=comm:other, y=[rank-6, rank+4%size, rank^3], z=MPI_INT) = 0\n",
		 J("\"h\",\"args\":{\"x\":\"comm:other\","
		   "\"y\":[\"rank-6\",\"rank+4%size\",\"rank^3\"],\"z\":\"MPI_INT\"}",
		   "0"));
	/* Ranks are relative to the first communicator at the top level. A value with its own
	 * communicator is relative to that one. */
	begin(2);
	rn_call_list(&w, 2);
	rn_call_text(&w, RN_V_NAME, "comm:row", 8);
	rn_call_num(&w, RN_V_REL, 0);
	rn_call_in(&w, "comm:row", 8);
	rn_call_num(&w, RN_V_REL, 0);
	rn_call_text(&w, RN_V_NAME, "comm:inter", 10);
	prints(0, "5 3 h(x=[comm:row, 1], y=2, z=comm:inter) = 0\n",
	       J("\"h\",\"args\":{\"x\":[\"comm:row\",1],\"y\":2,\"z\":\"comm:inter\"}", "0"));
	rn_arena_free(&mem);
	comms = NULL;
}

static void status(enum rn_status_form form)
{
	rn_call_status(&w, form);
	if (form == RN_STATUS_NOTHING)
		return;
	rn_call_num(&w, RN_V_REL, 1);
	rn_call_const(&w, 0);
	for (int64_t i = 2; i < 5 && form == RN_STATUS_FULL; i++)
		rn_call_num(&w, RN_V_INT, i);
}

#define FULL_TEXT "{source=6, tag=MPI_INT, error=2, count=3, cancelled=4}"
#define FULL_JSON "{\"source\":6,\"tag\":\"MPI_INT\",\"error\":2,\"count\":3,\"cancelled\":4}"

static void test_statuses(void)
{
	begin(0);
	status(RN_STATUS_FULL);
	prints(0, "5 3 f(x=" FULL_TEXT ") = 0\n", J("\"f\",\"args\":{\"x\":" FULL_JSON "}", "0"));
	begin(0);
	status(RN_STATUS_MATCHED);
	prints(0, "5 3 f(x=MPI_STATUS_IGNORE) = 0 matched={source=6, tag=MPI_INT}\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUS_IGNORE\"}",
		 "0,\"matched\":{\"source\":6,\"tag\":\"MPI_INT\"}"));
	begin(0);
	status(RN_STATUS_NOTHING);
	prints(0, "5 3 f(x=MPI_STATUS_IGNORE) = 0\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUS_IGNORE\"}", "0"));
	begin(0);
	rn_call_in(&w, "MPI_COMM_SELF", 13);
	status(RN_STATUS_MATCHED);
	prints(0, "5 3 f(x=MPI_STATUS_IGNORE) = 0 matched={source=1, tag=MPI_INT}\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUS_IGNORE\"}",
		 "0,\"matched\":{\"source\":1,\"tag\":\"MPI_INT\"}"));
}

static void test_undefined_fields(void)
{
	begin(0);
	rn_call_status(&w, RN_STATUS_FULL);
	rn_call_const(&w, 7);
	rn_call_const(&w, 7);
	rn_call_const(&w, 7);
	rn_call_num(&w, RN_V_INT, 8);
	rn_call_const(&w, 6);
	prints(0, "5 3 f(x={count=8}) = 0\n", J("\"f\",\"args\":{\"x\":{\"count\":8}}", "0"));
	begin(0);
	rn_call_status(&w, RN_STATUS_FULL);
	for (int i = 0; i < 5; i++)
		rn_call_const(&w, 7);
	prints(0, "5 3 f(x={}) = 0\n", J("\"f\",\"args\":{\"x\":{}}", "0"));
}

static void test_status_lists(void)
{
	begin(0);
	rn_call_list(&w, 3);
	status(RN_STATUS_NOTHING);
	rn_call_in(&w, "MPI_COMM_SELF", 13);
	status(RN_STATUS_MATCHED);
	status(RN_STATUS_MATCHED);
	prints(0,
	       "5 3 f(x=MPI_STATUSES_IGNORE) = 0 "
	       "matched=[null, {source=1, tag=MPI_INT}, {source=6, tag=MPI_INT}]\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUSES_IGNORE\"}",
		 "0,\"matched\":[null,{\"source\":1,\"tag\":\"MPI_INT\"},"
		 "{\"source\":6,\"tag\":\"MPI_INT\"}]"));
	begin(0);
	rn_call_list(&w, 2);
	status(RN_STATUS_NOTHING);
	status(RN_STATUS_NOTHING);
	prints(0, "5 3 f(x=MPI_STATUSES_IGNORE) = 0\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUSES_IGNORE\"}", "0"));
	begin(0);
	rn_call_list(&w, 2);
	status(RN_STATUS_FULL);
	status(RN_STATUS_MATCHED);
	prints(0, "5 3 f(x=[" FULL_TEXT ", MPI_STATUS_IGNORE]) = 0\n",
	       J("\"f\",\"args\":{\"x\":[" FULL_JSON ",\"MPI_STATUS_IGNORE\"]}", "0"));
	begin(0);
	rn_call_list(&w, 0);
	prints(0, "5 3 f(x=[]) = 0\n", J("\"f\",\"args\":{\"x\":[]}", "0"));
	/* The value of a status before the call is not printed. */
	begin(3);
	status(RN_STATUS_MATCHED);
	rn_call_num(&w, RN_V_INT, 0);
	rn_call_num(&w, RN_V_INT, 0);
	status(RN_STATUS_NOTHING);
	prints(0, "5 3 d(x=0, y=MPI_STATUS_IGNORE, z=0) = 0\n",
	       J("\"d\",\"args\":{\"x\":0,\"y\":\"MPI_STATUS_IGNORE\",\"z\":0}", "0"));
}

/* Requests of unknown origin. test_reader.c covers the others. */
static void test_requests(void)
{
	begin(2);
	rn_call_place(&w, 1, 0, 0);
	rn_call_const(&w, 5);
	rn_call_text(&w, RN_V_NAME, "request:1.2.3", 13);
	prints(0, "5 3 h(x=request:?, y=request:?, z=request:1.2.3) = 0\n",
	       J("\"h\",\"args\":{\"x\":\"request:?\",\"y\":\"request:?\","
		 "\"z\":\"request:1.2.3\"}",
		 "0"));
}

/* Checks the output of the return value, which is the end of a line of text and of JSON. */
static void returns(const char *text, const char *json)
{
	struct rn_call c = { 0 };
	struct rn_buf out = { 0 };
	const struct rn_decoder d = { .keywords = rn_keywords_of(&vocab) };
	size_t len;
	char want[128];
	int n = snprintf(want, sizeof(want),
			 "0 0 g()%s\n{\"rank\":0,\"seq\":0,\"call\":\"g\",\"args\":{}%s}\n", text,
			 json);

	CHECK(call_done(&w, &len) == RN_OK && rn_call_valid(bytes, len, &vocab));
	c.args = args_of(len, 0, 1);
	rn_decode_text(&d, &c, &out);
	rn_decode_json(&d, &c, &out);
	if (!CHECK(out.len == (size_t)n && memcmp(out.data, want, out.len) == 0))
		diag("wanted %s#     got %.*s", want, (int)out.len, (char *)out.data);
	rn_buf_free(&out);
	rn_arena_free(&args_mem);
}

static void returns_name(const char *name, const char *text, const char *json)
{
	begin(1);
	rn_call_text(&w, RN_V_NAME, name, strlen(name));
	returns(text, json);
}

static void test_returned(void)
{
	begin(1);
	rn_call_object(&w, 2, 9);
	returns(" = heap:9", ",\"ret\":\"heap:9\"");
	begin(1);
	rn_call_const(&w, 6);
	returns(" = ? unfinished", ",\"ret\":null,\"unfinished\":true");
	begin(1);
	rn_call_const(&w, 7);
	returns("", "");
	returns_name("1e-09", " = 1e-09", ",\"ret\":1e-09");
	returns_name("0.01", " = 0.01", ",\"ret\":0.01");
	returns_name("1", " = 1", ",\"ret\":1");
	returns_name("1e", " = 1e", ",\"ret\":\"1e\"");
	returns_name("1e-", " = 1e-", ",\"ret\":\"1e-\"");
	returns_name("1.", " = 1.", ",\"ret\":\"1.\"");
	returns_name("01", " = 01", ",\"ret\":\"01\"");
	returns_name("1x", " = 1x", ",\"ret\":\"1x\"");
	returns_name(".5", " = .5", ",\"ret\":\".5\"");
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
	/* An escape has a fixed length, so the following characters cannot extend it. */
	string(S("\x01"
		 "a\x01"
		 "1"),
	       "\\001a\\0011", "\\u0001a\\u00011");
	/* C1 control characters in UTF-8, and the adjacent characters, which are not control
	 * characters. */
	string(S("\xc2\x80\xc2\x9b\xc2\x9f"), "\\302\\200\\302\\233\\302\\237",
	       "\\u0080\\u009b\\u009f");
	string(S("\xc2\xa0\xc3\x80"), "\xc2\xa0\xc3\x80", "\xc2\xa0\xc3\x80");
	string(S("\x9b"), "\\233", "\\uf79b");
	/* Invalid UTF-8: a lone byte, a truncated character, an overlong one, a surrogate, too
	 * large a code. */
	string(S("\xff"), "\\377", "\\uf7ff");
	string(S("\xe2\x82"), "\\342\\202", "\\uf7e2\\uf782");
	string(S("\xc0\xaf"), "\\300\\257", "\\uf7c0\\uf7af");
	string(S("\xe0\x80\xaf"), "\\340\\200\\257", "\\uf7e0\\uf780\\uf7af");
	string(S("\xed\xa0\x80"), "\\355\\240\\200", "\\uf7ed\\uf7a0\\uf780");
	string(S("\xf4\x90\x80\x80"), "\\364\\220\\200\\200", "\\uf7f4\\uf790\\uf780\\uf780");
	string(S("\xf5"), "\\365", "\\uf7f5");
	/* U+F780 is written as bytes; U+F77F is not. */
	string(S("\xef\x9e\x80"), "\xef\x9e\x80", "\\uf7ef\\uf79e\\uf780");
	string(S("\xef\x9d\xbf"), "\xef\x9d\xbf", "\xef\x9d\xbf");
}

static void test_inside(void)
{
	inside = true;
	begin(1);
	prints(0, "5 3 g() = 0 <2>\n", J("\"g\",\"args\":{}", "0,\"parent\":2"));
	begin(0);
	rn_call_status(&w, RN_STATUS_MATCHED);
	rn_call_num(&w, RN_V_INT, 4);
	rn_call_num(&w, RN_V_INT, 9);
	prints(0, "5 3 f(x=MPI_STATUS_IGNORE) = 0 <2> matched={source=4, tag=9}\n",
	       J("\"f\",\"args\":{\"x\":\"MPI_STATUS_IGNORE\"}",
		 "0,\"parent\":2,\"matched\":{\"source\":4,\"tag\":9}"));
	inside = false;
}

static void test_no_memory(void)
{
	struct rn_buf out = { 0 };
	struct rn_call c = { 0 };
	const struct rn_decoder d = { .keywords = rn_keywords_of(&vocab) };
	size_t len;

	begin(0);
	rn_call_num(&w, RN_V_INT, 1);
	CHECK(call_end(&w, 0, &len) == RN_OK);
	c.args = args_of(len, 0, 1);
	rn_buf_fail_at(1);
	rn_decode_json(&d, &c, &out);
	rn_buf_fail_at(0);
	CHECK(rn_buf_status(&out) == RN_E_NOMEM);
	rn_buf_free(&out);
	rn_arena_free(&args_mem);
}

int main(void)
{
	test_numbers();
	ok("numbers are absolute, and exact in JSON too");
	test_names();
	ok("constants, handles, places, lists");
	test_directions();
	ok("parameters stand in order, with what the call made of them");
	test_communicators();
	ok("ranks are those of the communicator");
	test_statuses();
	test_undefined_fields();
	test_status_lists();
	ok("statuses, and what was matched where they were ignored");
	test_requests();
	test_returned();
	ok("unknown requests; return values: handles, seconds, unrecorded values");
	test_inside();
	ok("calls inside calls say inside of which");
	test_strings();
	ok("strings are quoted, byte for byte");
	test_no_memory();
	ok("a buffer that cannot grow is noticed");
	return tap_done();
}
