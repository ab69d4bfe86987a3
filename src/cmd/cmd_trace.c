/*
 * cmd_trace.c - `rondo trace PROGRAM...`: runs a program, with the tracer in whatever uses MPI.
 *
 * Behind a launcher (mpirun -n 4 rondo trace ./app) we will be a rank: the tracer for the program's
 * MPI is preloaded, and rondo becomes the program. In front of one (rondo trace mpirun -n 4 ./app),
 * or without one, the stub (src/intercept/stub.c) is preloaded into everything that is started and
 * finds the ranks; rondo waits, and the status file, in which stub and tracer write a line when
 * there is something to tell, decides what is left to say.
 *
 * What can be known to be wrong is said before anything runs, in one line, with exit code 70. After
 * that, the exit code is that of the program, or 70 instead of 0 if a program could not be traced.
 * A program that makes no MPI call is not such a case.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/io.h"
#include "base/plural.h"
#include "base/text.h"
#include "cmd/background.h"
#include "cmd/cmd.h"
#include "cmd/inject.h"
#include "cmd/parts.h"
#include "cmd/target.h"
#include "encode/callsite.h"
#include "encode/grain.h"
#include "encode/raw.h"
#include "file/section.h"
#include "file/writer.h"
#include "order/codec.h"

static const char *output, *timing, *calls, *ranks, *mpi_word, *spill, *memory, *ignore, *lossy,
	*only, *order_codec, *values = RN_VALUES_WORD_ALL;
static bool plain, sites, has_slack, has_values;
static uint64_t memory_bytes, depth = 16, slack;

static const struct opt opts[] = {
	{ "-o", "FILE", "write the trace to FILE (default: PROGRAM.rondo or SCRIPT.rondo)",
	  OPT_TEXT, &output, NULL },
	{ "--time", "HOW", "summary (default), none, bins[:B] or exact", OPT_TEXT, &timing, NULL },
	{ "--call", "LIST", "only these calls: 'MPI_I*,-MPI_Test*'", OPT_TEXT, &calls, NULL },
	{ "--rank", "LIST", "only these ranks: 0,4-7", OPT_TEXT, &ranks, NULL },
	{ "--mpi", "WHICH", "ompi, mpich or auto (default)", OPT_TEXT, &mpi_word, NULL },
	{ "--spill", "DIR", "folder for what a killed program leaves (default: that of FILE)",
	  OPT_TEXT, &spill, NULL },
	{ "--no-elastic", NULL, "keep counts and arguments that change as they are", OPT_FLAG,
	  &plain, NULL },
	{ "--lossy", "WHAT", "do not keep WHAT exactly: counts (of loops), params[:N]", OPT_TEXT,
	  &lossy, NULL },
	{ "--memory", "SIZE", "memory of a rank for what is recorded: 64M, 1G (default: 256M)",
	  OPT_TEXT, &memory, NULL },
	{ "--callsite", "DEPTH",
	  "keep where calls are made: DEPTH frames of the stack (default: 16)", OPT_MAYBE, &depth,
	  &sites },
	{ "--callsite-ignore", "LIST", "but not frames in MODULE or MODULE:FROM-TO", OPT_TEXT,
	  &ignore, NULL },
	{ "--only", "WHAT", "mpi (default), or order: how calls came out, for rondo replay",
	  OPT_TEXT, &only, NULL },
	{ "--order-codec", "CODEC", "how that is written: model (default), clock, raw, zstd",
	  OPT_TEXT, &order_codec, NULL },
	{ "--values", "WHICH",
	  "with --only=order: clock results to record: none, mpi (default), all", OPT_MAYBE_TEXT,
	  &values, &has_values },
	{ "--callsite-slack", "N", "calls from stacks that differ in N frames are the same calls",
	  OPT_NUMBER, &slack, &has_slack },
};

static const struct usage usage = {
	"trace",
	"[-o FILE] [--time=HOW] [--call LIST] [--rank LIST] [--mpi=WHICH]\n"
	"                   [--spill DIR] [--memory SIZE] [--no-elastic | --lossy=WHAT]\n"
	"                   [--callsite[=DEPTH]] [--callsite-ignore LIST] [--callsite-slack=N]\n"
	"                   [--only=WHAT] [--order-codec=CODEC] [--values[=WHICH]]\n"
	"                   PROGRAM [ARGUMENT]...",
	"Runs a program and records the MPI calls of all its ranks in one file. PROGRAM may\n"
	"be a launcher, or be started by one: mpirun -n 4 rondo trace ./app",
	"rondo trace -o run.rondo mpirun -n 4 ./app",
	opts,
	sizeof(opts) / sizeof(*opts),
};

static int no_memory(void)
{
	return fail(EXIT_SELF, "out of memory");
}

/* --- options ------------------------------------------------------------------------------- */

