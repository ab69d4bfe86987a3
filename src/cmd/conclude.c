/* conclude.c - see conclude.h. */
#include "cmd/conclude.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mpi_detect.h"
#include "base/number_text.h"
#include "base/status_file.h"
#include "base/text.h"
#include "base/tracer_env.h"
#include "cmd/cmd.h"
#include "launch/background.h"
#include "launch/node_once.h"
#include "launch/reports.h"
#include "recover/journal_set.h"
#include "recover/recover.h"

/* After a rank was killed, Open MPI's launcher kills the other ranks one second later, and exits.
 * MPICH's launcher kills them at once, and exits when all have closed their standard error. */
#define CRASH_SETTLE_MS 400
#define CRASH_END_MS    10000

/* --- one run ------------------------------------------------------------------------------- */

/* Whether journals exist, and no process has reported how the run ended. */
static bool is_open(const struct run_reports *r)
{
	return *r->spool && !*r->traced && !*r->parts && !*r->unmerged && !r->failed;
}

/* Stores the path of the trace: the directory of the output, and the name of the journal directory
 * without its suffix. */
static void trace_path(const struct run_reports *r, char path[PATH_MAX])
{
	const char *output = getenv(RN_ENV_OUTPUT), *cwd = getenv(RN_ENV_CWD),
		   *name = rn_base_name(r->spool);
	int n = (int)(strlen(name) - strlen(RN_PART_FOLDER));

	if (output)
		snprintf(path, PATH_MAX, "%.*s%.*s", (int)(rn_base_name(output) - output), output,
			 n, name);
	else
		snprintf(path, PATH_MAX, "%s/%.*s", cwd ? cwd : ".", n, name);
}

/* Makes the trace from the journals, and prints one line that begins with `what`. */
static int recover(struct run_reports *r, struct rn_journal_set_trace *t, const char *what)
{
	struct rn_buf notes = { 0 };
	struct rn_err err = { 0 };
	int rc = rn_journal_set_recover(r->spool, r->run, t, &notes, &err),
	    code = conclude_parts(r->spool, rc, t, &notes, &err);

	if (rc == RN_OK) {
		fail(code, "%s%s%s%s%s", what, *r->unspilled ? "(" : "", r->unspilled,
		     *r->unspilled ? ") " : "", (char *)t->line.data);
		snprintf(r->traced, sizeof(r->traced), "%s", t->path);
	}
	rn_buf_free(&t->line);
	return code;
}

static int say_command(const struct run_reports *r, const char *why)
{
	char parts[RN_TEXT_PATH];

	rn_text_path(r->spool, parts, sizeof(parts));
	if (*r->unspilled)
		return fail(EXIT_SELF,
			    "%s; some of what the ranks did is kept (%s); put together by: rondo "
			    "recover %s",
			    why, r->unspilled, parts);
	return fail(EXIT_SELF, "%s; what every rank did is kept; put together by: rondo recover %s",
		    why, parts);
}

static const char *why_unfinished(const struct run_reports *r)
{
	return *r->parts ? r->parts : "the program ended before its trace was written";
}

/* Makes the trace of a program that was killed, or that could not merge its trace. `e` contains the
 * options; the path is added here. */
static int make_trace(struct run_reports *r, const struct rn_journal_set_trace *e)
{
	struct rn_journal_set_trace t = *e;
	char what[PATH_MAX + 8];
	int code;

	if (*r->unmerged)
		return say_command(r, r->unmerged);
	trace_path(r, t.path);
	snprintf(what, sizeof(what), "%s; ", why_unfinished(r));
	code = recover(r, &t, what);
	return code == EXIT_NO ? say_command(r, why_unfinished(r)) : code;
}

/* Writes the trace again, with the calls that were made after it was written. A node whose ranks
 * made no such call has removed its journal. In that case the trace is not changed. */
static int add_late(struct run_reports *r, const struct rn_journal_set_trace *e)
{
	struct rn_journal_set_trace t = { .how = PLACE_EXACTLY, .whole = true };
	char calls[64] = "calls", what[96], parts[RN_TEXT_PATH];
	int code;

	snprintf(t.path, sizeof(t.path), "%s", r->traced);
	if (!e->whole) /* the number of calls of the other ranks is unknown to a watcher */
		snprintf(calls, sizeof(calls), "%" PRIu64 " call%s", r->kept, rn_plural(r->kept));
	snprintf(what, sizeof(what), "with %s after MPI_Finalize: ", calls);
	code = recover(r, &t, what);
	if (code == EXIT_NO)
		code = fail(EXIT_DONE,
			    "%s after MPI_Finalize cannot be added to %s, because part files of "
			    "other nodes are missing; %s is kept",
			    calls, r->traced, rn_text_path(r->spool, parts, sizeof(parts)));
	return code;
}

