/*
 * cmd_report.c - `rondo report FILE`: what the program did, as its loops and calls.
 *
 * The structure comes from analysis/outline.h, without expanding a stream. Each line has what all
 * ranks together did there, but for the time, which is a mean: what one rank spent. Below it, how
 * non-deterministic it was (report_events.h), which is all there is of a trace of events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bytes_moved.h"
#include "analysis/outline_weight.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/plural.h"
#include "cmd/cmd.h"
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
#define LINES_SHOWN 24u /* of one round, before only what matters is shown */

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
	struct rn_outline outline;
	uint64_t *total; /* by signature: how often in all */
	struct rn_weight weight;
	bool guessed; /* a time that is marked was shown */
	struct rn_buf out;
};

/* ---- what there is to know about signatures ---- */

static struct rn_weight weigh(const struct report *r, uint32_t sig, uint64_t bytes)
{
	const struct rn_time *time = r->t->times ? rn_times_get(r->t->times, sig) : NULL;
	uint64_t timed = time ? rn_timing_count(&time->dur) : 0;
	struct rn_weight w = { .calls = 1 };

	if (bytes == RN_VOLUME_UNKNOWN)
		w.unsized = 1;
	else
		w.bytes = bytes;
	/* Of a killed program's last calls there are no times: they count as the others do. */
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
	    rn_volumes(sigs, &r->t->values, &r->t->vocab, r->t->ranks, mem, bytes) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		s[i].function = (uint32_t)rn_call_function(sig, len);
		s[i].manner = text_hash(&r->out, r->t, i);
		s[i].marker = (unsigned char)rn_marker_of(&m, sig, len);
		if (s[i].marker == RN_MARKER_NONE)
			s[i].one = weigh(r, i, bytes[i]);
	}
	*out = s;
	rn_buf_clear(&r->out);
	return RN_OK;
}

/* ---- columns ---- */

static void put_column(struct report *r, const struct rn_buf *text, size_t width)
{
	for (size_t n = text->len; n < width; n++)
		rn_buf_byte(&r->out, ' ');
	rn_buf_add(&r->out, text->data, text->len);
	r->out.failed |= text->failed;
}

/* Whether the time of the part is known, and not shared out among the places where its calls are
 * made. */
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
	struct rn_buf text = { 0 };

	text_count(&text, w->calls);
	put_column(r, &text, 15);
	if (r->t->times) {
		rn_buf_clear(&text);
		if (!exact && w->ns > 0)
			rn_buf_byte(&text, '~');
		if (w->ns > 0)
			text_time(&text, w->ns / (double)streams);
		put_column(r, &text, 11);
		r->guessed |= !exact && w->ns > 0;
	}
	rn_buf_clear(&text);
	if (w->bytes)
		text_bytes(&text, w->bytes);
	if (w->unsized)
		rn_buf_byte(&text, w->bytes ? '+' : '?');
	put_column(r, &text, 11);
	rn_put(&r->out, "  ");
	rn_buf_free(&text);
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

/* What comes once or not at all. */
static void put_share(struct report *r, const struct rn_piece *p)
{
	uint64_t visits = p->total.visits, rounds = p->total.rounds;

	if (visits == p->streams) {
		rn_put(&r->out, "on ");
		text_count(&r->out, rounds);
		rn_put(&r->out, " of ");
		text_items(&r->out, visits, " rank");
		return;
	}
	if (visits % p->streams == 0 && rounds % p->streams == 0) {
		visits /= p->streams;
		rounds /= p->streams;
	}
	rn_put(&r->out, "in ");
	text_count(&r->out, rounds);
	rn_put(&r->out, " of ");
	text_items(&r->out, visits, " round");
}

