/*
 * cmd_report.c - `rondo report FILE`: prints the structure of the program as its loops and calls.
 *
 * The outline is built by analysis/outline.h without expanding a stream. Each line has the sums
 * over all ranks, except the time, which is the mean over the ranks. The measures of nondeterminism
 * follow (report_events.h). For a trace of order events, they are the whole report.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bytes_moved.h"
#include "analysis/outline_weight.h"
#include "base/intern.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "cmd/cmd.h"
#include "encode/template.h"
#include "encode/time_stats.h"
#include "model/markers.h"
#include "model/metadata.h"
#include "model/programs.h"
#include "read/event_reader.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "report/report_events.h"
#include "report/report_format.h"

#define TREES_SHOWN 6u
#define LINES_SHOWN 24u /* lines of a list that are always shown */

static bool all;
static uint64_t depth = UINT64_MAX;

static const struct opt opts[] = {
	{ "--depth", "N", "show loops in loops down to level N, and sum up what is in them",
	  OPT_NUMBER, .var = &depth },
	{ "--all", NULL, "show every line of every group of ranks", OPT_FLAG, .var = &all },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"report",
	"FILE",
	"Shows the structure of the traced program: its loops and calls, with their times and "
	"bytes.",
	"rondo report demo.rondo",
	opts,
	sizeof(opts) / sizeof(*opts),
};

struct report {
	const struct rn_trace *t;
	struct rn_templates templates;
	struct rn_outline outline;
	uint64_t *total; /* by signature: total number of calls */
	struct rn_weight weight;
	bool guessed; /* an inexact time was shown, marked with ~ */
	struct rn_buf out;
};

/* ---- signatures ---- */

static struct rn_weight weigh(const struct report *r, uint32_t sig, uint64_t bytes)
{
	const struct rn_time *time = r->t->times ? rn_times_get(r->t->times, sig) : NULL;
	uint64_t timed = time ? rn_timing_count(&time->dur) : 0;
	struct rn_weight w = { .calls = 1 };

	if (bytes == RN_VOLUME_UNKNOWN)
		w.unsized = 1;
	else
		w.bytes = bytes;
	/* The last calls of a killed program have no times. They count with the mean of the others.
	 */
	if (timed)
		w.ns = (double)time->dur.sum / (double)timed;
	return w;
}

static int describe_sigs(struct report *r, struct rn_arena *mem, struct rn_outline_sig **out)
{
	const struct rn_sigs *sigs = r->t->streams.sigs;
	const struct rn_markers m = rn_markers_of(&r->t->vocab);
	uint32_t n = rn_sigs_count(sigs);
	struct rn_outline_sig *s = rn_new(mem, struct rn_outline_sig, (size_t)n + 1);
	uint64_t *bytes = rn_new(mem, uint64_t, (size_t)n + 1);

	r->total = rn_new(mem, uint64_t, (size_t)n + 1);
	if (!s || !bytes || !r->total || rn_streams_counts(&r->t->streams, mem, r->total) < 0 ||
	    rn_templates_init(&r->templates, mem, &r->t->vocab, sigs) < 0 ||
	    rn_volumes(sigs, &r->t->values, &r->t->vocab, r->t->ranks, mem, bytes) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		s[i].function = (uint32_t)rn_call_function(sig, len);
		s[i].manner = text_hash(&r->out, &r->templates, i);
		s[i].marker = (unsigned char)rn_marker_of(&m, sig, len);
		if (s[i].marker == RN_MARKER_NONE)
			s[i].one = weigh(r, i, bytes[i]);
	}
	*out = s;
	rn_buf_clear(&r->out);
	return RN_OK;
}

/* ---- columns ---- */

/* Whether the time of an outline node is exact. It is an estimate if the calls of a signature are
 * in several nodes, because the time of the signature is then divided among them. */
static bool is_exact(const struct report *r, const struct rn_piece *p)
{
	if (p->kind == RN_PIECE_REST)
		return false;
	if (p->kind == RN_PIECE_CALL) {
		for (const struct rn_variant *v = p->variant; v; v = v->next)
			if (v->calls != r->total[v->sig])
				return false;
	}
	for (const struct rn_piece *c = p->child; c; c = c->next)
		if (!is_exact(r, c))
			return false;
	return true;
}

