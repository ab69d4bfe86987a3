/*
 * cmd_dump.c - `rondo dump FILE`: prints every call, in order.
 *
 * Ranks are printed in ascending order, and within a rank its threads. --from and --to are call
 * numbers of each thread. The range includes --from and excludes --to. Finding its start is a
 * search in the rules, not a walk. Output is written in large blocks. If its reader closes the
 * pipe, dump ends without a message.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "cmd/cmd.h"
#include "read/event_reader.h"
#include "read/event_text.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "report/symbolizer.h"

#define PIECE ((size_t)1 << 16)

static bool json, ranks_given, to_given;
static struct range ranks;
static uint64_t from, to;

static const struct opt opts[] = {
	{ "--rank", "R", "only rank R, or ranks R-S", OPT_RANGE, .var = &ranks,
	  .given = &ranks_given },
	{ "--from", "K", "begin each thread at its call K (the first is 0)", OPT_NUMBER,
	  .var = &from },
	{ "--to", "K", "end each thread before its call K", OPT_NUMBER, .var = &to,
	  .given = &to_given },
	{ "--json", NULL, "one JSON object a line", OPT_FLAG, .var = &json },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"dump",
	"FILE",
	"Prints every call of a trace: RANK SEQ CALL(name=value, ...) = RET",
	"rondo dump demo.rondo --rank 5 --from 100 --to 120",
	opts,
	sizeof(opts) / sizeof(*opts),
};

struct dump {
	const struct rn_trace *t;
	const char *file;
	struct rn_printer *printer;
	struct symbols *symbols;
	struct rn_err err; /* reason why the times cannot be read */
	struct rn_buf out;
	struct rn_arena mem;
	bool gone; /* the reader of standard output has closed the pipe */
};

static int write_out(struct dump *d)
{
	if (rn_buf_status(&d->out) < 0)
		return fail_memory(d->file);
	if (rn_io_write_all(STDOUT_FILENO, d->out.data, d->out.len) < 0) {
		d->gone = errno == EPIPE;
		return d->gone ? EXIT_DONE
			       : fail(EXIT_SELF, "standard output: %s", strerror(errno));
	}
	rn_buf_clear(&d->out);
	return EXIT_DONE;
}

static int dump_stream(struct dump *d, uint64_t stream, uint32_t group)
{
	int rc = rn_printer_begin(d->printer, stream, group, from, to_given ? to : UINT64_MAX);
	int code = EXIT_DONE;

	if (rc == RN_OK)
		rc = 1;
	while (rc > 0 && code == EXIT_DONE && !d->gone) {
		rc = rn_printer_next(d->printer, &d->out);
		if (d->out.len >= PIECE || d->out.failed)
			code = write_out(d);
	}
	if (rc == RN_E_DATA && d->err.text[0])
		return fail(EXIT_INPUT, "%s: section time: %s", d->file, d->err.text);
	if (rc == RN_E_DATA)
		return fail(EXIT_INPUT,
			    "%s: section values: fewer values than calls, or of a stack that is "
			    "not there",
			    d->file);
	if (rc == RN_E_RANGE)
		return fail(EXIT_INPUT, "%s: too many requests to follow", d->file);
	return rc < 0 ? fail_memory(d->file) : code;
}

/* Whether no stream has a call in the range. A forged file can have two billion streams without
 * calls, which must not be visited one by one. */
static bool nothing_to_print(const struct dump *d)
{
	uint64_t longest = 0;

	for (uint32_t k = 0; k < d->t->streams.groups; k++) {
		uint64_t n = rn_printer_numbers(d->printer, k);

		longest = n > longest ? n : longest;
	}
	return from >= longest || (to_given && from >= to);
}

/* Reports an invalid stream that opening the trace does not detect. */
static int wrong_stream(const struct dump *d, uint64_t stream, const char *what)
{
	uint64_t rank = stream / d->t->threads, thread = stream % d->t->threads;

	if (d->t->threads == 1)
		return fail(EXIT_INPUT, "%s: rank %" PRIu64 " is %s", d->file, rank, what);
	return fail(EXIT_INPUT, "%s: thread %" PRIu64 " of rank %" PRIu64 " is %s", d->file, thread,
		    rank, what);
}

/* Prints the streams. Opening a trace does not verify that each stream is in exactly one stream
 * group (format.md, 9). The iterator is one stream ahead, so that a duplicate is found before the
 * stream is printed. */
