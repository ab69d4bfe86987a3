/*
 * time_stats.c - see time_stats.h: the table, the merge, and the exact written form.
 */
#include "encode/time_stats.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/saturate.h"
#include "base/varint.h"
#include "series/units.h"

void rn_times_init(struct rn_times *ts, struct rn_arena *mem, uint64_t scale)
{
	*ts = (struct rn_times){ .mem = mem, .scale = scale };
	rn_seg_init(&ts->sig, sizeof(struct rn_time));
	rn_seg_init(&ts->clock, sizeof(struct rn_time_clock));
}

int rn_times_grow(struct rn_times *ts, uint32_t sig)
{
	if (sig < ts->sig.n)
		return RN_OK;
	if (!rn_seg_grow(&ts->sig, ts->mem, (uint64_t)sig + 1))
		return RN_E_NOMEM;
	assert(sig < UINT32_MAX);
	ts->sig.n = sig + 1;
	return RN_OK;
}

static struct rn_time *time_at(const struct rn_times *ts, uint32_t sig)
{
	assert(sig < ts->sig.n);
	return RN_SEG_AT(&ts->sig, struct rn_time, sig);
}

const struct rn_time *rn_times_get(const struct rn_times *ts, uint32_t sig)
{
	return sig < ts->sig.n ? time_at(ts, sig) : NULL;
}

/* Single observations */

static bool has_hist(const struct rn_timing *t)
{
	return t->few > 2;
}

/* Creates the histogram from the observations so far, which are at most two. */
static bool make_hist(struct rn_times *ts, struct rn_timing *t)
{
	uint64_t *hist = rn_new(ts->mem, uint64_t, RN_TIME_BINS);

	assert(!has_hist(t));
	if (!hist)
		return false;
	if (t->few > 0)
		hist[rn_time_bin(rn_time_ns(t->min, ts->scale))]++;
	if (t->few > 1)
		hist[rn_time_bin(rn_time_ns(t->max, ts->scale))]++;
	t->hist = hist;
	return true;
}

static void widen(struct rn_timing *t, bool first, uint64_t sum, uint64_t min, uint64_t max)
{
	rn_sat_add(&t->sum, sum);
	if (first || min < t->min)
		t->min = min;
	if (max > t->max)
		t->max = max;
}

void rn_timing_few(struct rn_times *ts, struct rn_timing *t, uint64_t ticks)
{
	if (t->few < 2) {
		widen(t, t->few == 0, ticks, ticks, ticks);
		t->few++;
	} else if (make_hist(ts, t)) {
		rn_timing_add(ts, t, ticks);
	}
}

uint64_t rn_timing_count(const struct rn_timing *t)
{
	uint64_t n = 0;

	if (!has_hist(t))
		return t->few;
	for (unsigned b = 0; b < RN_TIME_BINS; b++)
		rn_sat_add(&n, t->hist[b]);
	return n;
}

uint64_t rn_timing_bin(const struct rn_timing *t, unsigned bin)
{
	assert(bin < RN_TIME_BINS);
	if (has_hist(t))
		return t->hist[bin];
	return (uint64_t)(t->few > 0 && rn_time_bin(t->min) == bin) +
	       (uint64_t)(t->few > 1 && rn_time_bin(t->max) == bin);
}

/* Moves observations into the bins of the minimum and the maximum. The bins were computed with the
 * scale known at the time, so the first and the last bin may be off by one. */
static void pull_in(struct rn_timing *t)
{
	unsigned lo = rn_time_bin(t->min), hi = rn_time_bin(t->max);

	for (unsigned b = 0; b < RN_TIME_BINS; b++) {
		unsigned to = b < lo ? lo : b > hi ? hi : b;
		uint64_t n = t->hist[b];

		t->hist[b] = 0;
		t->hist[to] += n;
	}
}

static void settle(struct rn_timing *t, uint64_t scale)
{
	t->sum = rn_time_ns(t->sum, scale);
	t->min = rn_time_ns(t->min, scale);
	t->max = rn_time_ns(t->max, scale);
	if (has_hist(t))
		pull_in(t);
}

void rn_times_settle(struct rn_times *ts, uint64_t scale)
{
	for (uint32_t i = 0; i < ts->sig.n; i++) {
		settle(&time_at(ts, i)->dur, scale);
		settle(&time_at(ts, i)->gap, scale);
	}
	ts->scale = RN_TIME_SCALE_ONE;
}

/* Clocks */

static struct rn_time_clock *clock_at(const struct rn_times *ts, uint32_t i)
{
	return RN_SEG_AT(&ts->clock, struct rn_time_clock, i);
}

