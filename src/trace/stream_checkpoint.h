/*
 * stream_checkpoint.h - writes checkpoints of a stream.
 *
 * Snapshots of the grammar, the elastic values and the time statistics are written to areas of the
 * journal (journal/journal_file.h) next to the latest snapshots. When they are complete, they
 * replace the latest ones.
 *
 * Cost: proportional to the calls since the previous checkpoint, because the rings are as large as
 * the snapshots. Locking: none; called only by the stream's thread.
 */
#ifndef RN_TRACE_STREAM_CHECKPOINT_H
#define RN_TRACE_STREAM_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/stream.h"

/* Writes a checkpoint of the time statistics, or, if `whole`, of everything. Returns 0, or an errno
 * value with the latest checkpoint still valid. */
int rn_spool_seal_now(struct rn_stream *t, bool whole);

static inline struct rn_seal *rn_spool_sealed(struct rn_stream *t)
{
	return &t->seal[t->sealed];
}

/* Stops using the areas of a segment's last checkpoint, so that they are not overwritten. */
void rn_spool_leave_areas(struct rn_stream *t, const struct rn_seal *last);

/* Bytes of the mappings and buffers of the stream that grow with its checkpoints. */
size_t rn_spool_mapped(const struct rn_stream *t);

#endif