static int dump_streams(struct dump *d, uint64_t first, uint64_t last)
{
	struct rn_rank_iter it;
	uint64_t stream = 0;
	uint32_t group = 0;
	int code = EXIT_DONE;
	bool more;

	if (rn_rank_iter_init(&it, &d->t->streams, first, &d->mem) < 0)
		return fail_memory(d->file);
	more = rn_rank_iter_next(&it, &stream, &group);
	for (uint64_t s = first; s <= last && code == EXIT_DONE && !d->gone; s++) {
		uint32_t its_group = group;

		if (!more || stream != s)
			return wrong_stream(d, s, "in no group");
		more = rn_rank_iter_next(&it, &stream, &group);
		if (more && stream == s)
			return wrong_stream(d, s, "there twice");
		code = dump_stream(d, s, its_group);
	}
	return code;
}

static int dump_events(struct dump *d, uint64_t stream, const struct rn_decoder *names)
{
	struct rn_arena_mark mark = rn_arena_mark(&d->mem);
	struct rn_err err = { 0 };
	struct rn_order o;
	struct rn_order_text x = { .t = d->t,
				   .decoder = names,
				   .comm = d->t->order->comm,
				   .order = &o,
				   .rank = stream / d->t->threads,
				   .thread = stream % d->t->threads,
				   .json = json };
	int rc = rn_trace_order(d->t, stream, &d->mem, &o, &err), code = EXIT_DONE;

	if (rc == RN_E_DATA)
		return fail(EXIT_INPUT, "%s: section order: %s", d->file, err.text);
	if (rc < 0)
		return fail_memory(d->file);
	while (code == EXIT_DONE && !d->gone &&
	       rn_order_text_next(&x, from, to_given ? to : UINT64_MAX, &d->out))
		if (d->out.len >= PIECE || d->out.failed)
			code = write_out(d);
	rn_arena_rewind(&d->mem, mark);
	return code;
}

/* Prints the events of a trace that contains order events instead of calls. */
static int dump_order(struct dump *d)
{
	const struct rn_seg *all = &d->t->events->chunks.stream;
	const struct rn_decoder names = { .sites = &d->t->sites,
					  .symbol = symbols_name,
					  .symbol_arg = d->symbols };
	int code = EXIT_DONE;

	for (uint32_t i = 0; i < all->n && code == EXIT_DONE && !d->gone; i++) {
		uint64_t s = RN_SEG_AT(all, struct rn_chunk_stream, i)->stream;

		if (s / d->t->threads >= ranks.first && s / d->t->threads <= ranks.last)
			code = dump_events(d, s, &names);
	}
	return code;
}

static int dump_ranks(struct dump *d)
{
	uint64_t threads = d->t->threads;
	int code = EXIT_DONE;

	d->printer = rn_printer_new(&d->mem, d->t, json ? rn_decode_json : rn_decode_text);
	if (!d->printer)
		return fail_memory(d->file);
	rn_printer_symbols(d->printer, symbols_name, d->symbols);
	if (rn_printer_times(d->printer, &d->err) < 0)
		code = fail_memory(d->file);
	else if (ranks.first == ranks.last || !nothing_to_print(d))
		code = dump_streams(d, ranks.first * threads, ranks.last * threads + threads - 1);
	rn_printer_free(d->printer);
	return code;
}

static int dump_trace(struct dump *d)
{
	struct rn_buf notes = { 0 };
	int code;

	d->symbols = symbols_new(d->t, d->file, &notes);
	if (!d->symbols)
		return fail_memory(d->file);
	code = d->t->order ? dump_order(d) : dump_ranks(d);
	if (code == EXIT_DONE && !d->gone)
		code = write_out(d);
	symbols_free(d->symbols);
	print_notes(&notes);
	return code;
}

/* Warns that parts of a lossy trace are approximate. */
static void tell_lossy(const char *file, struct rn_lossy l)
{
	if (l.counts)
		fail(EXIT_DONE,
		     "%s: lossy: the number of calls is exact, but their order may not be", file);
	if (l.params)
		fail(EXIT_DONE,
		     "%s: lossy: numbers that changed more than %" PRIu64
		     " times have their recorded distribution, but not their recorded order",
		     file, l.params);
}

static int dump(const struct rn_trace *t, const char *file)
{
	struct dump d = { .t = t, .file = file };
	int code;

	if (!ranks_given)
		ranks = (struct range){ 0, t->ranks - 1 };
	tell_lossy(file, rn_trace_lossy(t));
	if (ranks.last >= t->ranks)
		return fail(EXIT_USAGE, "dump: no rank %" PRIu64 ": %s has ranks 0 to %" PRIu64,
			    ranks.last, file, t->ranks - 1);
	rn_arena_init(&d.mem, SIZE_MAX);
	code = dump_trace(&d);
	rn_arena_free(&d.mem);
	rn_buf_free(&d.out);
	return code;
}

int cmd_dump(int argc, char **argv)
{
	return on_trace(&usage, argc, argv, dump, NULL);
}
