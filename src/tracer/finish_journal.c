/* finish_journal.c - see finish_journal.h. */
#include "tracer/finish_journal.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/mpi_detect.h"
#include "base/tick_clock.h"
#include "base/tracer_env.h"
#include "base/varint.h"
#include "encode/process_table.h"
#include "merge/merge_tree_mpi.h"
#include "preload/next_mpi.h"
#include "runtime/message.h"
#include "runtime/process_log.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/callstack.h"
#include "trace/comm_registry.h"
#include "trace/handles.h"
#include "trace/run_env.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"
#include "tracer/finish_impl.h"
#include "tracer/finish_merge.h"
#include "tracer/run_summary.h"
#include "tracer/trace_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- records of the process ---- */

static void log_world(void)
{
	struct rn_fact_world w = { .rank = rn_tracer.world_rank,
				   .size = rn_tracer.world_size,
				   .scale = rn_clock_scale(),
				   .started = rn_clock_now() };

	w.time = rn_clock_read(CLOCK_REALTIME);
	rn_process_log_add(RN_FACT_WORLD, &w, sizeof(w), NULL, 0);
}

static void log_constants(void)
{
	const struct rn_process_table *p = rn_constants();

	for (uint32_t i = 0; i < p->kind_at[RN_K_COUNT]; i++)
		rn_process_log_add(RN_FACT_CONSTANT, &p->constant[i], sizeof(*p->constant), NULL,
				   0);
}

/* Logs which functions the filter selects, because a call in flight may be one that the user has
 * excluded. */
static void log_wanted(void)
{
	unsigned char wanted[1024];
	uint32_t n = rn_mpi_vocab.funcs;

	if (!rn_config.call[0] || n > sizeof(wanted))
		return;
	for (uint32_t i = 0; i < n; i++)
		wanted[i] = rn_config_wants_function(i);
	rn_process_log_add(RN_FACT_WANTED, wanted, n, NULL, 0);
}

static void log_settings(void)
{
	const char *key, *path;

	for (unsigned i = 0; i < RN_META_COUNT; i++) {
		const char *value = rn_setting_value((enum rn_meta_key)i);

		if (*value)
			rn_process_log_meta(rn_meta_rows[i].key, value);
	}
	for (uint32_t i = 0; rn_callstack_path(i, &key, &path); i++)
		rn_process_log_meta(key, path);
}

static void log_objects(void)
{
	struct rn_objects comms = { 0 }, sites = { 0 };
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_comm_list(&mem, &comms) < 0 || rn_callstack_list(&mem, &sites) < 0)
		rn_process_log_fail(ENOMEM);
	for (uint32_t i = 0; i < comms.n; i++)
		rn_process_log_comm(&comms.at[i]);
	for (uint32_t i = 0; i < sites.n; i++)
		rn_process_log_stack(sites.at[i].number, sites.at[i].bytes, sites.at[i].len);
	rn_arena_free(&mem);
}

/* The world is logged last: a reader ignores a process without it. */
static void open_journal(void)
{
	if (!rn_process_log_open(rn_tracer.run))
		return;
	log_constants();
	log_wanted();
	log_settings();
	log_objects();
	log_world();
	if (rn_me)
		rn_spool_adopt(rn_me);
}

/* ---- the start ---- */

/* Reports the directory of the journal files of this run. */
static void tell_spool(void)
{
	rn_status_post(RN_TAG_SPOOL, rn_process_log_folder());
}

void rn_finish_start_journal(MPI_Comm comm)
{
	static struct {
		uint64_t run;
		char output[sizeof(rn_config.output)];
	} common;

	common.run = rn_hash_u64(rn_clock_read(CLOCK_REALTIME)) ^ (uint64_t)getpid() << 32;
	if (rn_tracer.world_rank == 0)
		rn_output_choose(common.run);
	memcpy(common.output, rn_config.output, sizeof(common.output));
	if (rn_real.MPI_Bcast(&common, (int)sizeof(common), MPI_BYTE, 0, comm) != MPI_SUCCESS)
		return;
	memcpy(rn_config.output, common.output, sizeof(common.output));
	rn_tracer.run = common.run;
	open_journal();
	if (rn_tracer.world_rank == 0 || rn_status_has_watcher())
		tell_spool();
}