static bool is_word(const char *value, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(value, *words) == 0)
			return true;
	return false;
}

/* Numbers and ranges of them, with commas between: 0,4-7. */
static bool is_rank_list(const char *s)
{
	static const char digits[] = "0123456789";

	for (;; s++) {
		size_t n = strspn(s, digits);

		s += n;
		if (n && *s == '-') {
			n = strspn(s + 1, digits);
			s += n + 1;
		}
		if (n == 0 || *s != ',')
			return n && !*s;
	}
}

/* Names, which may have * and ? in them and - in front, with commas between. */
static bool is_call_list(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_*?";

	for (;; s++) {
		size_t n;

		s += *s == '-';
		n = strspn(s, letters);
		s += n;
		if (n == 0 || *s != ',')
			return n && !*s;
	}
}

/* A pattern that no function has the name of; in `piece`, without the - in front. */
static bool is_foreign(const char *s, char piece[256])
{
	for (;; s++) {
		size_t n;
		bool found = false;

		s += *s == '-';
		n = strcspn(s, ",");
		snprintf(piece, 256, "%.*s", (int)n, s);
		for (uint32_t i = 0; i < rn_mpi_vocab.funcs && !found; i++)
			found = rn_begins(rn_mpi_vocab.func[i].name, "MPI") &&
				fnmatch(piece, rn_mpi_vocab.func[i].name, 0) == 0;
		if (!found)
			return true;
		s += n;
		if (!*s)
			return false;
	}
}

#define MEMORY_LEAST ((uint64_t)1 << 20)

/* A number of bytes, or with K, M or G behind it of so many times 1024. */
static bool is_size(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long n = strtoull(s, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	*bytes = (uint64_t)n << shift;
	return *s >= '0' && *s <= '9' && n <= UINT64_MAX >> (shift + 1) && (unit ? !end[1] : !*end);
}

/* MODULE or MODULE:FROM-TO, hexadecimal, with commas between. */
static bool is_ignore_list(const char *s)
{
	static const char hex[] = "0123456789abcdefABCDEFx";

	for (;; s++) {
		size_t n = strcspn(s, ":,");

		s += n;
		if (n && *s == ':') {
			size_t from = strspn(s + 1, hex), to;

			s += 1 + from;
			to = *s == '-' ? strspn(s + 1, hex) : 0;
			s += to + (to > 0);
			n = from && to;
		}
		if (n == 0 || *s != ',')
			return n && !*s;
	}
}

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
	if (ignore && (strlen(ignore) > 1000 || !is_ignore_list(ignore)))
		return fail(EXIT_USAGE,
			    "trace: --callsite-ignore %s: not a list such as "
			    "libx.so.*,app:0x1000-0x2000",
			    ignore);
	return EXIT_DONE;
}

#define TIME_MAX 255 /* what the tracer has room for */