static void put_weight(struct report *r, const struct rn_weight *w, uint64_t streams, bool exact)
{
	bool timed = r->t->times && w->ns > 0, guessed = timed && !exact;
	char time[TEXT_MAX] = "", bytes[TEXT_MAX] = "", text[2 * TEXT_MAX];

	if (timed)
		text_time(time, w->ns / (double)streams);
	if (w->bytes)
		text_bytes(bytes, w->bytes);
	rn_putf(&r->out, "%15s", COUNT(w->calls));
	snprintf(text, sizeof(text), "%s%s", guessed ? "~" : "", time);
	if (r->t->times)
		rn_putf(&r->out, "%11s", text);
	snprintf(text, sizeof(text), "%s%s", bytes, !w->unsized ? "" : w->bytes ? "+" : "?");
	rn_putf(&r->out, "%11s  ", text);
	r->guessed |= guessed;
}

static void put_head(struct report *r)
{
	rn_put(&r->out, "          calls");
	if (r->t->times)
		rn_put(&r->out, "  time/rank");
	rn_put(&r->out, "      bytes\n");
}

static void put_indent(struct report *r, unsigned level)
{
	while (level-- > 0)
		rn_put(&r->out, "  ");
}

/* ---- lines ---- */

/* Prints the number of ranks or iterations that execute a node, if each executes it at most once.
 */
static void put_share(struct report *r, const struct rn_piece *p)
{
	uint64_t visits = p->total.visits, rounds = p->total.rounds;

	if (visits == p->streams) {
		rn_putf(&r->out, "on %s of %s rank%s", COUNT(rounds), COUNT(visits),
			rn_plural(visits));
		return;
	}
	if (visits % p->streams == 0 && rounds % p->streams == 0) {
		visits /= p->streams;
		rounds /= p->streams;
	}
	rn_putf(&r->out, "in %s of %s round%s", COUNT(rounds), COUNT(visits), rn_plural(visits));
}

static void put_times(struct report *r, const struct rn_piece *p)
{
	double mean;

	if (p->total.min == 0 && p->total.max == 1) {
		put_share(r, p);
		return;
	}
	mean = p->total.visits ? (double)p->total.rounds / (double)p->total.visits : 0;
	rn_put(&r->out, COUNT(p->total.min));
	if (p->total.min != p->total.max)
		rn_putf(&r->out, "..%s", COUNT(p->total.max));
	rn_putf(&r->out, " time%s", rn_plural(p->total.max));
	if (p->total.min != p->total.max)
		rn_putf(&r->out, mean < 1e6 ? " (mean %.1f)" : " (mean %.3g)", mean);
}

static void put_label(struct report *r, const struct rn_piece *p)
{
	if (p->kind == RN_PIECE_REST) {
		rn_put(&r->out, "... calls without a structure to show");
	} else if (p->kind == RN_PIECE_LOOP) {
		if (p->total.max > 1)
			rn_put(&r->out, "loop ");
		put_times(r, p);
	} else {
		text_call(&r->out, &r->templates, p->variant);
		if (p->total.min != 1 || p->total.max != 1) {
			rn_put(&r->out, "  ");
			put_times(r, p);
		}
	}
}

static void put_line(struct report *r, const struct rn_piece *p, unsigned level, uint64_t streams)
{
	put_weight(r, &p->weight, p->streams, is_exact(r, p));
	put_indent(r, level);
	put_label(r, p);
	if (p->streams < streams) {
		rn_put(&r->out, "  [");
		text_ranks(&r->out, r->t, p->members, p->streams);
		rn_put(&r->out, "]");
	}
	rn_put(&r->out, "\n");
}

static void put_skipped(struct report *r, const struct rn_weight *w, uint64_t lines, unsigned level,
			uint64_t streams)
{
	if (!lines)
		return;
	put_weight(r, w, streams, false);
	put_indent(r, level);
	rn_putf(&r->out, "... %s more\n", COUNT(lines));
}

