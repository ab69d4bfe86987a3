/* test_trace.c - a whole trace: written, read back, damaged in every way that one byte can. */
#include "tap.h"

#include "encode/call.h"
#include "read/check.h"
#include "read/decode.h"
#include "read/trace.h"
#include "virtual_trace.h"

static struct rn_link link;
static struct virtual_run v;
static struct rn_arena mem;
static struct rn_streams merged;
static struct rn_buf file;

static void build(const char *pattern, uint64_t ranks, uint64_t steps)
{
	CHECK(virtual_init(&v, pattern, ranks, steps) == RN_OK);
	rn_arena_init(&mem, SIZE_MAX);
	rn_link_init(&link, SIZE_MAX);
	rn_buf_clear(&file);
	CHECK(merge_run(&v, &link, &mem, &merged) == RN_OK);
	CHECK(file_bytes(&v, &merged, &file) == RN_OK);
	rn_link_free(&link);
}

/* As a reader uses a trace: everything is checked, and calls from all over are printed. */
static void read_around(struct rn_trace *t)
{
	struct rn_arena scratch;
	struct rn_buf out = { 0 };

	rn_arena_init(&scratch, SIZE_MAX);
	for (uint64_t i = 0; i < 8; i++) {
		struct rn_call call = { .ranks = t->streams.ranks };
		struct rn_cursor c;
		uint32_t sig;

		call.rank = t->streams.ranks * i / 8;
		if (rn_cursor_init(&c, t, call.rank, &scratch) < 0 ||
		    rn_cursor_seek(&c, rn_cursor_calls(&c) * i / 8) < 0)
			continue;
		for (int k = 0; k < 4 && rn_cursor_next(&c, &call.seq, &sig); k++) {
			call.sig = rn_sigs_get(t->streams.sigs, sig, &call.len);
			rn_decode_text(&t->vocab, &call, &out);
			rn_decode_json(&t->vocab, &call, &out);
		}
	}
	rn_buf_free(&out);
	rn_arena_free(&scratch);
}

/* RN_OK only if it can be read; then reading does no harm. One line otherwise. */
static int try_file(const void *bytes, size_t len, bool *checked)
{
	struct rn_err err = { 0 };
	struct rn_trace t;
	int rc = rn_trace_parse(&t, bytes, len, &err);

	*checked = false;
	if (rc < 0) {
		CHECK(err.text[0] && !strchr(err.text, '\n'));
		return rc;
	}
	/* Ranklists are checked one by one: not for the billions that a forged file claims. */
	*checked = t.streams.ranks < 100000 && rn_trace_check(&t, &err) == RN_OK;
	read_around(&t);
	rn_trace_close(&t);
	return rc;
}

static void test_round_trip(void)
{
	struct rn_err err = { 0 };
	struct rn_trace t;
	struct rn_cursor c;
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	if (!CHECK(rn_trace_parse(&t, file.data, file.len, &err) == RN_OK)) {
		diag("%s", err.text);
		return;
	}
	CHECK(rn_trace_check(&t, &err) == RN_OK);
	CHECK(t.streams.ranks == v.ranks && t.streams.groups == merged.groups);
	CHECK(rn_streams_calls(&t.streams) == rn_streams_calls(&merged));
	CHECK(strcmp(rn_meta_get(&t.meta, "program"), v.pattern->name) == 0);
	CHECK(rn_meta_get(&t.meta, "nothing") == NULL);
	for (uint64_t r = 0; r < v.ranks; r++)
		CHECK(rank_is_right(&v, &t.streams, r, &scratch));
	CHECK(rn_cursor_init(&c, &t, v.ranks, &scratch) == RN_E_RANGE);
	CHECK(rn_cursor_init(&c, &t, 0, &scratch) == RN_OK);
	CHECK(rn_cursor_seek(&c, rn_cursor_calls(&c)) == RN_OK);
	CHECK(rn_cursor_seek(&c, rn_cursor_calls(&c) + 1) == RN_E_RANGE);
	rn_trace_close(&t);
	rn_arena_free(&scratch);
}

static void test_damage(void)
{
	bool checked;

	for (size_t n = 0; n < file.len; n++)
		CHECK(try_file(file.data, n, &checked) == RN_E_DATA);
	for (size_t i = 0; i < file.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			file.data[i] ^= (unsigned char)(1 << bit);
			CHECK(try_file(file.data, file.len, &checked) == RN_E_DATA);
			file.data[i] ^= (unsigned char)(1 << bit);
		}
	}
	CHECK(try_file(file.data, file.len, &checked) == RN_OK && checked);
}

