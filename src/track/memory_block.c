/*
 * memory_block.c - see memory_impl.h: blocks, and sets of blocks.
 */
#include "track/memory_impl.h"

/* ---- blocks ---- */

/* Chunk k contains the indices 16 << k to (32 << k) - 1. Few blocks therefore need little memory,
 * and an index is found with one shift. */
static uint32_t chunk_of(uint32_t index)
{
	return 27 - (uint32_t)__builtin_clz(index);
}

struct rn_mem_block *rn_mem_block_at(uint32_t index)
{
	uint32_t k = chunk_of(index);

	return &rn_mem.chunks[k][index - (16u << k)];
}

static struct rn_mem_block *fresh_block(void)
{
	uint32_t index = rn_mem.blocks + 16, k = chunk_of(index);

	if (k >= sizeof(rn_mem.chunks) / sizeof(rn_mem.chunks[0]) - 1)
		return NULL;
	if (!rn_mem.chunks[k])
		rn_mem.chunks[k] = rn_alloc(&rn_mem.mem, sizeof(struct rn_mem_block), 64, 16u << k);
	if (!rn_mem.chunks[k])
		return NULL;
	rn_mem.blocks++;
	rn_mem_block_at(index)->index = index;
	return rn_mem_block_at(index);
}

static uint32_t next_random(void)
{
	uint32_t r = rn_mem.random ? rn_mem.random : 2463534242u;

	r ^= r << 13;
	r ^= r >> 17;
	r ^= r << 5;
	return rn_mem.random = r;
}

struct rn_mem_block *rn_mem_block_new(uintptr_t lo, uintptr_t hi, uint32_t cls)
{
	struct rn_mem_block *b = rn_mem.free_blocks;

	if (b)
		rn_mem.free_blocks = b->left;
	else if (!(b = fresh_block()))
		return NULL;
	b->origin = b->lo = lo;
	b->hi = hi;
	b->cls = cls;
	b->id = RN_MEM_NO_ID;
	b->left = b->right = NULL;
	b->prio = next_random();
	return b;
}

void rn_mem_block_recycle(struct rn_mem_block *b)
{
	__atomic_store_n(&b->serial, b->serial + 1, __ATOMIC_RELAXED);
	b->left = rn_mem.free_blocks;
	rn_mem.free_blocks = b;
}

/* ---- sets ---- */

void rn_mem_set_insert(struct rn_mem_block **set, struct rn_mem_block *b)
{
	struct rn_mem_block *t, **l = &b->left, **r = &b->right;

	while (*set && (*set)->prio >= b->prio)
		set = (*set)->lo < b->lo ? &(*set)->right : &(*set)->left;
	t = *set;
	*set = b;
	while (t) { /* the old subtree moves below b, split into its left and right part */
		struct rn_mem_block ***side = t->lo < b->lo ? &l : &r;

		**side = t;
		*side = side == &l ? &t->right : &t->left;
		t = **side;
	}
	*l = *r = NULL;
}

void rn_mem_set_remove(struct rn_mem_block **set, struct rn_mem_block *b)
{
	struct rn_mem_block *l = b->left, *r = b->right;

	while (*set != b)
		set = (*set)->lo < b->lo ? &(*set)->right : &(*set)->left;
	while (l && r) {
		if (l->prio >= r->prio) {
			*set = l;
			set = &l->right;
			l = l->right;
		} else {
			*set = r;
			set = &r->left;
			r = r->left;
		}
	}
	*set = l ? l : r;
}

struct rn_mem_block *rn_mem_set_find(struct rn_mem_block *set, uintptr_t p)
{
	struct rn_mem_block *last = NULL;

	while (set) {
		if (set->lo <= p)
			last = set;
		set = set->lo <= p ? set->right : set->left;
	}
	return last && p < last->hi ? last : NULL;
}

struct rn_mem_block *rn_mem_set_overlap(struct rn_mem_block *set, uintptr_t lo, uintptr_t hi)
{
	struct rn_mem_block *first = NULL;

	while (set) {
		if (set->hi > lo)
			first = set;
		set = set->hi > lo ? set->left : set->right;
	}
	return first && first->lo < hi ? first : NULL;
}

/* Returns whether all of t is in [lo, hi) and no priority exceeds `prio`. */
static bool ordered(const struct rn_mem_block *t, uintptr_t lo, uintptr_t hi, uint32_t prio)
{
	if (!t)
		return true;
	return t->lo >= lo && t->lo < t->hi && t->hi <= hi && t->prio <= prio &&
	       rn_mem_block_at(t->index) == t && ordered(t->left, lo, t->lo, t->prio) &&
	       ordered(t->right, t->hi, hi, t->prio);
}

bool rn_mem_set_check(const struct rn_mem_block *set)
{
	return ordered(set, 0, UINTPTR_MAX, UINT32_MAX);
}
