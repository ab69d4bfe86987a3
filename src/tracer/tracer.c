/* tracer.c - see tracer.h. */
#include "tracer/tracer.h"

#include "preload/next_mpi.h"
#include "record/record_start.h"
#include "replay/replay_start.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/comm_registry.h"
#include "trace/run_env.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"
#include "trace/thread_stream.h"
#include "trace/tracer_start.h"
#include "tracer/finish.h"

#include <pthread.h>
#include <unistd.h>

/* ---- MPI_Init ---- */

void rn_tracer_init_done(int provided)
{
	rn_tracer.threaded = provided == MPI_THREAD_MULTIPLE || rn_tracer.sessions;
	rn_real.MPI_Comm_rank(MPI_COMM_WORLD, &rn_tracer.world_rank);
	rn_real.MPI_Comm_size(MPI_COMM_WORLD, &rn_tracer.world_size);
	rn_tracer.init_done = true;
	if (!rn_tracer.streams)
		rn_tracer.pid = (int)getpid();
	rn_comm_world();
	if (rn_config.replay[0]) {
		rn_replay_begin();
	} else {
		if (rn_config.order)
			rn_record_begin();
		rn_setting_read(rn_config.order);
		rn_finish_prepare();
	}
	rn_finish_reserve();
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		if (!rn_config_wants_rank(rn_tracer.world_rank))
			rn_stream_turn(t, RN_OFF_RANK, true);
}

/* ---- the process ---- */

static bool is_forked_child;

/* Disables the tracer in a forked child, unless the parent has not used MPI yet: then the child may
 * be the process that uses it. */
static void leave_to_parent(void)
{
	if (!rn_tracer.streams)
		return;
	is_forked_child = true;
	rn_spool_child();
	rn_tracer.active = false;
	rn_me = NULL;
}

void rn_tracer_begin(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	rn_tracer_start();
	if (!rn_tracer.active)
		return;
	if (rn_config.replay[0])
		rn_replay_install();
	else if (rn_config.order)
		rn_record_install();
	rn_stream_watch_ends();
	pthread_atfork(NULL, NULL, leave_to_parent);
}

__attribute__((constructor)) static void start(void)
{
	rn_tracer_begin();
}

/* Leaves the journal of a program that ends without MPI_Finalize. */
__attribute__((destructor)) static void stop(void)
{
	if (is_forked_child)
		return;
	if (rn_tracer.active && rn_tracer.streams && !rn_tracer.finished)
		rn_finish_alone("the program ended without MPI_Finalize");
	if (rn_tracer.finished)
		rn_finish_late();
}
