/*
 * test_timing.c - time statistics, compared with all observations: merged, written, rounded,
 * damaged.
 */
#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "column/range_coder.h"
#include "encode/time_stats.h"

#define SIGS 40u
#define OBS  200u

/* The model: all observations of durations and gaps, in nanoseconds. */
struct seen {
	uint64_t v[OBS];
	uint32_t n;
};

static struct seen model[SIGS][2];

static uint64_t any_time(void)
{
	switch (tap_below(8)) {
	case 0:
		return tap_below(4);
	case 1:
		return tap_rand() >> (20 + tap_below(40)); /* up to some hours */
	default:
		return tap_rand() >> (40 + tap_below(24));
	}
}

static void observe(struct rn_times *ts, uint32_t here, uint32_t sig)
{
	uint64_t v[2] = { any_time(), any_time() };

	rn_times_add(ts, here, v[0], v[1]);
	for (int k = 0; k < 2; k++)
		model[sig][k].v[model[sig][k].n++] = v[k];
}

static const struct rn_timing *timing(const struct rn_times *ts, uint32_t sig, int k)
{
	const struct rn_time *t = rn_times_get(ts, sig);

	return !t ? NULL : k ? &t->gap : &t->dur;
}

static void same_timing(const struct rn_timing *t, const struct seen *s)
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0, hist[RN_TIME_BINS] = { 0 };

	if (s->n == 0) {
		CHECK(!t || rn_timing_count(t) == 0);
		return;
	}
	if (!CHECK(t != NULL))
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		sum += s->v[i];
		min = s->v[i] < min ? s->v[i] : min;
		max = s->v[i] > max ? s->v[i] : max;
		hist[rn_time_bin(s->v[i])]++;
	}
	CHECK(t->sum == sum && t->min == min && t->max == max && rn_timing_count(t) == s->n);
	for (unsigned b = 0; b < RN_TIME_BINS; b++)
		CHECK(rn_timing_bin(t, b) == hist[b]);
}

static void same_as_model(const struct rn_times *ts)
{
	CHECK(rn_times_check(ts));
	for (uint32_t i = 0; i < SIGS; i++)
		for (int k = 0; k < 2; k++)
			same_timing(timing(ts, i, k), &model[i][k]);
}

static void save(const struct rn_times *ts, struct rn_buf *out)
{
	rn_buf_clear(out);
	CHECK(rn_times_save(ts, out) == RN_OK);
}

static void reload(struct rn_arena *mem, struct rn_times *ts)
{
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };

	save(ts, &b);
	if (!CHECK(rn_times_load(mem, b.data, b.len, RN_TIME_SCALE_ONE, ts, &err) == RN_OK))
		diag("%s", err.text);
	rn_buf_free(&b);
}

/* Adds random observations with a numbering of signatures that only this table uses. */
static void random_part(struct rn_times *ts, struct rn_arena *mem, uint32_t *map, unsigned ranks)
{
	uint32_t turn = (uint32_t)tap_below(SIGS);

	rn_times_init(ts, mem, RN_TIME_SCALE_ONE);
	for (uint32_t i = 0; i < SIGS; i++)
		map[i] = (i + turn) % SIGS;
	for (uint64_t n = tap_below(60); n; n--) {
		uint32_t here = (uint32_t)tap_below(SIGS);

		if (model[map[here]][0].n < OBS)
			observe(ts, here, map[here]);
	}
	CHECK(rn_times_clock(ts, ranks, (int64_t)tap_below(3), (int64_t)tap_below(2)) == RN_OK);
}

#define PARTS 12u

