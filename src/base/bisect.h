/*
 * bisect.h - binary search in a sorted list: finds the first element that is not below a value.
 *
 *	struct rn_bisect b = { 0, n, 0 };
 *
 *	while (rn_bisect_next(&b))
 *		rn_bisect_go(&b, list[b.mid] < x);
 *	... b.lo is the index of the first element that is not below x, or n
 */
#ifndef RN_BASE_BISECT_H
#define RN_BASE_BISECT_H

#include <stdbool.h>
#include <stdint.h>

struct rn_bisect {
	uint64_t lo, hi; /* elements before lo are below, elements from hi on are not */
	uint64_t mid;    /* the element to compare next */
};

/* Returns false when the search is complete. */
static inline bool rn_bisect_next(struct rn_bisect *b)
{
	b->mid = b->lo + (b->hi - b->lo) / 2;
	return b->lo < b->hi;
}

static inline void rn_bisect_go(struct rn_bisect *b, bool below)
{
	if (below)
		b->lo = b->mid + 1;
	else
		b->hi = b->mid;
}

#endif
