/*
 * call_times_reader.h - when each call of a trace began and ended.
 *
 * Times are nanoseconds since the earliest tick 0 of all streams, by the clock of rank 0. A stream
 * that was cut off may have fewer of them than calls.
 *
 * Chunks are read one at a time and kept, so going through a stream costs some 100 ns a call, and
 * beginning in its middle one chunk. Memory is that of a chunk. Trusts no byte of a chunk.
 */
#ifndef RN_READ_CALL_TIMES_READER_H
#define RN_READ_CALL_TIMES_READER_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_moment_view; /* opaque */
struct rn_trace;

/* Creates a reader of a trace with call times, which must outlive the reader. The origin is that of
 * `other`, if it is not NULL. Returns NULL without memory. */
struct rn_moment_view *rn_moment_view_new(struct rn_arena *mem, const struct rn_trace *t,
					  const struct rn_moment_view *other);
void rn_moment_view_free(struct rn_moment_view *v);

/* Goes to a stream, which is of that group. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_moment_view_stream(struct rn_moment_view *v, uint64_t stream, uint32_t group,
			  struct rn_err *err);

/* The symbols from the first on that have times. */
uint64_t rn_moment_view_length(const struct rn_moment_view *v);

/* The time of the symbol at that place of the stream. 1; 0: it has none; RN_E_NOMEM or RN_E_DATA.
 */
int rn_moment_view_at(struct rn_moment_view *v, uint64_t pos, uint64_t *start, uint64_t *end,
		      struct rn_err *err);

#endif