static void test_model(void)
{
	struct rn_arena mem, other;
	struct rn_buf first = { 0 }, again = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&other, SIZE_MAX);
	for (int round = 0; round < 100; round++) {
		struct rn_times part[PARTS], left, right, half;
		uint32_t map[PARTS][SIGS];

		memset(model, 0, sizeof(model));
		for (unsigned i = 0; i < PARTS; i++) {
			random_part(&part[i], &other, map[i], i);
			if (tap_below(2))
				reload(&other, &part[i]);
		}
		/* ((a b) c) d ... and (a b ...) (c d ...) */
		rn_times_init(&left, &mem, RN_TIME_SCALE_ONE);
		rn_times_init(&right, &mem, RN_TIME_SCALE_ONE);
		rn_times_init(&half, &other, RN_TIME_SCALE_ONE);
		for (unsigned i = 0; i < PARTS; i++) {
			CHECK(rn_times_merge(&left, &part[i], map[i]) == RN_OK);
			CHECK(rn_times_merge(i < 5 ? &right : &half, &part[i], map[i]) == RN_OK);
		}
		CHECK(rn_times_merge(&right, &half, NULL) == RN_OK);
		rn_arena_free(&other); /* the merged table does not refer to its inputs */
		same_as_model(&left);
		same_as_model(&right);
		save(&left, &first);
		save(&right, &again);
		CHECK(first.len == again.len && memcmp(first.data, again.data, first.len) == 0);
		reload(&mem, &left);
		same_as_model(&left);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_buf_free(&first);
	rn_buf_free(&again);
	rn_arena_free(&mem);
}

/* A clock of 2.4 GHz whose scale is only roughly known at first. */
static void test_settle(void)
{
	const uint64_t scale = (uint64_t)(RN_TIME_SCALE_ONE / 2.4);
	struct rn_arena mem;
	struct rn_times ts;
	double sum = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rn_times_init(&ts, &mem, scale + scale / 500);
	for (int i = 0; i < 100000; i++) {
		uint64_t ticks = any_time();

		if (i == 10)
			ts.scale = scale; /* for later observations */
		rn_times_add(&ts, 5, ticks, ticks / 3);
		sum += (double)ticks / 2.4;
	}
	CHECK(rn_times_check(&ts));
	rn_times_settle(&ts, scale);
	CHECK(rn_times_check(&ts));
	CHECK(rn_timing_count(timing(&ts, 5, 0)) == 100000);
	CHECK(fabs((double)timing(&ts, 5, 0)->sum / sum - 1) < 1e-6);
	CHECK(!rn_times_get(&ts, 6) && rn_timing_count(timing(&ts, 4, 1)) == 0);
	rn_arena_free(&mem);
}

static void test_clocks(void)
{
	struct rn_arena mem;
	struct rn_times ts, back;
	struct rn_time_clock c;
	struct rn_buf b = { 0 };
	size_t few;

	rn_arena_init(&mem, SIZE_MAX);
	rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
	CHECK(rn_times_encode(&ts, NULL, 0, &b) == RN_OK);
	few = b.len;
	/* Hosts of 16 ranks each; the first has rank 0's clock. */
	for (uint64_t r = 0; r < 128; r++)
		CHECK(rn_times_clock(&ts, r, (int64_t)(r / 16) * -123456789,
				     (int64_t)(r / 16) * 321) == RN_OK);
	CHECK(rn_times_clock(&ts, 127, 1, 1) == RN_E_ARG);
	rn_buf_clear(&b);
	CHECK(rn_times_encode(&ts, NULL, 0, &b) == RN_OK);
	diag("clocks of 128 ranks on 8 hosts: %zu bytes; on one host: %zu", b.len, few);
	CHECK(few == 2 && b.len < 60);
	CHECK(rn_times_decode(&mem, b.data, b.len, NULL, 0, &back, NULL) == RN_OK);
	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t r = 0; r < 130; r++) {
			int64_t host = r < 128 ? (int64_t)(r / 16) : 0;

			CHECK(rn_times_clock_of(pass ? &back : &ts, r, &c) == RN_OK);
			CHECK(c.rank == r && c.offset == host * -123456789 &&
			      c.drift == host * 321);
		}
	}
	few = b.len;
	CHECK(rn_times_encode(&back, NULL, 0, &b) == RN_OK);
	CHECK(b.len == 2 * few && memcmp(b.data, b.data + few, few) == 0);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* The section: rounded values are within the documented error. */

static bool near(uint64_t got, uint64_t want, double error)
{
	return fabs((double)got - (double)want) <= error * (double)want + 0.5;
}

/* A stored bin has a relative error of at most 1 / 2^(fine+1). The peak absorbs the errors of the
 * others. */
