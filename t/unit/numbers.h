/*
 * numbers.h - random integer sequences for the tests of series.
 *
 * A sequence mixes spans that resemble the values of real programs (constants, strides, cycles,
 * nested strides, interleaved lanes, loops over irregular positions), noise of small and large
 * ranges, and extreme values. All arithmetic wraps, so that differences that overflow an int64
 * occur too.
 */
#ifndef RN_T_NUMBERS_H
#define RN_T_NUMBERS_H

#include "tap.h"

#define NUMBERS_MAX 40000u

struct numbers {
	int64_t v[NUMBERS_MAX];
	uint32_t n, limit; /* limit <= NUMBERS_MAX */
};

static bool numbers_put(struct numbers *s, uint64_t x)
{
	if (s->n >= s->limit)
		return false;
	s->v[s->n++] = (int64_t)x;
	return true;
}

/* Returns a signed step, usually small, sometimes of any magnitude. */
static uint64_t numbers_step(void)
{
	uint64_t x = tap_rand() >> (tap_below(12) ? 44 + tap_below(20) : tap_below(64));

	return tap_below(3) ? x : 0 - x;
}

static void numbers_even(struct numbers *s, uint64_t n)
{
	uint64_t x = numbers_step(), d = tap_below(4) ? numbers_step() : 0;

	while (n-- && numbers_put(s, x))
		x += d;
}

static void numbers_cycle(struct numbers *s, uint64_t n, uint64_t period)
{
	uint64_t d[1024], x = numbers_step();

	for (uint64_t i = 0; i < period; i++)
		d[i] = numbers_step();
	for (uint64_t i = 0; i < n && numbers_put(s, x); i++)
		x += d[i % period];
}

static void numbers_nest(struct numbers *s, unsigned depth, uint64_t base)
{
	uint64_t trips = 1 + tap_below(depth ? 8 : 24), d = numbers_step() << 4 * depth;

	for (uint64_t i = 0; i < trips && s->n < s->limit; i++, base += d) {
		if (depth)
			numbers_nest(s, depth - 1, base);
		else
			numbers_put(s, base);
	}
}

/* Appends the same nest `times` times. Each copy of the output of nest() is offset. */
static void numbers_rows(struct numbers *s, unsigned depth, uint64_t times)
{
	uint32_t from = s->n, to;
	uint64_t d = numbers_step() << 8;

	numbers_nest(s, depth, numbers_step());
	to = s->n;
	for (uint64_t k = 1; k < times; k++)
		for (uint32_t i = from; i < to; i++)
			if (!numbers_put(s, (uint64_t)s->v[i] + k * d))
				return;
}

static void numbers_lanes(struct numbers *s, uint64_t n, uint64_t lanes)
{
	uint64_t x[16], d[16], wrap = tap_below(3) ? UINT64_MAX : 5 + tap_below(40);

	for (uint64_t k = 0; k < lanes; k++) {
		x[k] = numbers_step();
		d[k] = numbers_step();
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = i % lanes;

		if (!numbers_put(s, x[k] + d[k] * (i / lanes % wrap)))
			return;
	}
}

static void numbers_noise(struct numbers *s, uint64_t n, uint64_t range)
{
	while (n--)
		if (!numbers_put(s, range ? tap_below(range) : tap_rand()))
			return;
}

/* A loop over irregular positions, all of which are shifted in each iteration. */
static void numbers_places(struct numbers *s, uint64_t n, uint64_t period)
{
	uint64_t place[1024], d = numbers_step();

	for (uint64_t i = 0; i < period; i++)
		place[i] = tap_rand() >> 30;
	for (uint64_t i = 0; i < n; i++)
		if (!numbers_put(s, place[i % period] + i / period * d))
			return;
}

static void numbers_extremes(struct numbers *s, uint64_t n)
{
	static const int64_t edge[] = {
		INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT64_MAX - 1
	};
	uint64_t kinds = 1 + tap_below(7), cycle = tap_below(2);

	for (uint64_t i = 0; i < n; i++)
		if (!numbers_put(s, (uint64_t)edge[cycle ? i % kinds : tap_below(kinds)]))
			return;
}

/* Ascending and non-negative, as find requires. */
static void numbers_growing(struct numbers *s, uint64_t n)
{
	uint64_t x = tap_below(1000), d[8], period = 1 + tap_below(8), zero = tap_below(3);

	for (uint64_t i = 0; i < period; i++)
		d[i] = zero ? tap_below(5) : tap_rand() >> 40;
	for (uint64_t i = 0; i < n && x < INT64_MAX / 2 && numbers_put(s, x); i++)
		x += tap_below(50) ? d[i % period] : tap_below(1000);
}

static void numbers_stretch(struct numbers *s)
{
	uint64_t n = tap_below(tap_below(3) ? 300 : 6000);

	switch (tap_below(12)) {
	case 0:
		numbers_even(s, n);
		break;
	case 1:
		numbers_cycle(s, n, 1 + tap_below(12));
		break;
	case 2:
		numbers_nest(s, (unsigned)tap_below(4), numbers_step());
		break;
	case 3:
	case 4:
		numbers_rows(s, (unsigned)tap_below(4), 1 + tap_below(12));
		break;
	case 5:
	case 6:
		numbers_lanes(s, n, 2 + tap_below(15));
		break;
	case 7:
		numbers_noise(s, n, tap_below(2) ? 0 : 1 + tap_below(40));
		break;
	case 8:
		numbers_places(s, n, 17 + tap_below(600));
		break;
	case 9:
		numbers_extremes(s, tap_below(200));
		break;
	case 10:
		numbers_growing(s, n);
		break;
	default:
		numbers_noise(s, tap_below(20), 0);
	}
}

static void numbers_random(struct numbers *s, uint32_t limit)
{
	s->n = 0;
	s->limit = limit < NUMBERS_MAX ? limit : NUMBERS_MAX;
	if (tap_below(4) == 0) { /* monotone overall, and long enough to be searched */
		numbers_growing(s, tap_below(s->limit));
		return;
	}
	for (uint64_t pieces = 1 + tap_below(5); pieces; pieces--)
		numbers_stretch(s);
}

#endif
