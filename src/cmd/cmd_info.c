/* cmd_info.c - `rondo info FILE`: prints a summary of a trace without expanding it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/number_text.h"
#include "base/saturate.h"
#include "cmd/cmd.h"
#include "encode/time_stats.h"
#include "file/container.h"
#include "identity/comm_table.h"
#include "model/markers.h"
#include "model/metadata.h"
#include "model/programs.h"
#include "read/event_reader.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "series/units.h"

static bool sections, calls, comms;

static const struct opt opts[] = {
	{ "--calls", NULL, "print a table of the functions instead", OPT_FLAG, .var = &calls },
	{ "--comms", NULL, "print the members of the communicators instead", OPT_FLAG,
	  .var = &comms },
	{ "--sections", NULL, "also print the size of each section", OPT_FLAG, .var = &sections },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"info",
	"FILE",
	"Says what a trace holds, as `key: value` lines.",
	"rondo info demo.rondo",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* Prints metadata. It can contain text of the traced program, so control characters are escaped. */
static void print_text(const char *value)
{
	size_t left = strlen(value), used;
	char c[RN_TEXT_CHAR];

	for (; left; value += used, left -= used) {
		used = rn_text_char(value, left, c);
		fputs(c, stdout);
	}
	putchar('\n');
}

static void print_line(const char *key, const char *value)
{
	printf("%s: ", key);
	print_text(value);
}

static void print_number(const char *key, uint64_t v)
{
	printf("%s: %" PRIu64 "\n", key, v);
}

static void print_sections(const struct rn_trace *t)
{
	uint64_t rest = t->file.len;

	for (size_t i = 0; i < rn_container_count(t->container); i++) {
		const struct rn_section *s = rn_container_section(t->container, i);
		const char *name = rn_section_name(s->type);

		if (name)
			printf("section.%s: ", name);
		else
			printf("section.%" PRIu64 ": ", s->type);
		printf("%" PRIu64 " byte%s (%" PRIu64 " unpacked)\n", s->stored,
		       rn_plural(s->stored), s->raw);
		rest -= s->stored;
	}
	printf("section.container: %" PRIu64 " bytes\n", rest);
}

static void print_meta(const struct rn_trace *t, enum rn_meta_key key)
{
	const struct rn_meta_row *row = &rn_meta_rows[key];
	const char *value = rn_meta_value(&t->meta, key);

	if (value || row->otherwise)
		print_line(row->key, value ? value : row->otherwise);
}

/* Whether another line of `rondo info` may have this key. Metadata with such a key are printed with
 * the prefix meta. */
static bool is_fact(const char *key)
{
	static const char *const facts[] = { "format",         "programs",     "ranks",
					     "calls",          "groups",       "signatures",
					     "rules",          "symbols",      "loops",
					     "bytes",          "events",       "received",
					     "bytes_per_call", "failed_tests", "time_bytes",
					     "bytes_per_event" };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (strcmp(facts[i], key) == 0)
			return true;
	return strncmp(key, "section.", 8) == 0 || strncmp(key, "meta.", 5) == 0;
}

/* Prints the line `FUNCTION RANKS` of a function in which ranks stopped. The trace has a metadata
 * key for each such function (recover/recover.h). Returns false for other keys. */
static bool print_stop(const struct rn_meta_entry *e)
{
	const char *function = rn_meta_suffix(e->key, RN_META_STOPPED_IN);

	if (!function)
		return false;
	printf("stopped_in: %s ", function);
	print_text(e->value);
	return true;
}

/* Prints one line `RANKS PROGRAM` for each program, if the ranks ran different programs. */
static void print_programs(const struct rn_trace *t)
{
	const char *name;
	int ranks;

	for (uint32_t i = 0; i < t->meta.n; i++)
		if (rn_program_entry(&t->meta.entry[i], &ranks, &name))
			print_line("programs", t->meta.entry[i].value);
}

/* Prints a metadata entry. The prefix `meta.` marks a key that is equal to a key of another line.
 */
static void print_entry(const struct rn_meta_entry *e)
{
	const char *name;
	int ranks;

	if (rn_meta_has_flag(e->key, RN_META_LINE) || print_stop(e) ||
	    rn_program_entry(e, &ranks, &name))
		return;
	if (is_fact(e->key))
		printf("meta.");
	print_line(e->key, e->value);
}

/* Returns the number of streams with at least one call, or with events in a trace of order events.
 */