/* A word, or how exactly the times of single calls are kept. */
static int check_timing(void)
{
	static const char *const words[] = { "summary", "none", NULL };
	struct rn_err err = { 0 };
	struct rn_grain grain;
	struct rn_arena mem;
	int rc;

	if (!timing || is_word(timing, words))
		return EXIT_DONE;
	if (strlen(timing) > TIME_MAX)
		return fail(EXIT_USAGE, "trace: --time: longer than %d letters", TIME_MAX);
	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_grain_parse(&mem, timing, &rn_mpi_vocab, &grain, &err);
	rn_arena_free(&mem);
	if (rc == RN_E_NOMEM)
		return no_memory();
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
	static const char *const words[] = { "mpi", RN_ONLY_ORDER, NULL };
	static const char *const which[] = { RN_VALUES_WORD_NONE, RN_VALUES_WORD_MPI,
					     RN_VALUES_WORD_ALL, NULL };

	if (only && strcmp(only, "io") == 0)
		return fail(EXIT_USAGE, "trace: --only io: not built yet");
	if (only && !is_word(only, words))
		return fail(EXIT_USAGE, "trace: --only %s: neither mpi nor order", only);
	if (has_values && !is_order())
		return fail(EXIT_USAGE, "trace: --values is for --only=order");
	if (!is_word(values, which))
		return fail(EXIT_USAGE,
			    "trace: --values: unknown value '%s' (expected none, mpi or all)",
			    values);
	if (order_codec && !is_order())
		return fail(EXIT_USAGE, "trace: --order-codec is for --only=order");
	if (order_codec && rn_order_codec_named(order_codec) == RN_ORDER_CODECS)
		return fail(EXIT_USAGE,
			    "trace: --order-codec %s: none of model, clock, raw and zstd",
			    order_codec);
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
	static const char *const mpis[] = { "ompi", "mpich", "auto", NULL };
	char piece[256];
	int code = check_timing();

	if (code == EXIT_DONE)
		code = check_lossy();
	if (code == EXIT_DONE)
		code = check_only();
	if (code)
		return code;
	if (mpi_word && !is_word(mpi_word, mpis))
		return fail(EXIT_USAGE, "trace: --mpi %s: none of ompi, mpich and auto", mpi_word);
	if (ranks && !is_rank_list(ranks))
		return fail(EXIT_USAGE, "trace: --rank %s: not a list such as 0,4-7", ranks);
	if (calls && !is_call_list(calls))
		return fail(EXIT_USAGE, "trace: --call %s: not a list such as MPI_I*,-MPI_Test*",
			    calls);
	if (calls && is_foreign(calls, piece))
		return fail(EXIT_USAGE, "trace: --call %s: no function of MPI is called so", piece);
	if (memory && !is_size(memory, &memory_bytes))
		return fail(EXIT_USAGE, "trace: --memory %s: not a size such as 64M or 1G", memory);
	if (memory && memory_bytes < MEMORY_LEAST)
		return fail(EXIT_USAGE, "trace: --memory %s: less than 1M", memory);
	return check_sites();
}

/* An option that is not given leaves what an outer `rondo trace` has set. */
static int set_variables(void)
{
	static char spill_path[PATH_MAX], memory_text[24], frames[16], differ[16];

	const struct {
		const char *name, *value;
	} set[] = {
		{ "RONDO_TIME", timing },
		{ "RONDO_CALL", calls },
		{ "RONDO_RANK", ranks },
		{ "RONDO_SPILL", spill ? spill_path : NULL },
		{ "RONDO_ELASTIC", plain ? "no" : NULL },
		{ "RONDO_LOSSY", lossy },
		{ "RONDO_MEMORY", memory ? memory_text : NULL },
		{ "RONDO_CALLSITE", sites ? frames : NULL },
		{ "RONDO_CALLSITE_IGNORE", ignore },
		{ "RONDO_ONLY", only },
		{ "RONDO_ORDER_CODEC", order_codec },
		{ "RONDO_VALUES", has_values ? values : NULL },
		{ "RONDO_CALLSITE_SLACK", has_slack ? differ : NULL },
		{ "RONDO_MPI", rn_mpi_of_word(mpi_word) ? mpi_word : NULL },
	};

	snprintf(memory_text, sizeof(memory_text), "%" PRIu64, memory_bytes);
	if (spill && !realpath(spill, spill_path))
		return fail(EXIT_SELF, "--spill %s: %s", spill, strerror(errno));
	if (mpi_word)
		unsetenv("RONDO_MPI");
	snprintf(frames, sizeof(frames), "%" PRIu64, depth);
	snprintf(differ, sizeof(differ), "%" PRIu64, slack);

	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++)
		if (set[i].value && setenv(set[i].name, set[i].value, 1) < 0)
			return no_memory();
	return EXIT_DONE;
}

/* --- where the trace goes ------------------------------------------------------------------ */

static char folder[PATH_MAX];

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

