/*
 * finish.h - end of a run: merges all ranks in MPI_Finalize, writes the trace, or leaves the
 *journal for recovery.
 *
 *	up     what the slots of each rank hold, and how many streams it has
 *	down   how each slot is expressed, and how many streams a rank has at most
 *	       each rank: calls to bytes, streams to a part, communicators, times: a bundle
 *	up     bundles, absorbed in ascending order
 *	       rank 0: the file
 *	down   whether it all went well, and the path of the trace; if not, part files stay
 *
 * If a rank does not have all its calls in memory (stream.h: segments), nothing is merged, and the
 * journals are the result.
 *
 * Runs inside MPI_Finalize, on a communicator of the tracer, through the real functions.
 */
#ifndef RN_TRACER_FINISH_H
#define RN_TRACER_FINISH_H

/* In MPI_Init: starts the journal, compares clocks, and creates what the end needs from MPI. */
void rn_finish_prepare(void);

/* Reserves address space for the end of the run, in case that the program uses all that it may
 * have: for the merge, and for the messages that MPI then sends. */
void rn_finish_reserve(void);

/* Merges and writes the trace, once. */
void rn_finish_world(void);

/* Leaves the journal of this process, without MPI. */
void rn_finish_alone(const char *why);

/* When the process ends: reports calls that were made after the trace was written. */
void rn_finish_late(void);

#endif
