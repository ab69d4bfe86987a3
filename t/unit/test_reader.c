/*
 * test_reader.c - traces with everything that signatures can express, printed from any call,
 * compared with a log.
 */
#include "tap.h"

#include "base/io.h"
#include "read/call_text.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "rich_trace.h"

/* An open trace and the state for printing it. */
struct reader {
	struct rn_container_writer w;
	struct rn_trace t;
	struct rn_arena mem;
	struct rn_printer *p;
	struct rn_buf log, out;
};

static bool open_reader(struct reader *r, const struct rich_run *run)
{
	struct rn_err err = { 0 };
	const void *bytes;
	size_t len;

	*r = (struct reader){ 0 };
	rn_arena_init(&r->mem, SIZE_MAX);
	if (!CHECK(rich_file(run, &r->w, &bytes, &len, &r->log) == RN_OK))
		return false;
	if (!CHECK(rn_trace_parse(&r->t, bytes, len, &err) == RN_OK) ||
	    !CHECK(rn_trace_check(&r->t, &err) == RN_OK)) {
		diag("%s", err.text);
		return false;
	}
	r->p = rn_printer_new(&r->mem, &r->t, rn_decode_text);
	return CHECK(r->p != NULL);
}

static void close_reader(struct reader *r)
{
	rn_printer_free(r->p);
	rn_trace_close(&r->t);
	rn_container_writer_free(&r->w);
	rn_arena_free(&r->mem);
	rn_buf_free(&r->log);
	rn_buf_free(&r->out);
}

/* Prints the calls of a stream with the numbers from..to-1. */
static void print(struct reader *r, uint64_t stream, uint64_t from, uint64_t to)
{
	uint32_t group;
	int rc;

	CHECK(rn_streams_find(&r->t.streams, stream, &group) == RN_OK);
	CHECK(rn_printer_begin(r->p, stream, group, from, to) == RN_OK);
	do
		rc = rn_printer_next(r->p, &r->out);
	while (rc > 0);
	CHECK(rc == 0 && rn_buf_status(&r->out) == RN_OK);
}

/* The first line in which two texts differ. */
static void show_difference(const struct rn_buf *want, const struct rn_buf *got)
{
	size_t i = 0, line = 0;

	for (; i < want->len && i < got->len && want->data[i] == got->data[i]; i++)
		if (want->data[i] == '\n')
			line = i + 1;
	diag("wanted %.*s", (int)(want->len - line < 400 ? want->len - line : 400),
	     (char *)want->data + line);
	diag("   got %.*s", (int)(got->len - line < 400 ? got->len - line : 400),
	     (char *)got->data + line);
}

static bool same(const struct rn_buf *want, const struct rn_buf *got)
{
	bool equal = want->len == got->len &&
		     (!want->len || memcmp(want->data, got->data, want->len) == 0);

	if (!CHECK(equal))
		show_difference(want, got);
	return equal;
}

static struct rich_run random_run(uint64_t seed)
{
	static const uint64_t ranks[] = { 2, 4, 6, 12 }, rows[] = { 1, 2, 3, 4 };
	unsigned k = (unsigned)tap_below(4);

	return (struct rich_run){
		.ranks = ranks[k],
		.row = rows[k],
		.threads = 1 + tap_below(3),
		.seed = seed,
		.phases = 1 + (unsigned)tap_below(6),
		.ops = 1 + (unsigned)tap_below(12),
		.times = 1 + (unsigned)tap_below(40),
		.nested = seed % 3 == 0,
		.sites = seed % 2 == 0,
	};
}

/* The lines of a log whose calls have the numbers from..to-1. */
static void cut_out(const struct rn_buf *log, uint64_t from, uint64_t to, struct rn_buf *out)
{
	const char *line = (const char *)log->data, *end = line + log->len;

	while (line < end) {
		const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
		uint64_t seq = strtoull(strchr(line, ' '), NULL, 10);

		if (seq >= from && seq < to)
			rn_buf_add(out, line, (size_t)(next - line));
		line = next;
	}
}

/* From random calls on: the output equals that of reading from the beginning. */
static void test_anywhere(struct reader *r, uint64_t stream, uint64_t calls)
{
	struct rn_buf all = { 0 }, want = { 0 };

	rn_buf_add(&all, r->out.data, r->out.len);
	for (int i = 0; i < 8; i++) {
		uint64_t from = i == 0 ? calls : i == 1 ? calls - 1 : tap_below(calls + 1);
		uint64_t to = i < 4 ? UINT64_MAX : from + tap_below(calls - from + 1);

		rn_buf_clear(&want);
		cut_out(&all, from, to, &want);
		rn_buf_clear(&r->out);
		rn_printer_hold(r->p, i % 2 ? RN_PRINTER_HELD : tap_below(400));
		print(r, stream, from, to);
		if (!same(&want, &r->out))
			diag("from call %llu to %llu of %llu", (unsigned long long)from,
			     (unsigned long long)to, (unsigned long long)calls);
	}
	rn_printer_hold(r->p, RN_PRINTER_HELD);
	rn_buf_free(&all);
	rn_buf_free(&want);
}