/* An empty file is as good as a trace: somebody has made sure of the name. */
static int check_is_trace(const char *path)
{
	struct rn_buf head = { 0 };
	struct rn_err err;
	uint64_t size;
	int fd = rn_io_open(path, &size, &err), rc = fd;

	if (fd >= 0) {
		rc = rn_io_read_part(fd, path, RN_CONTAINER_HEAD, &head, &err);
		if (rc >= 0 && size)
			rc = rn_container_probe(head.data, head.len, size, &err);
		rn_buf_free(&head);
		close(fd);
	}
	return rc >= 0 ? EXIT_DONE
		       : fail(EXIT_SELF, "%s is there already, and not replaced: %s", path,
			      err.text);
}

/* The tracer replaces nothing but a trace: a slip of -o must not cost a program or its input. */
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

/* RONDO_CWD and RONDO_OUTPUT; and whether the tracer will be able to write there. */
static int set_output(void)
{
	const char *given = output ? output : getenv("RONDO_OUTPUT");
	char cwd[PATH_MAX / 2], path[PATH_MAX];
	int n;

	if (!getcwd(cwd, sizeof(cwd)))
		return fail(EXIT_SELF, "the current folder: %s", strerror(errno));
	while (given && rn_begins(given, "./"))
		given += 2;
	n = snprintf(path, sizeof(path), "%s/%s", given && *given == '/' ? "" : cwd,
		     given ? given + (*given == '/') : "");
	if (n < 0 || n >= PATH_MAX)
		return fail(EXIT_SELF, "-o: %s", strerror(ENAMETOOLONG));
	if (setenv("RONDO_CWD", cwd, 0) < 0 || (given && setenv("RONDO_OUTPUT", path, 1) < 0))
		return no_memory();
	n = (int)(rn_base_name(path) - path);
	snprintf(folder, sizeof(folder), "%.*s", n > 1 ? n - 1 : n, path);
	if (!is_folder(folder) || access(folder, W_OK | X_OK) < 0)
		return folder_error();
	return given ? check_output(path) : EXIT_DONE;
}

/* --- behind a launcher --------------------------------------------------------------------- */

/* mpirun -n 4 rondo trace ./app */
static int trace_rank(const struct target *t, char **command)
{
	int code = inject_for_rank(t);

	return code ? code : inject_become(t, command);
}

/* --- in front of one ----------------------------------------------------------------------- */

/* What stub and tracer told. */
struct told {
	bool finished, failed;         /* a trace or its parts were written; something was not */
	bool gone;                     /* the file is, and with it what was told */
	bool ranked;                   /* a launcher started a process */
	uint64_t late, late_ranks;     /* calls that came when the trace was written */
	uint64_t kept;                 /* of these, in the parts */
	char spool[PATH_MAX];          /* where parts are while it runs */
	uint64_t run;                  /* and whose */
	char traced[PATH_MAX];         /* the trace */
	char parts[PATH_MAX];          /* why there is no trace, but parts */
	char unmerged[PATH_MAX];       /* the same, and it could not be written */
	char unspilled[PATH_MAX];      /* why not all is in the parts */
	char launcher[PATH_MAX];       /* name of a launcher that was started */
	char rank[PATH_MAX];           /* a program that it started and that was given no tracer */
	char started[PATH_MAX];        /* a program that was given a tracer */
	char untraced[PATH_MAX + 256]; /* a program that was not, and why */
	pid_t background;              /* a process that runs and is not known to call MPI, or 0 */
	bool runs;                     /* a process that is traced still runs */
};

/* In the folder of the trace, because that is where the processes of other nodes can write. Locked
 * until we end: what the program leaves is ours until then. */
static int make_status(char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/.rondo-status.XXXXXX", folder), fd;

	if (n < 0 || n >= PATH_MAX)
		return fail(EXIT_SELF, "%s: %s", folder, strerror(ENAMETOOLONG));
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return folder_error();
	flock(fd, LOCK_EX);
	return setenv("RONDO_STATUS", path, 1) < 0 || setenv("RONDO_RANK_SEEN", "0", 1) < 0
		       ? no_memory()
		       : EXIT_DONE;
}

static void copy_rest(const char *line, const char *word, char *to, size_t cap)
{
	if (rn_begins(line, word) && !*to)
		snprintf(to, cap, "%s", line + strlen(word));
}

/* late KEPT LOST */
static void count_late(const char *line, struct told *told)
{
	char *end;

	if (!rn_begins(line, "late "))
		return;
	told->kept += strtoull(line + strlen("late "), &end, 10);
	told->late += strtoull(end, NULL, 10);
	told->late_ranks++;
}

