/* finish.c - see finish.h. */
#include "tracer/finish.h"

#include "base/errno_guard.h"
#include "base/io.h"
#include "base/mpi_detect.h"
#include "base/tracer_env.h"
#include "merge/merge_tree_mpi.h"
#include "preload/next_mpi.h"
#include "record/event_log.h"
#include "runtime/message.h"
#include "runtime/process_log.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/comm_registry.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"
#include "tracer/finish_impl.h"
#include "tracer/finish_journal.h"
#include "tracer/finish_merge.h"
#include "tracer/run_summary.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LIMIT   ((size_t)1 << 30)
#define RESERVE ((size_t)16 << 20) /* bytes of address space reserved for MPI_Finalize */

static struct rn_finish finish;
static MPI_Comm link_comm = MPI_COMM_NULL;
static struct rn_mpi_link world; /* over link_comm */

static struct {
	void *at;
	size_t size;
} reserve;

/* ---- address space ---- */

/* Bytes of address space that the process uses, from /proc/self/statm; 0: unknown. */
static uint64_t used_space(void)
{
	char text[64] = "";

	rn_io_read_head("/proc/self/statm", text, sizeof(text) - 1);
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of address space that the process may still use. */
static uint64_t space_left(void)
{
	struct rlimit space;
	uint64_t used;

	if (getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	used = used_space();
	return space.rlim_cur > used ? space.rlim_cur - used : 0;
}

/* The reserve is at most a quarter of the address space that is left. */
void rn_finish_reserve(void)
{
	uint64_t few = space_left() / 4 & ~(uint64_t)4095;

	if (reserve.at)
		return;
	reserve.size = few < RESERVE ? (size_t)few : RESERVE;
	reserve.at = mmap(NULL, reserve.size, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserve.at == MAP_FAILED)
		reserve.at = NULL;
}

static void use_reserve(void)
{
	if (reserve.at)
		munmap(reserve.at, reserve.size);
	reserve.at = NULL;
}

/* ---- MPI_Init ---- */

/* Detects a launcher of another MPI implementation. It has started several processes, but each of
 * them is the only rank of its MPI_COMM_WORLD. The first process uses the name of the trace and
 * prints a message; the others add their rank to the name. */
static void lone_output(void)
{
	int size = rn_size_of(environ, 1), rank = rn_rank_of(environ, 0);

	if (rn_tracer.world_size > 1 || size < 2 || rn_comm_spawned())
		return;
	finish.another_rank_reports = rank > 0;
	if (rank > 0)
		rn_config_number("rank", rank);
	else
		rn_say("each of %d processes is a world of its own (is this the launcher of the "
		       "program's MPI?) and has a trace of its own: *.rank-N.rondo",
		       size);
}

/* Spawned processes have an MPI_COMM_WORLD of their own, and a trace of their own beside that of
 * their parents: NAME.spawn-PID.rondo. */
static void own_output(void)
{
	int pid = (int)getpid();

	finish.spawned = rn_comm_spawned();
	if (!finish.spawned)
		return;
	rn_real.MPI_Bcast(&pid, 1, MPI_INT, 0, finish.start_comm);
	rn_config_number("spawn", pid);
}

static const struct rn_link_calls *real_calls(void)
{
	static struct rn_link_calls calls;

	calls = (struct rn_link_calls){ rn_real.MPI_Isend,        rn_real.MPI_Irecv,
					rn_real.MPI_Iprobe,       rn_real.MPI_Test,
					rn_real.MPI_Get_count,    rn_real.MPI_Cancel,
					rn_real.MPI_Request_free, rn_real.MPI_Comm_rank,
					rn_real.MPI_Comm_size };
	return &calls;
}

/* With Open MPI 4.1, one more communicator during the run can make MPI_Dist_graph_create hang. The
 * tracer's communicator is therefore created at the end. With MPICH it is created at the start: at
 * the end there may be no memory for it on some ranks, and the other ranks would wait for them. */
#ifdef OPEN_MPI
#define COMM_AT_END true
#else
#define COMM_AT_END false
#endif

/*
 * Replaces the error handler of MPI_COMM_WORLD, so that errors of the tracer's own calls do not end
 * the program. Returns the previous handler.
 *
 * Not for the start of a run with MPICH. There, MPI_COMM_WORLD has no handler at first. While it
 * has none, a duplicate of it follows later changes of MPI_COMM_WORLD's handler. Afterwards, a
 * duplicate retains the handler that it was created with. No function of MPI removes a handler. An
 * error in the creation of the tracer's communicator therefore ends the program, as an error in the
 * program's own creation of a communicator would.
 */
static MPI_Errhandler quiet_world(void)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

	rn_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
	rn_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	return handler;
}

static void restore_world(MPI_Errhandler handler)
{
	if (handler == MPI_ERRHANDLER_NULL)
		return;
	rn_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	rn_real.MPI_Errhandler_free(&handler);
}

/* MPI_Comm_dup would call the program's attribute functions. After MPI_Comm_create_from_group,
 * which returns errors regardless of the error handler of MPI_COMM_WORLD, programs hung in
 * MPICH 4.0. */
static void create_link_comm(void)
{
	MPI_Group group;

	if (rn_real.MPI_Comm_group(MPI_COMM_WORLD, &group) != MPI_SUCCESS)
		return;
	if (rn_real.MPI_Comm_create(MPI_COMM_WORLD, group, &link_comm) != MPI_SUCCESS)
		link_comm = MPI_COMM_NULL;
	else
		rn_real.MPI_Comm_set_errhandler(link_comm, MPI_ERRORS_RETURN);
	rn_real.MPI_Group_free(&group);
}

static void create_link_comm_at_end(void)
{
	MPI_Errhandler handler = quiet_world();

	create_link_comm();
	restore_world(handler);
}

static void start_run(MPI_Comm comm)
{
	finish.start_comm = comm;
	own_output();
	rn_finish_start_journal(comm);
	rn_finish_compare_clocks(&finish, NULL);
}

static void start_run_on_world(void)
{
	MPI_Errhandler handler = quiet_world();

	start_run(MPI_COMM_WORLD);
	restore_world(handler);
}

void rn_finish_prepare(void)
{
	RN_ERRNO_GUARD;

	lone_output();
	if (!COMM_AT_END)
		create_link_comm();
	if (link_comm == MPI_COMM_NULL)
		start_run_on_world();
	else
		start_run(link_comm);
}

/* ---- end of the recording ---- */

#define BUSY_TRIES 5000 /* number of waits of 2 ms; after that the thread is ignored */

/* Whether another thread is starting a new segment of its stream. Other threads may not access the
 * stream until it has done so. */
static bool is_busy(const struct rn_stream *t)
{
	return t != rn_me && __atomic_load_n(&t->busy, __ATOMIC_ACQUIRE);
}

/* Stops recording: later calls of other threads are counted. There may be such calls if a thread
 * calls exit, MPI_Abort or MPI_Finalize. A thread that is about to record a call gets the time to
 * do so. */
static void stop_recording(void)
{
	static const struct timespec moment = { 0, 2000000 };

	rn_tracer.active = false;
	rn_tracer.finished = true;
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		rn_stream_turn(t, RN_OFF_OVER, true);
	if (rn_tracer.nstreams > 1)
		nanosleep(&moment, NULL);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		for (int tries = 0; tries < BUSY_TRIES && is_busy(t); tries++)
			nanosleep(&moment, NULL);
}

/* Completes the journal after the trace was written: if any rank makes more calls, the trace is
 * built again from the journals of all ranks. */
static void keep_part(void)
{
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		rn_spool_seal_times(t);
	rn_finish_note_end(&finish, "MPI_Finalize", false);
}

/* Resumes recording, into the journal. If the journal is incomplete, later calls are only
 * counted. */
static void resume_recording(void)
{
	bool whole = rn_process_log_is_whole();

	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		t->merged = t->calls + rn_order_log_events(t);
		rn_stream_turn(t, RN_OFF_OVER, !whole);
	}
	rn_tracer.active = whole;
}

