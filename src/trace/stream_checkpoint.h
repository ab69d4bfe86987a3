/*
 * stream_checkpoint.h - a stream is sealed: snapshots of its grammar, its values and its times go
 * into areas of the part file (journal/journal_file.h) beside the last ones, and when they are
 * there, take their place.
 *
 * Cost: in proportion to the calls since the last time, for the rings are as large as the
 * snapshots. By the stream's thread alone.
 */
#ifndef RN_TRACE_STREAM_CHECKPOINT_H
#define RN_TRACE_STREAM_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/stream.h"

/* The times, or the `whole`. 0 or an errno value: then the last seal is what there is. */
int rn_spool_seal_now(struct rn_stream *t, bool whole);

static inline struct rn_seal *rn_spool_sealed(struct rn_stream *t)
{
	return &t->seal[t->sealed];
}

/* A segment has ended with this seal: its areas stay what they are, and are not used again. */
void rn_spool_leave_areas(struct rn_stream *t, const struct rn_seal *last);

/* Bytes of the file that are mapped for it and grow with it. */
size_t rn_spool_mapped(const struct rn_stream *t);

#endif