/* The sections of the trace, unpacked, so that one can be forged under a right hash. */
static struct {
	enum rn_section_type type;
	unsigned char bytes[4096];
	size_t len;
} section[16];
static unsigned sections;

static void unpack(void)
{
	struct rn_container *c;

	sections = 0;
	CHECK(rn_container_open(&mem, file.data, file.len, &c, NULL) == RN_OK);
	for (size_t i = 0; i < rn_container_count(c); i++) {
		const void *bytes;
		enum rn_section_type type = (enum rn_section_type)rn_container_section(c, i)->type;

		CHECK(rn_container_get(c, type, &bytes, &section[i].len, NULL) == RN_OK);
		CHECK(section[i].len <= sizeof(section[i].bytes));
		memcpy(section[i].bytes, bytes, section[i].len);
		section[i].type = type;
		sections++;
	}
}

static int try_sections(unsigned leave_out, bool *checked)
{
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;
	int rc;

	for (unsigned i = 0; i < sections; i++)
		if (i != leave_out)
			CHECK(rn_container_add(&w, section[i].type, section[i].bytes,
					       section[i].len, NULL) == RN_OK);
	CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK);
	rc = try_file(bytes, len, checked);
	rn_container_writer_free(&w);
	return rc;
}

static void test_forged(void)
{
	bool checked;

	unpack();
	CHECK(try_sections(sections, &checked) == RN_OK && checked);
	for (unsigned k = 0; k < sections; k++) {
		size_t whole = section[k].len;

		CHECK(try_sections(k, &checked) == RN_E_DATA);
		for (section[k].len = 0; section[k].len < whole; section[k].len++)
			CHECK(try_sections(sections, &checked) == RN_E_DATA);
		section[k].bytes[section[k].len++] = 0;
		CHECK(try_sections(sections, &checked) == RN_E_DATA);
		section[k].len = whole;
		for (size_t i = 0; i < whole; i++) {
			unsigned char old = section[k].bytes[i];

			for (unsigned x = 0; x < 12; x++) {
				section[k].bytes[i] =
					(unsigned char)(x < 8 ? old ^ 1u << x : tap_rand());
				try_sections(sections, &checked);
			}
			section[k].bytes[i] = old;
		}
	}
}

/* A vocabulary with more in it than the trace uses: readable, but not as a writer makes it. */
static void test_unused_words(void)
{
	struct rn_buf b = { 0 };
	bool checked;

	unpack();
	rn_words_encode(&virtual_vocab, &b);
	for (unsigned k = 0; k < sections; k++) {
		if (section[k].type != RN_SECTION_STRINGS)
			continue;
		memcpy(section[k].bytes, b.data, b.len);
		section[k].len = b.len;
	}
	CHECK(try_sections(sections, &checked) == RN_OK && !checked);
	rn_buf_free(&b);
}

static void test_write_failures(void)
{
	struct rn_buf out = { 0 };
	int rc = RN_E_NOMEM;

	for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
		rn_buf_free(&out);
		rn_buf_fail_at(n);
		rc = file_bytes(&v, &merged, &out);
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	CHECK(rc == RN_OK && out.len == file.len && memcmp(out.data, file.data, out.len) == 0);
	rn_buf_free(&out);
}

static void test_bad_vocabulary(void)
{
	struct rn_container_writer w = { 0 };
	struct rn_vocab fewer = virtual_vocab;
	struct rn_meta none = { 0 };

	fewer.words--;
	fewer.funcs = 1;
	CHECK(rn_trace_sections(&w, &merged, &fewer, &none, NULL) == RN_E_ARG);
	rn_container_writer_free(&w);
}

int main(void)
{
	build("rowcol", 12, 5);
	test_round_trip();
	rn_arena_free(&mem);
	build("timestep", 3, 30);
	test_round_trip();
	rn_arena_free(&mem);
	build("stencil2d", 9, 5);
	test_round_trip();
	ok("a trace is read as it was written");
	test_damage();
	ok("every truncation and every flipped bit is refused");
	test_forged();
	ok("forged sections are refused or harmless");
	test_unused_words();
	ok("what is readable but not in order is found");
	test_write_failures();
	test_bad_vocabulary();
	ok("a failed write is reported");
	rn_arena_free(&mem);
	rn_buf_free(&file);
	return tap_done();
}
