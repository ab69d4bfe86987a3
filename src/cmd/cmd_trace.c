/*
 * cmd_trace.c - `rondo trace PROGRAM...`: runs a program, with the tracer in each process that uses
 * MPI.
 *
 * If a launcher has started rondo (mpirun -n 4 rondo trace ./app), the process will be a rank. The
 * tracer for the program's MPI is preloaded, and rondo becomes the program by exec. A watcher
 * (conclude.h) waits for its end. Otherwise (rondo trace mpirun -n 4 ./app, or without a launcher),
 * the stub (src/preload/stub.c) is preloaded into every process and finds the ranks. rondo waits
 * for the command, and then reads the reports of stub and tracer (conclude.h).
 *
 * Errors that can be detected in advance are reported before anything runs, in one line, with exit
 * code 70. After that, the exit code is that of the program, or 70 instead of 0 if a program could
 * not be traced. A program that makes no MPI call is not such a case.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/call_list.h"
#include "base/err.h"
#include "base/status_file.h"
#include "base/tracer_env.h"
#include "cmd/cmd.h"
#include "cmd/conclude.h"
#include "encode/call_words.h"
#include "encode/callsite.h"
#include "encode/time_quant.h"
#include "file/trace_name.h"
#include "launch/preload_env.h"
#include "launch/run_dir.h"
#include "launch/target_program.h"
#include "model/metadata.h"
#include "order/event_codec.h"

static const char *output, *timing, *calls, *ranks, *mpi_word, *spill, *ignore, *lossy, *only,
	*order_codec, *values = RN_VALUES_WORD_ALL;
static bool plain, sites, has_slack, has_values, has_memory;
static uint64_t memory_bytes, depth = 16, slack;

static const struct opt opts[] = {
	{ "-o", "FILE",
	  "write the trace to FILE (default: %p.rondo); %p: program, %j: job, %h: host, %n: number",
	  OPT_TEXT, .var = &output },
	{ "--time", "HOW", "summary (default), none, bins[:B] or exact", OPT_TEXT, .var = &timing,
	  .env = RN_ENV_TIME },
	{ "--call", "LIST", "only these calls: 'MPI_I*,-MPI_Test*'", OPT_TEXT, .var = &calls,
	  .env = RN_ENV_CALL },
	{ "--rank", "LIST", "only these ranks: 0,4-7", OPT_TEXT, .var = &ranks,
	  .env = RN_ENV_RANK },
	{ "--mpi", "WHICH", "ompi, mpich or auto (default)", OPT_TEXT, .var = &mpi_word,
	  .words = "ompi mpich auto", .env = RN_ENV_MPI },
	{ "--spill", "DIR", "folder for what a killed program leaves (default: that of FILE)",
	  OPT_TEXT, .var = &spill, .env = RN_ENV_SPILL },
	{ "--no-elastic", NULL, "keep counts and arguments that change as they are", OPT_FLAG,
	  .var = &plain, .env = RN_ENV_NO_ELASTIC },
	{ "--lossy", "WHAT", "do not keep WHAT exactly: counts (of loops), params[:N]", OPT_TEXT,
	  .var = &lossy, .env = RN_ENV_LOSSY },
	{ "--memory", "SIZE", "memory of a rank for what is recorded: 64M, 1G (default: 256M)",
	  OPT_SIZE, .var = &memory_bytes, .given = &has_memory, .env = RN_ENV_MEMORY },
	{ "--callsite", "DEPTH",
	  "keep where calls are made: DEPTH frames of the stack (default: 16)", OPT_MAYBE,
	  .var = &depth, .given = &sites, .env = RN_ENV_CALLSITE },
	{ "--callsite-ignore", "LIST", "but not frames in MODULE or MODULE:FROM-TO", OPT_TEXT,
	  .var = &ignore, .env = RN_ENV_CALLSITE_IGNORE },
	{ "--only", "WHAT", "mpi (default), or order: how calls came out, for rondo replay",
	  OPT_TEXT, .var = &only, .words = "mpi order", .env = RN_ENV_ONLY },
	{ "--order-codec", "CODEC", "codec of the order events: model (default), clock", OPT_TEXT,
	  .var = &order_codec, .words = "model clock", .env = RN_ENV_ORDER_CODEC },
	{ "--values", "WHICH",
	  "with --only=order: clock results to record: none, mpi (default), all", OPT_MAYBE_TEXT,
	  .var = &values, .given = &has_values, .words = "none mpi all", .env = RN_ENV_VALUES },
	{ "--callsite-slack", "N", "calls from stacks that differ in N frames are the same calls",
	  OPT_NUMBER, .var = &slack, .given = &has_slack, .env = RN_ENV_CALLSITE_SLACK },
};

static const struct usage usage = {
	"trace",
	"PROGRAM [ARGUMENT]...",
	"Runs a program and records the MPI calls of all its ranks in one file. PROGRAM may\n"
	"be a launcher, or be started by one: mpirun -n 4 rondo trace ./app",
	"rondo trace -o run.rondo mpirun -n 4 ./app",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* --- options ------------------------------------------------------------------------------- */

