/*
 * cmd_diff.c - `rondo diff A B`: compares the message order of two runs.
 *
 * Streams are compared one by one (analysis/event_diff.h), so memory is that of the largest stream.
 * Two event sites are equal if their functions and communicators are equal, and also the innermost
 * frames of their call stacks, if both traces have stacks of the same files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/event_diff.h"
#include "analysis/event_source.h"
#include "base/intern.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "cmd/cmd.h"
#include "model/metadata.h"
#include "read/event_text.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "report/report_format.h"
#include "report/symbolizer.h"

#define RANKS_SHOWN 8u

static bool strict, all;

static const struct opt opts[] = {
	{ "--strict", NULL, "tests that failed another number of times are different too", OPT_FLAG,
	  .var = &strict },
	{ "--all", NULL, "show every rank that differs", OPT_FLAG, .var = &all },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"diff",
	"A B",
	"Compares the order of two runs: what receives matched, and how tests came out.",
	"rondo diff monday.rondo tuesday.rondo",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* One of the two traces. */
struct side {
	const char *file;
	struct rn_trace t;
	struct rn_arena mem, scratch; /* lifetime of the trace; of one stream */
	struct rn_orders orders;
	struct symbols *symbols;
	struct rn_buf notes;   /* notes of the symbol lookup */
	struct rn_order order; /* events of the current stream */
	uint32_t *site;
};

struct diff {
	struct side side[2];
	struct rn_arena mem;
	struct rn_sigs *names; /* event sites of both traces */
	bool places;           /* stack frames are compared */
	uint64_t ranks, threads;
	/* Results. */
	uint64_t done, different, failed[2], retried;
	uint64_t *same, sames, *other, others; /* equal, different streams: thread * ranks + rank */
	struct rn_buf text;                    /* output for the streams that differ */
};

/* ---- sites ---- */

/* Whether all modules that occur in both traces are the same files. */
static bool same_modules(const struct rn_sites *a, const struct rn_sites *b)
{
	for (uint32_t i = 0; i < a->modules; i++)
		for (uint32_t j = 0; j < b->modules; j++) {
			const struct rn_code_module *x = &a->module[i], *y = &b->module[j];

			if (x->name_len == y->name_len &&
			    memcmp(x->name, y->name, x->name_len) == 0 &&
			    (x->id_len != y->id_len || memcmp(x->id, y->id, x->id_len) != 0))
				return false;
		}
	return a->nodes && b->nodes;
}

static void name_site(const struct diff *d, const struct side *s, uint32_t i, struct rn_buf *out)
{
	const struct rn_order_site *site = &s->order.site[i];
	const struct rn_sites *sites = &s->t.sites;
	uint32_t comms;
	const char *const *comm = rn_orders_comms(&s->orders, &comms);

	rn_buf_clear(out);
	rn_order_put_function(&s->t, site, i, out);
	rn_buf_byte(out, ' ');
	rn_put(out, site->comm ? comm[site->comm - 1] : "");
	if (d->places && site->place) {
		const struct rn_site_node *n = &sites->node[site->place - 1];
		const struct rn_code_module *m = &sites->module[n->module];

		rn_buf_byte(out, ' ');
		rn_buf_add(out, m->name, m->name_len);
		rn_buf_byte(out, '+');
		rn_put_u64(out, n->offset);
	}
}

/* Sets s->site to the ids of the stream's event sites in d->names. */
static int number_sites(struct diff *d, struct side *s)
{
	struct rn_buf name = { 0 };
	int rc = RN_OK;

	s->site = rn_new(&s->scratch, uint32_t, s->order.sites);
	if (!s->site)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < s->order.sites && rc == RN_OK; i++) {
		name_site(d, s, i, &name);
		rc = rn_buf_status(&name);
		if (rc == RN_OK && rn_sigs_intern(d->names, name.data, name.len, &s->site[i]) < 0)
			rc = RN_E_NOMEM;
	}
	rn_buf_free(&name);
	return rc;
}

/* ---- streams ---- */

static int read_stream(struct diff *d, struct side *s, uint64_t rank, uint64_t thread)
{
	struct rn_err err = { 0 };
	int rc = RN_OK;

	rn_arena_rewind(&s->scratch, (struct rn_arena_mark){ 0 });
	s->order = (struct rn_order){ 0 };
	if (thread < s->t.threads)
		rc = rn_orders_read(&s->orders, rank * s->t.threads + thread, &s->scratch,
				    &s->order, &err);
	if (rc == RN_OK)
		rc = number_sites(d, s);
	if (rc == RN_E_DATA)
		return fail(EXIT_INPUT, "%s: %s", s->file, err.text);
	return rc < 0 ? fail_memory(NULL) : EXIT_DONE;
}

