/*
 * test_elastic.c - a trace shows the same calls with and without elastic counts. Random programs
 * with random parameters on random numbers of ranks are merged, written in both ways, read again,
 * and compared with the calls of the program.
 *
 * RONDO_PROGRAMS=n tests n programs.
 */
#include "random_program.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "bench/rank_merge.h"
#include "file/container.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "model/merged_streams.h"
#include "model/metadata.h"
#include "model/payload.h"
#include "read/call_text.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "call_writer.h"

#define RANKS_MOST 6u
#define CALLS_MOST 1500u

/* The calls of a program use the functions in turn. */
enum { F_SEND, F_BCAST, F_BARRIER, FUNCS };

static const struct rn_func funcs[] = {
	{ F_SEND, "MPI_Send", (const char *const[]){ "dest", "tag" }, 2, NULL },
	{ F_BCAST, "MPI_Bcast", (const char *const[]){ "count", "root" }, 2, NULL },
	{ F_BARRIER, "MPI_Barrier", NULL, 0, NULL },
};

static const struct rn_vocab vocab = { .func = funcs, .funcs = FUNCS };

struct rank {
	uint32_t rank, ranks;
	uint64_t seq;
	struct rn_sigs *sigs;
	struct rn_grammar *g;
	struct rn_buf *log;
};