static void near_bins(const struct rn_timing *got, const struct rn_timing *want, unsigned fine)
{
	unsigned peak = 0;

	for (unsigned b = 0; b < RN_TIME_BINS; b++)
		if (rn_timing_bin(want, b) > rn_timing_bin(want, peak))
			peak = b;
	for (unsigned b = 0; b < RN_TIME_BINS; b++) {
		uint64_t x = rn_timing_bin(got, b), y = rn_timing_bin(want, b);

		if (x > 1 && b != peak) /* 1: may be the minimum or maximum alone */
			CHECK(near(x, y, 1.0 / (2 << fine)));
		CHECK(x == 0 || y > 0);
	}
}

static void near_timing(const struct rn_timing *got, const struct rn_timing *want, unsigned fine)
{
	uint64_t n = rn_timing_count(want);

	if (!CHECK(rn_timing_count(got) == n) || n == 0)
		return;
	CHECK(near(got->sum, want->sum, 1.0 / 64));
	CHECK(near(got->min, want->min, 1.0 / 64));
	CHECK(near(got->max, want->max, 1.0 / 64));
	if (n > 2)
		near_bins(got, want, fine);
}

static void near_model(struct rn_arena *mem, const struct rn_times *ts, const uint64_t *count,
		       uint32_t sigs, struct rn_buf *out)
{
	struct rn_times back;
	struct rn_err err = { 0 };
	static const struct rn_timing none;

	rn_buf_clear(out);
	CHECK(rn_times_encode(ts, count, sigs, out) == RN_OK);
	if (!CHECK(rn_times_decode(mem, out->data, out->len, count, sigs, &back, &err) == RN_OK)) {
		diag("%s", err.text);
		return;
	}
	CHECK(rn_times_check(&back));
	for (uint32_t i = 0; i < sigs; i++)
		for (int k = 0; k < 2; k++)
			near_timing(timing(&back, i, k),
				    timing(ts, i, k) ? timing(ts, i, k) : &none, out->data[1] & 3);
}