static bool matches(const char *s, const char *pattern)
{
	regex_t r;
	bool is = regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) == 0;

	if (is) {
		is = regexec(&r, s, 0, NULL, 0) == 0;
		regfree(&r);
	}
	return is;
}

/* Lists separated by commas: rank numbers and ranges; names, which may contain * and ? and begin
 * with -; MODULE or MODULE:FROM-TO, hexadecimal. */
#define LIST(item)  "^" item "(," item ")*$"
#define RANK_LIST   LIST("[0-9]+(-[0-9]+)?")
#define CALL_LIST   LIST("-?[A-Za-z0-9_*?]+")
#define IGNORE_LIST LIST("[^:,]+(:[0-9a-fA-Fx]+-[0-9a-fA-Fx]+)?")

static bool selects_any(const char *list)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (rn_begins(rn_mpi_vocab.func[i].name, "MPI") &&
		    rn_call_list_selects(list, rn_mpi_vocab.func[i].name))
			return true;
	return false;
}

/* Whether a pattern in the list matches no function. `piece` is set to the pattern, without a
 * leading -. */
static bool is_foreign(const char *s, char piece[256])
{
	while (*s) {
		size_t n = strcspn(s += *s == '-', ",");

		snprintf(piece, 256, "%.*s", (int)n, s);
		if (!selects_any(piece))
			return true;
		s += n + (s[n] == ',');
	}
	return false;
}

#define MEMORY_LEAST ((uint64_t)1 << 20)

static int check_sites(void)
{
	if (sites && (depth == 0 || depth > RN_CALLSITE_FRAMES))
		return fail(EXIT_USAGE, "trace: --callsite %" PRIu64 ": not from 1 to %u", depth,
			    RN_CALLSITE_FRAMES);
	if (ignore && !sites)
		return fail(EXIT_USAGE, "trace: --callsite-ignore is for --callsite");
	if (has_slack && !sites)
		return fail(EXIT_USAGE, "trace: --callsite-slack is for --callsite");
	if (has_slack && (slack == 0 || slack > RN_CALLSITE_FRAMES))
		return fail(EXIT_USAGE, "trace: --callsite-slack %" PRIu64 ": not from 1 to %u",
			    slack, RN_CALLSITE_FRAMES);
	if (ignore && (strlen(ignore) > 1000 || !matches(ignore, IGNORE_LIST)))
		return fail(EXIT_USAGE,
			    "trace: --callsite-ignore %s: not a list such as "
			    "libx.so.*,app:0x1000-0x2000",
			    ignore);
	return EXIT_DONE;
}

#define TIME_MAX 255 /* capacity of the tracer's buffer */

/* Checks the value of --time: a keyword, or the quantization of call times. */
static int check_timing(void)
{
	struct rn_err err = { 0 };
	struct rn_grain grain;
	struct rn_arena mem;
	int rc;

	if (!timing || strcmp(timing, "summary") == 0 || strcmp(timing, "none") == 0)
		return EXIT_DONE;
	if (strlen(timing) > TIME_MAX)
		return fail(EXIT_USAGE, "trace: --time: longer than %d letters", TIME_MAX);
	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_grain_parse(&mem, timing, &rn_mpi_vocab, &grain, &err);
	rn_arena_free(&mem);
	if (rc == RN_E_NOMEM)
		return fail_memory(NULL);
	return rc < 0 ? fail(EXIT_USAGE, "trace: --time %s: %s", timing, err.text) : EXIT_DONE;
}

