/*
 * tool_virtual.c - the program `virtual`: writes a trace of virtual ranks, or prints their log.
 *
 * Every rank is built and merged separately, as by a tracer; virtual.h describes the patterns. The
 * log (--log) is the output that `rondo dump` must print. It is made without the code under test.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/version.h"
#include "bench/rank_merge.h"
#include "bench/virtual.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "model/merged_streams.h"
#include "model/payload.h"

static struct {
	const char *pattern, *output;
	uint64_t ranks, grid[3], steps, from, to;
	bool repeat, log, json, help;
} o = { .steps = 10, .to = UINT64_MAX };

enum kind { FLAG, TEXT, NUMBER, GRID };

static struct option {
	const char *name;
	enum kind kind;
	void *var;
	bool given;
} options[] = {
	{ "--pattern", TEXT, &o.pattern, false }, { "--ranks", NUMBER, &o.ranks, false },
	{ "--grid", GRID, o.grid, false },        { "--steps", NUMBER, &o.steps, false },
	{ "--repeat", FLAG, &o.repeat, false },   { "-o", TEXT, &o.output, false },
	{ "--log", FLAG, &o.log, false },         { "--json", FLAG, &o.json, false },
	{ "--from", NUMBER, &o.from, false },     { "--to", NUMBER, &o.to, false },
	{ "--help", FLAG, &o.help, false },       { "-h", FLAG, &o.help, false },
};

static void usage(void)
{
	fputs("usage: virtual --pattern P (--ranks N | --grid XxY[xZ]) [--steps S] [--repeat] -o "
	      "FILE\n"
	      "       virtual --pattern P (--ranks N | --grid XxY[xZ]) [--steps S] --log [--json]\n"
	      "               [--from K] [--to K]\n"
	      "patterns:",
	      stdout);
	for (unsigned i = 0; i < virtual_patterns_count; i++)
		printf(" %s", virtual_patterns[i].name);
	puts("\n--repeat: encode one step and add it S times (rn_grammar_append_repeat)");
}

__attribute__((format(printf, 2, 3))) static int fail(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("virtual: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
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

static bool set(struct option *opt, const char *value)
{
	opt->given = true;
	switch (opt->kind) {
	case NUMBER:
		return whole_number(value, opt->var);
	case GRID:
		return grid(value, opt->var);
	case TEXT:
		*(const char **)opt->var = value;
		return true;
	case FLAG:
		*(bool *)opt->var = true;
	}
	return true;
}

static struct option *find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0)
			return &options[i];
	return NULL;
}

static bool given(const char *name)
{
	return find(name, strlen(name))->given;
}

/* Parses --name, --name VALUE or --name=VALUE. Returns the number of arguments that it consists of,
 * or 0 after an error. */
static int take_option(char **argv)
{
	const char *equals = strncmp(argv[0], "--", 2) == 0 ? strchr(argv[0], '=') : NULL;
	size_t len = equals ? (size_t)(equals - argv[0]) : strlen(argv[0]);
	struct option *opt = find(argv[0], len);
	const char *value = equals ? equals + 1 : argv[1];

	if (!opt)
		fail(2, "no option %s (see: virtual --help)", argv[0]);
	else if (opt->kind == FLAG && equals)
		fail(2, "%s takes no value", opt->name);
	else if (opt->kind != FLAG && !value)
		fail(2, "%s needs a value", opt->name);
	else if (!set(opt, value))
		fail(2, "%s %s: not a %s, or too large", opt->name, value,
		     opt->kind == GRID ? "grid such as 4x3" : "number");
	else
		return opt->kind == FLAG || equals ? 1 : 2;
	return 0;
}

/* Checks that the given options can be combined. Returns 0, or the result of fail(). */
static int check_options(void)
{
	static const char *const of_log[] = { "--from", "--to", "--json" };

	if (!o.pattern)
		return fail(2, "which pattern? (--pattern P; see: virtual --help)");
	if (given("--ranks") == given("--grid"))
		return fail(2, given("--grid") ? "--ranks and --grid exclude each other"
					       : "how many ranks? (--ranks N or --grid XxY[xZ])");
	if (o.log == !!o.output)
		return fail(2, o.log ? "--log and -o exclude each other"
				     : "where to? (-o FILE, or --log)");
	for (unsigned i = 0; i < sizeof(of_log) / sizeof(*of_log); i++)
		if (given(of_log[i]) && !o.log)
			return fail(2, "%s is for --log", of_log[i]);
	return 0;
}

