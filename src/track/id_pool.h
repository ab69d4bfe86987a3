/*
 * id_pool.h - numbers for live objects: the lowest free one, given back when the object is gone.
 *
 * The lowest, not the last given back, so that the numbers a loop sees do not depend on the order
 * in which its objects went away.
 *
 *   free  ...111010  bit i: i is free; numbers from 64 on are in a tree of nodes of 64
 *   more -> [free|64 children] -> [free|64 children] -> [free|64 words]    a word is 64 numbers
 *
 * Bit i of a node's `free` is set while something below its child i is free; a child that does not
 * exist is free all over. The tree grows at the top, and a child is made when the first number
 * below it is taken.
 *
 * Cost: take and give are two instructions below 64 and O(log64 n) above. Memory: 24 bytes and no
 * arena while at most 64 numbers are out; then 520 bytes for each 4096. A pool does not know its
 * arena, so that there can be one for each shape of request. Not locked; errno is left alone.
 */
#ifndef RN_TRACK_ID_POOL_H
#define RN_TRACK_ID_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_idpool_node;

struct rn_idpool {
	uint64_t free;
	struct rn_idpool_node *more;
	uint32_t height; /* levels of nodes below the topmost one */
};

static inline void rn_idpool_init(struct rn_idpool *p)
{
	*p = (struct rn_idpool){ .free = UINT64_MAX };
}

int rn_idpool_take_more(struct rn_idpool *p, struct rn_arena *mem, uint32_t *n);
void rn_idpool_give_more(struct rn_idpool *p, uint32_t n);

/* Takes the lowest free number. RN_OK, or RN_E_NOMEM with the pool as it was (2^30 numbers out are
 * taken for lack of memory too). */
static inline int rn_idpool_take(struct rn_idpool *p, struct rn_arena *mem, uint32_t *n)
{
	if (__builtin_expect(p->free == 0, 0))
		return rn_idpool_take_more(p, mem, n);
	*n = (uint32_t)__builtin_ctzll(p->free);
	p->free &= p->free - 1;
	return RN_OK;
}

/* Gives back a number that was taken. */
static inline void rn_idpool_give(struct rn_idpool *p, uint32_t n)
{
	if (__builtin_expect(n >= 64, 0))
		rn_idpool_give_more(p, n);
	else
		p->free |= (uint64_t)1 << n;
}

/* Whether a number is out, and a pool with the same ones out, in another arena; RN_E_NOMEM leaves
 * `to` as it was. O(numbers ever out at once). */
bool rn_idpool_any(const struct rn_idpool *p);
int rn_idpool_copy(struct rn_idpool *to, const struct rn_idpool *from, struct rn_arena *mem);

/* Each node's bits say what is below it. O(numbers ever out at once). */
bool rn_idpool_check(const struct rn_idpool *p);

#endif