static uint64_t count_threads(const struct rn_trace *t)
{
	const struct rn_streams *s = &t->streams;
	uint64_t n = 0;

	for (uint32_t k = 0; k < s->groups; k++)
		if (rn_streams_length(s, k))
			n += rn_units_length(s->group[k].ranks);
	return t->order ? t->events->chunks.stream.n : n;
}

/* Returns the number of signatures that are calls. */
static uint32_t count_signatures(const struct rn_markers *m, const struct rn_sigs *sigs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		n += rn_marker_of(m, sig, len) == RN_MARKER_NONE;
	}
	return n;
}

/* Prints the size of the call times. */
static void print_time_bytes(const struct rn_trace *t, uint64_t n)
{
	for (size_t i = 0; i < rn_container_count(t->container); i++) {
		const struct rn_section *s = rn_container_section(t->container, i);

		if (s->type == RN_SECTION_TIME)
			printf("time_bytes: %" PRIu64 " (%.3g per call)\n", s->stored,
			       n ? (double)s->stored / (double)n : 0.0);
	}
}

/* Prints the numbers of order events, if the trace contains order events. */
static void print_events(const struct rn_trace *t)
{
	struct rn_order_count n;

	if (!t->order)
		return;
	n = rn_order_list_count(t->events);
	print_number("events", n.events);
	print_number("failed_tests", n.failed);
	print_number("received", n.received);
	if (n.loose)
		print_number("not_replayable", n.loose);
	printf("bytes_per_event: %.3g\n", n.events ? (double)t->file.len / (double)n.events : 0.0);
}

/* Prints the number of nodes and the number of ranks on them, if there were several nodes. */
static void print_nodes(const struct rn_trace *t)
{
	uint64_t nodes = 0, least = UINT64_MAX, most = 0;
	uint64_t rank, size;

	for (uint64_t r = 0; t->comms && r < t->ranks; r++) {
		if (!rn_node_find(t->comms, r, &rank, &size))
			return;
		nodes += rank == 0;
		least = size < least ? size : least;
		most = size > most ? size : most;
	}
	if (nodes && least == most)
		printf("nodes: %" PRIu64 " (of %" PRIu64 " rank%s)\n", nodes, most,
		       rn_plural(most));
	else if (nodes)
		printf("nodes: %" PRIu64 " (of %" PRIu64 " to %" PRIu64 " ranks)\n", nodes, least,
		       most);
}

/* Returns RN_OK or RN_E_NOMEM. */
static int print_info(const struct rn_trace *t, struct rn_arena *mem)
{
	const struct rn_streams *s = &t->streams;
	const struct rn_markers m = rn_markers_of(&t->vocab);
	unsigned major, minor;
	uint64_t n;
	int rc = rn_markers_calls(&m, s, mem, &n);

	if (rc < 0)
		return rc;

	rn_container_version(t->container, &major, &minor);
	printf("format: %u.%u\n", major, minor);
	print_meta(t, RN_META_PROGRAM);
	print_programs(t);
	print_meta(t, RN_META_MPI);
	print_number("ranks", t->ranks);
	print_number("threads", count_threads(t));
	print_number("calls", n);
	print_events(t);
	print_number("groups", s->groups);
	print_number("signatures", count_signatures(&m, s->sigs));
	print_number("rules", rn_rules_count(t->streams.rules));
	print_number("symbols", t->symbols);
	print_number("loops", t->folded.loops);
	print_number("bytes", t->file.len);
	printf("bytes_per_call: %.3g\n", n ? (double)t->file.len / (double)n : 0.0);
	print_meta(t, RN_META_TIME);
	print_time_bytes(t, n);
	print_meta(t, RN_META_COMPLETE);
	print_meta(t, RN_META_WALL_S);
	print_meta(t, RN_META_TRACER_S);
	for (uint32_t i = 0; i < t->meta.n; i++)
		print_entry(&t->meta.entry[i]);
	print_nodes(t);
	if (sections)
		print_sections(t);
	return RN_OK;
}

/* The table line of a function. */
struct line {
	const char *name;
	bool hidden;
	uint64_t calls, timed; /* the last calls of a killed program have no times */
	double sum, min, max;  /* nanoseconds */
};

/* Orders by descending time; without times, by descending number of calls. */
static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_signature(struct line *l, uint64_t n, const struct rn_time *t)
{
	uint64_t timed = t ? rn_timing_count(&t->dur) : 0;

	if (timed && n) {
		double min = (double)t->dur.min, max = (double)t->dur.max;

		l->min = l->timed == 0 || min < l->min ? min : l->min;
		l->max = max > l->max ? max : l->max;
		l->sum += (double)t->dur.sum;
		rn_sat_add(&l->timed, timed);
	}
	rn_sat_add(&l->calls, n);
}