/* Whether this process may end the run. Children created by _Fork or clone run no pthread_atfork
 * handlers, so the process id is compared. */
static bool is_ours_to_end(void)
{
	return !rn_tracer.finished && rn_tracer.pid == (int)getpid();
}

/* Whether this is a replay, in which nothing is recorded. */
static bool is_replay(void)
{
	return rn_config.replay[0];
}

static void begin(struct rn_finish *f)
{
	memset(&f->mem, 0, sizeof(*f) - offsetof(struct rn_finish, mem));
	rn_calm_begin(&f->calm);
	f->me = rn_me;
	if (f->me) /* an MPI call of a signal handler must not wait for locks of this thread */
		f->top = rn_stream_enter(f->me);
	use_reserve();
	rn_arena_init(&f->mem, LIMIT);
	rn_arena_init(&f->scratch, LIMIT);
	f->began = rn_clock_now();
	stop_recording();
}

static void end(struct rn_finish *f)
{
	rn_arena_free(&f->scratch);
	rn_arena_free(&f->mem);
	if (f->me)
		rn_stream_leave(f->me, f->top);
	rn_calm_end(&f->calm);
}

#define IN_SEGMENTS RN_E_RANGE

/* Whether any rank has closed segments, which only its journal contains. Ranks arrive here at
 * different times, so the time of the tracer and the deadline begin when all have arrived. */
