/*
 * call_times.c - see call_times.h.
 *
 * The same functions write and read, as in the coder. A chunk as bytes:
 *
 *   quantization levels, symbols, start time, calls in flight and their start times, coded times
 */
#include "encode/call_times.h"

#include <assert.h>
#include <string.h>

#include "base/varint.h"

#define WIDE_INDEX 256u /* exceeds every result of wide_index */
#define MOMENT_MAX 128u /* upper bound of the bytes of one call's times */

/* A chunk while it is written or read. */
struct chunk {
	const struct rn_grain *grain;
	struct rn_coder *c;
	struct rn_moment_model *model;
	struct rn_moment_state *state;
};

/* ---- numbers ---- */

/* Counts a use of entry j. The entry moves up by one if it is then more frequent than the previous
 * one. */
static void count_pick(struct rn_picks *p, uint32_t j)
{
	uint16_t at = p->at[j], times;

	assert(j < p->n && p->n <= RN_PICKS);
	p->last = at;
	if (++p->times[j] == UINT16_MAX)
		for (uint32_t i = 0; i < p->n; i++)
			p->times[i] /= 2;
	times = p->times[j];
	if (j == 0 || times <= p->times[j - 1])
		return;
	p->at[j] = p->at[j - 1];
	p->times[j] = p->times[j - 1];
	p->at[j - 1] = at;
	p->times[j - 1] = times;
}

/* Adds a new value as the last entry. If the table is full, it replaces the last one. */
static void new_pick(struct rn_picks *p, uint32_t v)
{
	assert(v <= UINT16_MAX && p->n <= RN_PICKS);
	if (p->n < RN_PICKS)
		p->n++;
	p->at[p->n - 1] = (uint16_t)v;
	p->times[p->n - 1] = 1;
	p->last = (uint16_t)v;
}

/* Codes v, which must be below limit <= 2^16. */
static uint32_t code_pick(struct rn_coder *c, struct rn_picks *p, uint32_t v, uint32_t limit)
{
	assert(limit > 0 && limit <= (uint32_t)1 << 16);
	for (uint32_t j = 0; j < p->n; j++)
		if (rn_coder_bit(c, &p->is[j][p->at[j] == p->last], v == p->at[j])) {
			v = p->at[j];
			count_pick(p, j);
			c->bad |= v >= limit; /* forged bytes: functions share a context */
			return c->bad ? 0 : v;
		}
	v = rn_coder_even(c, v, limit);
	new_pick(p, v);
	return v;
}

/* Splits an octave into four intervals: returns the index of the interval of v. The digits below it
 * are coded separately. */
static uint32_t wide_index(uint64_t v)
{
	unsigned d = rn_binary_digits(v);

	return d < 3 ? (uint32_t)v : 4 * (d - 2) + (uint32_t)(v >> (d - 3) & 3);
}

static uint64_t code_digits(struct rn_coder *c, uint64_t v, unsigned digits)
{
	uint64_t x = 0;

	assert(digits <= 61);
	while (digits) {
		unsigned k = digits < 16 ? digits : 16;

		digits -= k;
		x = x << k | rn_coder_even(c, (uint32_t)(v >> digits & (((uint32_t)1 << k) - 1)),
					   (uint32_t)1 << k);
	}
	return x;
}

/* Codes any number exactly. */
static uint64_t code_wide(struct rn_coder *c, struct rn_picks *p, uint64_t v)
{
	uint32_t i = code_pick(c, p, wide_index(v), WIDE_INDEX);
	unsigned below;

	assert(i < WIDE_INDEX);
	if (i < 4)
		return i;
	below = i / 4 - 1;
	if (below > 61) {
		c->bad = true;
		return 0;
	}
	return (uint64_t)(4 + i % 4) << below | code_digits(c, v, below);
}

/* ---- contexts ---- */

static uint64_t context_key(const struct rn_moment_model *m, uint32_t func)
{
	uint64_t key = func + 1;

	for (uint32_t i = 0; i < RN_MOMENT_HISTORY; i++)
		key = key << 16 ^ m->history[i];
	return key;
}

/* Returns the context of a function. Keys beyond the table's capacity share the first one. */
static struct rn_moment_ctx *find_context(struct rn_moment_model *m, uint32_t func)
{
	const uint32_t slots = sizeof(m->slot) / sizeof(*m->slot);
	uint64_t key = context_key(m, func), at = key * 0x9e3779b97f4a7c15u >> 40;

