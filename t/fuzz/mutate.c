/*
 * mutate.c - runs the commands of rondo on mutants of good traces and part files.
 *
 *	mutate [OPTION]... TRACE...
 *
 *	--rondo PATH     the program; default: build/rondo
 *	--mutants N      number of mutants; default: 1000
 *	--seconds N      stop after N seconds; default: never
 *	--seed N         of the random numbers; default: 1
 *	--first N        number of the first mutant; default: 0
 *	--jobs N         processes that do this at the same time; default: 1
 *	--save DIRECTORY where the inputs of findings are saved; default: the current one
 *	--memory MIB     limit for a run; default: 256
 *
 * The inputs are the traces, part files of t/unit/good_parts.h, and the traces that are recovered
 * from these. Mutant N of a seed is always the same, so `--seed S --first N --mutants 1` repeats a
 * finding. A finding is a run that
 *
 *	ends by a signal, or with an exit code that the command does not have for bad input
 *	takes more than 10 seconds of CPU time, or more memory than the limit
 *	prints a control character or invalid UTF-8
 *	prints more than LINES_MAX lines of errors, a longer one than LINE_MAX_BYTES, or one that
 *	does not begin with `rondo: `; or fails without one
 *
 * One line for each finding, and one for all: mutants, runs, seconds, findings. The exit code is 1
 * if there is a finding.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/text.h"
#include "recover/recover.h"
#include "t/fuzz/mutant.h"
#include "t/fuzz/run_command.h"
#include "t/unit/good_parts.h"

#define INPUTS_MAX     64u
#define CPU_SECONDS    10u
#define LINES_MAX      20u
#define LINE_MAX_BYTES 4096u
#define ARGS_MAX       8u

static const char *rondo = "build/rondo", *save = ".";
static uint64_t mutants = 1000, seconds, seed = 1, first, jobs = 1, memory_mib = 256;

static struct good_input input[INPUTS_MAX];
static size_t inputs;

/* Totals over all mutants. */
struct tally {
	uint64_t mutants, parts, runs, findings;
	double slowest; /* CPU seconds */
	long largest;   /* KiB */
};

static struct tally all;

/* ---- commands ---- */

enum operand { NOTHING, MUTANT, GOOD, OUTPUT };

/* MUTANT and the others are replaced by paths. */
#define MUTANT_PATH "MUTANT"
#define GOOD_PATH   "GOOD"
#define OUTPUT_PATH "OUTPUT"

struct command {
	const char *argv[ARGS_MAX];
	unsigned codes; /* bit set of exit codes that are not findings */
	enum {
		READS_CALLS = 1, /* not run on a trace with more than CALLS_MAX calls */
		REPLAYS = 2,     /* exit code 70 is also valid, because no MPI program is started */
	} flags;
};

#define CALLS_MAX 1000000u

#define CODES(a, b) (1u << (a) | 1u << (b))
#define ANSWERS     (CODES(0, 1) | 1u << 3)

/* The first command opens the trace. If it rejects the trace, most others are not run, because all
 * open it by the same function. */
static const struct command of_traces[] = {
	{ { "info", "--sections", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "info", "--calls", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "info", "--comms", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "check", MUTANT_PATH }, ANSWERS, 0 },
	{ { "dump", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "dump", "--json", "--from", "3", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "report", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "report", "--all", MUTANT_PATH }, CODES(0, 3), READS_CALLS },
	{ { "diff", "--strict", GOOD_PATH, MUTANT_PATH }, ANSWERS, READS_CALLS },
	{ { "replay", MUTANT_PATH, "/bin/true" }, CODES(0, 3), READS_CALLS | REPLAYS },
};

/* These commands compare two observations of the processes, 0.2 s apart. They run only on some
 * mutants. */
static const struct command of_live[] = {
	{ { "recover", "--live", MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "recover", "--live", "--json", MUTANT_PATH }, CODES(0, 3), 0 },
};

#define LIVE_EVERY 4u

static const struct command of_parts[] = {
	{ { "recover", "-o", OUTPUT_PATH, MUTANT_PATH }, CODES(0, 3), 0 },
	{ { "check", OUTPUT_PATH }, ANSWERS, 0 },
	{ { "dump", OUTPUT_PATH }, CODES(0, 3), 0 },
	{ { "report", OUTPUT_PATH }, CODES(0, 3), 0 },
};

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* ---- files ---- */

static char work[200];

