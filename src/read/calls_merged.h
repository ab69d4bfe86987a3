/*
 * calls_merged.h - iterates over the calls of all streams of a trace in the order of their end
 * times.
 *
 * Each stream has an iterator (calls.h) and a position. The next call is the one with the earliest
 * end time. Calls with equal end times are in the order of their streams. Streams without times,
 * and calls after the last time of a stream, are not read.
 *
 * Cost: O(log streams) for a call beyond that of its iterator; seeking searches each stream. Memory
 * is that of an iterator and a chunk of times for each stream; it does not depend on the number of
 * calls. Input is untrusted as in calls.h. Not locked. The trace must outlive the object.
 */
#ifndef RN_READ_CALLS_MERGED_H
#define RN_READ_CALLS_MERGED_H

#include <stdint.h>

#include "base/err.h"
#include "read/calls.h"

struct rn_calls_merged; /* opaque */

/* Creates an iterator at the first call of a trace with call times. Returns RN_OK, RN_E_NOMEM, or
 * RN_E_DATA if times are malformed. After a failure, *out is NULL or must also be released. */
int rn_calls_merged_new(struct rn_arena *mem, const struct rn_trace *t,
			struct rn_calls_merged **out, struct rn_err *err);

/* Releases all memory that is not in the arena. */
void rn_calls_merged_free(struct rn_calls_merged *m);

/* Moves to the first call that ends at `time` or later. Returns RN_OK, or a code as rn_calls_begin.
 */
int rn_calls_merged_seek(struct rn_calls_merged *m, uint64_t time);

/* Reads the next call, which is valid until the following one is read. Returns 1, 0 at the end, or
 * a negative code as rn_calls_next. */
int rn_calls_merged_next(struct rn_calls_merged *m, const struct rn_call **out);

#endif