static int parse(int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		int took = take_option(argv + i);

		if (took == 0)
			return 2;
		i += took;
	}
	return o.help ? 0 : check_options();
}

/* Flushes standard output. Returns 0, or the result of fail() if a write failed. */
static int finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return fail(1, "standard output: %s", strerror(errno));
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int write_trace(const struct virtual_run *v, const struct rn_streams *s, struct rn_err *err)
{
	const struct rn_meta_entry entries[] = {
		{ "complete", "yes" },
		{ "created_by", "virtual " RN_VERSION },
		{ "program", v->pattern->name },
	};
	const struct rn_meta meta = { entries, sizeof(entries) / sizeof(*entries) };

	return rank_merge_write(o.output, s, &virtual_vocab, &meta, err);
}

/* Builds and merges all ranks, one at a time. */
static int merge_all(const struct virtual_run *v, struct rank_merge *link, struct rn_arena *mem,
		     uint64_t *calls)
{
	struct rn_grammar *g = rn_grammar_new(mem, NULL);
	int rc = g ? RN_OK : RN_E_NOMEM;
	struct rn_arena of_rank;
	struct rn_sigs *sigs;

	rn_arena_init(&of_rank, SIZE_MAX);
	for (uint64_t r = 0; r < v->ranks && rc == RN_OK; r++) {
		rn_arena_rewind(&of_rank, (struct rn_arena_mark){ 0 });
		sigs = rn_sigs_new(&of_rank);
		rc = sigs ? (o.repeat ? virtual_feed_repeat : virtual_feed)(v, r, sigs, g, calls)
			  : RN_E_NOMEM;
		if (rc == RN_OK)
			rc = rank_merge_add(link, sigs, g);
	}
	rn_arena_free(&of_rank);
	return rc;
}

static int report(const struct virtual_run *v, uint64_t calls)
{
	struct rusage ru;
	struct stat st;

	getrusage(RUSAGE_SELF, &ru);
	if (stat(o.output, &st) < 0)
		st.st_size = 0;
	printf("%s: %" PRIu64 " ranks, %" PRIu64 " calls, %lld bytes, %.2f CPU s, %.1f MiB peak\n",
	       o.output, v->ranks, calls, (long long)st.st_size, cpu_seconds(),
	       (double)ru.ru_maxrss / 1024);
	return finish_output();
}

/* Returns the message for an error code; the generator and the merge return only codes. */
static const char *why(int rc)
{
	switch (rc) {
	case RN_E_ARG:
		return "the steps of this pattern differ, so --repeat cannot be used";
	case RN_E_RANGE:
		return "more calls a rank than can be counted";
	case RN_E_NOMEM:
		return "out of memory";
	}
	return "the trace cannot be built";
}

static int make_trace(const struct virtual_run *v)
{
	static struct rank_merge link;
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_err err = { 0 };
	uint64_t calls = 0;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	rc = merge_all(v, &link, &mem, &calls);
	if (rc == RN_OK)
		rc = rank_merge_finish(&link, &mem, &s);
	if (rc < 0)
		rn_err_set(&err, rc, "%s", why(rc));
	else
		rc = write_trace(v, &s, &err);
	rank_merge_free(&link);
	rn_arena_free(&mem);
	return rc < 0 ? fail(1, "%s", err.text) : report(v, calls);
}

static int print_log(const struct virtual_run *v)
{
	int rc = RN_OK;

	for (uint64_t r = 0; r < v->ranks && rc == RN_OK; r++)
		rc = virtual_log(v, r, o.from, o.to, o.json, stdout);
	return finish_output();
}

static int init_failed(int rc)
{
	if (rc == RN_E_ARG)
		return fail(2, "no pattern %s (see: virtual --help)", o.pattern);
	if (given("--grid"))
		return fail(2, "--grid: %s cannot run on this grid", o.pattern);
	return fail(2, "--ranks %" PRIu64 ": not a possible number of ranks", o.ranks);
}

int main(int argc, char **argv)
{
	struct virtual_run v;
	int rc = parse(argc, argv);

	if (rc)
		return rc;
	if (o.help) {
		usage();
		return finish_output();
	}
	rc = given("--grid") ? virtual_init_grid(&v, o.pattern, o.grid, o.steps)
			     : virtual_init(&v, o.pattern, o.ranks, o.steps);
	if (rc < 0)
		return init_failed(rc);
	return o.log ? print_log(&v) : make_trace(&v);
}
