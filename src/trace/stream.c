/* stream.c - allocates streams, and records calls that were not predicted. */
#include "trace/stream.h"

#include "base/errno_guard.h"
#include "base/intern.h"
#include "base/vec.h"
#include "encode/call_words.h"
#include "encode/call_words_visit.h"
#include "encode/reintern.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/bypass.h"
#include "trace/callstack.h"
#include "trace/elastic.h"
#include "trace/stream_checkpoint.h"
#include "trace/stream_journal.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "hand.h"

_Thread_local struct rn_stream *rn_me __attribute__((tls_model("initial-exec")));
const uint64_t rn_no_words[RN_CALL_WORDS];
static const uint64_t nothing = UINT64_MAX;

/* Initializes the memory, tables and grammar of a segment without calls. */
static bool fill_memory(struct rn_stream *t, size_t limit)
{
	struct rn_grammar_opts opts = { .literal_limit = RN_LITERAL_LIMIT };

	rn_arena_init(&t->mem, limit);
	t->grammar = rn_grammar_new(&t->mem, &opts);
	t->words = rn_sigs_new(&t->mem);
	t->blobs = rn_sigs_new(&t->mem);
	t->texts = rn_sigs_new(&t->mem);
	t->families = rn_sigs_new(&t->mem);
	rn_seg_init(&t->family, sizeof(struct rn_family *));
	rn_seg_init(&t->holes, sizeof(struct rn_holes *));
	rn_seg_init(&t->sig, sizeof(struct rn_sig *));
	rn_seg_init(&t->shape, sizeof(struct rn_sig *));
	rn_times_init(&t->times, &t->mem, rn_clock_scale());
	t->expected = &t->none;
	return t->grammar && t->words && t->blobs && t->texts && t->families;
}

static bool fill(struct rn_stream *t)
{
	rn_seg_init(&t->ended, sizeof(uint64_t));
	t->none.w = &nothing;
	t->none.id = RN_LIVE_HERE;
	t->top = t->buffer;
	t->live.buffer = t->live.top = (uint64_t)(uintptr_t)t->buffer;
	t->live.expected = RN_LIVE_HERE;
	t->live.limit = t->limit = UINT64_MAX;
	t->ring = t->no_ring;
	t->ring_mask = RN_NO_RING - 1;
	t->ring_end = UINT64_MAX;
	t->values = t->no_values;
	t->values_mask = RN_HOLES_MAX - 1;
	t->values_end = UINT64_MAX;
	if (rn_config.grain)
		t->stopwatch = rn_stopwatch_new(rn_config.grain);
	t->timed = t->stopwatch != NULL;
	return fill_memory(t, rn_config.memory);
}

struct rn_stream *rn_stream_new(void)
{
	struct rn_stream *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	if (fill(t))
		return t;
	rn_stream_free(t);
	return NULL;
}

void rn_stream_free(struct rn_stream *t)
{
	rn_stopwatch_free(t->stopwatch);
	rn_arena_free(&t->mem);
	munmap(t, sizeof(*t));
}

static void append_marker(struct rn_stream *t, const struct rn_sig *s, uint32_t function)
{
	if (!s)
		rn_stream_lost(t);
	else if (rn_stream_number(t, s->id) && t->stopwatch)
		rn_stopwatch_marker(t, function);
}

/* The process's first thread is implied at the start of a stream. In a stream that many threads
 * have used, the lineages are a series. */
void rn_stream_set_thread(struct rn_stream *t, int64_t lineage)
{
	uint64_t w[] = { RN_N_rondo_thread, (uint64_t)lineage, 0 };

	if (t->off || t->lineage == lineage)
		return;
	t->lineage = lineage;
	append_marker(t, rn_elastic_call(t, w, sizeof(w) / sizeof(*w)), RN_N_rondo_thread);
}

/* Can be called by a signal handler that interrupts this function. */
void rn_stream_lost(struct rn_stream *t)
{
	t->live.lost = __atomic_add_fetch(&t->lost, 1, __ATOMIC_RELAXED);
}

void rn_stream_turn(struct rn_stream *t, uint8_t off, bool on)
{
	uint8_t now = on ? __atomic_or_fetch(&t->off, off, __ATOMIC_SEQ_CST)
			 : __atomic_and_fetch(&t->off, (uint8_t)~off, __ATOMIC_SEQ_CST);

	t->live.off = now;
}

