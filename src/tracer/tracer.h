/*
 * tracer.h - starts the tracer, and handles exits of the process other than MPI_Finalize.
 *
 * Only this module, finish.h and wrap_init.h depend on trace, record and replay.
 *
 *   load                        constructor: configuration, next functions, clock
 *   first call of a thread      its stream: one that an ended thread has left, or a new one
 *   MPI_Init                    rank and size of the world; an attribute on MPI_COMM_SELF
 *   MPI_Finalize                deletes that attribute: the traces are merged and written
 *   exit without MPI_Finalize   the data of this process stays in its journal
 *
 * A child of a process that has called MPI records nothing, however it was created: it has none of
 * the other threads, and the trace belongs to the parent.
 */
#ifndef RN_TRACER_TRACER_H
#define RN_TRACER_TRACER_H

/* Starts the tracer and the hooks of record or replay, once. Called by the constructor, or by
 * MPI_Init in the constructor of another library. */
void rn_tracer_begin(void);

/* Called after MPI_Init, MPI_Init_thread or an equivalent has returned. */
void rn_tracer_init_done(int provided);

#endif