/* spool RUN FOLDER */
static void note_spool(const char *line, struct told *told)
{
	char *end;

	if (!rn_begins(line, "spool ") || *told->spool)
		return;
	told->run = strtoull(line + strlen("spool "), &end, 16);
	snprintf(told->spool, sizeof(told->spool), "%s", end + (*end == ' '));
}

static void read_status(const char *path, struct told *told)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;

	*told = (struct told){ .gone = !f };
	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		told->finished |= rn_begins(line, "traced ") || rn_begins(line, "parts ");
		told->failed |= rn_begins(line, "failed ");
		told->ranked |= rn_begins(line, "rank ") || rn_begins(line, "started ");
		count_late(line, told);
		note_spool(line, told);
		copy_rest(line, "traced ", told->traced, sizeof(told->traced));
		copy_rest(line, "unmerged ", told->unmerged, sizeof(told->unmerged));
		copy_rest(line, "unspilled ", told->unspilled, sizeof(told->unspilled));
		copy_rest(line, "parts ", told->parts, sizeof(told->parts));
		copy_rest(line, "launcher ", told->launcher, sizeof(told->launcher));
		copy_rest(line, "rank ", told->rank, sizeof(told->rank));
		copy_rest(line, "started ", told->started, sizeof(told->started));
		copy_rest(line, "untraced ", told->untraced, sizeof(told->untraced));
	}
	free(line);
	if (f)
		fclose(f);
}

/* A process that the command started and that has not ended; 0: there is none. */
static pid_t find_background(void)
{
	char entry[PATH_MAX + 16];

	snprintf(entry, sizeof(entry), "RONDO_STATUS=%s", getenv("RONDO_STATUS"));
	return background_process(entry);
}

static bool reported_nothing(const struct told *told)
{
	return !*told->spool && !*told->untraced && !told->finished && !told->failed && !told->gone;
}

/* There are parts, and no process has reported what became of them. */
static bool has_open_parts(const struct told *told)
{
	return *told->spool && !*told->traced && !*told->parts && !*told->unmerged;
}

/* Processes in the background may still report something. Waits a moment for them, and reads the
 * status file again after each wait. */
static void read_reports(const char *path, struct told *told)
{
	read_status(path, told);
	if (reported_nothing(told)) {
		pid_t pid = find_background();

		read_status(path, told);
		told->background = pid;
	}
	if (has_open_parts(told)) {
		bool runs = parts_settle(told->spool, told->run);

		read_status(path, told);
		told->runs = runs;
	}
}

/* A program was started with the tracer, which reported nothing. A killed program also reports
 * nothing. */
static int made_no_call(const struct told *told, int code)
{
	return fail(EXIT_DONE, "%s made no MPI call%s; nothing was traced%s", told->started,
		    code ? ", or was killed before MPI_Init" : "",
		    rn_is_interpreter(told->started) && inject_forced() == RN_MPI_NONE
			    ? " (if it uses another MPI than its launcher: --mpi=)"
			    : "");
}

/* Parts into a trace, which the line that is said of it, beginning with `what`, calls `name`. */
static int recover_to(const char *path, const char *name, const struct told *told, const char *what)
{
	char *line = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&line, &n);
	int code;

	if (!out)
		return no_memory();
	parts_settle(told->spool, told->run);
	code = parts_recover(told->spool, told->run, path, out);
	fclose(out);
	if (n && *told->unspilled)
		fprintf(stderr, "rondo: %s(%s) %s%s", what, told->unspilled, name,
			line + strlen(path));
	else if (n)
		fprintf(stderr, "rondo: %s%s%s", what, name, line + strlen(path));
	free(line);
	return code;
}

/* The program was killed, or could not put its trace together. */
static int put_together(const struct told *told, const char *trace)
{
	char what[PATH_MAX + 8], parts[RN_TEXT_PATH];

	rn_text_path(told->spool, parts, sizeof(parts));
	if (*told->unmerged && *told->unspilled)
		return fail(EXIT_SELF,
			    "%s; some of what the ranks did is kept (%s); put together by: rondo "
			    "recover %s",
			    told->unmerged, told->unspilled, parts);
	if (*told->unmerged)
		return fail(EXIT_SELF,
			    "%s; what every rank did is kept; put together by: rondo recover %s",
			    told->unmerged, parts);
	snprintf(what, sizeof(what), "%s; ",
		 *told->parts ? told->parts : "the program ended before its trace was written");
	return recover_to(trace, trace, told, what);
}

