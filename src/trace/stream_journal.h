/*
 * stream_journal.h - keeps what is recorded in the part file (journal/journal_file.h) while the
 * program runs, so that it is there when the program is not.
 *
 * The file exists from MPI_Init on. The state of a stream that readers need (struct rn_live) is
 * mapped from the file, so that the call in flight and the counters cost a few stores. A recorded
 * call adds one signature id to the ring. When the ring is full, the stream is sealed: a new
 * snapshot is written next to the latest one and replaces it. The ring is as large as the snapshot,
 * so the cost is proportional to the number of calls. The times, which are not in the ring, are
 * sealed more often.
 *
 * If the folder is another machine's, the file is in memory, and what is sealed is copied to the
 * folder now and then, by whoever seals (journal/journal_copy.h).
 *
 * If the file cannot be had, or grow, the program runs on and is traced as without it: one line
 * says so, and what is in the file stays a valid beginning.
 */
#ifndef RN_TRACE_STREAM_JOURNAL_H
#define RN_TRACE_STREAM_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal_file.h"

struct rn_stream;

/* A stream of the calling thread, for which nothing is in the file so far. */
void rn_spool_adopt(struct rn_stream *t);

/* Its ring is full, or so many calls have come that their times are to be kept. */
void rn_spool_due(struct rn_stream *t);

/* Writes a checkpoint with all calls so far. Also called if there is no room for the elastic values
 * of one more call. */
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

/* Whether there is anything of this process in it. */
bool rn_spool_any(void);

/* Writes a checkpoint of the stream's call times. The call ring contains the calls. */
void rn_spool_seal_times(struct rn_stream *t);

/* Records how the run ended, with the calls of streams that are not in the file added to
 * `end.lost`. Can be called again with new values. `copied`: also writes to the copies of the file.
 * `me` is the stream of the calling thread, or NULL. */
void rn_spool_note(const struct rn_stream *me, const char *how, struct rn_fact_end end,
		   bool copied);

/* In a forked child: the file is the parent's. */
void rn_spool_child(void);

#endif
