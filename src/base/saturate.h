/* saturate.h - sums and products of counts that saturate at UINT64_MAX instead of overflowing. */
#ifndef RN_BASE_SATURATE_H
#define RN_BASE_SATURATE_H

#include <stdint.h>

static inline void rn_sat_add(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

static inline uint64_t rn_sat_mul(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

#endif
