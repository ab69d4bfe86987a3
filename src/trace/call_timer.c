/* call_timer.c - see call_timer.h. */
#include "trace/call_timer.h"

#include "base/errno_guard.h"
#include "model/chunk_list.h"
#include "runtime/message.h"
#include "runtime/tracer_state.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"

#include <string.h>
#include <sys/mman.h>

#include "hand.h"

struct rn_stopwatch *rn_stopwatch_new(const struct rn_grain *grain)
{
	struct rn_stopwatch *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED) {
		rn_say("no memory for the times of calls on rank %d", rn_tracer.world_rank);
		return NULL;
	}
	rn_seg_init(&s->chunk, sizeof(struct rn_chunk));
	s->writer.grain = grain;
	return s;
}

void rn_stopwatch_free(struct rn_stopwatch *s)
{
	if (s)
		munmap(s, sizeof(*s));
}

void rn_stopwatch_forget(struct rn_stopwatch *s)
{
	if (s)
		rn_seg_init(&s->chunk, sizeof(struct rn_chunk));
}

/* Closes the chunk and stores it in the stream's memory and in the journal. The memory limit is
 * checked when a call is not predicted. Chunks use memory even if all calls are predicted, so the
 * prediction is discarded here. */
static bool keep_chunk(struct rn_stream *t, struct rn_stopwatch *s)
{
	uint64_t zero = rn_clock_ns(s->writer.zero);
	size_t room = RN_STOPWATCH_HEAD + rn_moments_most(&s->writer);
	unsigned char *bytes = rn_new(&t->mem, unsigned char, room);
	struct rn_buf b = rn_buf_over(bytes, room);

	if (!bytes)
		return false;
	rn_buf_add(&b, &zero, sizeof(zero));
	rn_moments_close(&s->writer, &b);
	if (rn_buf_status(&b) < 0 ||
	    !RN_SEG_PUSH(&s->chunk, &t->mem, struct rn_chunk, (struct rn_chunk){ bytes, b.len }))
		return false;
	rn_spool_fact(t, RN_FACT_MOMENTS, bytes, b.len);
	t->expected = &t->none;
	return true;
}

static void write_batch(struct rn_stream *t, bool stop)
{
	struct rn_stopwatch *s = t->stopwatch;
	RN_ERRNO_GUARD;
	bool full = false;

	if (s->n && !s->over) {
		if (!s->writer.coded.data)
			rn_moments_begin(&s->writer, s->writer.grain, rn_clock_started());
		full = rn_moments_add(&s->writer, s->batch, s->n);
	}
	s->n = 0;
	if (!s->over && (full || (stop && s->writer.n)) && !keep_chunk(t, s)) {
		s->over = true;
		rn_say("no memory for the times of more calls on rank %d", rn_tracer.world_rank);
	}
}

void rn_stopwatch_write(struct rn_stream *t)
{
	write_batch(t, false);
}

void rn_stopwatch_stop(struct rn_stream *t)
{
	if (t->stopwatch)
		write_batch(t, true);
}

void rn_stopwatch_marker(struct rn_stream *t, uint32_t func)
{
	struct rn_stopwatch *s = t->stopwatch;

	s->leaving = func == RN_N_rondo_leave;
	rn_stopwatch_note(t, s, func, func == RN_N_rondo_enter ? RN_MOMENT_ENTER : RN_MOMENT_NONE,
			  t->entered, t->entered);
}
