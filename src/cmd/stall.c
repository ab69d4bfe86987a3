/* stall.c - see stall.h. */
#include "cmd/stall.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_text.h"
#include "base/number_text.h"
#include "cmd/cmd.h"
#include "encode/call_words.h"
#include "launch/spawn.h"
#include "order/replay_control.h"
#include "order/replay_plan.h"

#define PER_SECOND WAITS_PER_SECOND
#define LINES      16 /* maximum number of lines of the summary */

/* Number of checks after which each action to end the run is taken. */
#define TERM_RANKS    (2 * PER_SECOND)
#define KILL_RANKS    (4 * PER_SECOND)
#define TERM_LAUNCHER (7 * PER_SECOND)

struct counters {
	uint64_t calls, polls;
};

struct stall {
	struct rn_job *job;
	struct stall_limit limit;
	int rank;
	uint64_t unchanged;     /* number of consecutive checks in which all ranks waited */
	bool diverged;          /* a rank has diverged */
	uint64_t ending;        /* number of checks since the stall was detected; 0: no stall */
	struct counters last[]; /* counters at the last check, by rank */
};

/* --- the state of a rank ------------------------------------------------------------------- */

enum state { RUNS, WAITS, ENDED };

/* Reads the state and the tracing process from /proc/PID/status. Returns false if there is no such
 * process. */
static bool read_status(uint32_t pid, char *state, long *tracer)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	*state = '?';
	*tracer = 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "State: %c", state) != 1)
			sscanf(line, "TracerPid: %ld", tracer);
	fclose(f);
	return true;
}

static enum state process_state(uint32_t pid)
{
	char state;
	long tracer;

	if (!read_status(pid, &state, &tracer) || state == 'Z' || state == 'X')
		return ENDED;
	return state == 'T' || state == 't' || tracer ? RUNS : WAITS;
}

static enum state state_of(struct stall *s, uint32_t rank)
{
	const struct rn_job_rank *r = &s->job->rank[rank];
	struct counters *last = &s->last[rank];
	struct counters now = { __atomic_load_n(&r->calls, __ATOMIC_RELAXED),
				__atomic_load_n(&r->polls, __ATOMIC_RELAXED) };
	uint32_t threads = __atomic_load_n(&r->threads, __ATOMIC_RELAXED);
	/* A thread that has not called MPI may compute a value that other threads wait for. */
	bool inside = __atomic_load_n(&r->inside, __ATOMIC_RELAXED) >= threads &&
		      (s->limit.polls || !__atomic_load_n(&r->silent, __ATOMIC_RELAXED));
	bool called = now.calls != last->calls, polled = now.polls != last->polls;
	uint32_t pid = __atomic_load_n(&r->pid, __ATOMIC_ACQUIRE);

	*last = now;
	if (!pid)
		return RUNS;
	if (__atomic_load_n(&r->finalized, __ATOMIC_RELAXED))
		return ENDED;
	if (!called && (polled ? s->limit.polls && threads == 1 : inside))
		return process_state(pid);
	return process_state(pid) == ENDED ? ENDED : RUNS;
}

/* Whether every rank that is alive waits. */
static bool all_wait(struct stall *s)
{
	uint32_t world = __atomic_load_n(&s->job->world, __ATOMIC_RELAXED), waiting = 0;
	bool all = world > 0 && world <= s->job->slots &&
		   !__atomic_load_n(&s->job->external, __ATOMIC_RELAXED);

	for (uint32_t i = 0; all && i < world; i++) {
		enum state is = state_of(s, i);

		waiting += is == WAITS;
		all &= is != RUNS;
	}
	return all && waiting;
}

/* --- the summary --------------------------------------------------------------------------- */

/* Appends ", NAME VALUE". */
static void put(char *text, size_t cap, const char *name, int32_t value)
{
	size_t at = strlen(text);

	if (value == RN_PLAN_NOTHING || value == RN_PLAN_UNKNOWN)
		return;
	if (value == RN_PLAN_ANY)
		snprintf(text + at, cap - at, ", %s any", name);
	else if (value == RN_PLAN_NOBODY)
		snprintf(text + at, cap - at, ", %s MPI_PROC_NULL", name);
	else if (value == RN_PLAN_ROOT)
		snprintf(text + at, cap - at, ", %s MPI_ROOT", name);
	else
		snprintf(text + at, cap - at, ", %s %" PRId32, name, value);
}

/* Writes "MPI_Recv(peer 1, tag 2, comm:world.0)" and, if the replay waits in it, the awaited
 * message or call. */