static int check_lossy(void)
{
	struct rn_lossy l;

	if (!lossy)
		return EXIT_DONE;
	if (!rn_lossy_parse(lossy, &l))
		return fail(EXIT_USAGE, "trace: --lossy %s: only counts and params[:N] can be",
			    lossy);
	if (plain)
		return fail(EXIT_USAGE, "trace: --lossy is not for --no-elastic");
	if (l.counts && timing && (rn_begins(timing, "bins") || rn_begins(timing, "exact")))
		return fail(EXIT_USAGE,
			    "trace: --lossy=counts is not for --time=%s, which needs every call",
			    timing);
	return EXIT_DONE;
}

static bool is_order(void)
{
	return only && strcmp(only, RN_ONLY_ORDER) == 0;
}

static int check_only(void)
{
	if (has_values && !is_order())
		return fail(EXIT_USAGE, "trace: --values is for --only=order");
	if (order_codec && !is_order())
		return fail(EXIT_USAGE, "trace: --order-codec is for --only=order");
	if (is_order() && (calls || timing || lossy || plain))
		return fail(EXIT_USAGE, "trace: --%s is not for --only=order",
			    calls    ? "call"
			    : timing ? "time"
			    : lossy  ? "lossy"
				     : "no-elastic");
	return EXIT_DONE;
}

static int check_options(void)
{
	char piece[256];
	int code = check_timing();

	if (code == EXIT_DONE)
		code = check_lossy();
	if (code == EXIT_DONE)
		code = check_only();
	if (code)
		return code;
	if (ranks && !matches(ranks, RANK_LIST))
		return fail(EXIT_USAGE, "trace: --rank %s: not a list such as 0,4-7", ranks);
	if (calls && !matches(calls, CALL_LIST))
		return fail(EXIT_USAGE, "trace: --call %s: not a list such as MPI_I*,-MPI_Test*",
			    calls);
	if (calls && is_foreign(calls, piece))
		return fail(EXIT_USAGE, "trace: --call %s: no function of MPI is called so", piece);
	if (calls && !selects_any(calls))
		return fail(EXIT_USAGE, "trace: --call %s: selects no function", calls);
	if (has_memory && memory_bytes < MEMORY_LEAST)
		return fail(EXIT_USAGE, "trace: --memory: less than 1M");
	return check_sites();
}

static int set_variables(void)
{
	static char spill_path[PATH_MAX];

	if (spill && !realpath(spill, spill_path))
		return fail(EXIT_SELF, "--spill %s: %s", spill, strerror(errno));
	spill = spill ? spill_path : NULL;
	return export_options(&usage);
}

/* --- the output file ----------------------------------------------------------------------- */

static char folder[PATH_MAX];

/* Whether an outer rondo reads the reports of this run. If RONDO_STATUS is not its status file,
 * this removes the variable. */
static bool has_status(void)
{
	const char *path = getenv(RN_ENV_STATUS);
	int fd = path ? rn_status_open(path) : -1;

	if (fd >= 0)
		close(fd);
	else
		unsetenv(RN_ENV_STATUS);
	return fd >= 0;
}

static int folder_error(void)
{
	return fail(EXIT_SELF, "%s, the folder for the trace: %s%s", folder, strerror(errno),
		    output ? "" : " (-o FILE puts it elsewhere)");
}

static bool is_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

/* Checks that an existing file is a trace. An empty file is accepted, because the user may have
 * created it to reserve the name. */
static int check_is_trace(const char *path)
{
	struct rn_err err;

	if (rn_trace_probe(path, &err) >= 0)
		return EXIT_DONE;
	return fail(EXIT_SELF, "%s is there already, and not replaced: %s", path, err.text);
}

/* Checks that the output file does not exist or is a trace. Other files are not replaced, because a
 * mistyped -o could otherwise destroy a program or its input. */
