/*
 * test_trace.c - a complete trace: written, read, and damaged in every way that changes one byte.
 */
#include "tap.h"

#include <unistd.h>

#include "encode/signature.h"
#include "read/call_text.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "rich_trace.h"
#include "virtual_trace.h"
#include "call_writer.h"
#include "whole.h"

static struct rank_merge links;
static struct virtual_run v;
static struct rn_arena mem;
static struct rn_streams merged;
static struct rn_buf file;

static void build(const char *pattern, uint64_t ranks, uint64_t steps)
{
	CHECK(virtual_init(&v, pattern, ranks, steps) == RN_OK);
	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&links);
	rn_buf_clear(&file);
	CHECK(merge_run(&v, &links, &mem, &merged) == RN_OK);
	CHECK(file_bytes(&v, &merged, &file) == RN_OK);
	rank_merge_free(&links);
}

/* Builds a trace with threads, requests and communicators. */
static void build_rich(void)
{
	const struct rich_run run = { .ranks = 4,
				      .row = 2,
				      .threads = 2,
				      .seed = 1,
				      .phases = 2,
				      .ops = 4,
				      .times = 3,
				      .nested = true };
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	rn_buf_clear(&file);
	CHECK(rich_file(&run, &w, &bytes, &len, NULL) == RN_OK);
	rn_buf_add(&file, bytes, len);
	rn_container_writer_free(&w);
}

static void print_some(const struct rn_trace *t, uint64_t i, rn_decode_fn *form)
{
	uint64_t stream = t->streams.ranks * i / 8, from;
	struct rn_arena scratch;
	struct rn_buf out = { 0 };
	struct rn_printer *p;
	uint32_t group;

	rn_arena_init(&scratch, SIZE_MAX);
	p = rn_printer_new(&scratch, t, form);
	/* Forged requests are followed one by one, but not without limit. */
	if (CHECK(p != NULL) && rn_streams_find(&t->streams, stream, &group) == RN_OK &&
	    rn_streams_length(&t->streams, group) < 10000) {
		from = rn_printer_numbers(p, group) * i / 8;
		CHECK(rn_printer_begin(p, stream, group, from, from + 4) == RN_OK);
		while (rn_printer_next(p, &out) > 0)
			;
	}
	rn_printer_free(p);
	rn_buf_free(&out);
	rn_arena_free(&scratch);
}

/* Prints calls from all over the trace, as a reader does. */
static void read_around(const struct rn_trace *t)
{
	for (uint64_t i = 0; i < 8; i++)
		print_some(t, i, i % 2 ? rn_decode_json : rn_decode_text);
}

/* Returns RN_OK only if the file can be read. Reading it then does no damage. Otherwise the error
 * is one line. */
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
	/* Rank sets are checked rank by rank, which takes too long for the billions that a forged
	 * file claims. */
	*checked = t.streams.ranks < 100000 && rn_trace_check(&t, &err) == RN_OK;
	read_around(&t);
	rn_trace_close(&t);
	return rc;
}