static bool any_in_segments(struct rn_finish *f, struct rn_mpi_link *link)
{
	int rc = rn_link_agree(link, rn_spool_in_segments() ? IN_SEGMENTS : RN_OK, NULL);

	f->began = rn_clock_now();
	rn_link_arm(link, RN_FINISH_DEADLINE);
	return rc == IN_SEGMENTS;
}

void rn_finish_world(void)
{
	struct rn_finish *f = &finish;
	RN_ERRNO_GUARD;

	if (!is_ours_to_end() || is_replay())
		return;
	begin(f);
	if (COMM_AT_END)
		create_link_comm_at_end();
	if (link_comm == MPI_COMM_NULL ||
	    rn_link_open(&world, real_calls(), link_comm, LIMIT) < 0) {
		rn_finish_leave_alone(f, "the tracer has no communicator");
	} else {
		if (any_in_segments(f, &world)) {
			rn_finish_leave_segments(f, &world);
			resume_recording();
		} else if (rn_finish_merge(f, &world) < 0) {
			rn_finish_leave_unmerged(f, &world);
		} else {
			keep_part();
			resume_recording();
		}
		rn_link_close(&world);
	}
	if (link_comm != MPI_COMM_NULL)
		rn_real.MPI_Comm_free(&link_comm);
	end(f);
}

void rn_finish_alone(const char *why)
{
	struct rn_finish *f = &finish;
	RN_ERRNO_GUARD;

	if (!is_ours_to_end() || is_replay())
		return;
	begin(f);
	rn_finish_leave_alone(f, why);
	end(f);
}

void rn_finish_late(void)
{
	RN_ERRNO_GUARD;
	uint64_t kept = 0, lost = 0, made;

	if (rn_me)
		rn_stream_enter(rn_me);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		rn_stopwatch_stop(t);
		lost += t->late;
		if (finish.journal_kept) /* the journals contain this counter */
			t->live.lost = t->lost += t->late;
		made = t->calls + rn_order_log_events(t);
		kept += rn_process_log_is_whole() && made > t->merged ? made - t->merged : 0;
	}
	if ((kept || lost) && !finish.journal_kept)
		rn_summary_late(kept, lost);
	if (kept) {
		stop_recording();
		for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
			rn_spool_seal_times(t);
		rn_finish_note_end(&finish, "exit", true);
	}
	rn_process_log_close(kept > 0 || (finish.journal_kept && rn_spool_any()));
	if (rn_status_has_watcher())
		rn_status_post(RN_TAG_ENDED, "");
}