/* Whether a line of a list is shown. Of a long list, the first lines are shown, and lines with at
 * least 1 % of all calls or of the time. */
static bool is_wanted(const struct report *r, const struct rn_piece *p, uint64_t at, uint64_t n)
{
	return all || at < LINES_SHOWN || n <= LINES_SHOWN + 2 ||
	       p->weight.calls >= r->weight.calls / 100 + 1 ||
	       (r->weight.ns > 0 && p->weight.ns > r->weight.ns / 100);
}

/* The recursion depth is bounded by the number of levels of outlines. */
static void put_parts(struct report *r, const struct rn_piece *list, unsigned level, unsigned loops,
		      uint64_t streams)
{
	struct rn_weight skipped = { 0 };
	uint64_t lines = 0, at = 0, n = 0;

	for (const struct rn_piece *p = list; p; p = p->next)
		n++;
	for (const struct rn_piece *p = list; p; p = p->next, at++) {
		if (!is_wanted(r, p, at, n)) {
			rn_weight_add(&skipped, &p->weight, 1);
			lines++;
			continue;
		}
		put_skipped(r, &skipped, lines, level, streams);
		skipped = (struct rn_weight){ 0 };
		lines = 0;
		put_line(r, p, level, streams);
		if (p->child && loops < depth)
			put_parts(r, p->child, level + 1, loops + 1, p->streams);
	}
	put_skipped(r, &skipped, lines, level, streams);
}

static void put_tree(struct report *r, const struct rn_piece *tree)
{
	rn_put(&r->out, "\n");
	put_head(r);
	put_weight(r, &tree->weight, tree->streams, is_exact(r, tree));
	text_ranks(&r->out, r->t, tree->members, tree->streams);
	rn_put(&r->out, "\n");
	put_parts(r, tree->child, 1, 0, tree->streams);
}

/* ---- the report ---- */

/* Prints where the ranks of a killed program stopped (recover/recover.h). */
static void put_stops(struct report *r)
{
	const struct rn_meta *meta = &r->t->meta;
	const char *ranks = rn_meta_value(meta, RN_META_INCOMPLETE);

	if (ranks) {
		rn_put(&r->out, "incomplete: ranks ");
		rn_put_safe(&r->out, ranks);
		rn_put(&r->out, "\n");
	}
	for (uint32_t i = 0; i < meta->n; i++) {
		const struct rn_meta_entry *e = &meta->entry[i];
		const char *function = rn_meta_suffix(e->key, RN_META_STOPPED_IN);

		if (!function && strcmp(e->key, rn_meta_rows[RN_META_STOPPED_OUTSIDE].key) != 0)
			continue;
		rn_put(&r->out, function ? "stopped in "
				: r->t->order
					? "stopped outside of what --only=order records: ranks "
					: "stopped outside of MPI: ranks ");
		if (function) {
			rn_put_safe(&r->out, function);
			rn_put(&r->out, ": ranks ");
		}
		rn_put_safe(&r->out, e->value);
		rn_put(&r->out, "\n");
	}
}

/* Prints the name of the program of rank 0, and the names of the programs of other ranks. */
static void put_names(struct report *r)
{
	const struct rn_meta *meta = &r->t->meta;
	const char *program = rn_meta_value(meta, RN_META_PROGRAM), *name, *between = "";
	int ranks;

	for (uint32_t i = 0; i < meta->n; i++)
		if (rn_program_entry(&meta->entry[i], &ranks, &name)) {
			rn_put(&r->out, between);
			rn_put_safe(&r->out, name);
			between = ", ";
		}
	if (!*between)
		rn_put_safe(&r->out, program ? program : "unknown program");
}

static void put_programs(struct report *r)
{
	const struct rn_meta *meta = &r->t->meta;
	const char *name;
	int ranks;

	for (uint32_t i = 0; i < meta->n; i++) {
		const char *value = meta->entry[i].value;

		if (!rn_program_entry(&meta->entry[i], &ranks, &name))
			continue;
		rn_put(&r->out, strcspn(value, ",- ") < (size_t)ranks ? "ranks " : "rank ");
		rn_form_text.label(&r->out, value, (size_t)ranks);
		rn_put(&r->out, " ran ");
		rn_put_safe(&r->out, name);
		rn_put(&r->out, "\n");
	}
}