static void put_times(struct report *r, const struct rn_piece *p)
{
	if (p->total.min == 0 && p->total.max == 1) {
		put_share(r, p);
		return;
	}
	text_count(&r->out, p->total.min);
	if (p->total.min != p->total.max) {
		rn_put(&r->out, "..");
		text_count(&r->out, p->total.max);
	}
	rn_put(&r->out, " time");
	rn_put(&r->out, rn_plural(p->total.max));
	if (p->total.min != p->total.max) {
		rn_put(&r->out, " (mean ");
		text_mean(&r->out,
			  p->total.visits ? (double)p->total.rounds / (double)p->total.visits : 0);
		rn_put(&r->out, ")");
	}
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
		text_call(&r->out, r->t, p->variant);
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
	rn_put(&r->out, "... ");
	text_count(&r->out, lines);
	rn_put(&r->out, " more\n");
}

/* Of what is long, the beginning, and the rest of it that is 1 % or more of everything. */
static bool is_wanted(const struct report *r, const struct rn_piece *p, uint64_t at, uint64_t n)
{
	return all || at < LINES_SHOWN || n <= LINES_SHOWN + 2 ||
	       p->weight.calls >= r->weight.calls / 100 + 1 ||
	       (r->weight.ns > 0 && p->weight.ns > r->weight.ns / 100);
}

/* Levels are bounded by those of outlines. */
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

/* ---- the whole ---- */

static void put_text(struct report *r, const char *value)
{
	size_t left = strlen(value), used;
	char c[RN_TEXT_CHAR];

	for (; left; value += used, left -= used) {
		used = rn_text_char(value, left, c);
		rn_put(&r->out, c);
	}
}

/* Where the ranks of a killed program were (recover/recover.h). */
static void put_stops(struct report *r)
{
	const struct rn_meta *meta = &r->t->meta;
	const char *ranks = rn_meta_value(meta, RN_META_INCOMPLETE);

	if (ranks) {
		rn_put(&r->out, "incomplete: ranks ");
		put_text(r, ranks);
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
			put_text(r, function);
			rn_put(&r->out, ": ranks ");
		}
		put_text(r, e->value);
		rn_put(&r->out, "\n");
	}
}

/* The program of rank 0, and those of other ranks. */
static void put_names(struct report *r)
{
	const struct rn_meta *meta = &r->t->meta;
	const char *program = rn_meta_value(meta, RN_META_PROGRAM), *name, *between = "";
	int ranks;

	for (uint32_t i = 0; i < meta->n; i++)
		if (rn_program_entry(&meta->entry[i], &ranks, &name)) {
			rn_put(&r->out, between);
			put_text(r, name);
			between = ", ";
		}
	if (!*between)
		put_text(r, program ? program : "unknown program");
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
		put_text(r, name);
		rn_put(&r->out, "\n");
	}
}

static void put_summary(struct report *r)
{
	const char *wall = rn_meta_value(&r->t->meta, RN_META_WALL_S);
	uint64_t n = r->t->order ? rn_order_list_count(r->t->events).events : r->weight.calls;

	put_names(r);
	rn_put(&r->out, ": ");
	text_items(&r->out, n, r->t->order ? " event" : " call");
	rn_put(&r->out, " on ");
	text_items(&r->out, r->t->ranks, " rank");
	if (wall) {
		rn_put(&r->out, ", ");
		put_text(r, wall);
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
	rn_put(&r->out, "\nand ");
	text_items(&r->out, r->outline.trees - from, " more group");
	rn_put(&r->out, " of ranks with ");
	text_items(&r->out, rest.calls, " call");
	rn_put(&r->out, " (--all shows all)\n");
}

static void put_notes(struct report *r)
{
	if (r->guessed)
		rn_put(&r->out,
		       "\n~ the same call is made elsewhere too, and its time shared out evenly\n");
	if (r->weight.unsized) {
		rn_put(&r->out, r->guessed ? "" : "\n");
		rn_put(&r->out, "+ and ?: the size of ");
		text_items(&r->out, r->weight.unsized, " call");
		rn_put(&r->out, " is not known\n");
	}
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
	rn_arena_free(&mem);
	return rc < 0 ? fail_memory(file) : code;
}

int cmd_report(int argc, char **argv)
{
	return on_trace(&usage, argc, argv, report_trace, "--rank 0 --to 20");
}
