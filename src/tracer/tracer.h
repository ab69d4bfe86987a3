/*
 * tracer.h - start-up of the tracer, and exits of the process other than MPI_Finalize. Together
 * with finish.h and wrap_init.h, the only part that knows trace, record and replay.
 *
 *   load       constructor: configuration, the real functions, the clock
 *   first call of a thread: its stream, one that a thread has left or a new one
 *   MPI_Init   who we are in the world; an attribute on MPI_COMM_SELF
 *   MPI_Finalize deletes that attribute: everything is merged and written
 *   exit without MPI_Finalize: what this process has is written as a part
 *
 * A child of a process that has called MPI is silent, however it was made: it has none of the other
 * threads, and the trace is not its own.
 */
#ifndef RN_TRACER_TRACER_H
#define RN_TRACER_TRACER_H

/* Starts the tracer and the hooks of record or replay, once. Called by the constructor, or by
 * MPI_Init in the constructor of another library. */
void rn_tracer_begin(void);

/* After MPI_Init and its like. */
void rn_tracer_init_done(int provided);

#endif
