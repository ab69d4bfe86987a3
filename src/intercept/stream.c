/*
 * stream.c - making streams, and what a call needs that was never made before.
 */
#include "intercept/stream.h"

#include "base/seg.h"
#include "encode/raw.h"
#include "encode/sigs.h"
#include "intercept/config.h"
#include "intercept/tracer.h"

#include <errno.h>
#include <sys/mman.h>

#include "hand.h"

#define STREAM_LIMIT  ((size_t)1 << 30)
#define LITERAL_LIMIT (1u << 20)

_Thread_local struct rn_stream *rn_me __attribute__((tls_model("initial-exec")));
const uint64_t rn_no_words[RN_CALL_WORDS];
static const uint64_t nothing = UINT64_MAX;

static bool fill(struct rn_stream *t)
{
	struct rn_grammar_opts opts = { .literal_limit = LITERAL_LIMIT };

	rn_arena_init(&t->mem, STREAM_LIMIT);
	t->grammar = rn_grammar_new(&t->mem, &opts);
	t->words = rn_sigs_new(&t->mem);
	t->blobs = rn_sigs_new(&t->mem);
	t->texts = rn_sigs_new(&t->mem);
	rn_seg_init(&t->sig, sizeof(struct rn_sig *));
	rn_seg_init(&t->shape, sizeof(struct rn_sig *));
	rn_times_init(&t->times, &t->mem, rn_clock_scale());
	t->none.w = &nothing;
	t->expected = &t->none;
	t->top = t->buffer;
	t->last = rn_clock_now();
	return t->grammar && t->words && t->blobs && t->texts;
}

static struct rn_stream *make(void)
{
	struct rn_stream *t = MAP_FAILED;

	if (!rn_tracer_full())
		t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	if (t == MAP_FAILED)
		return NULL;
	if (fill(t) && rn_tracer_add_stream(t))
		return t;
	rn_arena_free(&t->mem);
	munmap(t, sizeof(*t));
	return NULL;
}

struct rn_stream *rn_stream_begin(void)
{
	int saved = errno;

	rn_tracer_start();
	if (rn_tracer_active()) {
		rn_me = make();
		if (!rn_me)
			__atomic_fetch_add(&rn_tracer.lost, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
	return rn_me;
}

void rn_stream_lost(struct rn_stream *t)
{
	t->lost++;
}

static struct rn_sig *new_sig(struct rn_stream *t, uint32_t id)
{
	struct rn_sig *s = rn_new(&t->mem, struct rn_sig, 1);
	size_t len;

	if (!s || !rn_seg_reserve(&t->sig, &t->mem, 1))
		return NULL;
	s->w = rn_sigs_get(t->words, id, &len);
	s->n = (uint32_t)(len / sizeof(uint64_t));
	s->id = id;
	rn_idpool_init(&s->slots);
	*RN_SEG_AT(&t->sig, struct rn_sig *, t->sig.n) = s;
	t->sig.n++;
	return s;
}

struct rn_sig *rn_stream_intern(struct rn_stream *t, const uint64_t *w, size_t n)
{
	int saved = errno;
	struct rn_sig *s = NULL;
	uint32_t id;

	if (rn_sigs_intern(t->words, w, n * sizeof(*w), &id) == RN_OK) {
		if (id < t->sig.n)
			s = *RN_SEG_AT(&t->sig, struct rn_sig *, id);
		else if (id == t->sig.n)
			s = new_sig(t, id);
	}
	errno = saved;
	return s;
}

static uint64_t keep(struct rn_sigs *table, const void *bytes, size_t len)
{
	int saved = errno;
	uint32_t id;
	int rc = rn_sigs_intern(table, bytes, len, &id);

	errno = saved;
	return rc == RN_OK ? id : RN_RAW_UNSET;
}

uint64_t rn_stream_text(struct rn_stream *t, const char *s, size_t n)
{
	return s ? keep(t->texts, s, n) : RN_RAW_NULL;
}

uint64_t rn_stream_blob(struct rn_stream *t, const uint64_t *w, size_t n)
{
	return keep(t->blobs, w, n * sizeof(*w));
}

uint64_t *rn_stream_scratch(struct rn_stream *t, size_t n)
{
	int saved = errno;
	void *p;

	if (n <= t->scratch_words)
		return t->scratch;
	n = (n + 4095) & ~(size_t)4095;
	p = mmap(NULL, n * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	errno = saved;
	if (p == MAP_FAILED)
		return NULL;
	if (t->scratch)
		munmap(t->scratch, t->scratch_words * sizeof(uint64_t));
	errno = saved;
	t->scratch = p;
	t->scratch_words = n;
	return t->scratch;
}

void rn_stream_scratch_back(struct rn_stream *t, uint64_t *scratch, size_t words)
{
	int saved = errno;

	if (t->scratch)
		munmap(t->scratch, t->scratch_words * sizeof(uint64_t));
	t->scratch = scratch;
	t->scratch_words = words;
	errno = saved;
}

/* ---- calls inside calls ---- */

static void put_marker(struct rn_stream *t, uint64_t function)
{
	uint64_t w[2] = { function, 0 };
	struct rn_sig *s = rn_stream_intern(t, w, 2);

	if (!s || rn_grammar_append(t->grammar, s->id) < 0)
		rn_stream_lost(t);
	rn_stream_expect(t);
}

/* Is the innermost call that was under way gone? Its frame is not below that of the next one. */
static bool was_left(const struct rn_stream *t, uintptr_t frame)
{
	uintptr_t of = (uintptr_t)t->top[-2], lo = t->places.stack_lo, n = t->places.stack_size;

	return of <= frame && of - lo < n && frame - lo < n;
}

/* It is recorded as it was made, without results. */
static void end_left(struct rn_stream *t)
{
	uint64_t *base = (uint64_t *)(uintptr_t)t->top[-1], *w = t->top - 2;
	uint64_t now = rn_clock_now();

	w = rn_raw_unset(base, w);
	rn_stream_call(t, &t->none, base, w, 1, now, now);
}

bool rn_stream_nested(struct rn_stream *t, const void *frame)
{
	while (t->top != t->buffer && was_left(t, (uintptr_t)frame))
		end_left(t);
	if (t->top > t->buffer + (RN_WORDS - RN_CALL_WORDS)) {
		rn_stream_lost(t);
		return false;
	}
	if (t->top == t->buffer || (t->off & ~RN_OFF_CALLS) || t->marks == RN_NESTED_MAX ||
	    (t->marks && t->mark[t->marks - 1] == t->top))
		return true;
	t->mark[t->marks++] = t->top;
	put_marker(t, RN_N_rondo_enter);
	return true;
}

/* What others were recorded inside of is recorded too. */
bool rn_stream_silent(struct rn_stream *t, const uint64_t *base)
{
	bool unwanted = (t->off & ~(RN_OFF_CALLS | RN_OFF_OVER)) ||
			!rn_config_wants_function((uint32_t)base[0]);

	if (t->off & RN_OFF_OVER) {
		t->late += !unwanted;
		return true;
	}
	return unwanted && !(t->marks && t->mark[t->marks - 1] > base);
}

void rn_stream_unnest(struct rn_stream *t, const uint64_t *base)
{
	if (t->mark[t->marks - 1] <= base)
		return;
	t->marks--;
	put_marker(t, RN_N_rondo_leave);
}
