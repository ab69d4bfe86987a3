/*
 * cmd_replay.c - `rondo replay FILE PROGRAM...`: runs a program again in the recorded order.
 *
 * The replay plan of each rank is first written into a directory (analysis/plan_writer.h), where
 * the tracer in the program finds it (src/replay/replay_cursor.h). The program is started as by
 * `rondo trace`. rondo always waits for it, even if a launcher has started rondo, because it has to
 * remove the directory. The reports of the ranks are in a status file in the directory.
 *
 * The exit code is that of the program; 71 if it diverged from the recording or stalled (stall.h);
 * 70 instead of 0 if nothing was replayed.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/plan_writer.h"
#include "base/err.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "base/tracer_env.h"
#include "cmd/cmd.h"
#include "cmd/stall.h"
#include "encode/call_words.h"
#include "launch/preload_env.h"
#include "launch/reports.h"
#include "launch/run_dir.h"
#include "launch/target_program.h"
#include "order/replay_control.h"
#include "read/trace.h"

#define EXIT_DIVERGED 71
#define STALL_SECONDS 60

static const char *on_divergence, *mpi_word;
static uint64_t stall_seconds = STALL_SECONDS;
static bool has_stall;

static const struct opt opts[] = {
	{ "--on-divergence", "WHAT", "stop (default) or continue, without the record", OPT_TEXT,
	  .var = &on_divergence, .words = "stop continue", .env = RN_ENV_DIVERGENCE },
	{ "--stall", "SECONDS", "end a replay in which all ranks wait (default: 60; 0: never)",
	  OPT_NUMBER, .var = &stall_seconds, .given = &has_stall },
	{ "--mpi", "WHICH", "ompi, mpich or auto (default)", OPT_TEXT, .var = &mpi_word,
	  .words = "ompi mpich auto", .env = RN_ENV_MPI },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"replay",
	"FILE PROGRAM [ARGUMENT]...",
	"Runs a program again so that its messages come in the recorded order. PROGRAM may be\n"
	"a launcher, or be started by one, also under a debugger:\n"
	"mpirun -n 4 rondo replay FILE gdb --args ./app",
	"rondo trace --only=order -o run.rondo mpirun -n 4 ./app\n"
	"  rondo replay run.rondo mpirun -n 4 ./app",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* --- the directory ------------------------------------------------------------------------- */

/* Creates the directory next to the trace, where processes on other nodes find it. If that fails,
 * creates it in the directory for temporary files. */
