/*
 * memory_shadow.h - where heap blocks begin and how long they are.
 *
 * Blocks below 4 KiB: a byte for each granule of 16 bytes of memory.
 *
 *   memory   |s......   |s+16      |s+32      |s+48          a block of 48 bytes: 3 granules
 *   shadow    mark       digit      (unused)   next mark
 *
 * A mark is odd: bit 0 a block begins here, bit 1 it has a name, bits 2-4 how many digits follow.
 * The digits are even, 7 bits each, and say how many granules the block has; without one it has a
 * single granule. Only the mark is cleared when a block is freed: a digit that is left over is no
 * mark and hides none.
 *
 * Of larger blocks at most one begins in a page: each page has an entry for that one, 8 bytes with
 * a mark, the place in the page and the size. So what a program allocates by the megabyte does not
 * cost a page of shadow, and a fault, for every few blocks.
 *
 * An address inside a block is traced back to the mark before it. To skip the inside of long
 * blocks, a flag for each 4 KiB (page) and each 1 MiB (mega) says that a block may have begun
 * there; a block clears those of the pages and megas that it covers whole. So a search looks at one
 * page, one mega and one leaf at most twice, whatever the size of the block.
 *
 *   page flag clear: no block begins there;   mega flag clear: none of its page flags is set
 *
 * Memory: leaves of 4 MiB of address space, mapped at the first block in them and touched only
 * where blocks begin: about 1/16 of a heap of small blocks, at most 1/512 for large ones. Leaves
 * are small, because a program may run with limited address space (RLIMIT_AS). A lookup has two
 * steps: a branch contains the pointers to the leaves of 16 GiB, and a flag for each leaf that may
 * exist.
 *
 * Not locked, and safe in threads: what is written for a block belongs to that block alone, and
 * flags are only ever cleared by the block around them. Handing a block from thread to thread
 * orders the writes, as it must already for the block's own contents.
 */
#ifndef RN_TRACK_MEMORY_SHADOW_H
#define RN_TRACK_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_SHADOW_GRANULE ((uintptr_t)16)
#define RN_SHADOW_BITS    48 /* of an address */
#define RN_SHADOW_LEAF    22 /* log2 of the bytes of memory that a leaf covers */
#define RN_SHADOW_BRANCH  34 /* log2 of the bytes of memory that a branch covers */
#define RN_SHADOW_SMALL   (127 * RN_SHADOW_GRANULE) /* what one digit can say */

/* An address that can have a mark has none of these bits. */
#define RN_SHADOW_ODD (~((((uintptr_t)1 << RN_SHADOW_BITS) - 1) ^ (RN_SHADOW_GRANULE - 1)))

enum { RN_SHADOW_START = 1, RN_SHADOW_NAMED = 2, RN_SHADOW_DIGIT = 4 };

/* The flags of a page. */
enum { RN_SHADOW_ANY = 1, RN_SHADOW_BELOW_4K = 2 };

/* The block of 4 KiB or more that begins in a page, if its mark says that one does. */
struct rn_shadow_large {
	unsigned char mark;
	unsigned char at; /* granules from the beginning of the page */
	uint16_t high;    /* its size in granules: 48 bits */
	uint32_t low;
};

struct rn_shadow_leaf {
	unsigned char mark[(1 << (RN_SHADOW_LEAF - 4)) + 64]; /* the digits of the last block fit */
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

/* The index of a leaf in its branch. */
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

/* The mark of a large block that begins at granule i, or NULL. */
static inline unsigned char *rn_shadow_large_mark(struct rn_shadow_leaf *l, size_t i)
{
	struct rn_shadow_large *large = &l->large[i >> 8];

	return RN_SHADOW_GET(large->mark) & RN_SHADOW_START && RN_SHADOW_GET(large->at) == (i & 255)
		       ? &large->mark
		       : NULL;
}

/* The common case of rn_shadow_add: a short block, in a place where blocks have begun before. False
 * without having done anything when it is another case. */
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

/* Marks a block of n bytes. False when there is no memory for that; errno may change. */
bool rn_shadow_add(uintptr_t p, size_t n);

/* The mark of a block that begins at p, or NULL. Where no small block ever began, their marks are
 * not looked at, for that would be a fault. */
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

/* The bytes of the block with this mark, rounded up to granules. */
size_t rn_shadow_size(const unsigned char *mark);

struct rn_shadow_hit {
	unsigned char *mark;
	uintptr_t start;
	size_t size;
};

/* The block that holds the byte at p. */
bool rn_shadow_find(uintptr_t p, struct rn_shadow_hit *hit);

/* For tests: no more leaves are made. */
void rn_shadow_fail(bool fail);

#endif
