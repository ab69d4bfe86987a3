/* stream_journal.c - see stream_journal.h. */
#include "trace/stream_journal.h"

#include "base/errno_guard.h"
#include "base/intern.h"
#include "base/tick_clock.h"
#include "journal/event_tail.h"
#include "journal/journal_copy.h"
#include "journal/journal_file.h"
#include "model/chunk_list.h"
#include "runtime/outcome.h"
#include "runtime/process_log.h"
#include "runtime/tracer_state.h"
#include "trace/stream.h"
#include "trace/stream_checkpoint.h"
#include "track/memory.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool any;         /* a stream of this process is in the file */
	bool in_segments; /* a stream of this process has more than one segment */
	bool copying;
	struct rn_copied copied; /* state of the copy of the process log */
	uint32_t modules;        /* number of modules in the file; atomic */
} state;

/* ---- a stream ---- */

/* Stops writing the stream to the file after an error. The contents of the file remain valid. Calls
 * are written to a ring that is never read. */
static void freeze(struct rn_stream *t, int error)
{
	t->live.limit = t->limit = rn_spool_sealed(t)->calls.page ? t->calls : 0;
	t->spooled = false;
	t->ring = t->no_ring;
	t->ring_mask = RN_NO_RING - 1;
	t->ring_end = UINT64_MAX;
	t->values = t->no_values;
	t->values_mask = RN_HOLES_MAX - 1;
	t->values_end = UINT64_MAX;
	rn_process_log_fail(error);
}

/* Appends the modules that calls may refer to and that are not in the file yet. */
static void add_modules(void)
{
	uint64_t n = __atomic_load_n(&state.modules, __ATOMIC_RELAXED);
	const char *name;

	while ((name = rn_mem_module((uint32_t)n).label)) {
		rn_process_log_add(RN_FACT_MODULE, &n, sizeof(n), name, strlen(name));
		n++;
	}
	__atomic_store_n(&state.modules, (uint32_t)n, __ATOMIC_RELAXED);
}

void rn_spool_fact(struct rn_stream *t, enum rn_fact type, const void *bytes, size_t n)
{
	int rc;

	if (!t->spooled)
		return;
	if (type == RN_FACT_CALL || type == RN_FACT_ELASTIC)
		add_modules();
	rc = rn_log_add(&t->log, type, bytes, n, NULL, 0);
	if (rc)
		freeze(t, rc);
}

static void add_facts(struct rn_stream *t, enum rn_fact type, const struct rn_sigs *table)
{
	for (uint32_t i = 0; i < rn_sigs_count(table) && t->spooled; i++) {
		size_t n;
		const void *bytes = rn_sigs_get(table, i, &n);

		rn_spool_fact(t, type, bytes, n);
	}
}

static void add_tables(struct rn_stream *t)
{
	add_facts(t, RN_FACT_TEXT, t->texts);
	add_facts(t, RN_FACT_BLOB, t->blobs);
	for (uint32_t i = 0; i < t->sig.n && t->spooled; i++) {
		const struct rn_sig *s = *RN_SEG_AT(&t->sig, struct rn_sig *, i);

		rn_spool_fact(t, s->holes ? RN_FACT_ELASTIC : RN_FACT_CALL, s->words,
			      s->n * sizeof(*s->words));
	}
}

static void add_shapes(struct rn_stream *t)
{
	for (uint32_t i = 0; i < t->shape.n; i++) {
		uint64_t call = (*RN_SEG_AT(&t->shape, struct rn_sig *, i))->id;

		rn_spool_fact(t, RN_FACT_SHAPE, &call, sizeof(call));
	}
}

static void add_moments(struct rn_stream *t)
{
	for (uint32_t i = 0; t->stopwatch && i < t->stopwatch->chunk.n; i++) {
		struct rn_chunk *c = RN_SEG_AT(&t->stopwatch->chunk, struct rn_chunk, i);

		rn_spool_fact(t, RN_FACT_MOMENTS, c->bytes, c->len);
	}
}

bool rn_spool_order(struct rn_stream *t, size_t bytes, struct rn_mapped *out)
{
	int rc = rn_spill_claim(&rn_process_log.file, RN_EXTENT_ORDER, t->number, bytes, NULL, out);

	if (rc)
		freeze(t, rc);
	return rc == 0;
}

/* ---- checkpoints ---- */

static void seal_or_freeze(struct rn_stream *t, bool whole)
{
	int rc = rn_spool_seal_now(t, whole);

	if (rc)
		freeze(t, rc);
}

void rn_spool_seal(struct rn_stream *t)
{
	RN_ERRNO_GUARD;

	seal_or_freeze(t, true);
}