static void put_summary(struct report *r)
{
	const char *wall = rn_meta_value(&r->t->meta, RN_META_WALL_S);
	uint64_t n = r->t->order ? rn_order_list_count(r->t->events).events : r->weight.calls;

	put_names(r);
	rn_putf(&r->out, ": %s %s%s on %s rank%s", COUNT(n), r->t->order ? "event" : "call",
		rn_plural(n), COUNT(r->t->ranks), rn_plural(r->t->ranks));
	if (wall) {
		rn_put(&r->out, ", ");
		rn_put_safe(&r->out, wall);
		rn_put(&r->out, " s");
	}
	rn_put(&r->out, "\n");
	if (rn_trace_lossy(r->t).counts)
		rn_put(&r->out, "lossy: counts of rounds are right in all, not one by one\n");
	if (rn_trace_lossy(r->t).params)
		rn_put(&r->out, "lossy: bytes are estimated from how lengths are distributed\n");
	put_programs(r);
	put_stops(r);
}

static void put_more(struct report *r, uint32_t from)
{
	struct rn_weight rest = { 0 };

	for (uint32_t i = from; i < r->outline.trees; i++)
		rn_weight_add(&rest, &r->outline.tree[i].weight, 1);
	rn_putf(&r->out, "\nand %s more group%s of ranks with %s call%s (--all shows all)\n",
		COUNT(r->outline.trees - from), rn_plural(r->outline.trees - from),
		COUNT(rest.calls), rn_plural(rest.calls));
}

static void put_notes(struct report *r)
{
	if (r->guessed)
		rn_put(&r->out,
		       "\n~ the same call is made elsewhere too, and its time shared out evenly\n");
	if (r->weight.unsized)
		rn_putf(&r->out, "%s+ and ?: the size of %s call%s is not known\n",
			r->guessed ? "" : "\n", COUNT(r->weight.unsized),
			rn_plural(r->weight.unsized));
}

static void put_report(struct report *r)
{
	uint32_t n = r->outline.trees;
	uint32_t shown = all || n <= TREES_SHOWN ? n : TREES_SHOWN;

	for (uint32_t i = 0; i < n; i++)
		rn_weight_add(&r->weight, &r->outline.tree[i].weight, 1);
	put_summary(r);
	for (uint32_t i = 0; i < shown && !r->t->order; i++)
		put_tree(r, &r->outline.tree[i]);
	if (shown < n)
		put_more(r, shown);
	put_notes(r);
}

static int put_order(struct report *r, const char *file)
{
	struct rn_buf notes = { 0 };
	struct rn_err err = { 0 };
	int rc = report_order(r->t, file, all, &r->out, &notes, &err);

	print_notes(&notes);
	if (rc == RN_E_NOMEM)
		return fail_memory(file);
	return rc == RN_OK ? EXIT_DONE
			   : fail(EXIT_INPUT, "%s: %s", file,
				  err.text[0] ? err.text : "a thread has too many events");
}

static int report_trace(const struct rn_trace *t, const char *file)
{
	struct report r = { .t = t };
	struct rn_arena mem, scratch;
	struct rn_outline_sig *sig;
	int rc, code = EXIT_DONE;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	rc = describe_sigs(&r, &mem, &sig);
	if (rc == RN_OK)
		rc = rn_outline(&t->streams, sig, &mem, &scratch, &r.outline);
	rn_arena_free(&scratch);
	if (rc == RN_OK) {
		put_report(&r);
		code = put_order(&r, file);
		rc = rn_buf_status(&r.out);
	}
	if (rc == RN_OK)
		fwrite(r.out.data, 1, r.out.len, stdout);
	rn_buf_free(&r.out);
	rn_templates_free(&r.templates);
	rn_arena_free(&mem);
	return rc < 0 ? fail_memory(file) : code;
}

int cmd_report(int argc, char **argv)
{
	return on_trace(&usage, argc, argv, report_trace, "--rank 0 --to 20");
}
