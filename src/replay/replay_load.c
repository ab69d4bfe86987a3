/* replay_load.c - maps the replay plan of this process (order/replay_plan.h), and compares it with
 * the run. */
#include "base/errno_guard.h"
#include "base/io.h"
#include "base/number_text.h"
#include "base/status_file.h"
#include "replay/replay_state.h"

#include "base/tick_clock.h"
#include "model/metadata.h"
#include "replay/run_env_check.h"
#include "runtime/message.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "runtime/wait_state.h"
#include "trace/caller_filter.h"
#include "trace/comm_registry.h"
#include "trace/run_env.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM (sizeof(rn_config.replay) + 32)

struct rn_replayed rn_replayed;

static MPI_Comm nowhere = MPI_COMM_NULL;

static void plan_path(char path[PATH_ROOM], int rank)
{
	snprintf(path, PATH_ROOM, "%s/rank-%d.plan", rn_config.replay, rank);
}

static void open_thread(struct rn_replay *r, struct rn_plan_stream *s)
{
	r->s = s;
	r->at = &s->progress;
	r->site = rn_plan_at(rn_replayed.plan, s->site.at);
	r->rows = rn_plan_at(rn_replayed.plan, s->row.at);
	r->dones = rn_plan_at(rn_replayed.plan, s->done.at);
	r->values = rn_plan_at(rn_replayed.plan, s->value.at);
	r->matches = rn_plan_at(rn_replayed.plan, s->match.at);
	r->cancels = rn_plan_at(rn_replayed.plan, s->cancel.at);
}

static void open_threads(void)
{
	struct rn_plan_stream *s = (void *)((char *)rn_replayed.plan + rn_replayed.plan->stream.at);

	rn_replayed.threads = (uint32_t)rn_replayed.plan->stream.n;
	for (uint32_t i = 0; i < rn_replayed.threads; i++) {
		s[i].progress = (struct rn_plan_progress){ 0 };
		open_thread(&rn_replayed.thread[i], &s[i]);
	}
}

void rn_replay_load(int rank)
{
	RN_ERRNO_GUARD;
	char path[PATH_ROOM];
	size_t len;

	if (rn_replayed.plan)
		return;
	rn_replayed.own = rn_replayed.job = rn_job_map(rn_config.replay);
	plan_path(path, rank);
	rn_replayed.plan = rn_io_map(path, true, &len);
	if (rn_replayed.plan && !rn_plan_valid(rn_replayed.plan, len))
		rn_replayed.plan = NULL;
	rn_replayed.thread = rn_replayed.plan ? rn_new(&rn_tracer.mem, struct rn_replay,
						       rn_replayed.plan->stream.n)
					      : NULL;
	if (rn_replayed.thread) {
		open_threads();
		rn_replay_hook_compare();
		rn_site_forget();
	}
}

const char *rn_replay_fact(const char *key)
{
	return rn_replayed.plan ? rn_plan_fact(rn_replayed.plan, key) : NULL;
}

/* If each rank has its own `rondo replay`, uses the control block of rank 0's. */
static void share_job(char folder[sizeof(rn_config.replay)])
{
	struct rn_job *first;

	if (rn_real.MPI_Bcast(folder, sizeof(rn_config.replay), MPI_CHAR, 0, MPI_COMM_WORLD) !=
	    MPI_SUCCESS)
		return;
	first = rn_tracer.world_rank > 0 ? rn_job_map(folder) : NULL;
	if (first && rn_job_is_near(first))
		rn_replayed.job = first;
}

/* Removes this rank's files, because the run may end in any way. The last rank removes the
 * directory. All ranks have mapped their files by then. The plan of a program with one rank is not
 * removed, because a debugger can run the program again. */