static void print_table(const struct line *line, uint32_t n, bool times)
{
	printf("%16s", "calls");
	if (times)
		printf(" %14s %14s %14s %14s", "total_s", "min_us", "mean_us", "max_us");
	puts("  function");
	for (uint32_t i = 0; i < n; i++) {
		const struct line *l = &line[i];

		if (l->hidden)
			continue;
		printf("%16" PRIu64, l->calls);
		if (times)
			printf(" %14.6f %14.3f %14.3f %14.3f", l->sum / 1e9, l->min / 1e3,
			       l->timed ? l->sum / (double)l->timed / 1e3 : 0.0, l->max / 1e3);
		printf("  %s\n", l->name);
	}
}

/* Returns RN_OK or RN_E_NOMEM. */
static int print_calls(const struct rn_trace *t, struct rn_arena *mem)
{
	const struct rn_markers m = rn_markers_of(&t->vocab);
	uint32_t sigs = rn_sigs_count(t->streams.sigs), n = t->vocab.funcs;
	uint64_t *count = rn_new(mem, uint64_t, sigs);
	struct line *line = rn_new(mem, struct line, n);

	if (!count || !line || rn_streams_counts(&t->streams, mem, count) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct rn_func *f = &t->vocab.func[i];

		line[i].name = f->name;
		line[i].hidden = rn_marker_function(&m, f->number) != RN_MARKER_NONE;
	}
	for (uint32_t i = 0; i < sigs; i++) {
		size_t len;
		const void *sig = rn_sigs_get(t->streams.sigs, i, &len);
		const struct rn_func *f = rn_vocab_func(&t->vocab, rn_call_function(sig, len));

		add_signature(&line[f - t->vocab.func], count[i],
			      t->times ? rn_times_get(t->times, i) : NULL);
	}
	qsort(line, n, sizeof(*line), by_weight);
	print_table(line, n, t->times);
	return RN_OK;
}

/* Prints the ranks from..to - 1 of a communicator, whose ranks in the world are unknown. */
static void print_unknown(uint64_t from, uint64_t to)
{
	const char *comma = from ? "," : "";

	if (to - from > 1)
		printf("%s?*%" PRIu64, comma, to - from);
	else if (to > from)
		printf("%s?", comma);
}

/* Prints the world ranks of a communicator in the order of its ranks; 4-7 for 4,5,6,7. */
static void print_side(const struct rn_comm_side *s)
{
	uint64_t next = 0;

	for (uint64_t i = 0, n; i < s->n; i += n) {
		const struct rn_comm_member *m = &s->member[i];

		print_unknown(next, m->rank);
		for (n = 1; i + n < s->n && m[n].rank == m->rank + n &&
			    m[n].world_rank == m->world_rank + n;)
			n++;
		printf("%s%" PRIu64, m->rank ? "," : "", m->world_rank);
		if (n > 1)
			printf("-%" PRIu64, m->world_rank + n - 1);
		next = m->rank + n;
	}
	print_unknown(next, s->size);
}

static int print_comm(void *arg, const struct rn_comm_listed *c)
{
	(void)arg;
	printf("%.*s", (int)c->len, c->name);
	if (c->by.n < c->local.n) {
		printf(" of ");
		for (uint64_t i = 0; i < c->by.n; i++)
			printf("%s%" PRIu64, i ? "," : "", c->by.member[i].world_rank);
	}
	printf(": ");
	print_side(&c->local);
	if (c->remote.size) {
		printf(" | ");
		print_side(&c->remote);
	}
	putchar('\n');
	return 0;
}

static int print_all(const struct rn_trace *t, const char *file)
{
	struct rn_arena mem;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	if (comms)
		rc = t->comms ? rn_comms_list(t->comms, print_comm, NULL) : RN_OK;
	else
		rc = calls ? print_calls(t, &mem) : print_info(t, &mem);
	rn_arena_free(&mem);
	if (rc == RN_E_DATA)
		return fail(EXIT_INPUT, "%s: the communicators contradict each other", file);
	return rc < 0 ? fail_memory(file) : EXIT_DONE;
}

int cmd_info(int argc, char **argv)
{
	return on_trace(&usage, argc, argv, print_all, "--rank 0 --to 20");
}