__attribute__((format(printf, 2, 3))) static void put_line(struct rn_buf *b, const char *fmt, ...)
{
	char line[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rn_buf_add(b, line, (size_t)n);
}

/* The parameter is the destination, absolute or relative to the rank, in MPI_Send, and a count
 * in MPI_Bcast. */
static void write_call(struct rank *r, struct rn_buf *w, uint32_t func, uint32_t call,
		       uint64_t parameter)
{
	int64_t number = (int64_t)(parameter * (call % 5 == 0 ? 1000000 : 1));

	if (func == F_SEND) {
		int64_t to = (int64_t)((r->rank + parameter) % r->ranks);

		rn_call_num(w, call % 2 ? RN_V_INT : RN_V_REL, call % 2 ? to : to - r->rank);
		rn_call_num(w, RN_V_INT, call);
		put_line(r->log, "(dest=%d, tag=%u)", (int)to, call);
	} else if (func == F_BCAST) {
		rn_call_num(w, RN_V_INT, number);
		rn_call_num(w, RN_V_INT, call);
		put_line(r->log, "(count=%lld, root=%u)", (long long)number, call);
	} else {
		put_line(r->log, "()");
	}
}

static void make_call(void *arg, uint32_t call, uint64_t parameter)
{
	struct rank *r = arg;
	unsigned char buf[CALL_BUFFER];
	struct rn_buf w;
	uint32_t func = call % FUNCS, id = 0;
	size_t len = 0;

	call_begin(&w, buf, sizeof(buf), func);
	put_line(r->log, "%u %llu %s", r->rank, (unsigned long long)r->seq++, funcs[func].name);
	write_call(r, &w, func, call, parameter);
	put_line(r->log, " = 0\n");
	CHECK(call_end(&w, 0, &len) == RN_OK);
	CHECK(rn_sigs_intern(r->sigs, buf, len, &id) == RN_OK);
	CHECK(rn_grammar_append(r->g, id) == RN_OK);
}

/* Runs all ranks. Their calls are written to the link and to the log. */
static void run_ranks(struct program *p, uint32_t ranks, struct rank_merge *link,
		      struct rn_arena *mem, struct rn_buf *log)
{
	struct rn_grammar_opts opts = { .literal_limit = tap_below(4) ? 0 : 50 };
	struct rank r = { .ranks = ranks, .log = log };

	r.sigs = rn_sigs_new(mem);
	r.g = rn_grammar_new(mem, &opts);
	for (r.rank = 0; r.rank < ranks; r.rank++) {
		rn_sigs_reset(r.sigs);
		rn_grammar_reset(r.g);
		r.seq = 0;
		run_program(p, r.rank, CALLS_MOST, make_call, &r);
		CHECK(rank_merge_add(link, r.sigs, r.g) == RN_OK);
	}
}

static bool dump(const struct rn_trace *t, struct rn_arena *mem, struct rn_buf *out)
{
	struct rn_printer *printer = rn_printer_new(mem, t, rn_decode_text);
	int rc = 1;

	for (uint64_t s = 0; s < t->streams.ranks && rc >= 0; s++) {
		uint32_t group;

		rc = rn_streams_find(&t->streams, s, &group);
		if (rc == RN_OK)
			rc = rn_printer_begin(printer, s, group, 0, UINT64_MAX);
		for (rc = rc < 0 ? rc : 1; rc > 0;)
			rc = rn_printer_next(printer, out);
	}
	rn_printer_free(printer);
	return rc == 0 && rn_buf_status(out) == RN_OK;
}

/* Returns the offset of the line of this call in the log, or the end of the log. */
static size_t find_line(const struct rn_buf *log, uint64_t rank, uint64_t seq)
{
	char head[64];
	size_t len = (size_t)snprintf(head, sizeof(head), "%llu %llu MPI", (unsigned long long)rank,
				      (unsigned long long)seq);
	const unsigned char *at = log->data, *end = log->data + log->len;

	while (at < end && ((size_t)(end - at) < len || memcmp(at, head, len) != 0))
		at = (const unsigned char *)memchr(at, '\n', (size_t)(end - at)) + 1;
	return (size_t)(at - log->data);
}

/* Returns the offset of the end of a rank's calls in the log. The following ranks may have no
 * calls. */
static size_t find_end(const struct rn_buf *log, uint64_t rank, uint64_t ranks)
{
	size_t at = log->len;

	while (at == log->len && ++rank < ranks)
		at = find_line(log, rank, 0);
	return at;
}

/* Prints a few calls from random positions of each stream. */
static bool dump_some(const struct rn_trace *t, struct rn_arena *mem, const struct rn_buf *log)
{
	struct rn_printer *printer = rn_printer_new(mem, t, rn_decode_text);
	struct rn_buf out = { 0 };
	bool good = true;

	for (uint64_t s = 0; s < t->streams.ranks && good; s++) {
		uint32_t group = 0;
		uint64_t n, from, to;
		size_t begin, end;

		good = rn_streams_find(&t->streams, s, &group) == RN_OK;
		n = rn_printer_numbers(printer, group);
		from = tap_below(n + 1);
		to = from + tap_below(20);
		end = find_end(log, s, t->streams.ranks);
		begin = from < n ? find_line(log, s, from) : end;
		end = to < n ? find_line(log, s, to) : end;
		rn_buf_clear(&out);
		good = good && rn_printer_begin(printer, s, group, from, to) == RN_OK;
		while (good && rn_printer_next(printer, &out) > 0)
			;
		good = good && out.len == end - begin &&
		       (out.len == 0 || memcmp(out.data, log->data + begin, out.len) == 0);
	}
	rn_printer_free(printer);
	rn_buf_free(&out);
	return good;
}

/* Writes the trace, reads it again and compares its calls with the log. Returns the number of
 * loops. */
static uint32_t is_as_logged(const struct rn_streams *s, bool elastic, const struct rn_buf *log)
{
	const struct rn_meta_entry entry = { rn_meta_rows[RN_META_ELASTIC].key,
					     elastic ? "yes" : "no" };
	const struct rn_meta meta = { &entry, 1 };
	struct rn_container_writer w = { 0 };
	struct rn_buf shown = { 0 };
	struct rn_arena mem;
	struct rn_trace t;
	const void *bytes;
	uint32_t loops = 0;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	if (CHECK(rank_merge_sections(&w, s, &vocab, &meta, NULL) == RN_OK) &&
	    CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK) &&
	    CHECK(rn_trace_parse(&t, bytes, len, NULL) == RN_OK)) {
		CHECK(dump(&t, &mem, &shown));
		CHECK(shown.len == log->len &&
		      (log->len == 0 || memcmp(shown.data, log->data, log->len) == 0));
		CHECK(dump_some(&t, &mem, log));
		loops = t.folded.loops;
		rn_trace_close(&t);
	}
	rn_container_writer_free(&w);
	rn_buf_free(&shown);
	rn_arena_free(&mem);
	return loops;
}

static bool try_program(void)
{
	static struct rank_merge link;
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_buf log = { 0 };
	struct program p;
	bool folded = false;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	make_program(&p);
	run_ranks(&p, 1 + (uint32_t)tap_below(RANKS_MOST), &link, &mem, &log);
	if (CHECK(rank_merge_finish(&link, &mem, &s) == RN_OK)) {
		CHECK(is_as_logged(&s, false, &log) == 0);
		folded = is_as_logged(&s, true, &log) > 0;
	}
	rank_merge_free(&link);
	rn_buf_free(&log);
	rn_arena_free(&mem);
	return folded;
}

int main(void)
{
	const char *asked = getenv("RONDO_PROGRAMS");
	unsigned n = asked ? (unsigned)strtoul(asked, NULL, 10) : 200, folded = 0;

	for (unsigned i = 0; i < n; i++)
		folded += try_program();
	CHECK(folded > n / 10);
	ok("%u random programs, %u of them with loops: the same calls, elastic or not", n, folded);
	return tap_done();
}
