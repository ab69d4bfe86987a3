/*
 * call_timer.h - records the start and end of each call of a stream (--time=bins:B and
 * --time=exact).
 *
 * A call is first stored as two tick values in a batch of some hundred calls. A full batch is
 * encoded into a chunk (encode/call_times.h). Full chunks are stored in the stream's memory and in
 * the journal. If the program is killed, the times of the calls in the chunk that was not full are
 * lost; the calls are not. When the stream starts a new segment (stream.h), the full chunks are
 * only in the journal, and the chunk that is not full continues.
 *
 * Cost: some ns per call for the batch, and 30 to 100 ns per call for the encoding. If memory is
 * exhausted, one message says so and the rest of the stream has no call times.
 * Locking: none. Used by the stream's thread; at the end, by the thread that has stopped it.
 */
#ifndef RN_TRACE_CALL_TIMER_H
#define RN_TRACE_CALL_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "encode/call_times.h"

struct rn_stream;

struct rn_stopwatch {
	uint32_t n;
	bool leaving; /* the next call has had nested calls */
	bool over;    /* memory is exhausted; no more times are recorded */
	struct rn_moment batch[RN_MOMENTS_BATCH];
	struct rn_seg chunk; /* struct rn_chunk of this segment: head and call times */
	struct rn_moment_writer writer;
};

/* Bytes of the head of a chunk: the start of its stream in nanoseconds of the host's clock, as far
 * as the clock's scale is known when the chunk is written. */
#define RN_STOPWATCH_HEAD sizeof(uint64_t)

/* Allocates the timer of a new stream. NULL if out of memory, after a message; the calls of the
 * stream then have no times. */
struct rn_stopwatch *rn_stopwatch_new(const struct rn_grain *grain);
void rn_stopwatch_free(struct rn_stopwatch *s);

/* Bytes allocated for the timer. */
static inline size_t rn_stopwatch_size(const struct rn_stopwatch *s)
{
	return s ? sizeof(*s) : 0;
}

/* Discards the chunks, which are in the journal. Called when the memory of the segment is freed. */
void rn_stopwatch_forget(struct rn_stopwatch *s);

/* Encodes the batch, which is full. */
void rn_stopwatch_write(struct rn_stream *t);

/* Encodes the batch and closes the chunk, at the end of the stream or before a pause. */
void rn_stopwatch_stop(struct rn_stream *t);

/* Stores the times of a call or marker that was appended to the stream. */
static inline void rn_stopwatch_note(struct rn_stream *t, struct rn_stopwatch *s, uint32_t func,
				     enum rn_moment_kind kind, uint64_t start, uint64_t end)
{
	s->batch[s->n++] = (struct rn_moment){ start, end, func, kind };
	if (__builtin_expect(s->n == RN_MOMENTS_BATCH, 0))
		rn_stopwatch_write(t);
}

static inline void rn_stopwatch_call(struct rn_stream *t, struct rn_stopwatch *s, uint32_t func,
				     uint64_t start, uint64_t end)
{
	enum rn_moment_kind kind = s->leaving ? RN_MOMENT_OUTER : RN_MOMENT_CALL;

	s->leaving = false;
	rn_stopwatch_note(t, s, func, kind, start, end);
}

/* Stores the time of a marker; func is the marker's function. */
void rn_stopwatch_marker(struct rn_stream *t, uint32_t func);

#endif
