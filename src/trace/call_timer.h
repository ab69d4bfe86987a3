/*
 * call_timer.h - when each call of a stream began and ended, while the program runs (--time=bins:B
 * and --time=exact).
 *
 * A call is noted by its two ticks; when there are some hundred they are written into a chunk
 * (encode/call_times.h). Chunks that are full are kept in the stream's memory and go to the part
 * file. So of a program that is killed, the times of the latest calls are missing: those of the
 * chunk that was not full. Calls never are. A new segment of the stream (stream.h) leaves full
 * chunks to the part file, and the one that is not full goes on.
 *
 * Cost: noting is some ns, writing 30 to 100 ns a call, in batches. Without memory there are no
 * more times, one line says so, and the rest of the stream has none. Not locked: the stream's
 * thread alone; at the end, who has stopped it.
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
	bool leaving; /* the call that comes next has had others inside */
	bool over;    /* there was no memory */
	struct rn_moment batch[RN_MOMENTS_BATCH];
	struct rn_seg chunk; /* struct rn_chunk, of this segment: a head, and a chunk */
	struct rn_moment_writer writer;
};

/* What stands before a chunk: when its stream began, in nanoseconds of the host's clock, as well as
 * that is known by now. */
#define RN_STOPWATCH_HEAD sizeof(uint64_t)

/* Of a new stream. NULL when there is no memory, which it says: its calls have no times then. */
struct rn_stopwatch *rn_stopwatch_new(const struct rn_grain *grain);
void rn_stopwatch_free(struct rn_stopwatch *s);

/* Bytes that it takes. */
static inline size_t rn_stopwatch_size(const struct rn_stopwatch *s)
{
	return s ? sizeof(*s) : 0;
}

/* The memory of the stream's segment goes, and with it the chunks, which are in the part file. */
void rn_stopwatch_forget(struct rn_stopwatch *s);

/* The batch is full. */
void rn_stopwatch_write(struct rn_stream *t);

/* Nothing comes any more, or not for now: what there is becomes a chunk. */
void rn_stopwatch_stop(struct rn_stream *t);

/* A call or a marker has been added to the stream. */
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

/* A marker, by the number of its function. */
void rn_stopwatch_marker(struct rn_stream *t, uint32_t func);

#endif