/* Adds the next signature, whose words are in the table. */
static struct rn_sig *add_sig(struct rn_stream *t, uint32_t id)
{
	struct rn_sig *s = rn_new(&t->mem, struct rn_sig, 1);
	size_t len;

	if (!s || !rn_seg_reserve(&t->sig, &t->mem, 1))
		return NULL;
	s->words = s->w = rn_sigs_get(t->words, id, &len);
	s->n = (uint32_t)(len / sizeof(uint64_t));
	s->id = id;
	rn_idpool_init(&s->slots);
	RN_SEG_PUT(&t->sig, struct rn_sig *, s);
	return s;
}

/* Makes s a signature with elastic slots. */
static bool add_holes(struct rn_stream *t, struct rn_sig *s)
{
	struct rn_holes *h = rn_holes_new(&t->mem, s->words, s->n);

	if (!h || !rn_holes_put(&t->holes, &t->mem, s->id, h))
		return false;
	s->w = &nothing;
	s->holes = h;
	return true;
}

/* Signature ids equal the positions of their log records. The record is therefore written even if
 * the slots could not be added. */
static struct rn_sig *new_sig(struct rn_stream *t, uint32_t id, bool holes)
{
	struct rn_sig *s = add_sig(t, id);

	if (!s)
		return NULL;
	if (holes)
		add_holes(t, s);
	rn_spool_fact(t, s->holes ? RN_FACT_ELASTIC : RN_FACT_CALL, s->words,
		      s->n * sizeof(*s->words));
	return s;
}

struct rn_sig *rn_stream_intern(struct rn_stream *t, const uint64_t *w, size_t n, bool holes)
{
	RN_ERRNO_GUARD;
	struct rn_sig *s = NULL;
	uint32_t id;

	if (rn_sigs_intern(t->words, w, n * sizeof(*w), &id) == RN_OK) {
		if (id < t->sig.n)
			s = *RN_SEG_AT(&t->sig, struct rn_sig *, id);
		else if (id == t->sig.n)
			s = new_sig(t, id, holes);
	}
	/* A parameter value can equal RN_RAW_HOLE, so that the words equal those of a signature
	 * with slots. Such a call cannot be recorded. */
	return s && !holes == !s->holes ? s : NULL;
}

/* ---- segments ---- */

#define ONE_CALL      ((size_t)64 << 20) /* memory reserved for a call and its nested calls */
#define STREAM_LEAST  ((size_t)1 << 20)  /* minimum memory of a stream, for any number of streams */
#define SEGMENT_LEAST ((size_t)512 << 10) /* minimum memory of a segment that ends */

/* Tables of the old segment, while the next one is initialized. */
struct held {
	struct rn_grammar *grammar;
	struct rn_times times;
	struct rn_arena mem;
	struct rn_sigs *words, *blobs, *texts;
	struct rn_sigs *families;
	struct rn_seg family, holes, sig, shape;
};

static struct held hold(const struct rn_stream *t)
{
	return (struct held){ t->grammar,  t->times,  t->mem,   t->words, t->blobs, t->texts,
			      t->families, t->family, t->holes, t->sig,   t->shape };
}

static void put_back(struct rn_stream *t, const struct held *h)
{
	rn_arena_free(&t->mem);
	t->grammar = h->grammar;
	t->times = h->times;
	t->mem = h->mem;
	t->words = h->words;
	t->blobs = h->blobs;
	t->texts = h->texts;
	t->families = h->families;
	t->family = h->family;
	t->holes = h->holes;
	t->sig = h->sig;
	t->shape = h->shape;
}

/* Copies a signature that has open requests to the new segment. Requests are named by its creator
 * number and their indices, so both remain unchanged. */
static bool carry_sig(struct rn_stream *t, struct rn_carrier *c, const struct rn_sig *from)
{
	struct rn_sig *s;
	uint32_t id;

	if (rn_carry_call(c, from->id, &id) < 0 || id != t->sig.n || !(s = add_sig(t, id)) ||
	    (from->holes && !add_holes(t, s)) ||
	    !rn_seg_touch(&t->shape, &t->mem, from->shape - 1) ||
	    rn_idpool_copy(&s->slots, &from->slots, &t->mem) < 0)
		return false;
	s->shape = from->shape;
	s->request_kind = from->request_kind;
	*RN_SEG_AT(&t->shape, struct rn_sig *, s->shape - 1) = s;
	return true;
}

