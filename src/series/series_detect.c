/*
 * series_detect.c - the two pattern detectors of the builder.
 *
 * (1) rn_series_judge examines a block of RAW_FULL values. Values that continue linearly at a
 * distance of L form a cycle if all have the same stride, and L lanes if the strides differ. A
 * small number of distinct differences that mostly follow from the preceding ones justifies an
 * attempt. (2) `seen` searches a literal unit for differences that repeat at any distance, such as
 * a loop over a hundred irregular addresses. Four successive differences that occurred before set a
 * lag. The lag is accepted once enough differences have repeated at it.
 *
 * Cost: (1) some hundred steps per block, up to two thousand if there are few distinct differences;
 * (2) one hash and one or two compares per value.
 */
#include "series/series_impl.h"

#include <assert.h>
#include <string.h>

/* Maximum number of distinct differences in a block of RAW_FULL values with a pattern. */
#define FEW_DELTAS 16u
/* Maximum number of the last 31 differences that may be unpredicted. A pattern unit can sustain
 * about as many. */
#define UNFORESEEN_MAX 6u

bool rn_series_even(const int64_t *v, uint32_t n)
{
	int64_t first, d;

	if (n < 2 || !rn_difference(v[0], v[1], &first))
		return n < 2;
	for (uint32_t i = 2; i < n; i++)
		if (!rn_difference(v[i - 1], v[i], &d) || d != first)
			return false;
	return true;
}

/* Assigns ids to the differences. Returns false if there are more than FEW_DELTAS. */
static bool few_deltas(const int64_t *v, uint8_t *id)
{
	int64_t found[FEW_DELTAS], d;
	uint32_t n = 0, k;

	for (uint32_t i = 1; i < RAW_FULL; i++) {
		if (!rn_difference(v[i - 1], v[i], &d))
			return false;
		for (k = 0; k < n && found[k] != d; k++)
			;
		if (k == FEW_DELTAS)
			return false;
		if (k == n)
			found[n++] = d;
		id[i - 1] = (uint8_t)k;
	}
	return true;
}

/* Returns the most frequent successor of the earlier contexts that are most similar to that of i.
 * past[i] contains the ids of the preceding differences, four bits each, the latest lowest. */
static uint32_t likeliest(const uint64_t *past, const uint8_t *id, uint32_t i)
{
	uint8_t votes[FEW_DELTAS] = { 0 };
	uint32_t best = 0;
	int most = -1;

	for (uint32_t k = 1; k < i; k++) {
		uint64_t unlike = past[k] ^ past[i];
		int same = unlike ? __builtin_ctzll(unlike) / 4 : 16;

		if (same < most)
			continue;
		if (same > most) {
			memset(votes, 0, sizeof(votes));
			most = same;
			best = id[k];
		}
		if (++votes[id[k]] >= votes[best])
			best = id[k];
	}
	return best;
}

/* Whether most differences of the second half follow from the preceding ones. This distinguishes
 * structure from noise over a small alphabet. */
static bool foreseeable(const uint8_t *id)
{
	uint64_t past[RAW_FULL - 1] = { 0 };
	uint32_t missed = 0;

	for (uint32_t i = 1; i < RAW_FULL - 1; i++) {
		past[i] = past[i - 1] << 4 | id[i - 1];
		if (i < RAW_FULL / 2)
			continue;
		missed += likeliest(past, id, i) != id[i];
		if (missed > UNFORESEEN_MAX)
			return false;
	}
	return true;
}

/* Counts the values that are not on the line through the values at distances lag and 2 * lag before
 * them. Counting stops above `most`. */
static uint32_t off_line(const int64_t *v, uint32_t lag, uint32_t most)
{
	uint32_t off = 0;
	int64_t a, b;

	for (uint32_t i = 2 * lag; i < RAW_FULL && off <= most; i++)
		off += !rn_difference(v[i - 2 * lag], v[i - lag], &a) ||
		       !rn_difference(v[i - lag], v[i], &b) || a != b;
	return off;
}