/* Without MPI_COMM_WORLD (sessions only), the rank and the size are those in the launcher's
 * environment variables. */
static void find_place(void)
{
	if (rn_tracer.init_done)
		return;
	rn_tracer.world_rank = rn_rank_of(environ, 0);
	rn_tracer.world_size = rn_size_of(environ, rn_tracer.world_rank + 1);
}

/* Returns a run id that is the same for all processes of a job, if the launcher identifies the job.
 * Otherwise it is the id of the parent process. */
static uint64_t job_number(void)
{
	static const char *const names[] = { "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !value; i++)
		value = getenv(names[i]);
	return value ? rn_hash(value, strlen(value)) : (uint64_t)getppid();
}

void rn_finish_note_end(const struct rn_finish *f, const char *how, bool copied)
{
	struct rn_fact_end end = { rn_tracer.lost, rn_clock_age(), f->tracer_ns,
				   rn_finish_memory() };

	rn_spool_note(rn_me, how, end, copied);
}

/* Completes the journal of this process. A process that had no MPI_COMM_WORLD has no journal yet;
 * it is created here. Returns whether the journal contains data of this process. */
static bool leave_part(struct rn_finish *f, const char *how)
{
	find_place();
	if (!rn_process_log_folder()[0]) {
		rn_tracer.run = job_number();
		open_journal();
		tell_spool();
	}
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		rn_spool_adopt(t);
		rn_stopwatch_stop(t);
		if (t->spooled)
			rn_spool_seal(t); /* includes all time statistics */
	}
	f->tracer_ns = rn_finish_elapsed_ns(f);
	rn_finish_note_end(f, how, true);
	f->journal_kept = true;
	return rn_spool_any();
}

void rn_finish_leave_alone(struct rn_finish *f, const char *why)
{
	bool first = rn_process_log_is_first();

	if (!leave_part(f, why)) {
		if (rn_tracer.world_rank == 0)
			rn_say("rank 0 is not traced to its end");
	} else if (rn_status_has_watcher()) {
		rn_summary_watched(why, first);
	} else if (first) {
		rn_summary_journal(RN_TAG_PARTS, why);
	}
}

static int pack_left(void *arg, struct rn_buf *out)
{
	rn_buf_u64(out, ((struct rn_finish *)arg)->left);
	return rn_buf_status(out);
}

static int absorb_left(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct rn_reader in = rn_reader(bytes, len);

	(void)first;
	((struct rn_finish *)arg)->left += rn_get_max(&in, n);
	return in.bad ? RN_E_DATA : RN_OK;
}

/* Leaves the recorded data of all ranks in the journals; `how`: the end reason of the ranks. Rank 0
 * reports the reason in one line, whether or not a trace is built from the journals. */
static void leave_parts(struct rn_finish *f, struct rn_mpi_link *link, const char *how,
			const char *word, const char *text)
{
	f->left = leave_part(f, how);
	rn_link_arm(link, RN_FINISH_DEADLINE);
	rn_link_up(link, pack_left, absorb_left, f);
	if (rn_tracer.world_rank != 0)
		return;
	if (f->left == 0) {
		rn_process_log_drop();
		rn_say("nothing was traced (%s)", how);
		rn_status_post(RN_TAG_FAILED, how);
	} else {
		rn_summary_journal(word, text);
	}
}

void rn_finish_leave_unmerged(struct rn_finish *f, struct rn_mpi_link *link)
{
	struct rn_err why = f->err;
	char text[sizeof(why.text) + 64];

	if (!why.text[0])
		rn_link_explain(link, &why);
	snprintf(text, sizeof(text), "the ranks' traces could not be put together (%s)", why.text);
	leave_parts(f, link, why.text, RN_TAG_UNMERGED, text);
}

void rn_finish_leave_segments(struct rn_finish *f, struct rn_mpi_link *link)
{
	leave_parts(f, link, "MPI_Finalize", RN_TAG_PARTS,
		    "more was recorded than the memory limit holds at once, so the trace is made "
		    "from parts");
}