static void describe(char *text, size_t cap, const struct rn_job_rank *r)
{
	const struct rn_func *f = rn_vocab_func(&rn_mpi_vocab, r->function);
	char args[160] = "";

	put(args, sizeof(args), "peer", r->peer);
	put(args, sizeof(args), "tag", r->tag);
	if (r->comm[0])
		snprintf(args + strlen(args), sizeof(args) - strlen(args), ", %.59s", r->comm);
	snprintf(text, cap, "%s%s%s%s%s%.127s", f ? f->name : "?", args[0] ? "(" : "",
		 args[0] ? args + 2 : "", args[0] ? ")" : "", r->awaited[0] ? " waits for " : "",
		 r->awaited);
	rn_words_clean(text);
}

static bool is_stuck(const struct stall *s, uint32_t rank)
{
	const struct rn_job_rank *r = &s->job->rank[rank];

	return !r->finalized && process_state(r->pid) != ENDED;
}

typedef char line[400];

/* Prints the line of a rank, unless a lower rank has the same line. */
static bool print_rank(const line *all, uint32_t ranks, uint32_t rank, const char *where)
{
	uint32_t alike = 0;
	char others[48] = "";

	for (uint32_t i = 0; i < ranks; i++) {
		if (strcmp(all[i], all[rank]) != 0)
			continue;
		if (i < rank)
			return false;
		alike += i > rank;
	}
	if (alike)
		snprintf(others, sizeof(others), " (and %" PRIu32 " more rank%s)", alike,
			 rn_plural(alike));
	fail(EXIT_DONE, "rank %" PRIu32 "%s%.31s: %s%s", rank, where[0] ? ", " : "", where,
	     all[rank], others);
	return true;
}

static void print_summary(const struct stall *s)
{
	uint32_t ranks = s->job->world, printed = 0;
	line *all = calloc(ranks, sizeof(*all));

	fail(EXIT_DONE,
	     "the replay is stalled: all ranks wait, and no MPI call%s has returned for %" PRIu64
	     " second%s",
	     s->limit.polls ? " other than tests and probes" : "", s->limit.seconds,
	     rn_plural(s->limit.seconds));
	for (uint32_t i = 0; all && i < ranks; i++)
		if (is_stuck(s, i))
			describe(all[i], sizeof(*all), &s->job->rank[i]);
	for (uint32_t i = 0; all && i < ranks && printed < LINES; i++)
		if (all[i][0])
			printed += print_rank(all, ranks, i, s->job->rank[i].where);
	free(all);
}

/* --- ending the run ------------------------------------------------------------------------ */

static void send_signal(const struct stall *s, int sig)
{
	for (uint32_t i = 0; i < s->job->world; i++)
		if ((s->rank < 0 || s->rank == (int)i) && is_stuck(s, i))
			kill((pid_t)s->job->rank[i].pid, sig);
}

/* A rank in which the replay waits calls MPI_Abort. If there is no such rank, the ranks are killed.
 * If the launcher then does not exit, it receives a signal, which spawn.h forwards. */
static void end_run(struct stall *s)
{
	if (s->ending == 0)
		__atomic_store_n(&s->job->stalled, 1, __ATOMIC_RELAXED);
	else if (s->ending == TERM_RANKS)
		send_signal(s, SIGTERM);
	else if (s->ending == KILL_RANKS)
		send_signal(s, SIGKILL);
	else if (s->ending == TERM_LAUNCHER)
		kill(getpid(), SIGTERM);
	s->ending++;
}

/* --- the check ----------------------------------------------------------------------------- */

/* The limit is a number of checks, not a time, because the whole run may be stopped. */
void stall_check(void *stall)
{
	struct stall *s = stall;

	if (s->ending) {
		end_run(s);
		return;
	}
	s->unchanged = all_wait(s) ? s->unchanged + 1 : 0;
	if (!s->diverged && rn_job_first(s->job) >= 0) {
		s->diverged = true; /* the run ends or continues without the recording */
		s->unchanged = 0;
	}
	if (s->unchanged / PER_SECOND < s->limit.seconds)
		return;
	print_summary(s);
	end_run(s);
}

struct stall *stall_new(struct rn_job *job, const struct stall_limit *limit, int rank)
{
	struct stall *s = NULL;

	if (limit->seconds)
		s = calloc(1, sizeof(*s) + job->slots * sizeof(*s->last));
	if (!s)
		return NULL;
	s->job = job;
	s->limit = *limit;
	s->rank = rank;
	return s;
}

bool stall_end(struct stall *s)
{
	bool stalled = s && s->ending > 0;

	free(s);
	return stalled;
}
