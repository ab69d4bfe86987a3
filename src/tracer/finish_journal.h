/*
 * finish_journal.h - starts the journal of a run, and ends a run without a merge.
 *
 * To end a run without a merge, it completes the journal and reports how to recover the trace.
 */
#ifndef RN_TRACER_FINISH_JOURNAL_H
#define RN_TRACER_FINISH_JOURNAL_H

#include <mpi.h>
#include <stdbool.h>

struct rn_finish;
struct rn_mpi_link;

/* Starts the journal. Called in MPI_Init by all ranks together. Calls made after it are not lost in
 * a crash. Rank 0 names the trace, because other ranks may run other programs or run on other
 * nodes. */
void rn_finish_start_journal(MPI_Comm comm);

/* Writes the end reason of this process to the journal; if `copied`, also to the copies of the
 * file. */
void rn_finish_note_end(const struct rn_finish *f, const char *how, bool copied);

/* Leaves the journal of this process, without MPI. The ranks do not communicate: the first one on a
 * node reports for all. */
void rn_finish_leave_alone(struct rn_finish *f, const char *why);

/* Leave the journals of all ranks: the first because the merge failed, the second because a rank
 * has some of its calls only in its journal. Called by all ranks together. */
void rn_finish_leave_unmerged(struct rn_finish *f, struct rn_mpi_link *link);
void rn_finish_leave_segments(struct rn_finish *f, struct rn_mpi_link *link);

#endif