static bool carry_sigs(struct rn_stream *t, struct rn_carrier *c, const struct held *h)
{
	bool good = rn_seg_skip(&t->shape, &t->mem, h->shape.n);

	for (uint32_t i = 0; i < h->sig.n && good; i++) {
		const struct rn_sig *s = *RN_SEG_AT(&h->sig, struct rn_sig *, i);

		if (s->shape && rn_idpool_any(&s->slots))
			good = carry_sig(t, c, s);
	}
	return good;
}

/* Initializes the next segment: signatures with open requests, and the data that the words refer
 * to. The words are changed only on success. */
static bool begin_anew(struct rn_stream *t, const struct held *h, uint64_t *base, size_t n)
{
	struct rn_arena scratch;
	struct rn_carrier c = { .from = { h->words, h->blobs, h->texts }, .scratch = &scratch };
	uint64_t *copy;
	bool good = fill_memory(t, SIZE_MAX);

	rn_arena_init(&scratch, SIZE_MAX);
	c.to = (struct rn_tables){ t->words, t->blobs, t->texts };
	copy = rn_new(&scratch, uint64_t, n);
	if (copy)
		memcpy(copy, base, n * sizeof(*copy));
	good = good && copy && carry_sigs(t, &c, h) && rn_carry_words(&c, copy, n) == RN_OK &&
	       rn_spool_segment(t);
	if (good)
		memcpy(base, copy, n * sizeof(*copy));
	rn_arena_free(&scratch);
	return good;
}

/* Frees the tables, which are in the journal, and starts a new segment. On failure the stream is
 * unchanged. */
static void start_segment(struct rn_stream *t, uint64_t *base, size_t n)
{
	struct held h;

	if (!rn_spool_close(t))
		return;
	h = hold(t);
	if (begin_anew(t, &h, base, n)) {
		rn_arena_free(&h.mem);
		rn_stopwatch_forget(t->stopwatch);
	} else {
		put_back(t, &h);
	}
}

static size_t count(struct rn_stream *t)
{
	size_t now = t->mem.mapped + rn_spool_mapped(t), more = now - t->counted;

	t->looked_at = t->mem.mapped;
	t->counted = now;
	return __atomic_add_fetch(&rn_tracer.recorded, more, __ATOMIC_RELAXED);
}

/* A segment ends when half of the memory limit is used; the other half is reserved for the demand
 * of one call. The stream must exceed its share. Streams of idle threads retain their memory. */
static bool has_enough(const struct rn_stream *t, size_t total)
{
	size_t half = rn_config.memory / 2;

	return total > half && t->counted > half / rn_tracer_nstreams() &&
	       t->counted > SEGMENT_LEAST && t->counted > 2 * t->least;
}

/* Checks the memory limit after the arena has grown. A new segment can start only if no other call
 * is in flight, because its words would refer to the old tables. */
static void look_at_memory(struct rn_stream *t, uint64_t *base, size_t n)
{
	size_t total = count(t), left;

	if (t->spooled && base == t->buffer && !t->marks && has_enough(t, total)) {
		/* Either the thread that ends the process sees `busy`, or this thread sees
		 * RN_OFF_OVER. */
		__atomic_store_n(&t->busy, true, __ATOMIC_SEQ_CST);
		if (!(__atomic_load_n(&t->off, __ATOMIC_SEQ_CST) & RN_OFF_OVER))
			start_segment(t, base, n);
		__atomic_store_n(&t->busy, false, __ATOMIC_RELEASE);
		total = count(t);
		t->least = t->counted;
	}
	left = rn_config.memory > total ? rn_config.memory - total : 0;
	if (t->spooled && left < ONE_CALL)
		left = ONE_CALL;
	if (t->mem.mapped + left < STREAM_LEAST)
		left = STREAM_LEAST - t->mem.mapped;
	t->mem.limit = t->mem.mapped + left;
}

/* For a stack of a cluster, appends the stack's id as the last word, and sets the cluster's first
 * stack in the first word, which is then equal for all calls from the cluster. A call that is too
 * long for elastic slots retains its own stack. Returns the number of words. */
static size_t put_stack(uint64_t *base, size_t n)
{
	uint32_t site = RN_RAW_SITE(base[0]);

	if (n == RN_HOLES_WORDS || !rn_holes_can(base, n)) {
		base[0] &= ~RN_RAW_ALIKE;
		return n;
	}
	base[0] = RN_RAW_HEAD(RN_RAW_FUNCTION(base[0]), rn_slack_first(site)) | RN_RAW_ALIKE;
	base[n] = site;
	return n + 1;
}

