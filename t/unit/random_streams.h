/*
 * random_streams.h - random symbol streams for the tests of grammars and rules.
 *
 * Streams that look like programs (loop nests with varying trip counts, optional calls, changed
 * tails), noise of small and large alphabets, and mixtures. At most STREAM_MAX symbols.
 */
#ifndef RN_T_RANDOM_STREAMS_H
#define RN_T_RANDOM_STREAMS_H

#include "tap.h"

#define STREAM_MAX 60000u

struct stream {
	uint32_t t[STREAM_MAX];
	uint32_t n;
};

static void stream_put(struct stream *s, uint64_t t)
{
	if (s->n < STREAM_MAX)
		s->t[s->n++] = (uint32_t)t;
}

/* A loop nest: the body is generated once and repeated, sometimes with an extra symbol. */
static void stream_nest(struct stream *s, unsigned depth, uint32_t alphabet)
{
	uint64_t items = 1 + tap_below(4), trips = 1 + tap_below(7), i, k;
	uint32_t from = s->n, to;

	for (i = 0; i < items; i++) {
		if (depth && tap_below(2))
			stream_nest(s, depth - 1, alphabet);
		else
			stream_put(s, tap_below(alphabet));
	}
	to = s->n;
	for (i = 1; i < trips && s->n < STREAM_MAX / 2; i++) {
		for (k = from; k < to; k++)
			stream_put(s, s->t[k]);
		if (tap_below(10) == 0)
			stream_put(s, tap_below(alphabet));
		if (tap_below(20) == 0 && s->n > from)
			s->n--; /* an iteration that ends early */
	}
}

static void stream_noise(struct stream *s, uint32_t alphabet)
{
	for (uint64_t n = tap_below(2000); n; n--)
		stream_put(s, tap_below(alphabet));
}

static void stream_prefixes(struct stream *s)
{
	uint64_t longest = 2 + tap_below(60);

	for (uint64_t k = 1; k < longest; k++)
		for (uint64_t i = 0; i < k; i++)
			stream_put(s, i);
}

static void stream_trips(struct stream *s, uint32_t alphabet)
{
	uint64_t body = 1 + tap_below(4), steps = tap_below(60);

	for (uint64_t i = 0; i < steps; i++) {
		for (uint64_t k = 1 + tap_below(12); k; k--)
			for (uint64_t b = 0; b < body; b++)
				stream_put(s, b % alphabet);
		stream_put(s, alphabet);
		if (tap_below(4) == 0)
			stream_put(s, alphabet + 1);
	}
}

static void stream_random(struct stream *s)
{
	s->n = 0;
	for (uint64_t pieces = 1 + tap_below(5); pieces; pieces--) {
		uint32_t alphabet = 1 + (uint32_t)tap_below(tap_below(2) ? 4 : 30);

		switch (tap_below(5)) {
		case 0:
			stream_noise(s, alphabet);
			break;
		case 1:
			stream_prefixes(s);
			break;
		case 2:
			stream_trips(s, alphabet);
			break;
		default:
			stream_nest(s, (unsigned)tap_below(5), alphabet);
		}
	}
}

#endif
