/*
 * finish.h - end of a run: merges all ranks in MPI_Finalize and writes the trace, or leaves the
 * journals for recovery.
 *
 *   up     the rank arguments of each rank, and its number of streams
 *   down   the rank expressions, and the maximum number of streams of a rank
 *          each rank: calls to bytes, streams to a stream set, communicators, times: a partial
 *          trace
 *   up     partial traces, absorbed in ascending order of ranks
 *          rank 0: the file
 *   down   whether all steps succeeded, and the path of the trace; if not, the journals stay
 *
 * If a rank does not have all its calls in memory (stream.h: segments), nothing is merged, and the
 * journals are the result.
 *
 * Runs inside MPI_Finalize, on a communicator of the tracer, through the next functions.
 */
#ifndef RN_TRACER_FINISH_H
#define RN_TRACER_FINISH_H

/* Called in MPI_Init: starts the journal, compares clocks, and creates the communicator for the end
 * of the run. */
void rn_finish_prepare(void);

/* Reserves address space for the merge and for the messages that MPI then sends, in case the
 * program uses up its limit. */
void rn_finish_reserve(void);

/* Merges and writes the trace, once. */
void rn_finish_world(void);

/* Leaves the journal of this process, without MPI. */
void rn_finish_alone(const char *why);

/* Called when the process ends: reports calls that were made after the trace was written. */
void rn_finish_late(void);

#endif