/* Returns the path of a file in the work directory. It is valid for the next 15 calls. */
static const char *at_work(const char *name)
{
	static char path[16][sizeof(work) + 64];
	static unsigned next;
	char *p = path[next++ % 16];

	snprintf(p, sizeof(path[0]), "%s/%.60s", work, name);
	return p;
}

static void fatal(const char *what, const char *name)
{
	fprintf(stderr, "mutate: %s %s: %s\n", what, name, strerror(errno));
	exit(2);
}

static void write_file(const char *path, const struct rn_buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || rn_io_write_all(fd, b->data, b->len) < 0)
		fatal("write", path);
	close(fd);
}

#define PART_DIR  "m.rondo.part"
#define PART_FILE PART_DIR "/0000000000001234-host"

static void write_mutant(bool part, const struct rn_buf *b)
{
	if (part && mkdir(at_work(PART_DIR), 0700) < 0 && errno != EEXIST)
		fatal("create", PART_DIR);
	write_file(at_work(part ? PART_FILE : "m.rondo"), b);
}

/* Creates the work directory of this process, in a memory file system if possible. */
static void make_work(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(work, sizeof(work), "%.150s/rondo-mutate.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm"
		 : tmp && *tmp                 ? tmp
					       : "/tmp");
	if (!mkdtemp(work))
		fatal("create", work);
	setenv("TMPDIR", work, 1);
}

static void remove_work(void)
{
	static const char *const name[] = { PART_FILE, "m.rondo", "good.rondo", "out.rondo",
					    "good.part" };

	for (size_t i = 0; i < COUNT(name); i++)
		unlink(at_work(name[i]));
	rmdir(at_work(PART_DIR));
	rmdir(work);
}

/* ---- inputs ---- */

/* Adds a part file and the trace that is recovered from it. */
static void add_part(enum good_part kind)
{
	static const char *const name[GOOD_PARTS] = { "calls", "segments", "events", "clock" };
	const char *path = at_work("good.part"), *trace = at_work("good.rondo");
	struct good_input *in = &input[inputs];
	struct rn_node_file file;
	struct rn_recovered r;

	unlink(path);
	write_good_part(path, kind);
	if (!good_part_file(in, path, name[kind]))
		fatal("read", path);
	file = (struct rn_node_file){ .bytes = in->file.data, .len = in->file.len };
	if (rn_recover(&file, 1, RN_RECOVER_INVALID, trace, &r, NULL) < 0 ||
	    !good_trace(&input[inputs + 1], trace))
		fatal("recover", name[kind]);
	input[inputs + 1].name = name[kind];
	inputs += 2;
	rn_recovered_free(&r);
}

/* ---- output ---- */

/* Returns the length of the character at p if a line may contain it, or 0. */
static size_t visible(const unsigned char *p, size_t left)
{
	size_t n = rn_text_length(p, left);

	return n && (*p == '\n' || !rn_text_is_control(p, n)) ? n : 0;
}

/* Whether the complete lines of the output are text without control characters. */
static bool is_text(const struct rn_buf *b, bool is_cut)
{
	size_t end = b->len;

	while (is_cut && end && b->data[end - 1] != '\n')
		end--;
	for (size_t i = 0, n; i < end; i += n) {
		n = visible(b->data + i, end - i);
		if (n == 0)
			return false;
	}
	return true;
}

/* Returns NULL, or a description of the flaw in the error messages. */
static const char *wrong_errors(const struct run_result *r)
{
	static const char prefix[] = "rondo: ";
	const unsigned char *p = r->err.data, *end = p + r->err.len;
	unsigned lines = 0;

	for (; p < end; lines++) {
		const unsigned char *to = memchr(p, '\n', (size_t)(end - p));

		if (!to)
			return "an error without an end of line";
		if (to - p > LINE_MAX_BYTES)
			return "a long error";
		if ((size_t)(to - p) < sizeof(prefix) || memcmp(p, prefix, sizeof(prefix) - 1))
			return "an error without `rondo: `";
		p = to + 1;
	}
	if (lines > LINES_MAX)
		return "many errors";
	return r->code && r->code != 1 && !lines ? "no error message" : NULL;
}

