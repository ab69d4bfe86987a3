/*
 * time_stats_codec.c - see time_stats.h: the section "times"; its bytes are specified in
 * doc/format.md.
 *
 * Statistics are rounded to a few integers (struct rounded), which are arithmetically coded. Values
 * implied by others are omitted: the count, which the trace contains; the histogram of one or two
 * observations; the count of the largest bin, which is the remainder. The sum is stored as its
 * ratio to an estimate from the histogram.
 *
 * The resolution of the bin counts is one number for the whole section, the detail. The writer
 * chooses the finest detail within a budget, so the section does not grow with the length of the
 * run.
 */
#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "column/range_coder.h"
#include "encode/time_stats.h"
#include "series/series.h"
#include "series/units.h"

#define BINS RN_TIME_BINS

/* Times are rounded to 2^PRECISION levels per octave, so their error is at most one part in 64. */
#define PRECISION  5u
#define PLACES_MAX ((uint64_t)(64 - PRECISION + 1) << PRECISION)

/* The writer's budget in bytes: per signature with a histogram, for the first BUDGET_FIRST of them
 * and for later ones, and per signature without one. A small budget is increased by a quarter, to
 * at most BUDGET_LITTLE. Even short runs use the budget, so longer runs do not take more. */
#define BUDGET        8u
#define BUDGET_FIRST  64u
#define BUDGET_LATER  7u
#define BUDGET_FEW    3u
#define BUDGET_LITTLE 400u

/* The resolution of the bin counts. */
struct detail {
	unsigned fine; /* log2 of the levels per octave */
	unsigned cut; /* bins with less than about 1 in 2^(cut/2) of the observations are dropped */
};

#define CUT_NONE 63u /* no bin is dropped */

struct rounded {
	uint64_t n;
	uint64_t min, max;    /* levels of times */
	unsigned peak;        /* the bin with the largest count */
	uint64_t level[BINS]; /* levels of the other bins' counts; 0: empty or dropped */
	int64_t sum;          /* level of the sum minus the level of its estimate */
};

/* Levels: a value below 2^(fine+1) is its own level. Above, each octave has 2^fine levels. With
 * fine 1: 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, ... */

static uint64_t level_of(uint64_t v, unsigned fine)
{
	unsigned exp = 63u - (unsigned)__builtin_clzll(v | 1);

	assert(fine <= PRECISION);
	return exp <= fine ? v : ((uint64_t)(exp - fine) << fine) + (v >> (exp - fine));
}