static void leave_folder(const char *common)
{
	char path[PATH_ROOM];

	if (!rn_replayed.plan || !rn_replayed.own || !rn_job_is_near(rn_replayed.own) ||
	    rn_replayed.plan->ranks < 2)
		return;
	plan_path(path, rn_tracer.world_rank);
	unlink(path);
	if (rn_config.alone)
		rn_status_remove(rn_config.status);
	if (rn_replayed.own != rn_replayed.job)
		rn_job_remove(rn_config.replay);
	if (rn_job_arrive(rn_replayed.job) < rn_replayed.plan->ranks)
		return;
	rn_status_remove(rn_config.status);
	rn_job_remove(common);
}

/* Discards the plan of a spawned process: it may be that of the process that spawned it. */
static void look_for_plan(void)
{
	bool spawned = rn_comm_spawned();

	if (spawned)
		rn_replayed = (struct rn_replayed){ 0 };
	if (spawned && rn_tracer.world_rank == 0)
		rn_say("a spawned world of %d rank%s runs freely: only processes that the "
		       "launcher starts are replayed",
		       rn_tracer.world_size, rn_plural((uint64_t)rn_tracer.world_size));
	else if (!spawned && !rn_replayed.thread)
		rn_say("rank %d runs freely: %s", rn_tracer.world_rank,
		       rn_replayed.plan ? "there is no memory for its plan"
					: "nothing was recorded of it");
}

/* Prints a warning about threads. A full trace has no posting order. It contains the lineages of
 * threads, unless it is an older trace. */
static void warn_of_threads(void)
{
	const struct rn_replay *second = rn_replayed.threads > 1 ? &rn_replayed.thread[1] : NULL;

	if (!second || !rn_tracer.threaded || !rn_replay_knows_sends(second))
		return;
	if (second->s->born)
		rn_say("the order in which threads post on one communicator is not enforced: only "
		       "a trace of --only=order contains it");
	else
		rn_say("the trace does not identify threads: they are matched in the order of "
		       "their first calls");
}

/* Returns whether no rank has reported yet that ranks run on other nodes. */
static bool is_first_moved(void)
{
	return !rn_replayed.job || rn_job_moves(rn_replayed.job);
}

void rn_replay_prepare(void)
{
	static char common[sizeof(rn_config.replay)];
	RN_ERRNO_GUARD;

	look_for_plan();
	rn_setting_read(rn_replay_fact(rn_meta_rows[RN_META_ONLY].key) != NULL);
	if (rn_replayed.plan && rn_tracer.world_rank == 0 &&
	    (int)rn_replayed.plan->ranks != rn_tracer.world_size)
		rn_say("the program has %d rank%s, but what is replayed was recorded with %u",
		       rn_tracer.world_size, rn_plural((uint64_t)rn_tracer.world_size),
		       rn_replayed.plan->ranks);
	if (rn_tracer.world_rank == 0)
		rn_setting_compare();
	if (rn_replayed.plan && rn_tracer.world_rank == 0)
		warn_of_threads();
	memcpy(common, rn_config.replay, sizeof(common));
	if (rn_config.alone)
		share_job(common);
	rn_wait_begin(rn_replayed.plan ? rn_replayed.job : NULL);
	if (rn_replayed.plan && (int)rn_replayed.plan->ranks == rn_tracer.world_size)
		rn_setting_compare_node(is_first_moved);
	leave_folder(common);
	rn_real.MPI_Comm_dup(MPI_COMM_SELF, &nowhere);
	rn_real.MPI_Comm_set_errhandler(nowhere, MPI_ERRORS_RETURN);
}

MPI_Comm rn_replay_nowhere(void)
{
	return nowhere;
}

int rn_replay_post_nowhere(MPI_Request *request)
{
	return rn_real.MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, nowhere, request);
}

/* Minimum time between probes. Programs that test in a loop need not probe with each test. */
#define RESTS 4000 /* clock ticks: one or two microseconds with a fast clock */

void rn_replay_progress(void)
{
	static _Thread_local uint64_t last __attribute__((tls_model("initial-exec")));
	uint64_t now = rn_clock_now();
	int flag;

	if (now - last < RESTS)
		return;
	last = now;
	rn_real.MPI_Iprobe(0, 0, nowhere, &flag, MPI_STATUS_IGNORE);
}
