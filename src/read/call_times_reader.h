/*
 * call_times_reader.h - reads the start and end of each call of a trace.
 *
 * Times are nanoseconds since the earliest tick 0 of all streams, by the clock of rank 0. A stream
 * that was cut off may have fewer times than calls.
 *
 * One chunk is decoded at a time and cached. Reading a stream in order costs about 100 ns a call;
 * starting in the middle costs one chunk. Memory is that of one chunk. Input is untrusted.
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

/* Selects a stream of that group. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_moment_view_stream(struct rn_moment_view *v, uint64_t stream, uint32_t group,
			  struct rn_err *err);

/* Returns the number of leading symbols of the stream that have times. */
uint64_t rn_moment_view_length(const struct rn_moment_view *v);

/* Reads the times of the symbol at that position of the stream. Returns 1; 0 if the symbol has no
 * times; RN_E_NOMEM or RN_E_DATA. */
int rn_moment_view_at(struct rn_moment_view *v, uint64_t pos, uint64_t *start, uint64_t *end,
		      struct rn_err *err);

#endif
