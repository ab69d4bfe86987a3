/*
 * time_quant.h - the precision of call times: a base for each function, and its quantization
 * levels.
 *
 * With a base B, the error of a time is at most (B - 1) times the time; 1 means exact. A base is
 * stored in thousandths above 1: 200 for 1.2, 0 for exact.
 *
 * The levels are the times that can be represented with a base. The first is 0. Each following
 * level is as far from the previous one as the error bound permits when a time between them is
 * rounded down. Levels are computed in integers, so they are the same on all machines: level k + 1
 * is floor(1000 level k / (1000 - base)) + 1.
 *
 * Memory is from the arena and immutable afterwards. A lookup is a binary search within an octave.
 */
#ifndef RN_ENCODE_TIME_QUANT_H
#define RN_ENCODE_TIME_QUANT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_vocab;

#define RN_GRAIN_BASE     200u /* default base, in thousandths above 1 */
#define RN_GRAIN_BASE_MAX 900u

struct rn_levels {
	uint32_t base, n;
	uint64_t *at;       /* ascending; the first is 0 */
	uint32_t first[66]; /* by number of binary digits: rn_level_of the least such number */
};

struct rn_grain_own {
	uint32_t func, base;
	const struct rn_levels *levels; /* NULL: exact */
};

struct rn_grain {
	uint32_t base;
	const struct rn_levels *levels; /* NULL: exact */
	struct rn_grain_own *own;       /* functions with a base of their own, sorted by function */
	uint32_t owns;
};

/* Parses the value of `--time`: exact or bins[:B], then any number of ,PATTERN=B. The last pattern
 * that matches the name of a function applies. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG with a
 * message. */
int rn_grain_parse(struct rn_arena *mem, const char *text, const struct rn_vocab *vocab,
		   struct rn_grain *out, struct rn_err *err);

/* Encode and decode the bases of all functions. Input is untrusted; malformed input returns
 * RN_E_DATA. */
void rn_grain_encode(const struct rn_grain *g, struct rn_buf *out);
int rn_grain_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_grain *out,
		    struct rn_err *err);

const struct rn_levels *rn_grain_find(const struct rn_grain *g, uint32_t func);

/* Returns the levels for the calls of a function; NULL: exact. */
static inline const struct rn_levels *rn_grain_levels(const struct rn_grain *g, uint32_t func)
{
	return __builtin_expect(g->owns == 0, 1) ? g->levels : rn_grain_find(g, func);
}

static inline unsigned rn_binary_digits(uint64_t v)
{
	return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* Returns the index of the highest level that is not above v. */
static inline uint32_t rn_level_of(const struct rn_levels *l, uint64_t v)
{
	unsigned d = rn_binary_digits(v);
	uint32_t lo = l->first[d], hi = l->first[d + 1] + 1;

	hi = hi < l->n ? hi : l->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->at[mid] <= v)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

#endif
