/*
 * cmd_dump.c - `rondo dump FILE`: every call, in order.
 *
 * Ranks ascend. --from and --to are call numbers of each rank, from the first one given to the one
 * before the second (half open, as array slices are), and cost a seek, not a walk. Output goes out
 * in large pieces; when its reader goes away, dump ends quietly.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "cmd/cmd.h"
#include "encode/sigs.h"
#include "read/decode.h"
#include "read/trace.h"

#define PIECE ((size_t)1 << 16)

static bool json, ranks_given, to_given;
static struct range ranks;
static uint64_t from, to;

static const struct opt opts[] = {
	{ "--rank", "R", "only rank R, or ranks R-S", OPT_RANGE, &ranks, &ranks_given },
	{ "--from", "K", "begin each rank at its call K (the first is 0)", OPT_NUMBER, &from,
	  NULL },
	{ "--to", "K", "end each rank before its call K", OPT_NUMBER, &to, &to_given },
	{ "--json", NULL, "one JSON object a line", OPT_FLAG, &json, NULL },
};

static const struct usage usage = {
	"dump",
	"[--rank R] [--from K] [--to K] [--json] FILE",
	"Prints every call of a trace: RANK SEQ CALL(name=value, ...) = RET",
	"rondo dump demo.rondo --rank 5 --from 100 --to 120",
	opts,
	sizeof(opts) / sizeof(*opts),
};

struct dump {
	const struct rn_trace *t;
	const char *file;
	struct rn_buf out;
	struct rn_arena mem; /* the cursor's stack */
	bool gone;           /* the reader of our output */
};

static int no_memory(const struct dump *d)
{
	return fail(EXIT_SELF, "%s: out of memory", d->file);
}

static int write_out(struct dump *d)
{
	if (rn_buf_status(&d->out) < 0)
		return no_memory(d);
	if (rn_io_write_all(STDOUT_FILENO, d->out.data, d->out.len) < 0) {
		d->gone = errno == EPIPE;
		return d->gone ? EXIT_DONE
			       : fail(EXIT_SELF, "standard output: %s", strerror(errno));
	}
	rn_buf_clear(&d->out);
	return EXIT_DONE;
}

static int dump_calls(struct dump *d, struct rn_cursor *c, uint64_t end)
{
	rn_decode_fn *print = json ? rn_decode_json : rn_decode_text;
	struct rn_call call = { .rank = c->rank, .ranks = d->t->streams.ranks };
	uint32_t sig;
	int code = EXIT_DONE;

	while (code == EXIT_DONE && !d->gone && rn_walk_pos(&c->walk) < end &&
	       rn_cursor_next(c, &call.seq, &sig)) {
		call.sig = rn_sigs_get(d->t->streams.sigs, sig, &call.len);
		print(&d->t->vocab, &call, &d->out);
		if (d->out.len >= PIECE || d->out.failed)
			code = write_out(d);
	}
	return code;
}

static int dump_rank(struct dump *d, uint64_t rank, uint32_t group)
{
	struct rn_arena_mark mark = rn_arena_mark(&d->mem);
	struct rn_cursor c;
	uint64_t calls;
	int rc = rn_cursor_init_group(&c, d->t, rank, group, &d->mem), code = EXIT_DONE;

	if (rc == RN_OK) {
		calls = rn_cursor_calls(&c);
		rc = rn_cursor_seek(&c, from < calls ? from : calls);
	}
	if (rc == RN_OK)
		code = dump_calls(d, &c, to_given ? to : UINT64_MAX);
	else
		code = no_memory(d);
	rn_arena_rewind(&d->mem, mark);
	return code;
}

/* A hostile file can have two billion ranks without a call; they need not be walked one by one
 * when there is nothing to print. */
static bool nothing_to_print(const struct rn_trace *t)
{
	uint64_t longest = 0;

	for (uint32_t k = 0; k < t->streams.groups; k++) {
		uint64_t n = rn_rules_length(t->streams.rules, t->streams.group[k].root);

		longest = n > longest ? n : longest;
	}
	return from >= longest || (to_given && from >= to);
}

/* Opening leaves it to us that each rank is in exactly one group (format.md, 9). One that is not
 * must not be printed as if it were, so the iterator is one rank ahead. */
static int dump_ranks(struct dump *d)
{
	struct rn_rank_iter it;
	uint64_t rank = 0;
	uint32_t group = 0;
	int code = EXIT_DONE;
	bool more;

	if (rn_rank_iter_init(&it, &d->t->streams, ranks.first, &d->mem) < 0)
		return no_memory(d);
	more = rn_rank_iter_next(&it, &rank, &group);
	for (uint64_t r = ranks.first; r <= ranks.last && code == EXIT_DONE && !d->gone; r++) {
		uint32_t its_group = group;

		if (!more || rank != r)
			return fail(EXIT_INPUT, "%s: rank %" PRIu64 " is in no group", d->file, r);
		more = rn_rank_iter_next(&it, &rank, &group);
		if (more && rank == r)
			return fail(EXIT_INPUT, "%s: rank %" PRIu64 " is there twice", d->file, r);
		code = dump_rank(d, r, its_group);
	}
	return code == EXIT_DONE && !d->gone ? write_out(d) : code;
}

static int dump_file(const char *file)
{
	struct rn_trace t;
	struct dump d = { .t = &t, .file = file };
	int code = open_trace(file, &t);

	if (code)
		return code;
	rn_arena_init(&d.mem, SIZE_MAX);
	if (!ranks_given)
		ranks = (struct range){ 0, t.streams.ranks - 1 };
	if (ranks.last >= t.streams.ranks)
		code = fail(EXIT_USAGE, "dump: no rank %" PRIu64 ": %s has ranks 0 to %" PRIu64,
			    ranks.last, file, t.streams.ranks - 1);
	else if (ranks.first == ranks.last || !nothing_to_print(&t))
		code = dump_ranks(&d);
	rn_arena_free(&d.mem);
	rn_buf_free(&d.out);
	rn_trace_close(&t);
	return code;
}

int cmd_dump(int argc, char **argv)
{
	const char *file;
	int code = parse_args(&usage, argc, argv, &file);

	return code || !file ? code : dump_file(file);
}
