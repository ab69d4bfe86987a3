/*
 * record_start.h - start of a recording, and the hooks that it installs.
 */
#ifndef RN_RECORD_RECORD_START_H
#define RN_RECORD_RECORD_START_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/next_mpi.h"

/* Installs the hooks, when the tracer starts. */
void rn_record_install(void);
/* Starts recording the posting order of threads, after MPI_Init. */
void rn_record_begin(void);

void rn_record_hook_receives(void);
void rn_record_hook_sends(void);
void rn_record_hook_completions(void);
void rn_record_hook_probes(void);
void rn_record_hook_polls(void);
void rn_record_hook_values(void);
/* Installs the hooks that only the posting order needs. */
void rn_record_hook_posts(void);

/* MPI_Isend in a turn, as a part of another call. Returns the MPI error code. */
int rn_record_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		    MPI_Comm comm, MPI_Request *q);

/* Returns whether the status of MPI_Isendrecv contains the source and tag of the matched message,
 * which MPICH 4.0 does not store. The first call tests it with a message to this process. */
bool rn_isendrecv_tells(void);

#endif
