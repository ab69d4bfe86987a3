/*
 * time_quant.h - how exactly the times of single calls are kept: a base for each function.
 *
 * With a base B a time is kept to within (B - 1) times itself; 1 is exactly. A base is a number of
 * thousandths above 1: 200 for 1.2, 0 for exactly.
 *
 * Levels are the times that can be kept with a base: 0, and each so far from the one before that
 * no time between, rounded down, is off by more than that. They are integers, made by integers,
 * and so the same everywhere: level k + 1 is floor(1000 level k / (1000 - base)) + 1.
 *
 * Memory from the arena, immutable afterwards. Finding a level is a search within an octave.
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

#define RN_GRAIN_BASE     200u /* when none is given */
#define RN_GRAIN_BASE_MAX 900u

struct rn_levels {
	uint32_t base, n;
	uint64_t *at;       /* ascending; the first is 0 */
	uint32_t first[66]; /* by number of binary digits: the level of the least such number */
};

struct rn_grain_own {
	uint32_t func, base;
	const struct rn_levels *levels; /* NULL: exactly */
};

struct rn_grain {
	uint32_t base;
	const struct rn_levels *levels; /* NULL: exactly */
	struct rn_grain_own *own;       /* functions with a base of their own, ascending */
	uint32_t owns;
};

/* What `--time` says: exact or bins[:B], and then any number of ,PATTERN=B, of which the last that
 * fits a function's name counts. RN_OK, RN_E_NOMEM, or RN_E_ARG with what is wrong. */
int rn_grain_parse(struct rn_arena *mem, const char *text, const struct rn_vocab *vocab,
		   struct rn_grain *out, struct rn_err *err);

/* As bytes; reading trusts none. */
void rn_grain_encode(const struct rn_grain *g, struct rn_buf *out);
int rn_grain_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_grain *out,
		    struct rn_err *err);

const struct rn_levels *rn_grain_find(const struct rn_grain *g, uint32_t func);

/* The levels for a function's calls; NULL: exactly. */
static inline const struct rn_levels *rn_grain_levels(const struct rn_grain *g, uint32_t func)
{
	return __builtin_expect(g->owns == 0, 1) ? g->levels : rn_grain_find(g, func);
}

static inline unsigned rn_binary_digits(uint64_t v)
{
	return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* The highest level that is not above v. */
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
