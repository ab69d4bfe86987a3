/*
 * stall.h - ends a replay that makes no progress.
 *
 * A replay is stalled when every rank that is alive has waited for the given time, and no MPI call
 * of these ranks has returned in this time. A rank waits if each of its threads that has called MPI
 * is in an MPI call. File operations do not count as waiting. A rank that is stopped, or that a
 * debugger is attached to, does not wait.
 *
 * The ranks publish their state in the job file (order/replay_control.h, runtime/wait_state.h). A
 * stall is not detected if the state of a rank is not visible, because it runs on another node or
 * has not called MPI_Init, or if the program communicates with processes outside its world.
 *
 * While rondo waits for the program, it compares the counters of all ranks with their last values
 * twice a second.
 */
#ifndef RN_CMD_STALL_H
#define RN_CMD_STALL_H

#include <stdbool.h>
#include <stdint.h>

struct rn_job;
struct stall; /* opaque */

struct stall_limit {
	uint64_t seconds; /* 0: never */
	/* A rank that calls only tests and probes counts as waiting, and so does a rank with a
	 * thread that has not called MPI. */
	bool polls;
};

/* `rank`: the rank whose process is killed if it does not exit; -1: all ranks. Returns NULL if
 * there is no limit or no memory. The job must outlive it. */
struct stall *stall_new(struct rn_job *job, const struct stall_limit *limit, int rank);

/* Compares the counters, and ends the run if it is stalled: prints the summary, then ends the ranks
 * in the following checks. For wait_for_program (launch/spawn.h). */
void stall_check(void *stall);

/* Returns whether the replay was stalled. */
bool stall_end(struct stall *s);

#endif