int rn_times_clock(struct rn_times *ts, uint64_t rank, int64_t offset, int64_t drift)
{
	if (!offset && !drift)
		return RN_OK;
	if (rank > INT64_MAX || (ts->clock.n && clock_at(ts, ts->clock.n - 1)->rank >= rank))
		return RN_E_ARG;
	return RN_SEG_PUSH(&ts->clock, ts->mem, struct rn_time_clock,
			   (struct rn_time_clock){ rank, offset, drift })
		       ? RN_OK
		       : RN_E_NOMEM;
}

static int sealed_clock(const struct rn_times *ts, uint64_t rank, struct rn_time_clock *out)
{
	uint64_t i;

	if (rank > INT64_MAX || rn_units_find(ts->clocks[0], (int64_t)rank, &i) < 0 ||
	    (uint64_t)rn_units_at(ts->clocks[0], i) != rank)
		return RN_OK;
	out->offset = rn_units_at(ts->clocks[1], i);
	out->drift = rn_units_at(ts->clocks[2], i);
	return RN_OK;
}

int rn_times_clock_of(const struct rn_times *ts, uint64_t rank, struct rn_time_clock *out)
{
	struct rn_bisect b = { 0, ts->clock.n, 0 };

	*out = (struct rn_time_clock){ .rank = rank };
	if (ts->clocks[0])
		return sealed_clock(ts, rank, out);
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, clock_at(ts, (uint32_t)b.mid)->rank < rank);
	if (b.lo < ts->clock.n && clock_at(ts, (uint32_t)b.lo)->rank == rank)
		*out = *clock_at(ts, (uint32_t)b.lo);
	return RN_OK;
}

/* Merging */

static int merge(struct rn_times *ts, struct rn_timing *t, const struct rn_timing *from)
{
	bool first = t->few == 0;

	if (from->few == 0)
		return RN_OK;
	if (!has_hist(t) && (has_hist(from) || t->few + from->few > 2) && !make_hist(ts, t))
		return RN_E_NOMEM;
	if (has_hist(from)) {
		for (unsigned b = 0; b < RN_TIME_BINS; b++)
			rn_sat_add(&t->hist[b], from->hist[b]);
	} else if (has_hist(t)) {
		t->hist[rn_time_bin(rn_time_ns(from->min, ts->scale))]++;
		if (from->few > 1)
			t->hist[rn_time_bin(rn_time_ns(from->max, ts->scale))]++;
	}
	widen(t, first, from->sum, from->min, from->max);
	assert(t->min <= t->max);
	if (!has_hist(t))
		t->few += from->few;
	return RN_OK;
}

static int merge_sig(struct rn_times *a, uint32_t to, const struct rn_time *from)
{
	int rc = rn_times_grow(a, to);

	if (rc == RN_OK)
		rc = merge(a, &time_at(a, to)->dur, &from->dur);
	if (rc == RN_OK)
		rc = merge(a, &time_at(a, to)->gap, &from->gap);
	return rc;
}

int rn_times_merge(struct rn_times *a, const struct rn_times *b, const uint32_t *map)
{
	int rc = RN_OK;

	assert(a != b);
	for (uint32_t i = 0; i < b->clock.n && rc == RN_OK; i++) {
		const struct rn_time_clock *c = clock_at(b, i);

		rc = rn_times_clock(a, c->rank, c->offset, c->drift);
	}
	for (uint32_t i = 0; i < b->sig.n && rc == RN_OK; i++)
		rc = merge_sig(a, map ? map[i] : i, time_at(b, i));
	return rc;
}

/* The exact form */

/* Maximum bytes of a statistic: its form, three numbers, and its bins. */
#define SAVED_MAX (2 + 3 * RN_VARINT_MAX + RN_TIME_BINS * (1 + RN_VARINT_MAX))

static unsigned char *save_bins(const uint64_t *hist, unsigned char *p)
{
	uint64_t used = 0;

	/* The set of used bins is computed without branches. */
	for (unsigned b = 0; b < RN_TIME_BINS; b++)
		used |= (uint64_t)(hist[b] > 0) << b;
	*p++ = (unsigned char)__builtin_popcountll(used);
	for (; used; used &= used - 1) {
		unsigned b = (unsigned)__builtin_ctzll(used);

		*p++ = (unsigned char)b;
		p = rn_varint_put(p, hist[b]);
	}
	return p;
}

static void save(const struct rn_timing *t, struct rn_buf *out)
{
	unsigned char bytes[SAVED_MAX], *p = bytes;

	*p++ = (unsigned char)(has_hist(t) ? 3 : t->few);
	if (t->few != 0) {
		p = rn_varint_put(p, t->min);
		p = rn_varint_put(p, t->max);
		p = rn_varint_put(p, t->sum);
	}
	if (has_hist(t))
		p = save_bins(t->hist, p);
	assert((size_t)(p - bytes) <= sizeof(bytes));
	rn_buf_add(out, bytes, (size_t)(p - bytes));
}