static void test_section(void)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (int round = 0; round < 200; round++) {
		uint64_t count[SIGS];
		uint32_t map[SIGS];
		struct rn_times ts, part;

		memset(model, 0, sizeof(model));
		rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
		for (uint64_t parts = tap_below(60); parts; parts--) {
			random_part(&part, &mem, map, 0);
			part.clock.n = 0;
			CHECK(rn_times_merge(&ts, &part, map) == RN_OK);
		}
		for (uint32_t i = 0; i < SIGS; i++)
			count[i] = tap_below(10) ? model[i][0].n : tap_rand() >> tap_below(64);
		near_model(&mem, &ts, count, SIGS - (uint32_t)tap_below(2), &b);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static void test_extremes(void)
{
	static const uint64_t edge[] = { 0,
					 1,
					 2,
					 127,
					 128,
					 129,
					 (uint64_t)1 << 39,
					 ((uint64_t)1 << 40) - 1,
					 (uint64_t)1 << 62,
					 UINT64_MAX };
	struct rn_arena mem;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (size_t i = 0; i < 10; i++)
		for (size_t k = 0; k < 10; k++) {
			uint64_t count[] = { 1, 2, 3, 4 };
			struct rn_times ts;

			rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
			for (uint32_t sig = 0; sig < 4; sig++) {
				struct rn_times one;

				for (uint32_t n = 0; n <= sig; n++) {
					/* Merging: sums may reach the end of their range. */
					rn_times_init(&one, &mem, RN_TIME_SCALE_ONE);
					rn_times_add(&one, sig, edge[n % 2 ? i : k], edge[i]);
					CHECK(rn_times_merge(&ts, &one, NULL) == RN_OK);
				}
			}
			CHECK(rn_times_check(&ts));
			near_model(&mem, &ts, count, 4, &b);
		}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* Durations of a typical stencil program: log-normal with different medians and spreads, some with
 * two modes, and outliers caused by the scheduler. */

static double uniform(void)
{
	return ((double)(tap_rand() >> 11) + 0.5) / (double)((uint64_t)1 << 53);
}

static uint64_t log_normal(double median, double sigma)
{
	double z = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
	double x = median * exp(sigma * z);

	if (uniform() < 1e-3)
		x += 2000 * pow(uniform(), -1.2); /* 2 us, with a heavy tail up to seconds */
	return (uint64_t)x;
}

static void stencil(struct rn_times *ts, uint64_t *count, uint32_t sigs, uint64_t ranks,
		    uint64_t steps)
{
	for (uint32_t i = 0; i < sigs; i++) {
		double median[2] = { 80 * exp(uniform() * 6), 25 * exp(uniform() * 3) };
		double sigma[2] = { 0.2 + 0.6 * uniform(), 0.2 + 0.5 * uniform() };
		double second = i % 3 == 0 ? 0.1 : 0;

		count[i] = i < 6 ? ranks : ranks * steps / (1 + i % 2);
		for (uint64_t n = 0; n < count[i]; n++) {
			double far = uniform() < second ? 60 : 1;

			rn_times_add(ts, i, log_normal(median[0] * far, sigma[0]),
				     log_normal(median[1], sigma[1]));
		}
	}
}

static void test_size(void)
{
	static const struct {
		uint64_t ranks, steps;
	} run[] = { { 9, 100 }, { 64, 100 }, { 9, 10000 }, { 64, 1000 } };
	size_t least = SIZE_MAX, most = 0;
	struct rn_arena mem;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (size_t i = 0; i < 4; i++) {
		struct rn_times ts;
		uint64_t count[35];

		rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
		stencil(&ts, count, 35, run[i].ranks, run[i].steps);
		near_model(&mem, &ts, count, 35, &b);
		diag("35 signatures, %" PRIu64 " ranks, %" PRIu64
		     " steps: %zu bytes, %.1f a signature; detail %u, 1 in 2^(%u/2)",
		     run[i].ranks, run[i].steps, b.len, (double)b.len / 35, 1u << (b.data[1] & 3),
		     b.data[1] >> 2);
		least = b.len < least ? b.len : least;
		most = b.len > most ? b.len : most;
	}
	CHECK(most <= 35 * 10 && most - least <= 14);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* The example bytes of doc/format.md. */
static void test_documented(void)
{
	static const uint64_t count[] = { 5, 1 }, dur[] = { 100, 200, 210, 220, 1000 };
	struct rn_arena mem;
	struct rn_times ts;
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
	for (int i = 0; i < 5; i++)
		rn_times_add(&ts, 0, dur[i], 50);
	rn_times_add(&ts, 1, 5000, 0);
	CHECK(rn_times_encode(&ts, count, 2, &b) == RN_OK);
	CHECK(b.len == 11 &&
	      memcmp(b.data, "\x00\xff\x65\x90\x79\x83\xd3\x34\xa0\x81\xfd", 11) == 0);
	CHECK(rn_times_decode(&mem, b.data, b.len, count, 2, &ts, NULL) == RN_OK);
	CHECK(timing(&ts, 0, 0)->sum == 1743 && timing(&ts, 0, 0)->max == 999);
	CHECK(timing(&ts, 0, 1)->sum == 250 && timing(&ts, 1, 0)->sum == 5055);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_speed(void)
{
	enum { N = 1 << 20 };
	struct rn_arena mem;
	struct rn_times ts;
	static uint32_t v[1024];
	double best = 1e9, coded;
	uint64_t count[35];
	struct rn_buf b = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE / 3);
	for (int i = 0; i < 1024; i++)
		v[i] = (uint32_t)log_normal(3000, 0.3);
	for (int round = 0; round < 10; round++) {
		double t = seconds();

		for (uint32_t i = 0; i < N; i++)
			rn_times_add(&ts, i % 16, v[i % 1024], v[i * 7 % 1024]);
		t = seconds() - t;
		best = t < best ? t : best;
	}
	rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
	stencil(&ts, count, 35, 16, 100);
	coded = seconds();
	CHECK(rn_times_encode(&ts, count, 35, &b) == RN_OK);
	coded = seconds() - coded;
	diag("%.2f ns an observation; encoding 35 signatures %.0f us", best / N / 2 * 1e9,
	     coded * 1e6);
	CHECK(best / N / 2 < 100e-9); /* instrumented builds are slow */
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* The coder */

struct symbol {
	unsigned kind, ctx;
	uint64_t v, max;
};

static uint64_t code_symbol(struct rn_coder *c, const struct symbol *s, struct rn_chance *p,
			    struct rn_number *n, struct rn_small *m, uint64_t v)
{
	switch (s->kind) {
	case 0:
		return rn_coder_bit(c, &p[s->ctx], v);
	case 1:
		return rn_coder_even(c, (uint32_t)v, (uint32_t)s->max + 1);
	case 2:
		return rn_coder_number(c, &n[s->ctx], v, s->max);
	default:
		return rn_coder_small(c, &m[s->ctx], v, s->max);
	}
}

static void random_symbol(struct symbol *s)
{
	s->kind = (unsigned)tap_below(4);
	s->ctx = (unsigned)tap_below(4);
	s->max = s->kind == 0 ? 1 : s->kind == 1 ? tap_below(1 << 16) : tap_rand() >> tap_below(64);
	s->max -= s->max == UINT64_MAX;
	s->v = tap_below(4) ? tap_below(3 + s->ctx) : tap_rand() >> tap_below(64);
	if (s->v > s->max)
		s->v = tap_below(2) ? s->max : 0;
}

static void test_coder(void)
{
	static struct symbol s[600];
	struct rn_buf b = { 0 };

	for (int round = 0; round < 2000; round++) {
		size_t n = tap_below(tap_below(10) ? 20 : 600), before;
		struct rn_chance p[4];
		struct rn_number num[4];
		struct rn_small small[4];
		struct rn_coder c;
		bool same = true;

		rn_buf_clear(&b);
		rn_buf_byte(&b, 0);
		before = b.len;
		rn_coder_write(&c, &b);
		for (int pass = 0; pass < 2; pass++) {
			memset(p, 0, sizeof(p));
			memset(num, 0, sizeof(num));
			memset(small, 0, sizeof(small));
			for (size_t i = 0; i < n; i++) {
				if (!pass)
					random_symbol(&s[i]);
				CHECK(code_symbol(&c, &s[i], p, num, small, pass ? 0 : s[i].v) ==
				      s[i].v);
			}
			CHECK(rn_coder_end(&c) && !c.bad);
			if (!pass)
				rn_coder_read(&c, b.data + before, b.len - before);
		}
		rn_buf_add(&b, "12345", 5); /* more bytes than may have been omitted */
		rn_coder_read(&c, b.data + before, b.len - before);
		memset(p, 0, sizeof(p));
		memset(num, 0, sizeof(num));
		memset(small, 0, sizeof(small));
		for (size_t i = 0; i < n; i++)
			same &= code_symbol(&c, &s[i], p, num, small, 0) == s[i].v;
		CHECK(!rn_coder_end(&c) || !same);
	}
	rn_buf_free(&b);
}

/* Hostile bytes */

static bool one_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

static void survived(const void *bytes, size_t len, const uint64_t *count, uint32_t sigs)
{
	struct rn_arena mem;
	struct rn_times ts;
	struct rn_err err = { 0 };
	struct rn_buf b = { 0 };
	int rc;

	rn_arena_init(&mem, (size_t)8 << 20);
	rc = rn_times_decode(&mem, bytes, len, count, sigs, &ts, &err);
	CHECK(rc == RN_OK ? rn_times_check(&ts) : rc == RN_E_DATA && one_line(&err));
	if (rc == RN_OK)
		CHECK(rn_times_encode(&ts, count, sigs, &b) == RN_OK);
	err = (struct rn_err){ 0 };
	rc = rn_times_load(&mem, bytes, len, RN_TIME_SCALE_ONE, &ts, &err);
	CHECK(rc == RN_OK ? rn_times_check(&ts) : rc == RN_E_DATA && one_line(&err));
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static void flip(struct rn_buf *b, const uint64_t *count, uint32_t sigs)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char was = b->data[i];

		survived(b->data, i, count, sigs);
		b->data[i] ^= (unsigned char)(1 << tap_below(8));
		survived(b->data, b->len, count, sigs);
		b->data[i] = was;
	}
}

static void test_damage(void)
{
	struct rn_arena mem;
	struct rn_buf b = { 0 };
	unsigned char noise[200];
	uint64_t count[20];
	struct rn_times ts;
	struct rn_err err = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (int round = 0; round < 10; round++) {
		rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
		stencil(&ts, count, 20, 4, 20);
		CHECK(rn_times_clock(&ts, 3, 77, -5) == RN_OK);
		CHECK(rn_times_clock(&ts, 9, 78, -4) == RN_OK);
		rn_buf_clear(&b);
		CHECK(rn_times_encode(&ts, count, 20, &b) == RN_OK);
		flip(&b, count, 20);
		rn_buf_add(&b, "1234567890123456789012345678901234567890", 40);
		CHECK(rn_times_decode(&mem, b.data, b.len, count, 20, &ts, &err) == RN_E_DATA);
		rn_buf_clear(&b);
		rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
		stencil(&ts, count, 20, 4, 20);
		CHECK(rn_times_save(&ts, &b) == RN_OK);
		for (size_t i = 0; i < b.len; i++)
			CHECK(rn_times_load(&mem, b.data, i, RN_TIME_SCALE_ONE, &ts, &err) ==
			      RN_E_DATA);
		flip(&b, count, 20);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	for (int round = 0; round < 5000; round++) {
		size_t n = tap_below(sizeof(noise));

		for (size_t i = 0; i < n; i++)
			noise[i] = (unsigned char)(tap_rand() & (tap_below(4) ? 255 : 3));
		if (n)
			noise[0] = 0;
		for (uint32_t i = 0; i < 20; i++)
			count[i] = tap_rand() >> tap_below(64);
		survived(noise, n, count, 20);
	}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static void test_no_memory(void)
{
	struct rn_arena mem, other;
	struct rn_times ts, part, back;
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };
	uint32_t map[SIGS];
	uint64_t count[20];
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&other, SIZE_MAX);
	(void)rn_alloc(&mem, 1, 1, 1);
	memset(model, 0, sizeof(model));
	random_part(&part, &other, map, 0);
	for (uint64_t at = 1; rc != RN_OK && at < 200; at++) {
		rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
		mem.fail_at = at;
		rc = rn_times_merge(&ts, &part, map);
		mem.fail_at = 0;
		CHECK((rc == RN_OK || rc == RN_E_NOMEM) && rn_times_check(&ts));
	}
	CHECK(rc == RN_OK);
	for (uint64_t at = 1; at < 40; at++) { /* observing: only observations are lost */
		rn_times_init(&back, &mem, RN_TIME_SCALE_ONE);
		mem.fail_at = at;
		for (uint32_t i = 0; i < 100; i++)
			rn_times_add(&back, i % 7, 10 * i, i);
		mem.fail_at = 0;
		CHECK(rn_times_check(&back));
	}
	rn_times_init(&ts, &mem, RN_TIME_SCALE_ONE);
	stencil(&ts, count, 20, 4, 20);
	CHECK(rn_times_clock(&ts, 3, 77, -5) == RN_OK);
	for (uint64_t at = 1; at < 60; at++) {
		struct rn_buf e = { 0 };

		rn_buf_fail_at(at);
		mem.fail_at = at;
		rc = rn_times_encode(&ts, count, 20, &e);
		mem.fail_at = 0;
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && e.len == 0));
		rn_buf_free(&e);
		rn_buf_fail_at(at);
		rc = rn_times_save(&ts, &e);
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && e.len == 0));
		rn_buf_free(&e);
	}
	CHECK(rn_times_encode(&ts, count, 20, &b) == RN_OK);
	rc = RN_E_NOMEM;
	for (uint64_t at = 1; rc != RN_OK && at < 200; at++) {
		mem.fail_at = at;
		rc = rn_times_decode(&mem, b.data, b.len, count, 20, &back, &err);
		mem.fail_at = 0;
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && one_line(&err)));
	}
	CHECK(rc == RN_OK && rn_times_check(&back));
	rn_buf_free(&b);
	rn_arena_free(&mem);
	rn_arena_free(&other);
}

int main(void)
{
	test_model();
	ok("observations merged in any order are what they were, exactly");
	test_settle();
	ok("ticks become nanoseconds");
	test_clocks();
	ok("clocks of hosts");
	test_coder();
	ok("the coder gives back what it was given");
	test_section();
	ok("the section rounds as it says");
	test_extremes();
	ok("and so do extremes");
	test_size();
	ok("a stencil's times are small, however long it ran");
	test_documented();
	ok("the example of the format document");
	test_speed();
	ok("observing is fast");
	test_damage();
	ok("damage is refused or survived");
	test_no_memory();
	ok("failed allocations lose no more than they must");
	return tap_done();
}