	assert(m->contexts <= RN_MOMENT_CTX);
	for (uint32_t i = (uint32_t)at % slots;; i = (i + 1) % slots) {
		assert(m->slot[i] <= m->contexts);
		if (m->slot[i] && m->ctx[m->slot[i] - 1].key == key)
			return &m->ctx[m->slot[i] - 1];
		if (m->slot[i])
			continue;
		if (m->contexts == RN_MOMENT_CTX)
			return &m->ctx[0];
		m->slot[i] = (uint8_t)(m->contexts + 1);
		memset(&m->ctx[m->contexts], 0, sizeof(*m->ctx));
		m->ctx[m->contexts].key = key;
		return &m->ctx[m->contexts++];
	}
}

static struct rn_moment_ctx *next_context(struct rn_moment_model *m, uint32_t func)
{
	struct rn_moment_ctx *ctx = find_context(m, func);

	memmove(&m->history[1], &m->history[0], sizeof(m->history) - sizeof(*m->history));
	m->history[0] = (uint16_t)(func + 1);
	return ctx;
}

static void forget(struct rn_moment_model *m)
{
	m->contexts = 0;
	memset(m->slot, 0, sizeof(m->slot));
	memset(m->history, 0, sizeof(m->history));
}

/* ---- times ---- */

/* Returns the maximum error of a time v. */
static uint64_t tolerance(const struct rn_levels *l, uint64_t v)
{
	assert(l->base <= RN_GRAIN_BASE_MAX);
	return (uint64_t)((unsigned __int128)v * l->base / 1000);
}

/* Codes a gap with an error of at most `most`, by dropping its low digits. */
static uint64_t code_fine(struct rn_coder *c, struct rn_moment_ctx *ctx, uint64_t v, uint64_t most)
{
	uint32_t drop;

	assert(most < UINT64_MAX);
	drop = code_pick(c, &ctx->drop, rn_binary_digits(most + 1) - 1, 64);

	return code_wide(c, &ctx->fine, v >> drop) << drop;
}

/* Codes v ticks, the gap from the reconstructed end of the previous call. `gap` is the true gap,
 * which determines the permitted error. */
static uint64_t code_gap(struct rn_coder *c, struct rn_moment_ctx *ctx, const struct rn_levels *l,
			 uint64_t v, uint64_t gap)
{
	uint32_t k;

	if (!l)
		return code_wide(c, &ctx->gap, v);
	k = rn_level_of(l, v);
	if (rn_coder_bit(c, &ctx->is_fine, v - l->at[k] > tolerance(l, gap)))
		return code_fine(c, ctx, v, tolerance(l, gap));
	return l->at[code_pick(c, &ctx->gap, k, l->n)];
}

static uint64_t code_duration(struct rn_coder *c, struct rn_moment_ctx *ctx,
			      const struct rn_levels *l, uint64_t v)
{
	if (!l)
		return code_wide(c, &ctx->dur, v);
	return l->at[code_pick(c, &ctx->dur, rn_level_of(l, v), l->n)];
}

/* Advances the position by `by` ticks. On overflow the input is malformed, and the position becomes
 * UINT64_MAX. */
static uint64_t go_on(struct chunk *k, uint64_t by)
{
	if (__builtin_add_overflow(k->state->at, by, &k->state->at)) {
		k->c->bad = true;
		k->state->at = UINT64_MAX;
	}
	return k->state->at;
}

static uint64_t innermost(const struct rn_moment_state *s)
{
	return s->depth && s->depth <= RN_MOMENTS_OPEN ? s->open[s->depth - 1] : s->at;
}

/* Codes *m, which is the input when writing and the output when reading. `before` is the true end
 * of the previous call. */