static void put_event(struct diff *d, const struct side *s, const struct rn_order_spot *at)
{
	const struct rn_decoder names = { .sites = &s->t.sites,
					  .symbol = symbols_name,
					  .symbol_arg = s->symbols };
	uint32_t comms;
	struct rn_order_text x = { .t = &s->t,
				   .decoder = &names,
				   .comm = rn_orders_comms(&s->orders, &comms),
				   .order = &s->order,
				   .bare = true,
				   .seq = at->seq,
				   .row = at->row,
				   .done = at->done,
				   .value = at->value,
				   .half = true };

	rn_put(&d->text, "  ");
	rn_put(&d->text, s == &d->side[0] ? "A" : "B");
	if (at->row >= s->order.rows) {
		rn_put(&d->text, "  nothing more\n");
		return;
	}
	rn_buf_byte(&d->text, ' ');
	rn_put_u64(&d->text, at->seq);
	rn_buf_byte(&d->text, ' ');
	rn_order_text_next(&x, 0, UINT64_MAX, &d->text);
}

static void put_stream(struct diff *d, uint64_t rank, uint64_t thread,
		       const struct rn_order_diff *f)
{
	uint64_t most = f->done[0] > f->done[1] ? f->done[0] : f->done[1];

	rn_putf(&d->text, "\nrank %" PRIu64, rank);
	if (thread)
		rn_putf(&d->text, " thread %" PRIu64, thread);
	rn_putf(&d->text, ": %s of %s outcome%s%s\n", COUNT(f->different), COUNT(most),
		most == 1 ? " differs" : "s differ", f->different == 1 ? ":" : ", the first:");
	put_event(d, &d->side[0], &f->first[0]);
	put_event(d, &d->side[1], &f->first[1]);
}

static int compare_stream(struct diff *d, uint64_t rank, uint64_t thread)
{
	struct rn_order_run run[2];
	struct rn_order_diff f;
	int code = EXIT_DONE;

	for (int i = 0; i < 2 && code == EXIT_DONE; i++) {
		code = read_stream(d, &d->side[i], rank, thread);
		run[i] = (struct rn_order_run){ &d->side[i].order, d->side[i].site };
	}
	if (code != EXIT_DONE)
		return code;
	f = rn_order_diff(run, strict);
	d->done += f.done[0] > f.done[1] ? f.done[0] : f.done[1];
	d->different += f.different;
	d->failed[0] += f.failed[0];
	d->failed[1] += f.failed[1];
	d->retried += f.retried;
	if (!f.different) {
		if (f.done[0])
			d->same[d->sames++] = thread * d->ranks + rank;
		return EXIT_DONE;
	}
	if (all || d->others < RANKS_SHOWN)
		put_stream(d, rank, thread, &f);
	d->other[d->others++] = thread * d->ranks + rank;
	return EXIT_DONE;
}

/* ---- output ---- */

static void put_result(struct diff *d, struct rn_buf *out)
{
	rn_put(out, d->different ? "different: " : "same: ");
	if (d->different)
		rn_putf(out, "%s of ", COUNT(d->different));
	rn_putf(out, "%s outcome%s on ", COUNT(d->done), rn_plural(d->done));
	if (d->different) {
		text_streams(out, &d->side[0].t, d->other, d->others);
		rn_put(out, " of ");
	}
	rn_putf(out, "%s rank%s\n", COUNT(d->ranks), rn_plural(d->ranks));
}

static void put_failed(struct diff *d, struct rn_buf *out)
{
	if (!d->retried)
		return;
	rn_putf(out, "\nfailed tests: %s in A, %s in B, not the same number before %s call%s%s\n",
		COUNT(d->failed[0]), COUNT(d->failed[1]), COUNT(d->retried), rn_plural(d->retried),
		strict ? "" : " (no difference without --strict)");
}

