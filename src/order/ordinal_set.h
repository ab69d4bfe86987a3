/*
 * ordinal_set.h - set of completed ordinals; reports how many lower ordinals are still open.
 *
 * The set is stored as gaps: ranges of open ordinals below the highest completed one. A completion
 * in order therefore costs one comparison. Memory is proportional to the number of gaps, not to the
 * time for which an ordinal remains open. An ordinal far above the others adds one gap.
 *
 * Memory: the arena. Cost: a few nanoseconds; the highest gaps are searched first. An ordinal below
 * 100,000 gaps costs a microsecond.
 */
#ifndef RN_ORDER_ORDINAL_SET_H
#define RN_ORDER_ORDINAL_SET_H

#include <stdbool.h>
#include <stdint.h>

struct rn_arena;
struct rn_ordinals_block;

struct rn_ordinals {
	uint64_t next;                  /* highest completed ordinal plus 1 */
	uint64_t open;                  /* number of open ordinals in gaps */
	struct rn_ordinals_block *last; /* block of the gaps with the highest ordinals */
	struct rn_ordinals_block *unused;
};

/* Completes ordinal n. *late becomes the number of lower ordinals that are still open. Returns
 * false without memory, or if n is already complete, with the set unchanged. */
bool rn_ordinals_done(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late);

/* Returns the ordinal whose completion would overtake `late` open ordinals. */
uint64_t rn_ordinals_number(const struct rn_ordinals *o, uint64_t late);

#endif