/* Returns NULL, or a description of the finding. */
static const char *wrong(const struct command *c, const struct run_result *r)
{
	static char text[64];

	if (r->killed)
		return "does not end";
	if (r->signal)
		snprintf(text, sizeof(text), "signal %d", r->signal);
	else if (r->code >= 32 ? r->code != 70 || !(c->flags & REPLAYS)
			       : !(c->codes >> r->code & 1))
		snprintf(text, sizeof(text), "exit code %d", r->code);
	else if (r->cpu_seconds > CPU_SECONDS)
		snprintf(text, sizeof(text), "%.1f s", r->cpu_seconds);
	else if (r->memory_kib > (long)memory_mib << 10)
		snprintf(text, sizeof(text), "%ld MiB", r->memory_kib >> 10);
	else if (!is_text(&r->out, r->is_cut) || !is_text(&r->err, false))
		return "a control character or invalid UTF-8";
	else
		return wrong_errors(r);
	return text;
}

/* ---- runs ---- */

static void fill_args(const struct command *c, const char *const *path,
		      const char *argv[ARGS_MAX + 2])
{
	unsigned n = 0;

	argv[n++] = rondo;
	for (unsigned i = 0; c->argv[i]; i++)
		argv[n++] = strcmp(c->argv[i], MUTANT_PATH) == 0   ? path[MUTANT]
			    : strcmp(c->argv[i], GOOD_PATH) == 0   ? path[GOOD]
			    : strcmp(c->argv[i], OUTPUT_PATH) == 0 ? path[OUTPUT]
								   : c->argv[i];
	argv[n] = NULL;
}

static void tell_finding(const struct command *c, uint64_t number, const struct good_input *in,
			 const char *what, const struct rn_buf *mutant)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/mutant-%" PRIu64 "-%" PRIu64 "%s", save, seed, number,
		 in->part ? ".part" : ".rondo");
	write_file(path, mutant);
	printf("mutate: FINDING: rondo");
	for (unsigned i = 0; c->argv[i]; i++)
		printf(" %s", c->argv[i]);
	printf(": %s; mutant %" PRIu64 " of seed %" PRIu64 ", of %s: %s\n", what, number, seed,
	       in->name, path);
	fflush(stdout);
	all.findings++;
}

static struct run_result result;

/* Returns the exit code. */
static int run_one(const struct command *c, const char *const *path, uint64_t number,
		   const struct good_input *in, const struct rn_buf *mutant)
{
	const struct run_result *r = &result;
	const char *argv[ARGS_MAX + 2], *what;

	fill_args(c, path, argv);
	if (!run_command(argv, CPU_SECONDS + 1, &result))
		fatal("run", rondo);
	what = wrong(c, r);
	if (what)
		tell_finding(c, number, in, what, mutant);
	all.runs++;
	all.slowest = r->cpu_seconds > all.slowest ? r->cpu_seconds : all.slowest;
	all.largest = r->memory_kib > all.largest ? r->memory_kib : all.largest;
	return r->code;
}