static void code_moment(struct chunk *k, struct rn_moment *m, uint64_t before)
{
	struct rn_moment_state *s = k->state;
	struct rn_moment_ctx *ctx;
	const struct rn_levels *l;

	assert(m->kind <= RN_MOMENT_NONE);
	if (m->kind == RN_MOMENT_NONE) {
		m->start = m->end = s->at;
		return;
	}
	ctx = next_context(k->model, m->func);
	l = rn_grain_levels(k->grain, m->func);
	if (m->kind == RN_MOMENT_ENTER) {
		m->start = m->end = go_on(k, code_wide(k->c, &ctx->gap, m->start - s->at));
		if (s->depth < RN_MOMENTS_OPEN)
			s->open[s->depth] = s->at;
		s->depth += s->depth < UINT32_MAX;
		return;
	}
	if (m->kind == RN_MOMENT_OUTER) {
		uint64_t end = m->end - s->at;

		m->start = innermost(s);
		m->end = go_on(k, code_duration(k->c, ctx, l, end));
		s->depth -= s->depth > 0;
		return;
	}
	{
		uint64_t duration = m->end - m->start;

		m->start = go_on(k, code_gap(k->c, ctx, l, m->start - s->at, m->start - before));
		m->end = go_on(k, code_duration(k->c, ctx, l, duration));
	}
}

/* ---- writing ---- */

void rn_moments_begin(struct rn_moment_writer *w, const struct rn_grain *grain, uint64_t zero)
{
	w->grain = grain;
	w->zero = zero;
	w->coded = rn_buf_over(w->room, sizeof(w->room));
	rn_coder_write(&w->coder, &w->coded);
}

/* Makes the times non-decreasing. The clocks of processors may differ by a few ticks, and a thread
 * may continue the stream of another. */
static struct rn_moment put_right(const struct rn_moment_writer *w, struct rn_moment m)
{
	uint64_t least = w->true_end;

	m.start -= w->zero;
	m.end -= w->zero;
	if (m.kind != RN_MOMENT_OUTER && (m.start < least || m.start > INT64_MAX))
		m.start = least;
	if (m.kind != RN_MOMENT_OUTER)
		least = m.start;
	if (m.end < least || m.end > INT64_MAX)
		m.end = least;
	assert(m.end >= w->true_end);
	return m;
}

bool rn_moments_add(struct rn_moment_writer *w, const struct rn_moment *m, uint32_t n)
{
	struct chunk k = { w->grain, &w->coder, &w->model, &w->state };

	assert(n <= RN_MOMENTS_BATCH && w->n + n <= RN_MOMENTS_CHUNK);
	for (uint32_t i = 0; i < n; i++) {
		struct rn_moment its = put_right(w, m[i]);
		uint64_t end = its.kind == RN_MOMENT_NONE    ? w->true_end
			       : its.kind == RN_MOMENT_ENTER ? its.start
							     : its.end;

		code_moment(&k, &its, w->true_end);
		w->true_end = end;
	}
	w->n += n;
	return w->n + RN_MOMENTS_BATCH > RN_MOMENTS_CHUNK ||
	       w->coded.len + RN_MOMENTS_BATCH * MOMENT_MAX > RN_MOMENTS_ROOM;
}

size_t rn_moments_most(const struct rn_moment_writer *w)
{
	size_t numbers = 5 + (size_t)2 * w->grain->owns + RN_MOMENTS_OPEN;

	return w->coded.len + RN_VARINT_MAX * numbers + (size_t)w->coder.waiting + 8;
}

void rn_moments_close(struct rn_moment_writer *w, struct rn_buf *out)
{
	const struct rn_moment_state *s = &w->begin;
	uint32_t known = s->depth < RN_MOMENTS_OPEN ? s->depth : RN_MOMENTS_OPEN;

	rn_coder_end(&w->coder);
	rn_grain_encode(w->grain, out);
	rn_buf_u64(out, w->n);
	rn_buf_u64(out, s->at);
	rn_buf_u64(out, s->depth);
	for (uint32_t i = 0; i < known; i++)
		rn_buf_u64(out, s->open[i]);
	rn_buf_add(out, w->coded.data, w->coded.len);
	w->begin = w->state;
	w->n = 0;
	forget(&w->model);
	rn_buf_clear(&w->coded);
	rn_coder_write(&w->coder, &w->coded);
}

/* ---- reading ---- */

