/*
 * id_pool.h - pool of ids for live objects: allocates the lowest free id.
 *
 * The lowest free id is allocated, not the last released one, so the ids in a loop do not depend on
 * the order in which its objects are released.
 *
 *   free  ...111010  bit i: id i is free; ids from 64 on are in a tree of nodes with 64 children
 *   more -> [free|64 children] -> [free|64 children] -> [free|64 words]    a word is 64 ids
 *
 * Bit i of a node's `free` is set if an id below its child i is free. All ids below a missing child
 * are free. The tree grows at the top. A child is created when the first id below it is allocated.
 *
 * Cost: allocating and releasing are two instructions for ids below 64, else O(log64 n). Memory: 24
 * bytes and no arena while at most 64 ids are in use; then 520 bytes for every 4096 ids. A pool
 * does not store its arena, so one pool per request creator is affordable. Not locked; does not
 * change errno.
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

/* Allocates the lowest free id. Returns RN_OK, or RN_E_NOMEM with the pool unchanged. The limit of
 * 2^30 ids in use also returns RN_E_NOMEM. */
static inline int rn_idpool_take(struct rn_idpool *p, struct rn_arena *mem, uint32_t *n)
{
	if (__builtin_expect(p->free == 0, 0))
		return rn_idpool_take_more(p, mem, n);
	*n = (uint32_t)__builtin_ctzll(p->free);
	p->free &= p->free - 1;
	return RN_OK;
}

/* Releases an id that rn_idpool_take returned. */
static inline void rn_idpool_give(struct rn_idpool *p, uint32_t n)
{
	if (__builtin_expect(n >= 64, 0))
		rn_idpool_give_more(p, n);
	else
		p->free |= (uint64_t)1 << n;
}

/* rn_idpool_any returns whether an id is in use. rn_idpool_copy creates a pool with the same ids in
 * use, in another arena; RN_E_NOMEM leaves `to` unchanged. O(maximum number of ids ever in use at
 * once). */
bool rn_idpool_any(const struct rn_idpool *p);
int rn_idpool_copy(struct rn_idpool *to, const struct rn_idpool *from, struct rn_arena *mem);

/* Returns whether each node's bits agree with its children. O(maximum number of ids ever in use at
 * once). */
bool rn_idpool_check(const struct rn_idpool *p);

#endif
