/*
 * stream_journal.h - writes the streams of a running program to the journal
 * (journal/journal_file.h), so that they can be recovered if the program crashes.
 *
 * The file exists from MPI_Init on. The state of a stream that readers need (struct rn_live) is
 * mapped from the file, so the call in flight and the counters cost a few stores. A recorded call
 * adds one signature id to the ring. When the ring is full, a checkpoint is written: a new snapshot
 * is written next to the latest one and replaces it. The ring is as large as the snapshot, so the
 * cost is proportional to the number of calls. Time statistics are not in the ring, so they have
 * more frequent checkpoints.
 *
 * If the journal directory is on another machine, the file is in memory, and checkpoints are copied
 * to the directory at intervals. The thread that writes a checkpoint makes the copy
 * (journal/journal_copy.h).
 *
 * If the file cannot be created or cannot grow, the program runs on and is traced without it. One
 * message says so, and the contents of the file remain a valid prefix.
 */
#ifndef RN_TRACE_STREAM_JOURNAL_H
#define RN_TRACE_STREAM_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal_file.h"

struct rn_stream;

/* Adds a stream of the calling thread to the journal, with everything recorded so far. */
void rn_spool_adopt(struct rn_stream *t);

/* Writes a checkpoint when the ring is full, or a checkpoint of the time statistics when it is
 * due. */
void rn_spool_due(struct rn_stream *t);

/* Writes a checkpoint with all calls so far. Also called if there is no room for the elastic values
 * of one more call. */
void rn_spool_seal(struct rn_stream *t);

/* Start a new segment of a stream that has become too large (stream.h). rn_spool_close writes the
 * last checkpoint of the old segment. rn_spool_segment is called when the tables of the next
 * segment are initialized, and starts that segment in the file. False if the stream is not, or no
 * longer, in the journal; data already written remains there. */
bool rn_spool_close(struct rn_stream *t);
bool rn_spool_segment(struct rn_stream *t);

/* Whether a stream of this process has more than one segment. Memory then has only the latest
 * segments. */
bool rn_spool_in_segments(void);

/* Appends a log record for the next signature (its words), string, blob or request creator. Records
 * are in the order of the ids, and each is written before its id is used. */
void rn_spool_fact(struct rn_stream *t, enum rn_fact type, const void *bytes, size_t n);

/* Claims an extent of `bytes` bytes for the stream's events. False on failure. */
bool rn_spool_order(struct rn_stream *t, size_t bytes, struct rn_mapped *out);

/* Called after a chunk of events was appended to the stream's log. */
void rn_spool_order_sealed(struct rn_stream *t);

/* Whether a stream of this process is in the journal. */
bool rn_spool_any(void);

/* Writes a checkpoint of the stream's time statistics. The call ring contains the calls. */
void rn_spool_seal_times(struct rn_stream *t);

/* Records how the run ended, with the calls of streams that are not in the file added to
 * `end.lost`. Can be called again with new values. `copied`: also writes to the copies of the file.
 * `me` is the stream of the calling thread, or NULL. */
void rn_spool_note(const struct rn_stream *me, const char *how, struct rn_fact_end end,
		   bool copied);

/* Called in a forked child: detaches it from the file, which belongs to the parent. */
void rn_spool_child(void);

#endif
