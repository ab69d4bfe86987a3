/*
 * stall.h - ends a replay that makes no progress.
 *
 * A replay is stalled when every rank that is alive has waited for the given time, and none of them
 * has returned from an MPI call in it. A rank waits if each of its threads that has called MPI is
 * in an MPI call. File operations are not counted as waiting. A rank that is stopped, or that a
 * debugger is attached to, does not wait.
 *
 * The ranks publish their state in the job (order/job.h, intercept/wait_state.h). If that of a rank
 * is not visible, because it runs on another node or has not called MPI_Init, or if the program
 * talks to processes outside of its world, no stall is found.
 *
 * A thread of the rondo program does this: twice a second it compares the counters of all ranks
 * with their last values.
 */
#ifndef RN_CMD_STALL_H
#define RN_CMD_STALL_H

#include <stdbool.h>
#include <stdint.h>

struct rn_job;
struct stall; /* opaque */

struct stall_limit {
	uint64_t seconds; /* 0: never */
	bool polls;       /* a rank that calls nothing but tests and probes waits, too */
};

/* Starts the check. `rank`: the one whose process is ended if it does not end by itself; -1: all of
 * them. NULL: there is no limit, or no memory, and nothing is checked. The job outlives it. */
struct stall *stall_watch(struct rn_job *job, const struct stall_limit *limit, int rank);

/* Ends the check. Whether the replay was stalled: then the ranks were ended, and it has printed
 * what each of them waited for. */
bool stall_end(struct stall *s);

#endif