static void test_runs(void)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct rich_run run = random_run(seed);
		struct rn_buf all = { 0 };
		struct reader r;

		if (!open_reader(&r, &run))
			return;
		CHECK(r.t.ranks == run.ranks && r.t.threads == run.threads);
		for (uint64_t s = 0; s < run.ranks * run.threads; s++) {
			uint32_t group = 0;
			uint64_t calls;

			rn_buf_clear(&r.out);
			print(&r, s, 0, UINT64_MAX);
			rn_buf_add(&all, r.out.data, r.out.len);
			rn_streams_find(&r.t.streams, s, &group);
			calls = rn_printer_numbers(r.p, group);
			if (calls && s < 3)
				test_anywhere(&r, s, calls);
		}
		if (!same(&r.log, &all))
			diag("seed %llu", (unsigned long long)seed);
		rn_buf_free(&all);
		close_reader(&r);
	}
}

static const struct rich_run small = {
	.ranks = 4, .row = 2, .threads = 2, .seed = 1, .phases = 4, .ops = 8, .times = 3
};

/* The message of a check of a readable trace with a flaw. Its log is then the printed text. */
static void flawed(enum rich_flaw flaw, const char *what)
{
	struct rich_run run = small;
	struct rn_err err = { 0 };
	struct reader r = { 0 };
	const void *bytes;
	size_t len;

	run.flaw = flaw;
	rn_arena_init(&r.mem, SIZE_MAX);
	CHECK(rich_file(&run, &r.w, &bytes, &len, &r.log) == RN_OK);
	if (!CHECK(rn_trace_parse(&r.t, bytes, len, &err) == RN_OK))
		return;
	CHECK(rn_trace_check(&r.t, &err) == RN_E_DATA);
	if (!CHECK(strstr(err.text, what)))
		diag("%s", err.text);
	r.p = rn_printer_new(&r.mem, &r.t, rn_decode_text);
	for (uint64_t s = 0; s < run.ranks * run.threads; s++)
		print(&r, s, 0, UINT64_MAX);
	if (flaw != RICH_NO_COMMS && flaw != RICH_NO_TABLE)
		same(&r.log, &r.out);
	rn_buf_byte(&r.out, 0);
	if (flaw == RICH_NO_COMMS)
		CHECK(strstr((char *)r.out.data, "dest=rank+") != NULL);
	if (flaw == RICH_NO_TABLE)
		CHECK(strstr((char *)r.out.data, "color=slot:2") != NULL);
	close_reader(&r);
}

static void test_flaws(void)
{
	struct rich_run run = small;
	struct rn_container_writer w = { 0 };
	struct rn_err err = { 0 };
	struct rn_trace t;
	const void *bytes;
	size_t len;

	flawed(RICH_LOST_REQUEST, "is about a request that is not there");
	flawed(RICH_NO_COMMS, "are relative to comm:world.");
	flawed(RICH_NO_TABLE, "have a value in slot:2, which it is not in");
	flawed(RICH_LEAVE_ALONE,
	       "rank 0, thread 0: a rondo_leave is there without its rondo_enter");
	flawed(RICH_LEAVE_NOTHING, "a rondo_leave is not followed by the call that it is about");
	flawed(RICH_NO_LINEAGE, "has no thread lineage");
	flawed(RICH_TWO_LINEAGES, "rondo_thread does not have one input parameter");
	run.flaw = RICH_ODD_THREADS;
	CHECK(rich_file(&run, &w, &bytes, &len, NULL) == RN_OK);
	CHECK(rn_trace_parse(&t, bytes, len, &err) == RN_E_DATA && strstr(err.text, "threads"));
	rn_container_writer_free(&w);
}

/* Writes files for t/golden and t/bad. `test_reader NAME [FLAW]` writes NAME.rondo and, without a
 * flaw (a number, enum rich_flaw), its log NAME.txt. The flaw "nested" instead selects nested
 * calls. */
static int write_file(const char *name, const char *flaw)
{
	struct rich_run run = small;
	struct rn_container_writer w = { 0 };
	struct rn_buf log = { 0 };
	char path[256];
	const void *bytes;
	size_t len;
	int rc;

	run.nested = flaw && strcmp(flaw, "nested") == 0;
	run.flaw = flaw && !run.nested ? (enum rich_flaw)atoi(flaw) : RICH_GOOD;
	rc = rich_file(&run, &w, &bytes, &len, &log);
	snprintf(path, sizeof(path), "%s.rondo", name);
	if (rc == RN_OK)
		rc = rn_io_replace(path, bytes, len, NULL);
	snprintf(path, sizeof(path), "%s.txt", name);
	if (rc == RN_OK && run.flaw == RICH_GOOD)
		rc = rn_io_replace(path, log.data, log.len, NULL);
	rn_buf_free(&log);
	rn_container_writer_free(&w);
	return rc == RN_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return write_file(argv[1], argv[2]);
	test_runs();
	ok("every call is printed as it was made, wherever reading begins");
	test_flaws();
	ok("what is not right is found, and read all the same where it can be");
	return tap_done();
}