static int check_output(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? EXIT_DONE
				       : fail(EXIT_SELF, "%s, the file for the trace: %s", path,
					      strerror(errno));
	if (S_ISREG(st.st_mode))
		return check_is_trace(path);
	return fail(EXIT_SELF, "%s, the file for the trace, is %s", path,
		    S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
}

/* Creates the private directory for the reports. It is next to the trace, where processes on other
 * nodes can reach it, if that file system stores owner and mode. */
static int make_status(struct run_dir *dir)
{
	int error = run_dir_make(dir, folder);

	if (error) {
		errno = error;
		return folder_error();
	}
	return setenv(RN_ENV_STATUS, dir->path, 1) < 0 || setenv(RN_ENV_RANK_SEEN, "0", 1) < 0
		       ? fail_memory(NULL)
		       : EXIT_DONE;
}

/* Sets RONDO_CWD and RONDO_OUTPUT, and checks that the tracer will be able to write there. */
static int set_output(void)
{
	const char *given = output ? output : getenv(RN_ENV_OUTPUT);
	char cwd[PATH_MAX / 2], path[PATH_MAX];
	const char *error;
	int n;

	if (!getcwd(cwd, sizeof(cwd)))
		return fail(EXIT_SELF, "the current folder: %s", strerror(errno));
	while (given && rn_begins(given, "./"))
		given += 2;
	n = snprintf(path, sizeof(path), "%s/%s", given && *given == '/' ? "" : cwd,
		     given ? given + (*given == '/') : "");
	if (n < 0 || n >= PATH_MAX)
		return fail(EXIT_SELF, "-o: %s", strerror(ENAMETOOLONG));
	if (setenv(RN_ENV_CWD, cwd, 0) < 0 || (given && setenv(RN_ENV_OUTPUT, path, 1) < 0))
		return fail_memory(NULL);
	n = (int)(rn_base_name(path) - path);
	snprintf(folder, sizeof(folder), "%.*s", n > 1 ? n - 1 : n, path);
	if (!is_folder(folder) || access(folder, W_OK | X_OK) < 0)
		return folder_error();
	if (!given)
		return EXIT_DONE;
	error = rn_trace_name_error(path);
	if (error)
		return fail(EXIT_USAGE,
			    "trace: -o %s: unknown sequence %.2s (see: rondo trace --help)", given,
			    error);
	return strchr(rn_base_name(path), '%') ? EXIT_DONE : check_output(path);
}

/* --- the run ------------------------------------------------------------------------------- */

/* Runs as a rank (mpirun -n 4 rondo trace ./app): this process becomes the program. Its watcher
 * reports how it ended. */
static int trace_rank(const struct target *t, char **command)
{
	struct rn_err err = { 0 };
	int rc = inject_stub(false, &err);

	if (rc == RN_OK && !has_status())
		watch_rank();
	if (rc == RN_OK)
		inject_become(t, command, &err);
	return fail_self(&err);
}

static int run_and_conclude(const struct target *t, char **command, const struct run_dir *dir)
{
	struct rn_err err;
	int code = EXIT_DONE, own;

	if (inject_run(t, command, NULL, NULL, &code, &err) < 0)
		return fail_self(&err);
	own = conclude(t, command, dir->status, code);
	return code ? code : own;
}

/* Runs a launcher or a program without a launcher (rondo trace mpirun -n 4 ./app). */
static int trace_all(const struct target *t, char **command)
{
	struct run_dir dir;
	struct rn_err err;
	int code;

	if (inject_stub(true, &err) < 0)
		return fail_self(&err);
	if (has_status()) /* the outer rondo reads the reports */
		return inject_run(t, command, NULL, NULL, &code, &err) < 0 ? fail_self(&err) : code;
	code = make_status(&dir);
	if (!code)
		code = run_and_conclude(t, command, &dir);
	run_dir_remove(&dir);
	return code;
}

int cmd_trace(int argc, char **argv)
{
	struct rn_buf notes = { 0 };
	struct target t;
	char **command;
	int code = parse_command(&usage, argc, argv, &command);

	if (code || !command)
		return code;
	if (!*command)
		return fail(EXIT_USAGE, "trace: which program? (see: rondo trace --help)");
	code = check_options();
	if (!code)
		code = set_variables();
	if (!code)
		code = set_output();
	if (code)
		return code;
	code = target_open_checked(&t, command, false, &notes) < 0 ? EXIT_SELF : EXIT_DONE;
	print_notes(&notes);
	if (code)
		return code;
	code = target_is_rank(&t) ? trace_rank(&t, command) : trace_all(&t, command);
	target_free(&t);
	return code;
}