static int print_result(struct diff *d)
{
	struct rn_buf out = { 0 };
	int rc;

	put_result(d, &out);
	if (!d->places)
		rn_put(&out,
		       "(call sites are not compared: not known in both traces, or of different "
		       "builds)\n");
	rn_buf_add(&out, d->text.data, d->text.len);
	if (d->others > RANKS_SHOWN && !all)
		rn_putf(&out, "\nand %s more (--all shows them)\n", COUNT(d->others - RANKS_SHOWN));
	if (d->different && d->sames) {
		rn_put(&out, "\nthe same: ");
		text_streams(&out, &d->side[0].t, d->same, d->sames);
		rn_put(&out, "\n");
	}
	put_failed(d, &out);
	out.failed |= d->text.failed;
	rc = rn_buf_status(&out);
	if (rc == RN_OK)
		fwrite(out.data, 1, out.len, stdout);
	rn_buf_free(&out);
	return rc == RN_OK ? finish_output() : fail_memory(NULL);
}

/* ---- the two traces ---- */

static int open_side(struct side *s, const char *file)
{
	struct rn_err err = { 0 };
	int rc, code = open_trace(file, &s->t);

	if (code)
		return code;
	s->file = file;
	rn_arena_init(&s->mem, SIZE_MAX);
	rn_arena_init(&s->scratch, SIZE_MAX);
	rc = rn_orders_init(&s->orders, &s->mem, &s->t, &err);
	s->symbols = symbols_new(&s->t, file, &s->notes);
	if (rc == RN_E_DATA)
		return fail(EXIT_INPUT, "%s: %s", file, err.text);
	return rc < 0 || !s->symbols ? fail_memory(NULL) : EXIT_DONE;
}

static void close_side(struct side *s)
{
	if (!s->file)
		return;
	symbols_free(s->symbols);
	print_notes(&s->notes);
	rn_orders_free(&s->orders);
	rn_arena_free(&s->scratch);
	rn_arena_free(&s->mem);
	rn_trace_close(&s->t);
}

/* Warns that the programs have different names. The traces are compared nevertheless, because the
 * programs may be the same. */
static void tell_programs(const struct diff *d)
{
	const char *a = rn_meta_value(&d->side[0].t.meta, RN_META_PROGRAM);
	const char *b = rn_meta_value(&d->side[1].t.meta, RN_META_PROGRAM);

	if (a && b && strcmp(a, b) != 0)
		fail(EXIT_DONE, "these are traces of different programs");
}

static int compare(struct diff *d)
{
	uint64_t streams = d->ranks * d->threads;
	int code = EXIT_DONE;

	d->places = same_modules(&d->side[0].t.sites, &d->side[1].t.sites);
	d->names = rn_sigs_new(&d->mem);
	d->same = rn_new(&d->mem, uint64_t, streams);
	d->other = rn_new(&d->mem, uint64_t, streams);
	if (!d->names || !d->same || !d->other)
		return fail_memory(NULL);
	tell_programs(d);
	for (uint64_t r = 0; r < d->ranks && code == EXIT_DONE; r++)
		for (uint64_t k = 0; k < d->threads && code == EXIT_DONE; k++)
			code = compare_stream(d, r, k);
	if (code == EXIT_DONE)
		code = print_result(d);
	return code == EXIT_DONE && d->different ? EXIT_NO : code;
}

static int compare_sides(struct diff *d)
{
	const struct rn_trace *a = &d->side[0].t, *b = &d->side[1].t;

	if (a->ranks != b->ranks) {
		printf("different: %" PRIu64 " rank%s in A, %" PRIu64 " in B\n", a->ranks,
		       rn_plural(a->ranks), b->ranks);
		return finish_output() == EXIT_DONE ? EXIT_NO : EXIT_SELF;
	}
	d->ranks = a->ranks;
	d->threads = a->threads > b->threads ? a->threads : b->threads;
	return compare(d);
}

int cmd_diff(int argc, char **argv)
{
	struct diff d = { 0 };
	const char *file[2];
	int code = parse_files(&usage, argc, argv, file, 2);

	if (code || !file[0])
		return code;
	if (!rn_budget_given)
		rn_budget_given = MEMORY_FOR_EVENTS;
	rn_arena_init(&d.mem, SIZE_MAX);
	for (int i = 0; i < 2 && code == EXIT_DONE; i++)
		code = open_side(&d.side[i], file[i]);
	if (code == EXIT_DONE)
		code = compare_sides(&d);
	close_side(&d.side[0]);
	close_side(&d.side[1]);
	rn_buf_free(&d.text);
	rn_arena_free(&d.mem);
	return code;
}
