/*
 * memory_shadow.h - shadow memory: start and size of every heap block.
 *
 * Blocks below 4 KiB: one shadow byte for each granule of 16 bytes of memory.
 *
 *   memory   |s......   |s+16      |s+32      |s+48          a block of 48 bytes: 3 granules
 *   shadow    mark       digit      (unused)   next mark
 *
 * A mark is odd. Bit 0: a block begins here; bit 1: the block has an id; bits 2-4: number of digits
 * that follow. Digits are even and have 7 bits each; they encode the number of granules of the
 * block. A block without digits has one granule. When a block is freed, only the mark is cleared: a
 * stale digit is not a mark and does not hide one.
 *
 * At most one larger block begins in a page. Each page has an 8-byte entry for it, with a mark, the
 * offset in the page and the size. Programs that allocate megabytes at a time therefore do not need
 * a page of shadow, and a page fault, for every few blocks.
 *
 * The block that contains an address is found by a search for the previous mark. To skip the inside
 * of long blocks, a flag for each 4 KiB (page) and each 1 MiB (mega) states that a block may have
 * begun there. A block clears the flags of the pages and megas that it covers completely. A search
 * reads one page, one mega and one leaf at most twice, independently of the size of the block.
 *
 *   page flag clear: no block begins there;   mega flag clear: none of its page flags is set
 *
 * Memory: leaves of 4 MiB of address space, mapped at the first block in them. Only those pages of
 * a leaf are touched where blocks begin: about 1/16 of a heap of small blocks, at most 1/512 for
 * large ones. Leaves are small, because a program may run with limited address space (RLIMIT_AS). A
 * lookup has two steps: a branch contains the pointers to the leaves of 16 GiB, and a flag for each
 * leaf that may exist.
 *
 * Not locked, and thread-safe: the bytes written for a block belong to that block alone, and a flag
 * is cleared only by the block that covers it. A program that passes a block to another thread must
 * order the accesses to the block itself; that also orders the writes here.
 */
#ifndef RN_TRACK_MEMORY_SHADOW_H
#define RN_TRACK_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_SHADOW_GRANULE ((uintptr_t)16)
#define RN_SHADOW_BITS    48 /* bits of an address */
#define RN_SHADOW_LEAF    22 /* log2 of the bytes of memory that a leaf covers */
#define RN_SHADOW_BRANCH  34 /* log2 of the bytes of memory that a branch covers */
#define RN_SHADOW_SMALL   (127 * RN_SHADOW_GRANULE) /* largest size that one digit can encode */

/* Bits that are 0 in every address that can have a mark. */
#define RN_SHADOW_ODD (~((((uintptr_t)1 << RN_SHADOW_BITS) - 1) ^ (RN_SHADOW_GRANULE - 1)))

enum { RN_SHADOW_START = 1, RN_SHADOW_NAMED = 2, RN_SHADOW_DIGIT = 4 };

/* The flags of a page. */
enum { RN_SHADOW_ANY = 1, RN_SHADOW_BELOW_4K = 2 };

/* The block of 4 KiB or more that begins in a page. Valid if RN_SHADOW_START is set in the mark. */
struct rn_shadow_large {
	unsigned char mark;
	unsigned char at; /* granules from the start of the page */
	uint16_t high;    /* `high` and `low`: size in granules, 48 bits */
	uint32_t low;
};

struct rn_shadow_leaf {
	unsigned char mark[(1 << (RN_SHADOW_LEAF - 4)) +
			   64]; /* includes room for the digits of the last block */
	struct rn_shadow_large large[1 << (RN_SHADOW_LEAF - 12)];
	unsigned char page[1 << (RN_SHADOW_LEAF - 12)];
	unsigned char mega[1 << (RN_SHADOW_LEAF - 20)];
};

struct rn_shadow_branch {
	struct rn_shadow_leaf *leaf[1 << (RN_SHADOW_BRANCH - RN_SHADOW_LEAF)];
	unsigned char exists[1 << (RN_SHADOW_BRANCH - RN_SHADOW_LEAF)];
};

extern struct rn_shadow_branch *rn_shadow_branches[1 << (RN_SHADOW_BITS - RN_SHADOW_BRANCH)];

