/*
 * replay_start.h - start of a replay, and the hooks that it installs.
 */
#ifndef RN_REPLAY_REPLAY_START_H
#define RN_REPLAY_REPLAY_START_H

#include <stdint.h>

#include "preload/next_mpi.h"

struct rn_stream;
struct rn_turn_ops;

/* Posting order of threads, as recorded (record/post_order.h). */
extern const struct rn_turn_ops rn_turns_replayed;

/* rn_replay_install installs the hooks when the tracer starts; rn_replay_begin, those that are
 * needed after MPI_Init. */
void rn_replay_install(void);
void rn_replay_begin(void);

void rn_replay_hook_receives(void);
void rn_replay_hook_sends(void);
void rn_replay_hook_completions(void);
void rn_replay_hook_probes(void);
void rn_replay_hook_polls(void);
void rn_replay_hook_values(void);
/* Installs the hooks that only the posting order needs. */
void rn_replay_hook_posts(void);

/* Called by tracer hooks when a call that creates communicators has returned; implemented in
 * replay_comm_check.c. `name` is the name of a new communicator of this call. `now` is that
 * communicator; NULL: the call created none, or one equal to a freed communicator. Compares size,
 * rank and leader with the recording. */
struct rn_comm;
void rn_replay_made(uint32_t function, const char *name, const struct rn_comm *now);

/* Replaces the n results of a libc function with the recorded ones. */
void rn_replay_libc_value(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n);

/* MPI_Isend in a turn, as a part of another call. Returns the MPI error code. */
int rn_replay_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		    MPI_Comm comm, MPI_Request *q);

#endif