struct rn_sig *rn_stream_other(struct rn_stream *t, uint64_t *base, size_t n)
{
	RN_ERRNO_GUARD;
	struct rn_sig *s;

	if (base[0] & RN_RAW_ALIKE)
		n = put_stack(base, n);
	if (t->mem.mapped != t->looked_at)
		look_at_memory(t, base, n);
	s = rn_elastic_call(t, base, n);
	if (!s) {
		rn_stream_lost(t);
		rn_stream_show_expected(t);
	}
	return s;
}

void rn_stream_marker(struct rn_stream *t, const uint64_t *w, size_t n)
{
	append_marker(t, rn_stream_intern(t, w, n, false), RN_RAW_FUNCTION(w[0]));
	if (!t->marks)
		rn_stream_show_expected(t);
}

static uint64_t keep(struct rn_stream *t, enum rn_fact type, struct rn_sigs *table,
		     const void *bytes, size_t len)
{
	RN_ERRNO_GUARD;
	uint32_t id, n = rn_sigs_count(table);
	int rc = rn_sigs_intern(table, bytes, len, &id);

	if (rn_sigs_count(table) > n)
		rn_spool_fact(t, type, bytes, len);
	return rc == RN_OK ? id : RN_RAW_UNSET;
}

uint64_t rn_stream_text(struct rn_stream *t, const char *s, size_t n)
{
	return s ? keep(t, RN_FACT_TEXT, t->texts, s, n) : RN_RAW_NULL;
}

uint64_t rn_stream_blob(struct rn_stream *t, const uint64_t *w, size_t n)
{
	return keep(t, RN_FACT_BLOB, t->blobs, w, n * sizeof(*w));
}