void rn_spool_seal_times(struct rn_stream *t)
{
	RN_ERRNO_GUARD;

	if (t->spooled)
		seal_or_freeze(t, false);
}

/* ---- copies ---- */

#define COPY_FIRST ((uint64_t)10 * 1000000000) /* nanoseconds; shorter runs make no copy */
#define COPY_LAST  ((uint64_t)320 * 1000000000)
#define COPY_SHARE 50                     /* a copy may use 1/COPY_SHARE of the time */
#define COPY_CLOCK CLOCK_MONOTONIC_COARSE /* resolution in milliseconds, at little cost */

/* The state of the stream for the copy. `top`: the end of the words that are copied. */
static struct rn_live state_of(const struct rn_stream *t, const uint64_t *top)
{
	return (struct rn_live){ .extent = t->in_file.head,
				 .buffer = (uint64_t)(uintptr_t)t->buffer,
				 .top = (uint64_t)(uintptr_t)top,
				 .entered = t->entered,
				 .left = t->left,
				 .limit = t->limit,
				 .lost = t->lost,
				 .sealed = t->sealed,
				 .seal = { t->seal[0], t->seal[1] },
				 .expected = RN_LIVE_HERE,
				 .off = t->off };
}

/* Returns the end of the words of all calls in flight except the innermost. */
static const uint64_t *outer_end(const struct rn_stream *t)
{
	return t->marks ? t->mark[t->marks - 1] : t->buffer;
}

static int copy_one(struct rn_stream *t)
{
	const uint64_t *top = outer_end(t);
	struct rn_live live = state_of(t, top);
	const struct rn_event_state *e = t->events;
	int rc = rn_copy_stream(&rn_process_log.copies, &live, t->buffer, (size_t)(top - t->buffer),
				&t->log, &t->copied);

	if (rc == 0 && e && e->in_file) {
		struct rn_order_tail tail = { e->extent, (uint64_t)e->chunks << 32 | e->at,
					      e->events };

		rc = rn_copy_order(&rn_process_log.copies, &tail, &t->copied);
	}
	return rc;
}

/* Copies the process log, and the stream if t is not NULL. False if another thread is copying, or
 * if copying has failed or is disabled. */
static bool make_copy(struct rn_stream *t)
{
	int rc;

	if (!rn_process_log.folder.in_memory ||
	    __atomic_test_and_set(&state.copying, __ATOMIC_ACQUIRE))
		return false;
	rc = rn_copy_begin(&rn_process_log.copies);
	if (rc == 0) {
		rc = rn_copy_log(&rn_process_log.copies, rn_process_log_end(), &state.copied);
		if (rc == 0 && t)
			rc = copy_one(t);
		rc = rn_copy_end(&rn_process_log.copies, rc);
	}
	__atomic_clear(&state.copying, __ATOMIC_RELEASE);
	if (rc)
		rn_process_log_copy_failed(rc);
	return rc == 0;
}

static bool is_copy_due(struct rn_stream *t)
{
	uint64_t now = rn_process_log.folder.in_memory ? rn_clock_read(COPY_CLOCK) : 0;

	if (rn_process_log.folder.in_memory && t->copy_next == 0) {
		t->copy_period = COPY_FIRST;
		t->copy_next = now + COPY_FIRST;
	}
	return rn_process_log.folder.in_memory && now >= t->copy_next;
}

/* Copies all data of the stream, once its areas are not those that the existing copy refers to. A
 * full checkpoint changes both areas; a checkpoint of the time statistics changes only their own.
 * Three checkpoints are sufficient from any state. */
static bool copy_stream(struct rn_stream *t)
{
	for (int i = 0; i < 4 && t->spooled; i++) {
		bool whole = t->calls != rn_spool_sealed(t)->upto ||
			     t->copied.calls == rn_spool_sealed(t)->calls.page;

		if (!whole && rn_copy_can(rn_spool_sealed(t), &t->copied))
			return make_copy(t);
		seal_or_freeze(t, whole);
	}
	return false;
}

/* Makes a copy and doubles the interval to the next one. This limits the total cost: the directory
 * may be slow, and many nodes may write to it. */
static void make_due_copy(struct rn_stream *t)
{
	uint64_t began = rn_clock_read(COPY_CLOCK), wait;

	copy_stream(t);
	wait = (rn_clock_read(COPY_CLOCK) - began) * COPY_SHARE;
	if (t->copy_period < COPY_LAST)
		t->copy_period *= 2;
	t->copy_next = began + (wait > t->copy_period ? wait : t->copy_period);
}