/* Reads the head of a chunk, after the quantization levels. */
static void read_head(struct rn_reader *in, uint32_t *n, struct rn_moment_state *s)
{
	uint32_t known;

	*n = (uint32_t)rn_get_max(in, RN_MOMENTS_CHUNK);
	s->at = rn_get_max(in, INT64_MAX);
	s->depth = (uint32_t)rn_get_max(in, UINT32_MAX);
	known = s->depth < RN_MOMENTS_OPEN ? s->depth : RN_MOMENTS_OPEN;
	for (uint32_t i = 0; i < known; i++)
		s->open[i] = rn_get_max(in, s->at);
	if (*n == 0)
		rn_fail(in);
}

/* Skips what rn_grain_decode reads, without storing it. */
static void skip_grain(struct rn_reader *in)
{
	uint64_t n;

	rn_get_u64(in);
	n = rn_get_count(in, 2);
	for (uint64_t i = 0; i < 2 * n && !in->bad; i++)
		rn_get_u64(in);
}

uint32_t rn_moments_length(const void *bytes, size_t len)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_moment_state s;
	uint32_t n;

	skip_grain(&in);
	read_head(&in, &n, &s);
	return in.bad ? 0 : n;
}

/* Reads the quantization levels, or reuses those of the previous chunk: they are usually equal
 * within a stream. */
static int read_grain(struct rn_moment_reader *r, struct rn_arena *mem, struct rn_reader *in,
		      struct rn_err *err)
{
	const unsigned char *from = in->p;
	struct rn_reader behind = *in;
	int rc;

	skip_grain(&behind);
	if (!behind.bad && r->grain_bytes && (size_t)(behind.p - from) == r->grain_len &&
	    memcmp(from, r->grain_bytes, r->grain_len) == 0) {
		*in = behind;
		return RN_OK;
	}
	r->grain_bytes = NULL;
	rc = rn_grain_decode(mem, in, &r->grain, err);
	if (rc == RN_OK) {
		r->grain_bytes = from;
		r->grain_len = (size_t)(in->p - from);
	}
	return rc;
}

/* Returns the largest duration to be reported for a level. Its error is within the bound for all
 * durations of the level. */
static uint64_t middle(const struct rn_levels *l, uint64_t duration)
{
	uint32_t k = rn_level_of(l, duration);
	uint64_t last = k + 1 < l->n ? l->at[k + 1] - 1 : duration, most = tolerance(l, duration);

	assert(l->at[k] <= duration && duration <= last);
	return duration + (last - duration < most ? last - duration : most) / 2;
}

/* Durations were rounded down. Lengthens them up to middle(), as far as the start of the next call
 * permits. */
static void lengthen(const struct rn_grain *g, struct rn_moment *m, uint32_t n)
{
	uint64_t next = 0; /* time; 0: unknown */

	for (uint32_t i = n; i-- > 0;) {
		const struct rn_levels *l = rn_grain_levels(g, m[i].func);
		uint64_t start = m[i].kind == RN_MOMENT_OUTER ? m[i].end : m[i].start, end;

		if (m[i].kind == RN_MOMENT_NONE)
			continue;
		if (l && m[i].kind == RN_MOMENT_CALL && next > m[i].end) {
			uint64_t length = middle(l, m[i].end - m[i].start);

			/* Only malformed input can overflow. */
			if (__builtin_add_overflow(m[i].start, length, &end) || end > next)
				end = next;
			m[i].end = end;
		}
		next = start;
	}
}

int rn_moments_read(struct rn_moment_reader *r, struct rn_arena *mem, const void *bytes, size_t len,
		    struct rn_moment *m, uint32_t n, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct chunk k = { &r->grain, &r->coder, &r->model, &r->state };
	int rc = read_grain(r, mem, &in, err);

	if (rc < 0)
		return rc;
	read_head(&in, &r->n, &r->state);
	if (in.bad || n > r->n)
		return rn_err_set(err, RN_E_DATA, "a chunk of times is malformed");
	assert(n <= RN_MOMENTS_CHUNK);
	forget(&r->model);
	rn_coder_read(&r->coder, in.p, rn_left(&in));
	for (uint32_t i = 0; i < n && !r->coder.bad && !rn_coder_past(&r->coder); i++)
		code_moment(&k, &m[i], 0);
	if (r->coder.bad || rn_coder_past(&r->coder) || (n == r->n && !rn_coder_end(&r->coder)))
		return rn_err_set(err, RN_E_DATA, "a chunk of times is malformed");
	lengthen(&r->grain, m, n);
	return RN_OK;
}