/* The trace is there, and is made anew with the calls that came after it. */
static int add_late(const struct told *told)
{
	char path[PATH_MAX + 8], what[64];
	int code;

	snprintf(path, sizeof(path), "%s.late", told->traced);
	snprintf(what, sizeof(what), "with %" PRIu64 " call%s behind MPI_Finalize: ", told->kept,
		 rn_plural(told->kept));
	code = recover_to(path, told->traced, told, what);
	if (code == EXIT_DONE && rename(path, told->traced) < 0)
		return fail(EXIT_SELF, "%s: %s", told->traced, strerror(errno));
	return code;
}

/* The command has ended, but traced processes are still running. */
static int still_traced(const struct told *told)
{
	char parts[RN_TEXT_PATH];

	return fail(EXIT_DONE,
		    "%s is still running in the background and writes its trace when it ends; see: "
		    "rondo recover --live %s",
		    told->started, rn_text_path(told->spool, parts, sizeof(parts)));
}

/* What the processes have left. */
static int use_parts(const struct told *told)
{
	const char *given = getenv("RONDO_OUTPUT");
	char trace[2 * PATH_MAX];

	if (*told->traced && told->kept)
		return add_late(told);
	if (*told->traced) { /* a launcher has killed ranks that were about to end */
		parts_drop(told->spool, told->run);
		return EXIT_DONE;
	}
	if (told->runs && has_open_parts(told))
		return still_traced(told);
	if (given)
		snprintf(trace, sizeof(trace), "%s", given);
	else /* the tracer named the journal directory NAME.rondo.part */
		snprintf(trace, sizeof(trace), "%s/%.*s", getenv("RONDO_CWD"),
			 (int)(strlen(rn_base_name(told->spool)) - strlen(".part")),
			 rn_base_name(told->spool));
	return put_together(told, trace);
}

/* Returns true, and prints the reason, if a word of the command names an untraceable program. */
static bool says_obstacle(const char *word)
{
	const char *why;
	struct target t;

	if (!strchr(word, '/') || target_open(&t, word, NULL) < 0)
		return false;
	why = target_obstacle(&t);
	target_free(&t);
	if (why)
		fail(EXIT_SELF, "nothing was traced: %s %s", word, why);
	return why != NULL;
}

static bool is_mpi_program(const char *word)
{
	struct target t;
	bool is;

	if (!strchr(word, '/') || target_open(&t, word, NULL) < 0)
		return false;
	is = elf_mpi(&t.elf) != RN_MPI_NONE;
	target_free(&t);
	return is;
}

/* Returns true, and prints the reason, if a word of the command shows why nothing was traced. */
static bool explains(const struct target *t, const char *word, int code)
{
	bool sets = strstr(word, "LD_PRELOAD"), mpi = is_mpi_program(word);

	if (sets)
		fail(EXIT_SELF, "nothing was traced: the command sets LD_PRELOAD, which rondo "
				"needs; try rondo trace behind the launcher");
	else if (mpi && code)
		fail(EXIT_SELF,
		     "nothing was traced: %s failed with exit code %d, and rondo did not see %s "
		     "start",
		     t->name, code, word);
	else if (mpi)
		fail(EXIT_SELF,
		     "nothing was traced: %s found no LD_PRELOAD, which rondo needs, in its "
		     "environment; try rondo trace right before it",
		     word);
	return sets || mpi;
}

/* The end of the words that may name a program that ran: all of them if the command runs what its
 * arguments say, or else only the first. */
static char **end_of_programs(const struct target *t, char **command, const struct told *told)
{
	bool all = target_is_launcher(t) ? !*told->rank || rn_is_runner(told->rank)
					 : rn_is_runner(t->path);
	char **end = command + 1;

	while (all && *end)
		end++;
	return end;
}

/* A launcher failed before it started a program, or the program that ran the launcher failed. */
static int launcher_failed(const struct target *t, const struct told *told, int code)
{
	if (target_is_launcher(t))
		return fail(EXIT_SELF,
			    "the launcher %s failed with exit code %d and started no program that "
			    "rondo could see; nothing was traced",
			    t->name, code);
	return fail(EXIT_SELF,
		    "the launcher %s started no program that rondo could see, and %s failed with "
		    "exit code %d; nothing was traced",
		    rn_base_name(told->launcher), t->name, code);
}