/* Returns the middle of the interval of a level. */
static uint64_t level_value(uint64_t level, unsigned fine)
{
	uint64_t mantissa = (level & (((uint64_t)1 << fine) - 1)) + ((uint64_t)1 << fine);
	unsigned shift;

	if (level >> (fine + 1) == 0)
		return level;
	shift = (unsigned)(level >> fine) - 1;
	assert(shift < 64);
	return (mantissa << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

/* For levels of times: the octave of a level, the first level of an octave, and its number of
 * levels. */

static unsigned octave_of(uint64_t level)
{
	if (level >> PRECISION)
		return (unsigned)(level >> PRECISION) + PRECISION - 1;
	return 63u - (unsigned)__builtin_clzll(level | 1);
}

static uint64_t octave_first(unsigned exp)
{
	assert(exp < 64);
	return exp ? level_of((uint64_t)1 << exp, PRECISION) : 0;
}

static uint32_t octave_levels(unsigned exp)
{
	assert(exp < 64);
	return exp == 0 ? 2 : exp < PRECISION ? 1u << exp : 1u << PRECISION;
}

/* Returns approximately n / 2^(halves/2). */
static uint64_t divide(uint64_t n, unsigned halves)
{
	unsigned __int128 v = n >> (halves / 2);

	return (uint64_t)(halves % 2 ? v * 181 / 256 : v);
}

/* Returns the lowest level that is stored for a bin. Above the peak the limit decreases with the
 * bin, because the observations are longer. */
static uint64_t level_floor(const struct rounded *r, struct detail d, unsigned bin)
{
	unsigned cut = d.cut + (bin > r->peak ? bin - r->peak : 0);
	uint64_t least = d.cut < CUT_NONE ? divide(r->n, cut) : 0;

	return level_of(least ? least : 1, d.fine);
}

static unsigned bin_of(uint64_t level)
{
	unsigned exp = octave_of(level);

	return exp < BINS ? exp : BINS - 1;
}

/* Computes the histogram from the levels. The bins of the minimum and the maximum have at least one
 * observation, and the peak has the remainder. */
static void restore_bins(const struct rounded *r, struct detail d, uint64_t *hist)
{
	uint64_t left = r->n;
	unsigned lo = bin_of(r->min), hi = bin_of(r->max);

	assert(lo <= r->peak && r->peak <= hi);
	memset(hist, 0, BINS * sizeof(*hist));
	for (unsigned b = lo; b <= hi; b++) {
		uint64_t n = level_value(r->level[b], d.fine);

		if (b == r->peak)
			continue;
		if (n == 0 && (b == lo || b == hi))
			n = 1;
		hist[b] = n < left ? n : left;
		left -= hist[b];
	}
	hist[r->peak] = left;
}

/* Estimates the sum. The observations of a bin are assumed to lie slightly below its middle on
 * average. */
static uint64_t guess_sum(const struct rounded *r, const uint64_t *hist)
{
	uint64_t min = level_value(r->min, PRECISION), max = level_value(r->max, PRECISION);
	unsigned lo = bin_of(r->min), hi = bin_of(r->max);
	unsigned __int128 sum = (unsigned __int128)min + max;

	for (unsigned b = lo; b <= hi; b++) {
		uint64_t from = b ? (uint64_t)1 << b : 0, to = (uint64_t)2 << b;
		uint64_t n = hist[b] - (b == lo && hist[b]);

		n -= b == hi && n;
		if (from < min)
			from = min;
		if (to > max || b == BINS - 1)
			to = max;
		sum += n * (from + (unsigned __int128)(to - from) * 7 / 16);
	}
	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

/* Rounding */

static void round_bins(const struct rn_timing *t, struct detail d, struct rounded *r)
{
	unsigned lo = bin_of(r->min), hi = bin_of(r->max);

	assert(lo <= hi && r->n > 2);
	r->peak = lo;
	for (unsigned b = lo; b <= hi; b++)
		if (rn_timing_bin(t, b) > rn_timing_bin(t, r->peak))
			r->peak = b;
	for (unsigned b = lo; b <= hi; b++) {
		uint64_t level = level_of(rn_timing_bin(t, b), d.fine);

		r->level[b] = level >= level_floor(r, d, b) ? level : 0;
	}
}

static void round_timing(const struct rn_timing *t, struct detail d, struct rounded *r)
{
	uint64_t hist[BINS];

	*r = (struct rounded){ .n = rn_timing_count(t) };
	if (r->n == 0)
		return;
	r->n -= r->n == UINT64_MAX; /* the largest count that can be coded */
	r->min = level_of(t->min, PRECISION);
	r->max = level_of(t->max, PRECISION);
	if (r->n < 3)
		return;
	round_bins(t, d, r);
	restore_bins(r, d, hist);
	r->sum = (int64_t)level_of(t->sum, PRECISION) -
		 (int64_t)level_of(guess_sum(r, hist), PRECISION);
}

/* Clamps the sum so that the mean is between minimum and maximum; rounding can violate that. */
static uint64_t bounded_sum(uint64_t sum, uint64_t n, const struct rn_timing *t)
{
	unsigned __int128 least = (unsigned __int128)n * t->min;
	unsigned __int128 most = (unsigned __int128)n * t->max;

	assert(least <= most);
	if (least > UINT64_MAX)
		return UINT64_MAX;
	if (sum < least)
		return (uint64_t)least;
	return sum > most ? (uint64_t)most : sum;
}

/* Computes statistics from rounded ones. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the numbers are
 * impossible. */
static int restore(const struct rounded *r, struct detail d, struct rn_arena *mem,
		   struct rn_timing *t)
{
	int64_t sum;

	if (r->n == 0)
		return RN_OK;
	t->min = level_value(r->min, PRECISION);
	t->max = level_value(r->max, PRECISION);
	t->few = (uintptr_t)r->n;
	if (r->n < 3) {
		t->sum = t->min;
		if (r->n == 2 && __builtin_add_overflow(t->min, t->max, &t->sum))
			t->sum = UINT64_MAX;
		return RN_OK;
	}
	t->hist = rn_new(mem, uint64_t, BINS);
	if (!t->hist)
		return RN_E_NOMEM;
	restore_bins(r, d, t->hist);
	sum = (int64_t)level_of(guess_sum(r, t->hist), PRECISION) + r->sum;
	if (sum < 0 || sum >= (int64_t)PLACES_MAX)
		return RN_E_DATA;
	t->sum = bounded_sum(level_value((uint64_t)sum, PRECISION), r->n, t);
	return RN_OK;
}

/* The model, for both directions */

struct signed_model {
	struct rn_chance zero, negative;
	struct rn_number size;
};

#define CLASSES 5u

struct level_model { /* model of one bin's level, from the peak outwards */
	struct rn_chance none, up;
	struct rn_small above, below, fresh;
};

struct model {
	struct rn_chance all; /* whether the number of observations is that of the calls */
	struct rn_number count;
	struct signed_model min, sum;
	struct rn_small max, peak;
	struct level_model level[2][CLASSES];
	unsigned last_min; /* octave of the previous signature's minimum */
};

static int64_t code_signed(struct rn_coder *c, struct signed_model *m, int64_t v, uint64_t max)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	bool negative;

	assert(max > 0);
	if (rn_coder_bit(c, &m->zero, v == 0))
		return 0;
	negative = rn_coder_bit(c, &m->negative, v < 0);
	size = 1 + rn_coder_number(c, &m->size, size - 1, max - 1);
	return negative ? -(int64_t)size : (int64_t)size;
}

/* Codes a level within octave `exp`; it is at least `from`. */
static uint64_t code_within(struct rn_coder *c, unsigned exp, uint64_t from, uint64_t level)
{
	uint64_t first = octave_first(exp);
	uint32_t below = from > first ? (uint32_t)(from - first) : 0;

	assert(below < octave_levels(exp));
	first += below;
	return first + rn_coder_even(c, (uint32_t)(level - first), octave_levels(exp) - below);
}

static void code_min(struct rn_coder *c, struct model *m, uint64_t *level)
{
	int64_t exp =
		m->last_min + code_signed(c, &m->min, (int64_t)octave_of(*level) - m->last_min, 63);

	if (exp < 0 || exp > 63) {
		c->bad = true;
		return;
	}
	m->last_min = (unsigned)exp;
	*level = code_within(c, m->last_min, 0, *level);
}

static void code_max(struct rn_coder *c, struct model *m, uint64_t min, uint64_t *level)
{
	unsigned exp = octave_of(min);

	exp += (unsigned)rn_coder_small(c, &m->max, octave_of(*level) - exp, 63 - exp);
	*level = code_within(c, exp, min, *level);
}

/* The context for the prediction of a bin's level. */
struct around {
	uint64_t before;      /* level of the adjacent bin towards the peak */
	uint64_t floor, most; /* range of a stored level */
	unsigned octave;      /* levels per octave */
	bool beside_peak;
};

static unsigned class_of(const struct around *a)
{
	uint64_t octaves = (a->before - a->floor) / a->octave;

	assert(a->octave > 0 && (a->before == 0 || a->before >= a->floor));
	if (a->beside_peak || a->before == 0)
		return a->beside_peak ? 4 : 0;
	return octaves < 1 ? 1 : octaves < 3 ? 2 : 3;
}

static uint64_t code_level(struct rn_coder *c, struct level_model *m, uint64_t level,
			   const struct around *a)
{
	uint64_t before = a->before;

	assert(a->floor <= a->most && before <= a->most);
	m += class_of(a);
	if (rn_coder_bit(c, &m->none, level == 0))
		return 0;
	if (before == 0)
		return a->floor +
		       rn_coder_small(c, &m->fresh, level - a->floor, a->most - a->floor);
	if (before < a->most && rn_coder_bit(c, &m->up, level > before))
		return before + 1 +
		       rn_coder_small(c, &m->above, level - before - 1, a->most - before - 1);
	return before - rn_coder_small(c, &m->below, before - level, before - a->floor);
}

/* Codes the bins from the peak outwards, first downwards. The floors do not increase on the way, so
 * a stored level is at least the next floor. */
static void code_bins(struct rn_coder *c, struct model *m, struct detail d, struct rounded *r)
{
	unsigned lo = bin_of(r->min), hi = bin_of(r->max);
	struct around a = { .most = level_of(r->n, d.fine), .octave = 1u << d.fine };

	r->peak = lo + (unsigned)rn_coder_small(c, &m->peak, r->peak - lo, hi - lo);
	a.before = a.most;
	for (unsigned b = r->peak; b-- > lo; a.before = r->level[b]) {
		a.floor = level_floor(r, d, b);
		a.beside_peak = b + 1 == r->peak;
		r->level[b] = code_level(c, m->level[0], r->level[b], &a);
	}
	a.before = a.most;
	for (unsigned b = r->peak + 1; b <= hi; a.before = r->level[b++]) {
		a.floor = level_floor(r, d, b);
		a.beside_peak = b - 1 == r->peak;
		r->level[b] = code_level(c, m->level[1], r->level[b], &a);
	}
}

static void code_rounded(struct rn_coder *c, struct model *m, struct detail d, uint64_t count,
			 struct rounded *r)
{
	if (rn_coder_bit(c, &m->all, r->n == count))
		r->n = count;
	else
		r->n = rn_coder_number(c, &m->count, r->n, UINT64_MAX - 1);
	if (r->n == 0)
		return;
	code_min(c, m, &r->min);
	if (r->n == 1)
		r->max = r->min;
	else
		code_max(c, m, r->min, &r->max);
	if (r->n < 3 || c->bad)
		return;
	code_bins(c, m, d, r);
	r->sum = code_signed(c, &m->sum, r->sum, 1u << 14);
}

/* Writing */

struct writer {
	const struct rn_times *ts;
	const uint64_t *count;
	uint32_t sigs;
	struct model *model; /* two models: durations and gaps */
	size_t budget;
	struct rn_buf bytes, best;
};

static const struct rn_time no_time;

static const struct rn_time *time_of(const struct writer *w, uint32_t sig)
{
	const struct rn_time *t = rn_times_get(w->ts, sig);

	return t ? t : &no_time;
}

static int write_detail(struct writer *w, struct detail d)
{
	struct rn_coder c;
	struct rounded r;

	memset(w->model, 0, 2 * sizeof(*w->model));
	rn_buf_clear(&w->bytes);
	rn_buf_byte(&w->bytes, (unsigned char)(d.cut << 2 | d.fine));
	rn_coder_write(&c, &w->bytes);
	for (uint32_t i = 0; i < w->sigs; i++) {
		const struct rn_time *t = time_of(w, i);

		round_timing(&t->dur, d, &r);
		code_rounded(&c, &w->model[0], d, w->count[i], &r);
		round_timing(&t->gap, d, &r);
		code_rounded(&c, &w->model[1], d, w->count[i], &r);
	}
	rn_coder_end(&c);
	return rn_buf_status(&w->bytes);
}

static size_t budget_of(const struct writer *w)
{
	size_t bytes = 0, hists = 0;

	for (uint32_t i = 0; i < w->sigs; i++) {
		if (rn_timing_count(&time_of(w, i)->dur) < 3)
			bytes += BUDGET_FEW;
		else
			bytes += hists++ < BUDGET_FIRST ? BUDGET : BUDGET_LATER;
	}
	if (bytes < BUDGET_LITTLE)
		bytes += bytes < BUDGET_LITTLE * 4 / 5 ? bytes / 4 : BUDGET_LITTLE - bytes;
	return bytes;
}

/* From coarse to fine in small steps, so traces of the same program have about the same size,
 * whatever its times were. */
static const struct detail ladder[] = {
	{ 0, 0 },  { 0, 1 },  { 0, 2 },  { 0, 3 },        { 0, 4 },        { 0, 5 },
	{ 0, 6 },  { 1, 6 },  { 1, 7 },  { 1, 8 },        { 1, 9 },        { 1, 10 },
	{ 1, 11 }, { 1, 12 }, { 1, 13 }, { 1, 14 },       { 1, 16 },       { 1, 18 },
	{ 1, 20 }, { 1, 24 }, { 1, 32 }, { 1, CUT_NONE }, { 2, CUT_NONE }, { 3, CUT_NONE },
};

/* Binary search for the finest detail within the budget: finer details are larger, except for a few
 * bytes. The coarsest one is used even if it exceeds the budget. */
static int write_best(struct writer *w)
{
	size_t lo = 0, hi = sizeof(ladder) / sizeof(*ladder), mid = 0;

	do {
		int rc = write_detail(w, ladder[mid]);

		if (rc < 0)
			return rc;
		if (mid == 0 || w->bytes.len <= w->budget) {
			struct rn_buf best = w->bytes;

			w->bytes = w->best;
			w->best = best;
			lo = mid;
		} else {
			hi = mid;
		}
		assert(lo < hi);
		mid = lo + (hi - lo) / 2;
	} while (mid > lo);
	return RN_OK;
}

static int64_t clock_part(const struct rn_times *ts, uint32_t i, int part)
{
	const struct rn_time_clock *c = RN_SEG_AT(&ts->clock, struct rn_time_clock, i);

	assert(i < ts->clock.n && part < 3);
	return part == 0 ? (int64_t)c->rank : part == 1 ? c->offset : c->drift;
}

static int seal_clocks(const struct rn_times *ts, int part, struct rn_units **out)
{
	struct rn_series *s = part ? rn_series_new(ts->mem) : rn_series_new_sorted(ts->mem);
	int rc = s ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < ts->clock.n && rc == RN_OK; i++)
		rc = rn_series_append(s, clock_part(ts, i, part));
	return rc ? rc : rn_units_seal(ts->mem, s, out);
}

static int write_clocks(const struct rn_times *ts, struct rn_buf *out)
{
	uint64_t n = ts->clocks[0] ? rn_units_length(ts->clocks[0]) : ts->clock.n;
	int rc = RN_OK;

	rn_buf_u64(out, n);
	for (int k = 0; k < 3 && n && rc == RN_OK; k++) {
		struct rn_units *u = ts->clocks[k];

		if (!u)
			rc = seal_clocks(ts, k, &u);
		if (rc == RN_OK)
			rc = rn_units_encode(u, out);
	}
	return rc;
}

int rn_times_encode(const struct rn_times *ts, const uint64_t *count, uint32_t sigs,
		    struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(ts->mem);
	struct writer w = { .ts = ts, .count = count, .sigs = sigs };
	size_t before = out->len;
	int rc = write_clocks(ts, out);

	assert(ts->scale == RN_TIME_SCALE_ONE);
	w.budget = budget_of(&w);
	w.model = rn_new(ts->mem, struct model, 2);
	if (rc == RN_OK)
		rc = w.model ? write_best(&w) : RN_E_NOMEM;
	rn_buf_add(out, w.best.data, w.best.len);
	if (rc == RN_OK)
		rc = rn_buf_status(out);
	if (rc < 0)
		out->len = before;
	rn_buf_free(&w.bytes);
	rn_buf_free(&w.best);
	rn_arena_rewind(ts->mem, mark);
	return rc;
}

/* Reading */

static int read_clocks(struct rn_times *ts, struct rn_reader *in, struct rn_err *err)
{
	uint64_t n = rn_get_max(in, INT64_MAX);

	for (int k = 0; k < 3 && n; k++) {
		int rc = rn_units_decode(ts->mem, in, &ts->clocks[k], err);

		if (rc < 0)
			return rc;
		if (rn_units_length(ts->clocks[k]) != n)
			return rn_err_set(err, RN_E_DATA, "clocks of different numbers of ranks");
	}
	if (n && (!rn_units_monotone(ts->clocks[0]) || rn_units_at(ts->clocks[0], 0) < 0))
		return rn_err_set(err, RN_E_DATA, "clocks: not a ranklist");
	return in->bad ? rn_err_set(err, RN_E_DATA, "cut off") : RN_OK;
}

static int read_timing(struct rn_coder *c, struct model *m, struct detail d, uint64_t count,
		       struct rn_times *ts, struct rn_timing *t)
{
	struct rounded r = { 0 };

	code_rounded(c, m, d, count, &r);
	return c->bad ? RN_E_DATA : restore(&r, d, ts->mem, t);
}

static int read_sigs(struct rn_times *ts, struct model *m, struct rn_reader *in,
		     const uint64_t *count, struct rn_err *err)
{
	const unsigned char *head = rn_get_bytes(in, 1);
	struct rn_coder c;
	struct detail d;
	int rc = RN_OK;

	if (!head)
		return rn_err_set(err, RN_E_DATA, "cut off");
	d = (struct detail){ *head & 3, *head >> 2 };
	rn_coder_read(&c, in->p, rn_left(in));
	for (uint32_t i = 0; i < ts->sig.n && rc == RN_OK; i++) {
		struct rn_time *t = RN_SEG_AT(&ts->sig, struct rn_time, i);

		rc = read_timing(&c, &m[0], d, count[i], ts, &t->dur);
		if (rc == RN_OK)
			rc = read_timing(&c, &m[1], d, count[i], ts, &t->gap);
	}
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0 || !rn_coder_end(&c))
		return rn_err_set(err, RN_E_DATA, "malformed");
	return RN_OK;
}

int rn_times_decode(struct rn_arena *mem, const void *bytes, size_t len, const uint64_t *count,
		    uint32_t sigs, struct rn_times *out, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct model *m = rn_new(mem, struct model, 2);
	int rc;

	rn_times_init(out, mem, RN_TIME_SCALE_ONE);
	if (!m || (sigs && rn_times_grow(out, sigs - 1) < 0))
		return rn_err_nomem(err);
	rc = read_clocks(out, &in, err);
	return rc < 0 ? rc : read_sigs(out, m, &in, count, err);
}
