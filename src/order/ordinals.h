/*
 * ordinals.h - which of the things that are numbered as they begin are done: how far the number of
 * one that ends is above the lowest that has not.
 *
 * Memory: a bit for each number from the lowest open one to the highest that is done, from the
 * arena, doubled when it is too small.
 */
#ifndef RN_ORDER_ORDINALS_H
#define RN_ORDER_ORDINALS_H

#include <stdbool.h>
#include <stdint.h>

struct rn_arena;

struct rn_ordinals {
	uint64_t lowest; /* the first that is not done */
	uint64_t *bit;   /* number n is bit n modulo `cap`; set: done, and above the lowest */
	uint64_t cap;    /* a power of two, or 0 */
};

/* Number n, which is not done, is done now: `late` is how far it is above the lowest that was not.
 * False when there is no memory, with all as it was. */
bool rn_ordinals_done(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late);

/* The other way round: which number it is. */
static inline uint64_t rn_ordinals_number(const struct rn_ordinals *o, uint64_t late)
{
	return o->lowest + late;
}

#endif