int rn_times_save(const struct rn_times *ts, struct rn_buf *out)
{
	size_t before = out->len;

	rn_buf_u64(out, ts->clock.n);
	for (uint32_t i = 0; i < ts->clock.n; i++) {
		rn_buf_u64(out, clock_at(ts, i)->rank);
		rn_buf_i64(out, clock_at(ts, i)->offset);
		rn_buf_i64(out, clock_at(ts, i)->drift);
	}
	rn_buf_u64(out, ts->sig.n);
	for (uint32_t i = 0; i < ts->sig.n; i++) {
		save(&time_at(ts, i)->dur, out);
		save(&time_at(ts, i)->gap, out);
	}
	if (rn_buf_status(out) == RN_OK)
		return RN_OK;
	out->len = before;
	return RN_E_NOMEM;
}

/* Reads the non-empty bins, which ascend. */
static void load_bins(struct rn_reader *in, struct rn_timing *t)
{
	uint64_t bins = rn_get_max(in, RN_TIME_BINS), next = 0;

	for (uint64_t i = 0; i < bins && !in->bad; i++) {
		uint64_t b = rn_get_max(in, RN_TIME_BINS - 1), n = rn_get_u64(in);

		if (b < next || n == 0)
			rn_fail(in);
		t->hist[b] = n;
		next = b + 1;
	}
}

static bool load(struct rn_arena *mem, struct rn_reader *in, struct rn_timing *t)
{
	uint64_t few = rn_get_max(in, 3);

	if (few == 0)
		return true;
	t->min = rn_get_u64(in);
	t->max = rn_get_u64(in);
	t->sum = rn_get_u64(in);
	t->few = few;
	if (few < 3)
		return true;
	t->hist = rn_new(mem, uint64_t, RN_TIME_BINS);
	if (!t->hist)
		return false;
	load_bins(in, t);
	return true;
}

static int load_clocks(struct rn_reader *in, struct rn_times *ts, struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 3);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t rank = rn_get_u64(in);
		int64_t offset = rn_get_i64(in), drift = rn_get_i64(in);
		bool bad = in->bad || (!offset && !drift);
		int rc = bad ? RN_E_ARG : rn_times_clock(ts, rank, offset, drift);

		if (rc == RN_E_NOMEM)
			return rn_err_nomem(err);
		if (rc < 0)
			return rn_err_set(err, RN_E_DATA, "clock %" PRIu64 " is malformed", i);
	}
	return RN_OK;
}

int rn_times_load(struct rn_arena *mem, const void *bytes, size_t len, uint64_t scale,
		  struct rn_times *out, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	uint64_t sigs;
	int rc;

	rn_times_init(out, mem, scale);
	rc = load_clocks(&in, out, err);
	if (rc < 0)
		return rc;
	sigs = rn_get_count(&in, 2);
	if (sigs && (sigs > UINT32_MAX || rn_times_grow(out, (uint32_t)sigs - 1) < 0))
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < sigs; i++)
		if (!load(mem, &in, &time_at(out, i)->dur) ||
		    !load(mem, &in, &time_at(out, i)->gap))
			return rn_err_nomem(err);
	if (in.bad)
		return rn_err_set(err, RN_E_DATA, "malformed");
	if (rn_left(&in))
		return rn_err_set(err, RN_E_DATA, "bytes left over");
	return rn_times_check(out) ? RN_OK : rn_err_set(err, RN_E_DATA, "contradicts itself");
}

/* Checking */

/* The sum and the maximum are rounded independently, so the mean may exceed the maximum by 1. */
static bool check_mean(const struct rn_timing *t, uint64_t n)
{
	uint64_t mean = t->sum / n;

	return t->sum == UINT64_MAX || (mean >= t->min && (mean <= t->max || mean - 1 <= t->max));
}

static bool check(const struct rn_timing *t, bool settled)
{
	uint64_t n = rn_timing_count(t);
	unsigned lo = rn_time_bin(t->min), hi = rn_time_bin(t->max);

	if (n == 0)
		return !has_hist(t) && t->sum == 0 && t->min == 0 && t->max == 0;
	if (t->min > t->max || !check_mean(t, n))
		return false;
	for (unsigned b = 0; settled && b < RN_TIME_BINS; b++)
		if ((b < lo || b > hi) && rn_timing_bin(t, b))
			return false;
	return true;
}

bool rn_times_check(const struct rn_times *ts)
{
	bool settled = ts->scale == RN_TIME_SCALE_ONE;

	for (uint32_t i = 0; i < ts->sig.n; i++)
		if (!check(&time_at(ts, i)->dur, settled) || !check(&time_at(ts, i)->gap, settled))
			return false;
	for (uint32_t i = 1; i < ts->clock.n; i++)
		if (clock_at(ts, i - 1)->rank >= clock_at(ts, i)->rank)
			return false;
	return true;
}