static int make_folder(const char *file, char folder[PATH_MAX])
{
	const char *tmp = getenv("TMPDIR");
	char real[PATH_MAX];
	int n = -1;

	if (realpath(file, real))
		n = snprintf(folder, PATH_MAX, "%s.replay-XXXXXX", real);
	if (n > 0 && n < PATH_MAX && mkdtemp(folder))
		return EXIT_DONE;
	snprintf(folder, PATH_MAX, "%s/rondo-replay-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? EXIT_DONE : fail(EXIT_SELF, "%s: %s", folder, strerror(errno));
}

static int set_variables(const char *folder, const char *status, bool alone)
{
	if (setenv(RN_ENV_REPLAY, folder, 1) < 0 || setenv(RN_ENV_STATUS, status, 1) < 0 ||
	    (alone && setenv(RN_ENV_ALONE, "1", 1) < 0))
		return fail_memory(NULL);
	return EXIT_DONE;
}

/* --- the result ---------------------------------------------------------------------------- */

/* State of a run. The files in the directory may be removed before the run ends (replay_cursor.h),
 * so all of them are opened before it starts. */
struct run {
	const struct rn_trace *trace;
	struct run_dir dir;
	bool alone; /* each rank has its own rondo process, and this is one of them */
	struct rn_job *job;
	struct rn_plans_maps *plans;
	bool stalled;
};

static void say_progress(const struct rn_plans_progress *p)
{
	const char *between = "; not enforced: ";
	struct rn_buf b = { 0 };

	rn_putf(&b, "%" PRIu64 " message%s came, and %" PRIu64 " call%s came out, as recorded",
		p->messages, rn_plural(p->messages), p->calls, rn_plural(p->calls));
	if (p->more || p->fewer)
		rn_putf(&b, "; failed tests: %" PRIu64 " more, %" PRIu64 " fewer than recorded",
			p->more, p->fewer);
	if (p->again)
		rn_putf(&b, "; %" PRIu64 " test%s of generalised requests failed that did not",
			p->again, rn_plural(p->again));
	if (p->left)
		rn_putf(&b, "; %" PRIu64 " rank%s did not come to the record's end", p->left,
			rn_plural(p->left));
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (p->unenforced[i]) {
			rn_putf(&b, "%s%" PRIu64 " %s", between, p->unenforced[i],
				rn_mpi_vocab.func[i].name);
			between = ", ";
		}
	rn_buf_byte(&b, 0);
	print_notes(&b);
}

/* Prints the divergence, unless the rank has printed it. Returns EXIT_DIVERGED. */
static int diverged(const struct rn_job *job)
{
	char text[sizeof(job->text) + 1];

	if (!rn_job_told(job, text, sizeof(text)))
		return EXIT_DIVERGED;
	return fail(EXIT_DIVERGED, "the program does not do what was recorded: %s", text);
}

/* Prints one line about the result, or none if each rank has its own rondo process. Divergences are
 * always printed. Returns the exit code. */
static int conclude_traced(const struct run *r, int code)
{
	struct rn_plans_progress p;

	if (rn_job_first(r->job) >= 0)
		return diverged(r->job);
	if (r->stalled)
		return EXIT_DIVERGED;
	if (r->alone)
		return code;
	if (!rn_plans_progress(r->plans, &p))
		return fail_memory(NULL);
	if (p.calls + p.messages == 0 && p.left)
		code = code ? code
			    : fail(EXIT_SELF, "nothing was replayed: no MPI program was started, "
					      "or it did nothing of what was recorded");
	else
		say_progress(&p);
	free(p.unenforced);
	return code;
}

/* Prints the result of the run. A process may have reported that the tracer cannot be loaded.
 * Returns the exit code. */
static int conclude(const struct run *r, int code)
{
	struct reports told;

	reports_read(r->dir.status, &told);
	code = *told.untraced ? fail(EXIT_SELF, "nothing is replayed: %s", told.untraced)
			      : conclude_traced(r, code);
	reports_free(&told);
	return code;
}

/* --- the run ------------------------------------------------------------------------------- */

/* If each rank has its own rondo process, a stall ends only the rank of this process. */
static int run_command(struct run *r, const struct target *t, char **command, int *code)
{
	const struct stall_limit limit = { stall_seconds, has_stall };
	struct stall *stall = stall_new(r->job, &limit, r->alone ? rn_rank_of(environ, -1) : -1);
	struct rn_err err;
	int rc = inject_run(t, command, stall ? stall_check : NULL, stall, code, &err);

	r->stalled = stall_end(stall);
	return rc < 0 ? fail_self(&err) : EXIT_DONE;
}

static int run(struct run *r, const struct target *t, char **command)
{
	struct rn_err err;
	int code = EXIT_DONE, own = inject_stub(!r->alone, &err) < 0 ? fail_self(&err) : EXIT_DONE;

	r->job = rn_job_map(r->dir.folder);
	r->plans = rn_plans_map(r->dir.folder, r->trace->ranks);
	if (!r->plans || !r->job)
		return r->plans ? fail(EXIT_SELF, "%s: %s", r->dir.folder, strerror(errno))
				: fail_memory(NULL);
	if (!own)
		own = run_command(r, t, command, &code);
	if (!own)
		own = conclude(r, code);
	rn_plans_unmap(r->plans);
	return own;
}

static int write_plans(const struct run *r)
{
	struct rn_buf notes = { 0 };
	struct rn_err err = { 0 };
	int rc = rn_plans_write(r->trace, r->alone ? rn_rank_of(environ, -1) : -1, r->dir.folder,
				&notes, &err);

	print_notes(&notes);
	if (rc == RN_OK)
		return EXIT_DONE;
	return rc == RN_E_SYS ? fail_self(&err) : fail_err(&err);
}

static int replay_in(struct run *r, const struct target *t, char **command)
{
	int code, error = run_dir_open(&r->dir);

	if (error)
		return fail(EXIT_SELF, "%s: %s", r->dir.path, strerror(error));
	code = write_plans(r);
	if (!code)
		code = set_variables(r->dir.folder, r->dir.path, r->alone);
	if (!code)
		code = run(r, t, command);
	run_dir_remove(&r->dir);
	return code;
}

static int replay(const char *file, const struct rn_trace *trace, const struct target *t,
		  char **command)
{
	struct run r = { .trace = trace, .alone = target_is_rank(t) };
	int code = make_folder(file, r.dir.folder);

	if (!code) {
		code = replay_in(&r, t, command);
		rn_plans_remove(r.dir.folder);
	}
	return code;
}

/* The program is checked before anything is written. A launcher may end the other ranks when one of
 * them returns an error, and their directories would remain. */
static int replay_command(const char *file, const struct rn_trace *trace, char **command)
{
	struct rn_buf notes = { 0 };
	struct target t;
	int code = export_options(&usage);

	if (code)
		return code;
	code = target_open_checked(&t, command, true, &notes) < 0 ? EXIT_SELF : EXIT_DONE;
	print_notes(&notes);
	if (code)
		return code;
	code = replay(file, trace, &t, command);
	target_free(&t);
	return code;
}

int cmd_replay(int argc, char **argv)
{
	struct rn_trace trace;
	char **command;
	int code = parse_command(&usage, argc, argv, &command);

	if (code || !command)
		return code;
	if (!command[0] || !command[1])
		return fail(EXIT_USAGE, "replay: which %s? (see: rondo replay --help)",
			    command[0] ? "program" : "trace, and which program");
	if (!rn_budget_given)
		rn_budget_given = MEMORY_FOR_EVENTS;
	code = open_trace(command[0], &trace);
	if (code)
		return code;
	code = replay_command(command[0], &trace, command + 1);
	rn_trace_close(&trace);
	return code;
}
