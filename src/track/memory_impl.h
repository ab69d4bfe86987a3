/*
 * memory_impl.h - what the memory_*.c files share: the state, its lock, and sets of blocks.
 *
 * A set is a treap by address: the blocks in it are disjoint, so the one around an address is the
 * last that begins before it. Blocks come from the state's arena and are used again, never given
 * back: a thread's cache may look at the serial of one at any time.
 *
 * Lock order: the dynamic linker's lock, then ours. So nothing here calls the linker, or malloc,
 * with ours held.
 */
#ifndef RN_TRACK_MEMORY_IMPL_H
#define RN_TRACK_MEMORY_IMPL_H

#include "base/arena.h"
#include "track/memory.h"

#define RN_MEM_NO_ID UINT32_MAX

/* All under the lock. */
struct rn_mem_state {
	struct rn_arena mem;
	struct rn_mem_block *free_blocks; /* linked by `left` */
	struct rn_mem_block *chunks[28];  /* chunk k has the blocks of index 16 << k and up */
	uint32_t blocks;                  /* ever made; the first has index 16 */
	uint32_t random;                  /* for priorities */
	struct rn_mem_block *regions;     /* sets */
	struct rn_mem_block *maps;
	struct rn_mem_block *modules;
};

extern struct rn_mem_state rn_mem;

/* False when this thread is inside already: in a signal handler, or because our own allocation came
 * back to us as a call of mmap. */
bool rn_mem_enter(void);
void rn_mem_leave(void);

/* ---- blocks ---- */

struct rn_mem_block *rn_mem_block_new(uintptr_t lo, uintptr_t hi, uint32_t cls);
void rn_mem_block_recycle(struct rn_mem_block *b); /* changes its serial */
struct rn_mem_block *rn_mem_block_at(uint32_t index);

/* Gives back its number too. */
void rn_mem_block_gone(struct rn_mem_block *b);

/* ---- sets ---- */

void rn_mem_set_insert(struct rn_mem_block **set, struct rn_mem_block *b);
void rn_mem_set_remove(struct rn_mem_block **set, struct rn_mem_block *b);

/* The block that holds the byte at p, or NULL. */
struct rn_mem_block *rn_mem_set_find(struct rn_mem_block *set, uintptr_t p);

/* The first block that has a byte of [lo, hi), or NULL. */
struct rn_mem_block *rn_mem_set_overlap(struct rn_mem_block *set, uintptr_t lo, uintptr_t hi);

bool rn_mem_set_check(const struct rn_mem_block *set);

/* ---- modules ---- */

/* Looks at the loaded modules if any came or went since. Not with the lock. */
void rn_mem_modules_refresh(void);

#endif