uint64_t *rn_stream_scratch(struct rn_stream *t, size_t n)
{
	RN_ERRNO_GUARD;
	void *p;

	if (n <= t->scratch_words)
		return t->scratch;
	n = (n + 4095) & ~(size_t)4095;
	p = mmap(NULL, n * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	rn_stream_scratch_back(t, p, n);
	return t->scratch;
}

#define PAGE 4096u
#define LONG \
	((size_t)1 << 20) /* elements; for longer arrays, mincore checks that they are mapped */

static bool is_mapped(const void *p, size_t len)
{
	unsigned char in_core[4096];
	uintptr_t at = (uintptr_t)p / PAGE * PAGE, end = (uintptr_t)p + len;
	size_t n;

	for (; at < end; at += n) {
		n = end - at < sizeof(in_core) * PAGE ? end - at : sizeof(in_core) * PAGE;
		if (mincore((void *)at, n, in_core) < 0)
			return false;
	}
	return true;
}

uint64_t *rn_stream_room(struct rn_stream *t, const void *array, size_t len, size_t bytes, size_t n)
{
	RN_ERRNO_GUARD;
	bool there = len <= LONG || (len < PTRDIFF_MAX / bytes && is_mapped(array, len * bytes));

	return there ? rn_stream_scratch(t, len * n) : NULL;
}

void rn_stream_scratch_back(struct rn_stream *t, uint64_t *scratch, size_t words)
{
	RN_ERRNO_GUARD;

	if (t->scratch)
		munmap(t->scratch, t->scratch_words * sizeof(uint64_t));
	t->scratch = scratch;
	t->scratch_words = words;
}

/* ---- nested calls ---- */

static void put_marker(struct rn_stream *t, uint64_t function)
{
	const uint64_t w[2] = { function, 0 };

	append_marker(t, rn_stream_intern(t, w, 2, false), (uint32_t)function);
}

/* Whether the innermost call in flight was left without returning. Its frame then has no higher
 * address than the frame of the next call. Both frames must be on the thread's stack. */
static bool was_left(const struct rn_stream *t, const uint64_t *top, uintptr_t frame)
{
	uintptr_t of = (uintptr_t)top[-2], lo = t->places.stack_lo, n = t->places.stack_size;

	return of <= frame && of - lo < n && frame - lo < n;
}

/* Records the innermost call, whose words end at `top`, without results. Returns where its words
 * began. The tracer must be working on the stream. */
static uint64_t *end_left(struct rn_stream *t, uint64_t *top)
{
	uint64_t *base = (uint64_t *)(uintptr_t)top[-1], *w = top - 2;
	uint64_t now = rn_clock_now();

	w = rn_raw_unset(base, w);
	rn_stream_call(t, NULL, base, w, now, now);
	return base;
}

void rn_stream_unwind(struct rn_stream *t)
{
	uint64_t *top = rn_stream_enter(t);

	while (top && top != t->buffer)
		top = end_left(t, top);
	rn_stream_leave(t, t->buffer);
}

/* ---- words of calls in flight ---- */

void rn_stream_show(struct rn_stream *t, const uint64_t *base, const uint64_t *end)
{
	size_t n = (size_t)(end - t->buffer);

	if (n + 2 > RN_LIVE_WORDS)
		return;
	for (size_t i = 0; i < n; i++)
		t->words_in_file[i] = t->buffer[i];
	t->words_in_file[n + 1] = (uint64_t)(uintptr_t)base;
	__atomic_store_n(&t->live.expected, RN_LIVE_HERE, __ATOMIC_RELEASE);
}

/* Makes the next call write its own words to the journal; the words below them remain there. */
static void expect_nothing(struct rn_stream *t)
{
	t->expected = &t->none;
	t->live.expected = RN_LIVE_HERE;
}

static void mark(struct rn_stream *t, uint64_t *top)
{
	if ((t->off & ~RN_OFF_CALLS) || t->marks == RN_NESTED_MAX ||
	    (t->marks && t->mark[t->marks - 1] == top))
		return;
	t->marked[t->marks] = t->entered;
	t->mark[t->marks++] = top;
	put_marker(t, RN_N_rondo_enter);
}

bool rn_stream_nested(struct rn_stream *t, const void *frame)
{
	uint64_t *top = rn_stream_enter(t);

	while (top && top != t->buffer && was_left(t, top, (uintptr_t)frame))
		top = end_left(t, top);
	if (!top || top > t->buffer + (RN_WORDS - RN_CALL_WORDS)) {
		if (t->off & RN_OFF_OVER)
			t->late++;
		else
			rn_stream_lost(t);
		rn_stream_leave(t, top);
		return false;
	}
	if (top != t->buffer) {
		rn_stream_show(t, (uint64_t *)(uintptr_t)top[-1], top - 2);
		mark(t, top);
		expect_nothing(t);
	}
	rn_stream_leave(t, top);
	return true;
}

static bool is_unwanted(const struct rn_stream *t, const uint64_t *base)
{
	return (t->off & ~(RN_OFF_CALLS | RN_OFF_OVER)) ||
	       !rn_config_wants_function((uint32_t)base[0]);
}

/* A call with recorded nested calls is also recorded. */
bool rn_stream_silent(const struct rn_stream *t, const uint64_t *base)
{
	return (t->off & RN_OFF_OVER) ||
	       (is_unwanted(t, base) && !(t->marks && t->mark[t->marks - 1] > base));
}

static bool skips(struct rn_stream *t, const uint64_t *base)
{
	if (t->off & RN_OFF_OVER)
		t->late += !is_unwanted(t, base);
	else if (t->off & RN_OFF_ORDER)
		rn_light_count(t, base[0]);
	return rn_stream_silent(t, base);
}

/* Called when the call whose words begin at `base` ends and calls with nested calls are in flight.
 * The call is either nested itself, or the innermost one that has nested calls: then a `leave`
 * marker is appended. */
static void unnest(struct rn_stream *t, const uint64_t *base)
{
	if (t->mark[t->marks - 1] <= base) {
		t->live.entered = t->entered = t->marked[t->marks - 1];
		return;
	}
	t->marks--;
	put_marker(t, RN_N_rondo_leave);
}

/* ---- calls outside the fast path ---- */

static struct rn_sig *call_odd(struct rn_stream *t, struct rn_sig *s, uint64_t *base, uint64_t *w,
			       uint64_t t0, uint64_t t1)
{
	if (t->off && skips(t, base))
		return NULL;
	if (t->marks)
		unnest(t, base);
	if (!s && !(s = rn_stream_other(t, base, (size_t)(w - base))))
		return NULL;
	if (rn_stream_append(t, s, t0, t1) && t->stopwatch)
		rn_stopwatch_call(t, t->stopwatch, RN_RAW_FUNCTION(s->words[0]), t0, t1);
	return s;
}

struct rn_sig *rn_stream_call_odd(struct rn_stream *t, struct rn_sig *s, uint64_t *base,
				  uint64_t *w, uint64_t t0, uint64_t t1)
{
	s = call_odd(t, s, base, w, t0, t1);
	if (base != t->buffer)
		expect_nothing(t);
	else
		rn_stream_show_expected(t);
	return s;
}
