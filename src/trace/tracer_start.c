/* tracer_start.c - see tracer_start.h. */
#include "trace/tracer_start.h"

#include "base/mpi_detect.h"
#include "base/tick_clock.h"
#include "base/tracer_env.h"
#include "preload/gpu_driver.h"
#include "preload/next_mpi.h"
#include "runtime/message.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/comm_registry.h"
#include "trace/handles.h"
#include "trace/request_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define MISMATCH "uses MPICH, but was given the tracer for Open MPI; try --mpi=mpich"
#else
#define MISMATCH "uses Open MPI, but was given the tracer for MPICH; try --mpi=ompi"
#endif

/* True if an interpreter has loaded the library of the other MPI. */
bool rn_tracer_is_for_other(void)
{
	char line[sizeof(rn_config.program) + sizeof(MISMATCH)];

	if (!rn_real_is_other())
		return false;
	snprintf(line, sizeof(line), "%s " MISMATCH, rn_config.program);
	if (rn_config.status[0])
		rn_status_untraced(line);
	else
		rn_say("not traced: %s", line);
#ifndef OPEN_MPI
	_exit(70); /* Open MPI's handles are wider than those that MPICH's wrappers forward */
#endif
	rn_tracer.active = false;
	return true;
}

/* Whether this program may start the one that uses MPI. If the MPI was given by name and there is
 * no launcher, nothing is known about the program. */
static bool may_start_another(void)
{
	return rn_is_interpreter(rn_config.program) || rn_is_runner(rn_config.program) ||
	       (rn_mpi_of_word(getenv(RN_ENV_MPI)) && !rn_is_rank(environ));
}

/* Returns NULL, or the reason why nothing can be recorded. */
static const char *make_tables(void)
{
	if (!rn_real.MPI_Init)
		return "the MPI library has no PMPI_Init";
	if (rn_tracer_init_tables() < 0 || rn_handles_init(&rn_tracer.mem) < 0 ||
	    rn_comms_start() < 0)
		return "no memory";
	return NULL;
}

void rn_tracer_start(void)
{
	const char *obstacle;

	if (rn_tracer.started)
		return;
	rn_tracer.started = true;
	rn_clock_start(); /* first, because the run's clock starts here */
	rn_message_start();
	rn_config_read();
	if (may_start_another())
		rn_config_pass_on();
	else
		rn_config_give_back();
	if (rn_tracer_is_for_other())
		return;
	rn_real_resolve(); /* the program cannot call functions that its library lacks */
	obstacle = make_tables();
	if (obstacle) {
		rn_say("not tracing: %s", obstacle);
		return;
	}
	rn_request_hook_starts();
	rn_mem_start();
	rn_mem_ask_driver(rn_gpu_query);
	rn_mem_ask_kernel();
	rn_tracer.active = true;
}