void rn_spool_due(struct rn_stream *t)
{
	RN_ERRNO_GUARD;

	if (is_copy_due(t))
		make_due_copy(t);
	else
		seal_or_freeze(t,
			       t->calls == rn_spool_sealed(t)->upto + rn_spool_sealed(t)->places);
}

void rn_spool_order_sealed(struct rn_stream *t)
{
	RN_ERRNO_GUARD;

	if (t->spooled && is_copy_due(t))
		make_due_copy(t);
}

void rn_spool_adopt(struct rn_stream *t)
{
	RN_ERRNO_GUARD;
	int rc;

	if (!rn_process_log.file.head ||
	    t->in_file.at) /* the stream, or a prefix of it, is in the file */
		return;
	t->log = (struct rn_log){ .spill = &rn_process_log.file, .stream = t->number };
	rc = rn_spill_claim(&rn_process_log.file, RN_EXTENT_LIVE, t->number,
			    sizeof(t->live) + sizeof(t->words_in_file), &t->live, &t->in_file);
	if (rc) {
		rn_process_log_fail(rc);
	} else {
		t->spooled = state.any = true;
		add_tables(t);
		add_shapes(t);
		add_moments(t);
		if (rn_outcome_ops)
			rn_outcome_ops->stream_stored(t);
		/* Two checkpoints, so that both areas exist before the program continues. */
		for (int i = 0; i < 2 && t->spooled; i++)
			rn_spool_seal(t);
	}
}

/* ---- segments ---- */

bool rn_spool_in_segments(void)
{
	return __atomic_load_n(&state.in_segments, __ATOMIC_RELAXED);
}

#define COPY_TRIES 10000 /* attempts, 1 ms apart; then the other copy is assumed stuck */

/* The segment gets no further checkpoint. If the journal is copied, the segment must therefore be
 * copied now. If another thread is copying its own stream, this thread waits. */
bool rn_spool_close(struct rn_stream *t)
{
	static const struct timespec moment = { 0, 1000000 };

	seal_or_freeze(t, true);
	for (int i = 0;
	     i < COPY_TRIES && rn_process_log.folder.in_memory && t->spooled && !copy_stream(t);
	     i++)
		nanosleep(&moment, NULL);
	return t->spooled;
}

/* Until the first checkpoint of the new segment, the file ends with the previous segment. */
bool rn_spool_segment(struct rn_stream *t)
{
	struct rn_seal last = *rn_spool_sealed(t);

	rn_spool_fact(t, RN_FACT_SEGMENT, &last, sizeof(last));
	add_tables(t);
	if (!t->spooled)
		return false;
	t->segment++;
	t->pieces = 0;
	rn_spool_seal(t);
	if (!t->spooled) {
		t->segment--;
		return false;
	}
	rn_spool_leave_areas(t, &last);
	__atomic_store_n(&state.in_segments, true, __ATOMIC_RELAXED);
	return true;
}

/* ---- the end ---- */

bool rn_spool_any(void)
{
	return rn_process_log.file.head && state.any;
}

/* Copies all streams, except those of threads that are still running. */
static bool copy_all(const struct rn_stream *me)
{
	bool all = true;

	for (struct rn_stream *t = rn_tracer.streams; t && rn_process_log.folder.in_memory;
	     t = t->next)
		all = (t == me || !rn_tracer.active) && copy_stream(t) && all;
	return all;
}

/* The end record is the last one, in the copy as well. */
void rn_spool_note(const struct rn_stream *me, const char *how, struct rn_fact_end end, bool copied)
{
	RN_ERRNO_GUARD;
	bool all = copied && rn_process_log.file.head && copy_all(me);

	for (const struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		if (!t->in_file.at)
			end.lost += t->calls + t->lost;
		end.lost += t->events && !t->events->counted ? t->events->events : 0;
	}
	rn_process_log_add(RN_FACT_END, &end, sizeof(end), how, strlen(how));
	if (all)
		make_copy(NULL);
}

/* Replaces the mapping of the file in a forked child with private memory, so that the child does
 * not write to the file. If out of memory, the mapping remains: the child makes no calls, so only
 * the call in flight could be written there. The system call is made directly, because UCX replaces
 * mmap with a function that acquires a lock, which a thread of the parent may hold. */
static void leave_file(struct rn_stream *t)
{
	size_t bytes = t->in_file.head.pages * RN_SPILL_PAGE;

	if (t->in_file.at)
		syscall(SYS_mmap, t->in_file.at, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	t->spooled = false;
}

void rn_spool_child(void)
{
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		leave_file(t);
	rn_spill_forget(&rn_process_log.file);
}