/* Reports that the command has ended, but traced processes are still running. */
static int still_traced(const struct run_reports *r, const char *program)
{
	char parts[RN_TEXT_PATH];

	return fail(EXIT_DONE,
		    "%s is still running in the background and writes its trace when it ends; see: "
		    "rondo recover --live %s",
		    program, rn_text_path(r->spool, parts, sizeof(parts)));
}

/* Makes the trace from the journals of the run, or removes them. `late`: they contain calls that
 * were made after MPI_Finalize. A run that has reported a failure has ended without a trace, for a
 * reason that was printed. */
static int use_parts(struct run_reports *r, const struct rn_journal_set_trace *e, bool late)
{
	if (*r->traced && late)
		return add_late(r, e);
	if (!*r->traced && (late || !r->failed))
		return make_trace(r, e);
	/* A launcher killed ranks after the trace was written. */
	rn_journal_set_remove(r->spool, r->run);
	return r->failed ? EXIT_SELF : EXIT_DONE;
}

static int say_no_file(const struct run_reports *r)
{
	return fail(EXIT_SELF,
		    "%s, and there is no trace, because no part file could be written: %s",
		    why_unfinished(r), r->unspilled);
}

static void say_late(const struct run_reports *r)
{
	if (r->late)
		fail(EXIT_DONE,
		     "%" PRIu64 " call%s on %" PRIu64
		     " rank%s came when the trace had been written (after MPI_Finalize), and "
		     "cannot be added",
		     r->late, rn_plural(r->late), r->late_ranks, rn_plural(r->late_ranks));
}

/* --- a command ----------------------------------------------------------------------------- */

/* Concludes one run. `gone`: a tracer could not write its report, and printed it instead. */
static int conclude_run(struct run_reports *r, const struct rn_journal_set_trace *e, bool gone,
			const char *program)
{
	say_late(r);
	if (r->running && is_open(r))
		return still_traced(r, program);
	if (gone && is_open(r))
		return EXIT_SELF;
	if (rn_journal_set_exists(r->spool, r->run))
		return use_parts(r, e, r->kept > 0);
	if (*r->traced || *r->parts || r->failed)
		return r->failed ? EXIT_SELF : EXIT_DONE;
	if (r->unopened)
		return say_no_file(r);
	return fail(EXIT_SELF, "%s was removed during the run; no trace can be made", r->spool);
}

#define NAMED 3 /* maximum number of traces named in the summary */

/* Names the traces if there are several. */
static void say_traces(const struct reports *told)
{
	char names[NAMED * (PATH_MAX + 4)] = "";
	size_t traces = 0, at = 0;

	for (size_t i = 0; i < told->runs; i++)
		if (*told->run[i].traced && traces++ < NAMED)
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       at ? ", " : "", told->run[i].traced);
	if (traces > NAMED)
		fail(EXIT_DONE, "%zu traces: %s and %zu other%s", traces, names, traces - NAMED,
		     rn_plural(traces - NAMED));
	else if (traces > 1)
		fail(EXIT_DONE, "%zu traces: %s", traces, names);
}

static bool reported_nothing(const struct reports *told)
{
	return !told->runs && !*told->untraced && !told->gone;
}

/* Returns a running process that the command started; 0: there is none. */
static pid_t find_background(void)
{
	char entry[PATH_MAX + 16];

	snprintf(entry, sizeof(entry), RN_ENV_STATUS "=%s", getenv(RN_ENV_STATUS));
	return background_process(entry);
}

/* Whether a run was running when the earlier reports were read. Also true for a run that started
 * later. */
static bool was_running(const struct reports *earlier, uint64_t run)
{
	for (size_t i = 0; i < earlier->runs; i++)
		if (earlier->run[i].run == run)
			return earlier->run[i].running;
	return true;
}

/* Waits a short time for the processes of all runs to end, and then reads the reports, so that
 * their last reports are included. */
static void read_final(int status, struct reports *told, pid_t *background)
{
	struct reports earlier;

	reports_read(status, &earlier);
	*background = reported_nothing(&earlier) ? find_background() : 0;
	for (size_t i = 0; i < earlier.runs; i++) {
		struct run_reports *r = &earlier.run[i];

		r->running = rn_journal_set_wait(r->spool, r->run, PARTS_SETTLE_MS);
	}
	reports_read(status, told);
	for (size_t i = 0; i < told->runs; i++)
		told->run[i].running = was_running(&earlier, told->run[i].run);
	reports_free(&earlier);
}

