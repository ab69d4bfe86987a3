/*
 * tool_virtual.c - `virtual`: a trace of virtual ranks, or their log.
 *
 * Every rank is built and merged separately, as a tracer would; see virtual.h for the patterns.
 * The log (--log) is what `rondo dump` must print, made without any of the code it judges.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "bench/virtual.h"
#include "encode/sigs.h"
#include "file/payload.h"
#include "file/version.h"
#include "file/writer.h"
#include "grammar/grammar.h"
#include "merge/link_mem.h"
#include "merge/merged.h"

struct options {
	const char *pattern, *output;
	uint64_t ranks, grid[3], steps, from, to;
	bool repeat, log, json, help;
};

static void usage(FILE *out)
{
	fputs("usage: virtual --pattern P (--ranks N | --grid XxY[xZ]) [--steps S] [--repeat] -o "
	      "FILE\n"
	      "       virtual --pattern P (--ranks N | --grid XxY[xZ]) [--steps S] --log [--json]\n"
	      "               [--from K] [--to K]\n"
	      "patterns:",
	      out);
	for (unsigned i = 0; i < virtual_patterns_count; i++)
		fprintf(out, " %s", virtual_patterns[i].name);
	fputs("\n--repeat: encode one step and add it S times (rn_grammar_append_repeat)\n", out);
}

static bool number(const char *s, uint64_t *v, char **end)
{
	errno = 0;
	*v = strtoull(s, end, 10);
	return *s >= '0' && *s <= '9' && errno == 0;
}

static bool whole_number(const char *s, uint64_t *v)
{
	char *end;

	return number(s, v, &end) && *end == 0;
}

static bool grid(const char *s, uint64_t g[3])
{
	char *end;

	g[1] = g[2] = 1;
	for (unsigned d = 0; d < 3; d++) {
		if (!number(s, &g[d], &end))
			return false;
		if (*end == 0)
			return true;
		if (*end != 'x')
			return false;
		s = end + 1;
	}
	return false;
}

static bool set_flag(struct options *o, const char *arg)
{
	const struct {
		const char *name;
		bool *var;
	} flags[] = {
		{ "--repeat", &o->repeat },
		{ "--log", &o->log },
		{ "--json", &o->json },
		{ "--help", &o->help },
	};

	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (strcmp(arg, flags[i].name) == 0)
			return *flags[i].var = true;
	return false;
}

static bool set_value(struct options *o, const char *arg, const char *value)
{
	if (!value)
		return false;
	if (strcmp(arg, "--pattern") == 0)
		o->pattern = value;
	else if (strcmp(arg, "-o") == 0)
		o->output = value;
	else if (strcmp(arg, "--ranks") == 0)
		return whole_number(value, &o->ranks);
	else if (strcmp(arg, "--steps") == 0)
		return whole_number(value, &o->steps);
	else if (strcmp(arg, "--from") == 0)
		return whole_number(value, &o->from);
	else if (strcmp(arg, "--to") == 0)
		return whole_number(value, &o->to);
	else if (strcmp(arg, "--grid") == 0)
		return grid(value, o->grid);
	else
		return false;
	return true;
}

static bool parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (set_flag(o, argv[i]))
			continue;
		if (!set_value(o, argv[i], argv[i + 1]))
			return false;
		i++;
	}
	return o->help || (o->pattern && (o->output || o->log));
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_trace(const struct virtual_run *v, const struct options *o,
		       const struct rn_streams *s, struct rn_err *err)
{
	const struct rn_meta_entry entries[] = {
		{ "complete", "yes" },
		{ "created_by", "virtual " RN_VERSION },
		{ "program", v->pattern->name },
	};
	const struct rn_meta meta = { entries, sizeof(entries) / sizeof(*entries) };

	return rn_trace_write(o->output, s, &virtual_vocab, &meta, err);
}

/* All ranks, each built and merged for itself. */
static int merge_all(const struct virtual_run *v, const struct options *o, struct rn_link *link,
		     struct rn_arena *mem, uint64_t *calls)
{
	struct rn_sigs *sigs = rn_sigs_new(mem);
	struct rn_grammar *g = rn_grammar_new(mem, NULL);
	int rc = sigs && g ? RN_OK : RN_E_NOMEM;

	for (uint64_t r = 0; r < v->ranks && rc == RN_OK; r++) {
		rc = (o->repeat ? virtual_feed_repeat : virtual_feed)(v, r, sigs, g, calls);
		if (rc == RN_OK)
			rc = rn_link_push(link, sigs, g);
	}
	return rc;
}

static void report(const struct virtual_run *v, const struct options *o, uint64_t calls)
{
	struct rusage ru;
	struct stat st;

	getrusage(RUSAGE_SELF, &ru);
	if (stat(o->output, &st) < 0)
		st.st_size = 0;
	printf("%s: %" PRIu64 " ranks, %" PRIu64 " calls, %lld bytes, %.2f CPU s, %.1f MiB peak\n",
	       o->output, v->ranks, calls, (long long)st.st_size, cpu_seconds(),
	       (double)ru.ru_maxrss / 1024);
}

static int make_trace(const struct virtual_run *v, const struct options *o)
{
	static struct rn_link link;
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_err err = { 0 };
	uint64_t calls = 0;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rn_link_init(&link, SIZE_MAX);
	rc = merge_all(v, o, &link, &mem, &calls);
	if (rc == RN_OK)
		rc = rn_link_finish(&link, &mem, &s);
	if (rc < 0)
		rn_err_set(&err, rc,
			   rc == RN_E_ARG ? "this pattern cannot be repeated" : "out of memory");
	else
		rc = write_trace(v, o, &s, &err);
	if (rc < 0)
		fprintf(stderr, "virtual: %s\n", err.text);
	else
		report(v, o, calls);
	rn_link_free(&link);
	rn_arena_free(&mem);
	return rc < 0;
}

static int print_log(const struct virtual_run *v, const struct options *o)
{
	for (uint64_t r = 0; r < v->ranks; r++)
		if (virtual_log(v, r, o->from, o->to, o->json, stdout) < 0)
			return 1;
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	struct options o = { .steps = 10, .to = UINT64_MAX };
	struct virtual_run v;
	int rc;

	if (!parse(&o, argc, argv)) {
		usage(stderr);
		return 2;
	}
	if (o.help) {
		usage(stdout);
		return 0;
	}
	rc = o.grid[0] ? virtual_init_grid(&v, o.pattern, o.grid, o.steps)
		       : virtual_init(&v, o.pattern, o.ranks, o.steps);
	if (rc < 0) {
		fprintf(stderr, "virtual: no such pattern, or no such number of ranks for it\n");
		return 2;
	}
	return o.log ? print_log(&v, &o) : make_trace(&v, &o);
}