/* Returns the lag at which the fewest values are off the line; 0 if more than a sixth are at every
 * lag. */
static uint32_t best_lag(const int64_t *v)
{
	uint32_t best = 0, least = UINT32_MAX;

	for (uint32_t lag = 1; lag <= RN_LANES_MAX; lag++) {
		uint32_t most = (RAW_FULL - 2 * lag) / 6, off;

		if (most >= least)
			most = least - 1;
		off = off_line(v, lag, most);
		if (off <= most) {
			least = off;
			best = lag;
		}
		if (least == 0)
			break;
	}
	return best;
}

/* Whether at least three quarters of the differences repeat at this lag. All lanes then have the
 * same stride, and the whole is a cycle, which is the smaller description. */
static bool cyclic(const int64_t *v, uint32_t lag)
{
	uint32_t off = 0;
	int64_t a, b;

	for (uint32_t i = lag + 1; i < RAW_FULL; i++)
		off += !rn_difference(v[i - lag - 1], v[i - lag], &a) ||
		       !rn_difference(v[i - 1], v[i], &b) || a != b;
	return off <= (RAW_FULL - lag - 1) / 4;
}

uint32_t rn_series_judge(const int64_t *v, bool *strong)
{
	uint32_t lag = best_lag(v);
	uint8_t id[RAW_FULL];

	*strong = lag != 0;
	if (lag == 0)
		return few_deltas(v, id) && foreseeable(id);
	return cyclic(v, lag) ? 1 : lag;
}

int rn_seen_reserve(struct rn_series *s)
{
	if (!s->seen)
		s->seen = rn_new(s->mem, uint32_t, SEEN_SIZE);
	return s->seen ? RN_OK : RN_E_NOMEM;
}

void rn_seen_clear(struct rn_series *s)
{
	assert(s->seen);
	memset(s->seen, 0, SEEN_SIZE * sizeof(*s->seen));
	s->context = s->lag = s->run = 0;
}

/* Returns the difference before value i > 0 of the open literal unit, modulo 2^64. */
static uint64_t delta_before(const struct rn_series *s, uint32_t i)
{
	uint32_t at = s->open.lit + i;

	assert(i > 0 && at < s->lit.n);
	return (uint64_t)rn_lit_at(s, at) - (uint64_t)rn_lit_at(s, at - 1);
}

/* Hashes four successive differences. Older ones have been shifted out of the word. */
static uint32_t mix(uint32_t context, uint64_t d)
{
	return context << 8 ^ (uint32_t)(d * 0x9e3779b97f4a7c15u >> 32);
}

static uint32_t *seen_slot(const struct rn_series *s)
{
	return &s->seen[s->context * 0x9e3779b1u >> (32 - SEEN_BITS)];
}

void rn_seen_enter(struct rn_series *s, uint32_t from, uint32_t end)
{
	assert(s->open.lit + end <= s->lit.n);
	s->context = 0;
	for (uint32_t i = from > 4 ? from - 4 : 1; i < end; i++) {
		s->context = mix(s->context, delta_before(s, i));
		if (i >= from)
			*seen_slot(s) = i;
	}
	s->lag = s->run = 0;
}

void rn_seen_look(struct rn_series *s, uint32_t i)
{
	uint64_t d;
	uint32_t *slot;

	if (i == 0)
		return;
	assert(s->lag < i && s->open.lit + i + 1 == s->lit.n);
	d = delta_before(s, i);
	s->context = mix(s->context, d);
	slot = seen_slot(s);
	if (s->lag && delta_before(s, i - s->lag) == d) {
		s->run++;
	} else {
		s->lag = *slot && delta_before(s, *slot) == d ? i - *slot : 0;
		s->run = s->lag != 0;
	}
	*slot = i;
}
