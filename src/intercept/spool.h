/*
 * spool.h - keeps what is recorded in the part file (file/spill.h) while the program runs, so that
 * it is there when the program is not.
 *
 * The file exists from MPI_Init on. The state of a stream that readers need (struct rn_live) is
 * mapped from the file, so that the call in flight and the counters cost a few stores. A recorded
 * call adds one signature id to the ring. When the ring is full, the stream is sealed: a new
 * snapshot is written next to the latest one and replaces it. The ring is as large as the snapshot,
 * so the cost is proportional to the number of calls. The times, which are not in the ring, are
 * sealed more often.
 *
 * If the folder is another machine's, the file is in memory, and what is sealed is copied to the
 * folder now and then, by whoever seals (file/spill_copy.h).
 *
 * If the file cannot be had, or grow, the program runs on and is traced as without it: one line
 * says so, and what is in the file stays a valid beginning.
 */
#ifndef RN_INTERCEPT_SPOOL_H
#define RN_INTERCEPT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/spill.h"

struct rn_stream;

/* Opens the node's file in the part directory of rn_config.output. Called by rank 0 before the
 * other ranks open it. 0: the name is reserved for this run. EBUSY: the name is in use. Another
 * errno value: part files cannot be written. */
int rn_spool_reserve(uint64_t run);

/* The world is known: opens the node's file. `run` is the same in all processes of the run and in
 * no others. */
void rn_spool_start(uint64_t run);

/* The folder that `rondo recover` finds it by; "" before that. */
const char *rn_spool_folder(void);

/* A stream of the calling thread, for which nothing is in the file so far. */
void rn_spool_adopt(struct rn_stream *t);

/* Its ring is full, or so many calls have come that their times are to be kept. */
void rn_spool_due(struct rn_stream *t);

/* There is no room for the numbers in the holes of one more call. */
void rn_spool_values_due(struct rn_stream *t);

/* With all that was recorded so far. */
void rn_spool_seal(struct rn_stream *t);

/* The stream has become too large (stream.h). First it is sealed for the last time; then, when what
 * the next segment begins with is there instead, that segment begins in the file. False when that
 * cannot be: it is not, or not any more, in the file, but all that was is. */
bool rn_spool_close(struct rn_stream *t);
bool rn_spool_segment(struct rn_stream *t);

/* Whether this process has streams in segments: in its memory is only the rest of them. */
bool rn_spool_in_segments(void);

/* The next call (its words), text, blob or shape, in the order of their numbers. Before it is
 * used. */
void rn_spool_fact(struct rn_stream *t, enum rn_fact type, const void *bytes, size_t n);

/* Claims an extent of `bytes` bytes for the stream's events. False on failure. */
bool rn_spool_order(struct rn_stream *t, size_t bytes, struct rn_mapped *out);

/* A chunk of them is in its log. */
void rn_spool_order_sealed(struct rn_stream *t);

/* A communicator is new, or known better; without an entry, nothing but its name is. The tables'
 * lock is held. */
void rn_spool_comm(uint64_t word, const char *name, const struct rn_comm_entry *e);

/* How its clock relates to that of rank 0. */
void rn_spool_clock(int64_t offset, int64_t drift);

/* Whether this process is the first on its node to ask. */
bool rn_spool_first(void);

/* Whether there is a file, with everything in it so far. */
bool rn_spool_whole(void);

/* Whether there is anything of this process in it. */
bool rn_spool_any(void);

/* Writes a checkpoint of the stream's call times. The call ring contains the calls. */
void rn_spool_seal_times(struct rn_stream *t);

/* How the run ended, for who finds it; and calls of streams that are not in the file. Can be called
 * again with new values. `copied`: also writes to the copies of the file. */
void rn_spool_note(const char *how, uint64_t lost, const struct rn_fact_tally *tally, bool copied);

/* The process is over. If no process of the node keeps the file, the last one removes it. */
void rn_spool_end(bool keep);

/* No process has put anything into the file, so it is of no use. */
void rn_spool_drop(void);

/* In a forked child: the file is the parent's. */
void rn_spool_child(void);

#endif
