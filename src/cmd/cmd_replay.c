/*
 * cmd_replay.c - `rondo replay FILE PROGRAM...`: runs a program again, in the recorded order.
 *
 * What each rank has to do is written into a folder first (cmd/plans.h), where the tracer in the
 * program finds it (src/intercept/replay.h). The program is started as `rondo trace` does it. We
 * wait for it in any case, even behind a launcher: somebody has to remove the folder. What the
 * ranks tell at their end is in a status file there.
 *
 * The exit code is the program's, but 71 when it did something else than was recorded, and 70
 * instead of 0 when nothing was replayed.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/again.h"
#include "cmd/cmd.h"
#include "cmd/inject.h"
#include "cmd/plans.h"
#include "cmd/target.h"
#include "read/trace.h"

#define EXIT_DIVERGED 71

static const char *on_divergence, *mpi_word;

static const struct opt opts[] = {
	{ "--on-divergence", "WHAT", "stop (default) or continue, without the record", OPT_TEXT,
	  &on_divergence, NULL },
	{ "--mpi", "WHICH", "ompi, mpich or auto (default)", OPT_TEXT, &mpi_word, NULL },
};

static const struct usage usage = {
	"replay",
	"[--on-divergence=WHAT] [--mpi=WHICH] FILE PROGRAM [ARGUMENT]...",
	"Runs a program again so that its messages come in the recorded order. PROGRAM may be\n"
	"a launcher, or be started by one, also under a debugger:\n"
	"mpirun -n 4 rondo replay FILE gdb --args ./app",
	"rondo trace --only=order -o run.rondo mpirun -n 4 ./app\n"
	"  rondo replay run.rondo mpirun -n 4 ./app",
	opts,
	sizeof(opts) / sizeof(*opts),
};

static int no_memory(void)
{
	return fail(EXIT_SELF, "out of memory");
}

static bool goes_on(void)
{
	return on_divergence && strcmp(on_divergence, "continue") == 0;
}

static int check_options(void)
{
	if (on_divergence && strcmp(on_divergence, "stop") && strcmp(on_divergence, "continue"))
		return fail(EXIT_USAGE, "replay: --on-divergence %s: neither stop nor continue",
			    on_divergence);
	if (mpi_word && !rn_mpi_of_word(mpi_word) && strcmp(mpi_word, "auto"))
		return fail(EXIT_USAGE, "replay: --mpi %s: none of ompi, mpich and auto", mpi_word);
	return EXIT_DONE;
}

/* --- the folder ---------------------------------------------------------------------------- */

/* Beside the trace, because the processes of other nodes find that; else where files for a while
 * are. */
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

static int set_variables(const char *folder, const char *status)
{
	if (mpi_word)
		unsetenv("RONDO_MPI");
	if (setenv("RONDO_REPLAY", folder, 1) < 0 || setenv("RONDO_STATUS", status, 1) < 0 ||
	    (goes_on() && setenv("RONDO_DIVERGES_ON", "1", 1) < 0) ||
	    (rn_mpi_of_word(mpi_word) && setenv("RONDO_MPI", mpi_word, 1) < 0))
		return no_memory();
	return EXIT_DONE;
}

/* --- what became of it --------------------------------------------------------------------- */

struct told {
	char diverged[1024], untraced[PATH_MAX];
};

static void read_status(const char *path, struct told *told)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (rn_begins(line, "diverged ") && !*told->diverged)
			snprintf(told->diverged, sizeof(told->diverged), "%s",
				 line + strlen("diverged "));
		if (rn_begins(line, "untraced "))
			snprintf(told->untraced, sizeof(told->untraced), "%s",
				 line + strlen("untraced "));
	}
	free(line);
	if (f)
		fclose(f);
}

static void say_progress(const struct plans_progress *p)
{
	char tests[96] = "", left[96] = "";

	if (p->more || p->fewer)
		snprintf(tests, sizeof(tests),
			 "; failed tests: %" PRIu64 " more, %" PRIu64 " fewer than recorded",
			 p->more, p->fewer);
	if (p->left)
		snprintf(left, sizeof(left), "; %" PRIu64 " ranks did not come to the record's end",
			 p->left);
	fail(EXIT_DONE,
	     "%" PRIu64 " messages came, and %" PRIu64 " calls came out, as recorded%s%s",
	     p->messages, p->calls, tests, left);
}

/* One line; but none of each of many ranks that are alone with their rondo. */
static int conclude(const struct rn_trace *trace, const char *folder, const struct told *told,
		    bool alone, int code)
{
	struct plans_progress p = { 0 };

	if (*told->untraced)
		return fail(EXIT_SELF, "nothing is replayed: %s", told->untraced);
	if (*told->diverged)
		return goes_on() ? EXIT_DIVERGED
				 : fail(EXIT_DIVERGED,
					"the program does not do what was recorded: %s",
					told->diverged);
	plans_progress(folder, trace->ranks, &p);
	if (alone)
		return code;
	if (p.calls + p.messages == 0 && p.left)
		return code ? code
			    : fail(EXIT_SELF, "nothing was replayed: no MPI program was started, "
					      "or it did nothing of what was recorded");
	say_progress(&p);
	return code;
}

/* --- the run ------------------------------------------------------------------------------- */

static int run(const struct rn_trace *trace, const char *folder, const struct target *t,
	       char **command, const char *status)
{
	bool alone = rn_is_rank(environ) && !target_is_launcher(t);
	struct told told = { 0 };
	int code = EXIT_DONE, own = alone ? inject_for_rank(t) : inject_for_all(t, command);

	if (!own)
		own = inject_run(t, command, &code);
	if (own)
		return own;
	read_status(status, &told);
	return conclude(trace, folder, &told, alone, code);
}

static int replay_in(const struct rn_trace *trace, const char *folder, const struct target *t,
		     char **command)
{
	char status[PATH_MAX + 16];
	FILE *f;
	int code;

	snprintf(status, sizeof(status), "%s/status", folder);
	f = fopen(status, "we");
	if (!f)
		return fail(EXIT_SELF, "%s: %s", status, strerror(errno));
	fclose(f);
	code = plans_write(trace, folder, !again_compare(trace, t, command));
	if (!code)
		code = set_variables(folder, status);
	return code ? code : run(trace, folder, t, command, status);
}

static int replay(const char *file, const struct target *t, char **command)
{
	struct rn_trace trace;
	char folder[PATH_MAX];
	int code = open_trace(file, &trace);

	if (code)
		return code;
	code = make_folder(file, folder);
	if (!code) {
		code = replay_in(&trace, folder, t, command);
		plans_remove(folder, trace.ranks);
	}
	rn_trace_close(&trace);
	return code;
}

int cmd_replay(int argc, char **argv)
{
	struct rn_err err = { 0 };
	struct target t;
	char **command;
	int code = parse_command(&usage, argc, argv, &command);

	if (code || !command)
		return code;
	if (!command[0] || !command[1])
		return fail(EXIT_USAGE, "replay: which %s? (see: rondo replay --help)",
			    command[0] ? "program" : "trace, and which program");
	code = check_options();
	if (code)
		return code;
	if (target_open(&t, command[1], &err) < 0)
		return fail(EXIT_SELF, "%s", err.text);
	code = target_check(&t, rn_mpi_of_word(mpi_word));
	if (!code)
		code = replay(command[0], &t, command + 1);
	target_free(&t);
	return code;
}