/* Returns true, and prints the reason, if it is certain why the command could not be traced. */
static bool could_not_be_traced(const struct target *t, char **command, const struct told *told,
				int code)
{
	char **end = end_of_programs(t, command, told);

	for (char **word = command; word < end; word++)
		if (says_obstacle(*word))
			return true;
	if (!code || told->ranked || !(target_is_launcher(t) || *told->launcher))
		return false;
	launcher_failed(t, told, code);
	return true;
}

static int no_program_traced(const struct target *t, char **command, const struct told *told,
			     int code)
{
	char **end = end_of_programs(t, command, told);
	bool runs_others = target_is_launcher(t) || rn_is_runner(t->runs);

	for (char **word = command; word < end; word++)
		if (explains(t, *word, code))
			return EXIT_SELF;
	return fail(EXIT_DONE, "%s%s made %s MPI call; nothing was traced%s",
		    runs_others ? "no program started by " : "", t->name, runs_others ? "an" : "no",
		    code && !*told->launcher && inject_forced() == RN_MPI_NONE
			    ? " (one that loads MPI while it runs needs --mpi=ompi or --mpi=mpich)"
			    : "");
}

/* No tracer has reported a trace. */
static int nothing_traced(const struct target *t, char **command, const struct told *told, int code)
{
	if (!*told->started && could_not_be_traced(t, command, told, code))
		return EXIT_SELF;
	if (told->background)
		return fail(EXIT_DONE,
			    "%s has made no MPI call so far; process %d is still running in the "
			    "background%s",
			    t->name, (int)told->background,
			    *told->started ? "" : " and writes a trace if it calls MPI");
	return *told->started ? made_no_call(told, code)
			      : no_program_traced(t, command, told, code);
}

/* Says what is to be said after the run, and whether there was a reason for exit code 70. */
static int conclude(const struct target *t, char **command, const struct told *told, int code)
{
	int own = EXIT_DONE;

	if (told->late)
		fail(EXIT_DONE,
		     "%" PRIu64 " call%s on %" PRIu64
		     " rank%s came when the trace had been written (after MPI_Finalize), and "
		     "cannot be added",
		     told->late, rn_plural(told->late), told->late_ranks,
		     rn_plural(told->late_ranks));
	if (*told->untraced)
		own = fail(EXIT_SELF, "not traced: %s", told->untraced);
	if (*told->spool && access(told->spool, F_OK) == 0) {
		int used = use_parts(told);

		return own ? own : used;
	}
	if (own)
		return own;
	if (told->finished || told->failed ||
	    told->gone) /* the tracer has said what there is to say */
		return told->finished && !told->failed ? EXIT_DONE : EXIT_SELF;
	if (*told->spool)
		return fail(EXIT_SELF, "%s, where it was kept what the program did, is gone",
			    told->spool);
	return nothing_traced(t, command, told, code);
}

/* Runs the command. Without a status file of our own, there is an outer rondo that concludes. */
static int run_and_conclude(const struct target *t, char **command, const char *status)
{
	struct told told;
	int code = EXIT_DONE, own = inject_run(t, command, &code);

	if (own || !*status)
		return own ? own : code;
	read_reports(status, &told);
	own = conclude(t, command, &told, code);
	return code ? code : own;
}

/* rondo trace mpirun -n 4 ./app */
static int trace_all(const struct target *t, char **command)
{
	char status[PATH_MAX] = "";
	int code = inject_for_all(t, command);

	if (!code && !getenv("RONDO_STATUS"))
		code = make_status(status);
	if (!code)
		code = run_and_conclude(t, command, status);
	if (*status)
		unlink(status);
	return code;
}

int cmd_trace(int argc, char **argv)
{
	struct rn_err err = { 0 };
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
	if (target_open(&t, *command, &err) < 0)
		return fail(EXIT_SELF, "%s", err.text);
	code = target_check(&t, inject_forced());
	if (!code && rn_is_rank(environ) && !target_is_launcher(&t))
		code = trace_rank(&t, command);
	else if (!code)
		code = trace_all(&t, command);
	target_free(&t);
	return code;
}
