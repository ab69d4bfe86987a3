/* ordinals.c - see ordinals.h. */
#include "order/ordinals.h"

#include "base/arena.h"

#define LEAST 256u /* bits */

static bool is_set(const struct rn_ordinals *o, uint64_t n)
{
	uint64_t at = n & (o->cap - 1);

	return o->bit[at / 64] >> at % 64 & 1;
}

static void set(struct rn_ordinals *o, uint64_t n, bool on)
{
	uint64_t at = n & (o->cap - 1), one = (uint64_t)1 << at % 64;

	o->bit[at / 64] = on ? o->bit[at / 64] | one : o->bit[at / 64] & ~one;
}

/* Room for numbers as far above the lowest. */
static bool grow(struct rn_ordinals *o, struct rn_arena *mem, uint64_t late)
{
	struct rn_ordinals larger = { .lowest = o->lowest, .cap = o->cap ? o->cap : LEAST };

	while (larger.cap <= late)
		larger.cap *= 2;
	larger.bit = rn_new(mem, uint64_t, larger.cap / 64);
	if (!larger.bit)
		return false;
	for (uint64_t i = 0; i < o->cap; i++)
		set(&larger, o->lowest + i, is_set(o, o->lowest + i));
	*o = larger;
	return true;
}

bool rn_ordinals_done(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late)
{
	*late = n - o->lowest;
	if (*late) {
		if (*late >= o->cap && !grow(o, mem, *late))
			return false;
		set(o, n, true);
		return true;
	}
	for (o->lowest++; o->cap && is_set(o, o->lowest); o->lowest++)
		set(o, o->lowest, false);
	return true;
}