#define RN_SHADOW_GET(byte)    __atomic_load_n(&(byte), __ATOMIC_RELAXED)
#define RN_SHADOW_PUT(byte, v) __atomic_store_n(&(byte), (unsigned char)(v), __ATOMIC_RELAXED)

/* Returns the index of a leaf in its branch. */
static inline size_t rn_shadow_leaf_index(uintptr_t p)
{
	return (p & (((uintptr_t)1 << RN_SHADOW_BRANCH) - 1)) >> RN_SHADOW_LEAF;
}

static inline struct rn_shadow_leaf *rn_shadow_leaf(uintptr_t p)
{
	struct rn_shadow_branch *b =
		__atomic_load_n(&rn_shadow_branches[p >> RN_SHADOW_BRANCH], __ATOMIC_ACQUIRE);

	return b ? __atomic_load_n(&b->leaf[rn_shadow_leaf_index(p)], __ATOMIC_ACQUIRE) : NULL;
}

static inline size_t rn_shadow_index(uintptr_t p)
{
	return (p & (((uintptr_t)1 << RN_SHADOW_LEAF) - 1)) / RN_SHADOW_GRANULE;
}

/* Returns the mark of the large block that begins at granule i, or NULL. */
static inline unsigned char *rn_shadow_large_mark(struct rn_shadow_leaf *l, size_t i)
{
	struct rn_shadow_large *large = &l->large[i >> 8];

	return RN_SHADOW_GET(large->mark) & RN_SHADOW_START && RN_SHADOW_GET(large->at) == (i & 255)
		       ? &large->mark
		       : NULL;
}

/* The common case of rn_shadow_add: a short block in a page in which blocks have begun before.
 * Returns false without an effect in all other cases. */
static inline bool rn_shadow_add_small(uintptr_t p, size_t n)
{
	struct rn_shadow_leaf *l;
	size_t i;

	if (p & RN_SHADOW_ODD || n > RN_SHADOW_SMALL || !(l = rn_shadow_leaf(p)))
		return false;
	i = rn_shadow_index(p);
	if (!(RN_SHADOW_GET(l->page[i >> 8]) & RN_SHADOW_BELOW_4K) ||
	    RN_SHADOW_GET(l->mark[i]) & RN_SHADOW_START || rn_shadow_large_mark(l, i))
		return false;
	if (n > RN_SHADOW_GRANULE) {
		RN_SHADOW_PUT(l->mark[i + 1], (n + RN_SHADOW_GRANULE - 1) / RN_SHADOW_GRANULE * 2);
		RN_SHADOW_PUT(l->mark[i], RN_SHADOW_START | RN_SHADOW_DIGIT);
	} else {
		RN_SHADOW_PUT(l->mark[i], RN_SHADOW_START);
	}
	return true;
}

/* Marks a block of n bytes. Returns false without memory. May change errno. */
bool rn_shadow_add(uintptr_t p, size_t n);

/* Returns the mark of the block that begins at p, or NULL. The marks of small blocks are not read
 * in a page where no small block ever began, because the read would cause a page fault. */
static inline unsigned char *rn_shadow_mark(uintptr_t p)
{
	struct rn_shadow_leaf *l = p & RN_SHADOW_ODD ? NULL : rn_shadow_leaf(p);
	size_t i = rn_shadow_index(p);
	unsigned char *mark;

	if (!l)
		return NULL;
	mark = rn_shadow_large_mark(l, i);
	if (mark || !(RN_SHADOW_GET(l->page[i >> 8]) & RN_SHADOW_BELOW_4K))
		return mark;
	return RN_SHADOW_GET(l->mark[i]) & RN_SHADOW_START ? &l->mark[i] : NULL;
}

/* Returns the size of the block with this mark in bytes, rounded up to granules. */
size_t rn_shadow_size(const unsigned char *mark);

struct rn_shadow_hit {
	unsigned char *mark;
	uintptr_t start;
	size_t size;
};

/* Finds the block that contains the byte at p. Returns false without such a block. */
bool rn_shadow_find(uintptr_t p, struct rn_shadow_hit *hit);

/* For tests: if `fail` is set, no leaves are allocated. */
void rn_shadow_fail(bool fail);

#endif
