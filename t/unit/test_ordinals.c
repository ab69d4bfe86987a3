/*
 * test_ordinals.c - the number of earlier receives that are open, compared with a list of all
 * ordinals.
 */
#include "tap.h"

#include "base/arena.h"
#include "order/ordinal_set.h"

#define MOST 3000u

static struct rn_arena mem;

/* The model: open ordinals are found by counting. */
static bool is_done[MOST];

static uint64_t count_open(uint64_t below)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < below; i++)
		n += !is_done[i];
	return n;
}

/* One of the latest `spread` ordinals, or the next lower one that is open. */
static uint64_t pick_open(uint64_t started, uint64_t spread)
{
	uint64_t n = started - 1 - tap_below(spread < started ? spread : started);

	while (n > 0 && is_done[n])
		n--;
	while (is_done[n])
		n++;
	return n;
}

/* Each completion is among the latest `spread` ordinals. Some of the earliest may stay open to the
 * end. */
static bool run(uint64_t spread)
{
	struct rn_ordinals o = { 0 };
	uint64_t started = 0, open = 0, late;
	bool same = true;

	for (uint32_t i = 0; i < MOST; i++)
		is_done[i] = false;
	while (started < MOST && same) {
		uint64_t n;

		if (open < spread / 2 + 1 || tap_below(2)) {
			started++;
			open++;
			continue;
		}
		n = pick_open(started, spread);
		same = rn_ordinals_number(&o, count_open(n)) == n &&
		       rn_ordinals_done(&o, &mem, n, &late) && late == count_open(n);
		is_done[n] = true;
		open--;
	}
	return same;
}

int main(void)
{
	struct rn_ordinals o = { 0 };
	bool same = true;
	uint64_t late;

	rn_arena_init(&mem, SIZE_MAX);
	for (uint64_t spread = 1; spread < 2 * MOST; spread = spread * 3 / 2 + 1)
		same &= run(spread);
	CHECK(same);
	ok("any order, near and far");

	CHECK(rn_ordinals_number(&o, UINT32_MAX) == UINT32_MAX);
	CHECK(rn_ordinals_done(&o, &mem, UINT32_MAX, &late) && late == UINT32_MAX);
	CHECK(rn_ordinals_number(&o, UINT32_MAX - 1) == UINT32_MAX - 1);
	CHECK(rn_ordinals_number(&o, UINT32_MAX) == (uint64_t)UINT32_MAX + 1);
	CHECK(!rn_ordinals_done(&o, &mem, UINT32_MAX, &late));
	CHECK(mem.mapped < 4u << 20);
	ok("a number far above the others takes no memory");

	/* One ordinal stays open forever, like a receive for a termination message. */
	o = (struct rn_ordinals){ 0 };
	same = true;
	for (uint64_t i = 1; i < 1000000; i++)
		same &= rn_ordinals_done(&o, &mem, i, &late) && late == 1;
	CHECK(same && mem.mapped < 4u << 20);
	ok("one that stays open");
	rn_arena_free(&mem);
	return tap_done();
}
