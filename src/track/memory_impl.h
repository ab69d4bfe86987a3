/*
 * memory_impl.h - declarations shared by the memory_*.c files: the state, its lock, and sets of
 * blocks.
 *
 * A set is a treap by address. Its blocks are disjoint, so the block that contains an address is
 * the last one that begins at or before it. Blocks come from the state's arena. They are recycled
 * and never released, because a thread's cache may read the serial of a block at any time.
 *
 * Lock order: the dynamic linker's lock, then rn_mem's lock. Code that holds rn_mem's lock must
 * therefore not call the linker or malloc.
 */
#ifndef RN_TRACK_MEMORY_IMPL_H
#define RN_TRACK_MEMORY_IMPL_H

#include "base/arena.h"
#include "track/memory.h"

#define RN_MEM_NO_ID UINT32_MAX

/* All fields are protected by the lock. */
struct rn_mem_state {
	struct rn_arena mem;
	struct rn_mem_block *free_blocks; /* linked by `left` */
	struct rn_mem_block *chunks[28]; /* chunk k contains the blocks with indices from 16 << k */
	uint32_t blocks;                 /* number of blocks ever created; the first has index 16 */
	uint32_t random;                 /* state of the generator of treap priorities */
	struct rn_mem_block *regions;    /* sets */
	struct rn_mem_block *maps;
	struct rn_mem_block *modules;
};

extern struct rn_mem_state rn_mem;

/* Acquires the lock. Returns false if this thread already holds it: in a signal handler, or because
 * an allocation of this module called the interposed mmap. */
bool rn_mem_enter(void);
void rn_mem_leave(void);

/* ---- blocks ---- */

struct rn_mem_block *rn_mem_block_new(uintptr_t lo, uintptr_t hi, uint32_t cls);
void rn_mem_block_recycle(struct rn_mem_block *b); /* changes its serial */
struct rn_mem_block *rn_mem_block_at(uint32_t index);

/* Removes a block and releases its id. */
void rn_mem_block_gone(struct rn_mem_block *b);

/* ---- sets ---- */

void rn_mem_set_insert(struct rn_mem_block **set, struct rn_mem_block *b);
void rn_mem_set_remove(struct rn_mem_block **set, struct rn_mem_block *b);

/* Returns the block that contains the byte at p, or NULL. */
struct rn_mem_block *rn_mem_set_find(struct rn_mem_block *set, uintptr_t p);

/* Returns the first block that overlaps [lo, hi), or NULL. */
struct rn_mem_block *rn_mem_set_overlap(struct rn_mem_block *set, uintptr_t lo, uintptr_t hi);

bool rn_mem_set_check(const struct rn_mem_block *set);

/* ---- modules ---- */

/* Updates the modules if any was loaded or unloaded since the last call. The caller must not hold
 * the lock. */
void rn_mem_modules_refresh(void);

#endif