int conclude(const struct target *t, char **command, int status, int code)
{
	struct rn_journal_set_trace e = { .how = PLACE_NEW };
	struct reports told;
	pid_t background;
	int own = EXIT_DONE;

	if (rn_status_read_since(status, &e.since))
		e.how = PLACE_OLDER;
	read_final(status, &told, &background);
	if (*told.untraced)
		own = fail(EXIT_SELF, "not traced: %s", told.untraced);
	for (size_t i = 0; i < told.runs; i++) {
		int used = conclude_run(&told.run[i], &e, told.gone, told.started);

		own = own ? own : used;
	}
	say_traces(&told);
	if (told.gone && !own)
		own = EXIT_SELF;
	else if (reported_nothing(&told))
		own = explain_untraced(t, command, &told, background, code);
	reports_free(&told);
	return own;
}

/* --- a rank -------------------------------------------------------------------------------- */

/* Whether the trace must be made from journals, according to the reports of this rank. The reports
 * of other ranks are not available here. */
static bool is_unfinished(const struct run_reports *r)
{
	return *r->spool && (!r->ended || *r->parts || *r->unmerged || r->kept);
}

static void say_later(const struct run_reports *r)
{
	char parts[RN_TEXT_PATH];

	fail(EXIT_DONE,
	     "%s; the trace is made when all ranks have ended; if it is not: rondo recover %s",
	     why_unfinished(r), rn_text_path(r->spool, parts, sizeof(parts)));
}

/* Closes standard error, because launchers wait until it is closed. The line was printed before. */
static void stop_printing(void)
{
	dup2(STDOUT_FILENO, STDERR_FILENO); /* /dev/null */
}

/* Reports that watchers of a node print once. */
enum { REPORT_LATE = 1, REPORT_NO_FILE, REPORT_UNTRACED };

/* The number of calls of the other ranks is unknown to a watcher. */
static void say_late_rank(const struct run_reports *r)
{
	if (r->late && node_once(rn_hash_u64(r->run ^ REPORT_LATE)))
		fail(EXIT_DONE,
		     "calls came when the trace had been written (after MPI_Finalize), and cannot "
		     "be added");
}

/* Reports that the run was killed and that this node has no journal. */
static void say_no_file_rank(const struct run_reports *r)
{
	if (!*r->traced && !r->failed && node_once(rn_hash_u64(r->run ^ REPORT_NO_FILE)))
		say_no_file(r);
}

static void say_untraced_rank(const char *what, pid_t launcher)
{
	uint64_t key = rn_hash(what, strlen(what)) ^ rn_hash_u64((uint64_t)launcher);

	if (*what && node_once(rn_hash_u64(key ^ REPORT_UNTRACED)))
		fail(EXIT_SELF, "not traced: %s", what);
}

/* Waits for the other ranks, and uses the journals. Returns whether ranks are still running. */
static bool use_claimed(struct run_reports *r, const struct rn_journal_set_trace *e, int claim,
			bool first)
{
	bool runs;

	if (!first)
		stop_printing();
	runs = rn_journal_set_wait(r->spool, r->run, CRASH_SETTLE_MS);
	if (runs) {
		if (!*r->traced && !r->failed)
			say_later(r);
		stop_printing();
		runs = rn_journal_set_wait(r->spool, r->run, CRASH_END_MS);
	}
	if (!runs)
		use_parts(r, e, r->kept || rn_journal_set_wanted(claim));
	return runs;
}

/* Concludes the run of this rank. The watcher of the last rank may have found the claim held by
 * this watcher, which stopped waiting at that moment. This watcher therefore checks again after it
 * has released the claim. */
static void conclude_rank_run(struct run_reports *r, const struct rn_journal_set_trace *e)
{
	bool first, runs;
	int claim;

	say_late_rank(r);
	if (!is_unfinished(r))
		return;
	if (r->unopened) {
		say_no_file_rank(r);
		return;
	}
	do {
		claim = rn_journal_set_claim(r->spool, r->run, &first);
		if (claim < 0)
			return;
		runs = use_claimed(r, e, claim, first);
		close(claim);
	} while (runs && !rn_journal_set_wait(r->spool, r->run, 0));
}

void conclude_rank(int status, struct timespec since, pid_t launcher)
{
	struct rn_journal_set_trace e = { .how = PLACE_OLDER, .since = since, .whole = true };
	struct reports told;

	reports_read(status, &told);
	say_untraced_rank(told.untraced, launcher);
	for (size_t i = 0; i < told.runs; i++)
		conclude_rank_run(&told.run[i], &e);
	reports_free(&told);
	stop_printing();
	node_once_wait();
}