static void test_round_trip(void)
{
	struct rn_err err = { 0 };
	struct rn_trace t;
	struct rn_arena scratch;
	uint32_t group;

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
	CHECK(rn_streams_find(&t.streams, v.ranks, &group) == RN_E_RANGE);
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

/* The unpacked sections of the trace, so that a section can be forged with a correct hash. */
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

/* No proper prefix of most sections is valid. The end of the times is encoded so compactly that one
 * byte more or less may be valid. */
static void check_lengths(unsigned k)
{
	bool exact = section[k].type != RN_SECTION_TIMES, checked;
	size_t whole = section[k].len;
	int rc;

	for (section[k].len = 0; section[k].len < whole; section[k].len++) {
		rc = try_sections(sections, &checked);
		CHECK(rc == RN_E_DATA || (!exact && section[k].len + 4 >= whole));
	}
	section[k].bytes[section[k].len++] = 0;
	rc = try_sections(sections, &checked);
	CHECK(rc == RN_E_DATA || !exact);
	section[k].len = whole;
}

static void test_forged(void)
{
	bool checked;

	unpack();
	CHECK(try_sections(sections, &checked) == RN_OK && checked);
	for (unsigned k = 0; k < sections; k++) {
		/* Times are optional. A trace without communicators can be read, but is unsound. */
		CHECK(try_sections(k, &checked) ==
		      (section[k].type < RN_SECTION_COMMS ? RN_E_DATA : RN_OK));
		CHECK(checked == (section[k].type == RN_SECTION_TIMES));
		check_lengths(k);
		for (size_t i = 0; i < section[k].len; i++) {
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

static void forge(enum rn_section_type type, const struct rn_buf *b)
{
	for (unsigned k = 0; k < sections; k++) {
		if (section[k].type != type)
			continue;
		memcpy(section[k].bytes, b->data, b->len);
		section[k].len = b->len;
	}
}

/* A vocabulary with entries that the trace does not use: readable, but not what a writer makes. */
static void test_unused_words(void)
{
	struct rn_buf b = { 0 };
	bool checked;

	unpack();
	rn_words_encode(&virtual_vocab, &b);
	forge(RN_SECTION_STRINGS, &b);
	CHECK(try_sections(sections, &checked) == RN_OK && !checked);
	rn_buf_free(&b);
}

/* Duplicate names: opening rejects those of parameters, a check those of functions and keywords. */
static void test_same_names(void)
{
	static const char *const twice[] = { "buf", "count", "buf" };
	struct rn_func funcs[64];
	struct rn_word words[64];
	struct rn_trace t;
	struct rn_vocab vocab;
	struct rn_buf b = { 0 };
	bool checked;

	unpack();
	CHECK(rn_trace_parse(&t, file.data, file.len, NULL) == RN_OK);
	vocab = t.vocab;
	if (!CHECK(vocab.funcs > 1 && vocab.funcs <= 64 && vocab.words > 1 && vocab.words <= 64))
		return;
	memcpy(funcs, vocab.func, vocab.funcs * sizeof(*funcs));
	memcpy(words, vocab.word, vocab.words * sizeof(*words));
	vocab.func = funcs;
	vocab.word = words;
	funcs[0].name = funcs[vocab.funcs - 1].name;
	rn_funcs_encode(&vocab, &b);
	forge(RN_SECTION_FUNCTIONS, &b);
	CHECK(try_sections(sections, &checked) == RN_OK && !checked);

	unpack();
	words[0].text = words[vocab.words - 1].text;
	rn_words_encode(&vocab, (rn_buf_clear(&b), &b));
	forge(RN_SECTION_STRINGS, &b);
	CHECK(try_sections(sections, &checked) == RN_OK && !checked);

	unpack();
	funcs[0] = (struct rn_func){ funcs[0].number, "f", twice, 3, NULL };
	rn_funcs_encode(&vocab, (rn_buf_clear(&b), &b));
	forge(RN_SECTION_FUNCTIONS, &b);
	CHECK(try_sections(sections, &checked) == RN_E_DATA);
	rn_buf_free(&b);
	rn_trace_close(&t);
}

/* The maximum number of parameters, with names and directions. */
static void test_directions(void)
{
	static const char *const names[] = { "a", "b", "count_and_more_than_thirty-one_letters" };
	const char *param[RN_CALL_PARAMS_MAX];
	unsigned char dir[RN_CALL_PARAMS_MAX];
	char text[RN_CALL_PARAMS_MAX][16];
	struct rn_func f = { 7, "f", param, 0, dir };
	const struct rn_vocab all = { &f, NULL, 1, 0 };
	struct rn_buf b = { 0 };

	for (int round = 0; round < 2000; round++) {
		struct rn_vocab back;
		uint32_t same = 0;

		f.nparams = (uint32_t)tap_below(RN_CALL_PARAMS_MAX + 1);
		f.dir = tap_below(4) ? dir : NULL;
		for (uint32_t i = 0; i < f.nparams; i++) {
			snprintf(text[i], sizeof(text[i]), "p%u", i);
			param[i] = i < 3 ? names[i] : text[i];
			dir[i] = (unsigned char)(tap_below(8) ? 0 : tap_below(RN_DIRS));
		}
		rn_buf_clear(&b);
		rn_funcs_encode(&all, &b);
		CHECK(WHOLE(b.data, b.len, NULL, rn_funcs_decode(&mem, &whole, &back, NULL)) ==
		      RN_OK);
		CHECK(back.funcs == 1 && back.func[0].nparams == f.nparams);
		CHECK(!back.func[0].dir == rn_func_all_in(&f));
		for (uint32_t i = 0; i < f.nparams; i++)
			same += rn_func_dir(&f, i) == rn_func_dir(&back.func[0], i) &&
				strcmp(f.param[i], back.func[0].param[i]) == 0;
		CHECK(same == f.nparams);
	}
	rn_buf_free(&b);
}

static bool funcs_taken(const char *bytes, size_t len, struct rn_err *err)
{
	struct rn_vocab back;

	return WHOLE(bytes, len, err, rn_funcs_decode(&mem, &whole, &back, err)) == RN_OK;
}

static bool funcs_refused(const char *bytes, size_t len)
{
	struct rn_err err = { 0 };

	return !funcs_taken(bytes, len, &err) && err.code == RN_E_DATA && err.text[0];
}

/* One function, id 0, name f, then the given bytes. */
#define FUNC(s)                       \
	"\x01\x00\x01"                \
	"f" s,                        \
		sizeof("\x01\x00\x01" \
		       "f" s) -       \
			1

static void test_bad_directions(void)
{
	CHECK(funcs_taken(FUNC("\x42\x05"
			       "a"),
			  NULL)); /* out */
	CHECK(funcs_taken(FUNC("\x42\x06"
			       "a"),
			  NULL)); /* both */
	CHECK(funcs_refused(FUNC("\x42\x07"
				 "a"))); /* not assigned */
	CHECK(funcs_refused(FUNC("\x42\x04"
				 "a")));        /* all in */
	CHECK(funcs_refused(FUNC("\x41")));     /* no parameters, with directions */
	CHECK(funcs_refused(FUNC("\x82\x01"))); /* 130 parameters */
	CHECK(funcs_refused(FUNC("\x43\x05"
				 "a\x05"
				 "a")));        /* duplicate name */
	CHECK(funcs_refused(FUNC("\x42\x01"))); /* no name */
}

/* Metadata is either written in a form that the reader accepts, or rejected. */
static int write_meta(const struct rn_meta *m, struct rn_meta *back)
{
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };
	int rc = rn_meta_check(m, &err);

	if (rc < 0) {
		CHECK(strncmp(err.text, "metadata: ", 10) == 0 && !strchr(err.text, '\n'));
		return rc;
	}
	rn_meta_encode(m, &b);
	CHECK(WHOLE(b.data, b.len, NULL, rn_meta_decode(&mem, &whole, back, NULL)) == RN_OK);
	rn_buf_free(&b);
	return rc;
}

static void test_meta(void)
{
	static char value[RN_META_VALUE_MAX + 2];
	struct rn_meta_entry e[] = { { "z", "1" }, { "a", "" }, { "k", value }, { "Z", "\xff\n" } };
	const struct rn_meta m = { e, 4 };
	const char *const bad_keys[] = { "", "a b", "a\nb", "\x80", "a", NULL };
	struct rn_container_writer w = { 0 };
	struct rn_meta back = { 0 };
	struct rn_err err = { 0 };

	memset(value, 'v', RN_META_VALUE_MAX);
	CHECK(write_meta(&m, &back) == RN_OK && back.n == 4);
	CHECK(strcmp(back.entry[0].key, "Z") == 0 && strcmp(back.entry[3].key, "z") == 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK(strcmp(rn_meta_get(&back, e[i].key), e[i].value) == 0);
	CHECK(write_meta(&(struct rn_meta){ NULL, 0 }, &back) == RN_OK && back.n == 0);
	for (unsigned i = 0; i < sizeof(bad_keys) / sizeof(*bad_keys); i++) {
		e[0].key = bad_keys[i];
		CHECK(write_meta(&m, &back) == RN_E_ARG);
		CHECK(rank_merge_sections(&w, &merged, &virtual_vocab, &m, &err) == RN_E_ARG);
		CHECK(w.count == 0 && strncmp(err.text, "metadata: ", 10) == 0);
	}
	e[0] = (struct rn_meta_entry){ "z", NULL };
	CHECK(write_meta(&m, &back) == RN_E_ARG);
	e[0].value = "";
	value[RN_META_VALUE_MAX] = 'v';
	CHECK(write_meta(&m, &back) == RN_E_ARG);
	rn_container_writer_free(&w);
}

/* For a file that is not a trace, or is incomplete, only the header is read. Every message names
 * the file. */
static void test_open(void)
{
	char path[] = "/tmp/rondo-test-trace.XXXXXX";
	struct rn_err err = { 0 };
	struct rn_trace t;
	int fd = mkstemp(path), rc = RN_E_NOMEM;

	if (!CHECK(fd >= 0 && write(fd, file.data, file.len) == (ssize_t)file.len))
		return;
	for (uint64_t n = 1; rc == RN_E_NOMEM && n < 100; n++) {
		rn_buf_fail_at(n);
		rc = rn_trace_open(&t, path, &err);
		rn_buf_fail_at(0);
		if (rc < 0)
			CHECK(strstr(err.text, path) && strstr(err.text, ": out of memory"));
	}
	if (CHECK(rc == RN_OK)) {
		CHECK(t.file.len == file.len && rn_trace_check(&t, &err) == RN_OK);
		rn_trace_close(&t);
	}
	CHECK(ftruncate(fd, (off_t)1 << 40) == 0);
	CHECK(rn_trace_open(&t, path, &err) == RN_E_DATA && strstr(err.text, "behind its end"));
	CHECK(pwrite(fd, "x", 1, 0) == 1);
	CHECK(rn_trace_open(&t, path, &err) == RN_E_DATA && strstr(err.text, "not a Rondo trace"));
	CHECK(strstr(err.text, path) != NULL);
	close(fd);
	unlink(path);
}

static uint32_t func_number(const char *name)
{
	uint32_t i = 0;

	while (strcmp(virtual_vocab.func[i].name, name))
		i++;
	return virtual_vocab.func[i].number;
}

/* A wait for n requests: much longer than the buffers into which most calls are written. */
static size_t long_signature(unsigned char *sig, size_t cap, uint64_t n)
{
	uint32_t word = virtual_vocab.word[0].number;
	struct rn_buf w;
	size_t len;

	call_begin(&w, sig, cap, func_number("MPI_Waitall"));
	rn_call_num(&w, RN_V_INT, (int64_t)n);
	rn_call_list(&w, n);
	for (uint64_t i = 0; i < n; i++)
		rn_call_object(&w, word, i);
	rn_call_const(&w, word);
	CHECK(call_end(&w, 0, &len) == RN_OK && len > 100 * CALL_BUFFER);
	return len;
}

static void test_long_signature(void)
{
	static unsigned char sig[1 << 22];
	size_t len = long_signature(sig, sizeof(sig), 300000), n;
	struct feeder f = new_feeder(&mem);
	struct rn_buf out = { 0 };
	struct rn_streams s;
	struct rn_trace t;
	const void *back;
	uint32_t id;

	CHECK(rn_sigs_intern(f.sigs, sig, len, &id) == RN_OK);
	CHECK(rn_grammar_append(f.g, id) == RN_OK);
	rank_merge_init(&links);
	CHECK(rank_merge_add(&links, f.sigs, f.g) == RN_OK);
	CHECK(rank_merge_finish(&links, &mem, &s) == RN_OK);
	CHECK(file_bytes(&v, &s, &out) == RN_OK);
	if (CHECK(rn_trace_parse(&t, out.data, out.len, NULL) == RN_OK)) {
		back = rn_sigs_get(t.streams.sigs, 0, &n);
		CHECK(n == len && memcmp(back, sig, n) == 0);
		CHECK(rn_trace_check(&t, NULL) == RN_OK);
		rn_trace_close(&t);
	}
	rank_merge_free(&links);
	rn_buf_free(&out);
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
	CHECK(rank_merge_sections(&w, &merged, &fewer, &none, NULL) == RN_E_ARG);
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
	test_same_names();
	ok("what is readable but not in order is found");
	test_directions();
	test_bad_directions();
	ok("directions of parameters");
	test_meta();
	ok("metadata is sorted and checked before it is written");
	test_long_signature();
	ok("a signature may be long");
	test_open();
	ok("a file is looked at before it is read");
	test_write_failures();
	test_bad_vocabulary();
	ok("a failed write is reported");
	rn_arena_free(&mem);
	build_rich();
	test_damage();
	test_forged();
	ok("the same with threads, communicators, requests and statuses");
	rn_arena_free(&mem);
	rn_buf_free(&file);
	return tap_done();
}
