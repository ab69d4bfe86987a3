/*
 * ordinal_set.h - which of the things that are numbered as they begin are done: how many that are
 * not done have a lower number than one that ends.
 *
 * What is kept are the gaps: numbers that are not done, below the highest that is. So who ends in
 * order costs a comparison, memory goes with how many are out of order at a time and not with how
 * long one is open, and a number far above the others is one gap.
 *
 * Memory from the arena. Cost: a few nanoseconds, and what begins late is found soon; for one that
 * is below 100,000 gaps a microsecond.
 */
#ifndef RN_ORDER_ORDINAL_SET_H
#define RN_ORDER_ORDINAL_SET_H

#include <stdbool.h>
#include <stdint.h>

struct rn_arena;
struct rn_ordinals_block;

struct rn_ordinals {
	uint64_t next;                  /* above all that are done */
	uint64_t open;                  /* numbers in gaps */
	struct rn_ordinals_block *last; /* of gaps, those with the highest numbers */
	struct rn_ordinals_block *unused;
};

/* Number n is done now: `late` is how many lower ones are not. False when there is no memory, or it
 * was done before, with all as it was. */
bool rn_ordinals_done(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late);

/* The other way round: which number it is. */
uint64_t rn_ordinals_number(const struct rn_ordinals *o, uint64_t late);

#endif
