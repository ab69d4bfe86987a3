/*
 * wait_state.h - publishes the state of this process in MPI for the stall check of `rondo replay`
 * (order/replay_control.h, cmd/stall.h).
 *
 * In a replay every MPI function that can wait has a hook (replay_call_check.c), which calls
 * rn_wait_enter before the call and rn_wait_leave after it. Before rn_wait_begin, and on a node
 * where the job file is not visible, these functions publish nothing.
 *
 * Cost: four atomic operations per call. If several threads are in calls at the same time, the call
 * of one of them is described; the counters are always exact.
 */
#ifndef RN_RUNTIME_WAIT_STATE_H
#define RN_RUNTIME_WAIT_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct rn_job;

/* Called after MPI_Init. The job may be NULL. */
void rn_wait_begin(struct rn_job *job);

enum rn_wait_kind {
	RN_WAIT_CALL,
	RN_WAIT_POLL,     /* tests for completion or for a message */
	RN_WAIT_EXTERNAL, /* connects to processes outside the world */
	RN_WAIT_NOT,      /* can last long without waiting for a rank: file operations */
};

enum rn_wait_kind rn_wait_kind_of(uint32_t function);

/* For calls that are not nested. Peer and tag may be RN_PLAN_NOTHING, the communicator NULL. */
void rn_wait_enter(uint32_t function, enum rn_wait_kind kind, int peer, int tag, const char *comm);
void rn_wait_leave(enum rn_wait_kind kind);

/* The call in flight waits for this message or request. `where`: the position in the recording. The
 * description is valid until the thread makes a call that is not the same poll. */
void rn_wait_describe(const char *where, const char *awaited);

/* The calling thread was created by the program. */
void rn_wait_thread_begins(void);

/* Called when the calling thread ends. */
void rn_wait_thread_ends(void);

/* Called when MPI_Finalize has returned. */
void rn_wait_end(void);

#endif
