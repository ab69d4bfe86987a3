/* clock_value.c - see clock_value.h. */
#include "order/clock_value.h"

#include <assert.h>

typedef unsigned __int128 wide;

#define MANTISSA 53
#define BIAS     1075 /* exponent field of a double that equals its integer mantissa */
#define LEAST    (1023 - 40)
#define MOST     (1023 + 33)

static unsigned length_of(wide x)
{
	uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

	return high  ? 128u - (unsigned)__builtin_clzll(high)
	       : low ? 64u - (unsigned)__builtin_clzll(low)
		     : 0;
}

/* Returns the double nearest to x * 2^-scale; of two, the even one. */
static uint64_t nearest(wide x, unsigned scale)
{
	unsigned length = length_of(x), drop = length > MANTISSA ? length - MANTISSA : 0;
	wide rest = x & (((wide)1 << drop) - 1), half = drop ? (wide)1 << (drop - 1) : 1;
	uint64_t m = (uint64_t)(x >> drop);

	if (!length)
		return 0;
	m += rest > half || (rest == half && drop && m & 1);
	if (length < MANTISSA)
		m <<= MANTISSA - length;
	if (m >> MANTISSA) { /* only after rounding up to a power of two */
		m >>= 1;
		drop++;
	}
	return (uint64_t)(BIAS + drop - scale - (length < MANTISSA ? MANTISSA - length : 0)) << 52 |
	       (m & (((uint64_t)1 << 52) - 1));
}

/* Returns the mantissa m of a nonzero double, whose value is m * 2^-scale. */
static uint64_t mantissa(uint64_t bits, int *scale)
{
	*scale = BIAS - (int)(bits >> 52);
	return (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
}

/* Returns the double nearest to n / hz. */
static uint64_t divide(uint64_t n, uint32_t hz)
{
	unsigned shift = 127 - length_of(n);
	wide x = (wide)n << shift, q;

	assert(hz > 0);
	q = x / hz;
	return nearest(q | (q * hz != x), shift); /* the remainder decides between two doubles */
}

/* Returns the double nearest to whole + part, or to whole - part. `part` is a double below 1. */
static uint64_t add(uint64_t whole, uint64_t part, bool minus)
{
	int scale;
	uint64_t m;

	if (!part)
		return nearest(whole, 0);
	m = mantissa(part, &scale);
	return nearest(((wide)whole << scale) + (minus ? -(wide)m : (wide)m), (unsigned)scale);
}

static uint64_t multiply(uint64_t n, uint64_t by)
{
	int scale;
	uint64_t m = mantissa(by, &scale);

	return nearest((wide)n * m, (unsigned)scale);
}

bool rn_clock_is_reading(uint64_t bits)
{
	uint64_t exponent = bits >> 52;

	return bits == 0 || (exponent >= LEAST && exponent < MOST);
}

uint64_t rn_clock_ticks(uint64_t bits, uint32_t hz)
{
	int scale;
	wide x;

	assert(rn_clock_is_reading(bits));
	if (!bits)
		return 0;
	x = (wide)mantissa(bits, &scale) * hz; /* below 2^83; the scale is from 20 to 92 */
	return (uint64_t)((x + ((wide)1 << (scale - 1))) >> scale);
}

uint64_t rn_clock_seconds(uint64_t ticks, uint32_t hz)
{
	return divide(ticks, hz);
}

/* Returns 0 if a is below b, 1 if they are equal, and 2 if a is above. */
static uint32_t compare(uint64_t a, uint64_t b)
{
	return 1u + (a > b) - (a < b);
}

uint32_t rn_clock_rounding(uint64_t ticks, uint32_t hz)
{
	uint64_t usual = divide(ticks, hz), whole = ticks / hz, part = ticks % hz;

	return compare(add(whole, divide(part, hz), false), usual) * 9 +
	       compare(add(whole + 1, divide(hz - part, hz), true), usual) * 3 +
	       compare(add(whole, part ? multiply(part, divide(1, hz)) : 0, false), usual);
}