/* Returns the number of calls of the trace, from the output of `rondo info`. */
static uint64_t count_calls(struct rn_buf *out)
{
	static const char key[] = "\ncalls: ";
	const char *at;

	rn_buf_byte(out, 0);
	at = rn_buf_status(out) == RN_OK ? strstr((const char *)out->data, key) : NULL;
	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

static void run_trace(uint64_t *random, const char *const *path, uint64_t number,
		      const struct good_input *in, const struct rn_buf *mutant)
{
	uint64_t calls;
	size_t i;

	if (run_one(&of_traces[0], path, number, in, mutant) != 0) {
		i = 1 + random_below(random, COUNT(of_traces) - 1);
		run_one(&of_traces[i], path, number, in, mutant);
		return;
	}
	calls = count_calls(&result.out);
	for (i = 1; i < COUNT(of_traces); i++)
		if (calls <= CALLS_MAX || !(of_traces[i].flags & READS_CALLS))
			run_one(&of_traces[i], path, number, in, mutant);
}

/* `rondo recover` may remove the part directory, so it is the last command that reads it. */
static void run_part(uint64_t *random, const char *const *path, uint64_t number,
		     const struct good_input *in, const struct rn_buf *mutant)
{
	unlink(path[OUTPUT]);
	if (random_below(random, LIVE_EVERY) == 0)
		run_one(&of_live[random_below(random, COUNT(of_live))], path, number, in, mutant);
	for (size_t i = 0; i < COUNT(of_parts); i++)
		if (i == 0 || access(path[OUTPUT], F_OK) == 0)
			run_one(&of_parts[i], path, number, in, mutant);
}

static void run_mutant(uint64_t number)
{
	static struct rn_buf mutant;
	uint64_t random = rn_hash_u64(seed * 0x9e3779b97f4a7c15u + number);
	size_t of = random_below(&random, inputs);
	const struct good_input *in = &input[of];
	const char *path[] = { [MUTANT] = at_work(in->part ? PART_DIR : "m.rondo"),
			       [GOOD] = at_work("good.rondo"),
			       [OUTPUT] = at_work("out.rondo") };

	make_mutant(&random, input, inputs, of, &mutant);
	write_mutant(in->part, &mutant);
	if (in->part) {
		run_part(&random, path, number, in, &mutant);
	} else {
		write_file(path[GOOD], &in->file);
		run_trace(&random, path, number, in, &mutant);
	}
	all.mutants++;
	all.parts += in->part;
}

/* ---- jobs ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_share(uint64_t share, double began)
{
	for (uint64_t i = share; i < mutants; i += jobs) {
		if (seconds && now() - began >= (double)seconds)
			break;
		run_mutant(first + i);
	}
}

static void add_tally(const struct tally *t)
{
	all.mutants += t->mutants;
	all.parts += t->parts;
	all.runs += t->runs;
	all.findings += t->findings;
	all.slowest = t->slowest > all.slowest ? t->slowest : all.slowest;
	all.largest = t->largest > all.largest ? t->largest : all.largest;
}

/* Starts a child process with a work directory of its own. The tally is written to the pipe. */
static void start_job(uint64_t share, double began, int to)
{
	pid_t pid = fork();

	if (pid < 0)
		fatal("start", "a job");
	if (pid > 0)
		return;
	make_work();
	run_share(share, began);
	remove_work();
	if (write(to, &all, sizeof(all)) != sizeof(all))
		_exit(2);
	_exit(0);
}

static void run_jobs(double began)
{
	struct tally t;
	uint64_t done = 0;
	int fd[2];

	if (pipe(fd) < 0)
		fatal("create", "a pipe");
	for (uint64_t i = 0; i < jobs; i++)
		start_job(i, began, fd[1]);
	close(fd[1]);
	for (; read(fd[0], &t, sizeof(t)) == sizeof(t); done++)
		add_tally(&t);
	while (wait(NULL) > 0)
		;
	if (done < jobs)
		fatal("a job", "has failed");
}

static const struct {
	const char *name;
	uint64_t *number;
	const char **text;
} options[] = {
	{ "--rondo", NULL, &rondo },       { "--mutants", &mutants, NULL },
	{ "--seconds", &seconds, NULL },   { "--seed", &seed, NULL },
	{ "--first", &first, NULL },       { "--jobs", &jobs, NULL },
	{ "--memory", &memory_mib, NULL }, { "--save", NULL, &save },
};

/* Returns the number of arguments before the traces. */
static int parse_options(int argc, char **argv)
{
	int at = 1;

	for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
		size_t i = 0;

		while (i < COUNT(options) && strcmp(options[i].name, argv[at]) != 0)
			i++;
		if (i == COUNT(options))
			fatal("option", argv[at]);
		if (options[i].number)
			*options[i].number = strtoull(argv[at + 1], NULL, 10);
		else
			*options[i].text = argv[at + 1];
	}
	return at;
}

/* Sanitizers end a program with exit code 1, which is a regular exit code of some commands. */
static void set_environment(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	setenv("LC_ALL", "C", 1);
	setenv("ASAN_OPTIONS", "exitcode=99:detect_leaks=0", 1);
	setenv("UBSAN_OPTIONS", "exitcode=99", 1);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	double began = now(), took;

	set_environment();
	make_work();
	for (int i = parse_options(argc, argv); i < argc && inputs < INPUTS_MAX - 2 * GOOD_PARTS;
	     i++)
		if (!good_trace(&input[inputs++], argv[i]))
			fatal("read", argv[i]);
	for (unsigned kind = 0; kind < GOOD_PARTS; kind++)
		add_part(kind);
	remove_work();
	if (!jobs || access(rondo, X_OK) < 0)
		fatal("run", rondo);
	run_jobs(began);
	took = now() - began;
	printf("mutate: %" PRIu64 " mutants (%" PRIu64 " of traces, %" PRIu64
	       " of part files), %" PRIu64 " runs in %.0f s (%.0f per second), %" PRIu64
	       " finding%s; at most %.1f s and %ld MiB\n",
	       all.mutants, all.mutants - all.parts, all.parts, all.runs, took,
	       (double)all.runs / took, all.findings, all.findings == 1 ? "" : "s", all.slowest,
	       all.largest >> 10);
	return all.findings ? 1 : 0;
}
