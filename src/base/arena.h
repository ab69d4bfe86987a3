/*
 * arena.h - where the engines' memory comes from.
 *
 * An arena hands out zeroed memory by moving a pointer through blocks that it maps from the
 * system; nothing is freed one by one. Results go into an arena passed by pointer. Scratch goes
 * into one that the caller marks before and rewinds after.
 *
 * Cost: an allocation is a compare and an add; a new block is one mmap. No libc allocation, so it
 * is safe inside a wrapper of malloc. Not locked: one arena per stream.
 *
 * Each block is charged to the budget of the process (budget.h).
 *
 * `limit` bounds the bytes mapped, and `fail_at` makes the n-th allocation from now fail: the
 * tests use it to prove that an object survives every single failure.
 */
#ifndef RN_BASE_ARENA_H
#define RN_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_arena_block;

struct rn_arena {
	unsigned char *beg, *end;     /* the free part of the current block */
	struct rn_arena_block *block; /* current block; older ones hang behind it */
	size_t mapped;                /* bytes mapped so far */
	size_t limit;                 /* most bytes to map; SIZE_MAX when unlimited */
	uint64_t fail_at;             /* 0: never; n: the n-th allocation from now fails */
};

struct rn_arena_mark {
	unsigned char *beg;
	struct rn_arena_block *block;
};

void rn_arena_init(struct rn_arena *a, size_t limit);

/* The same with a first block that is there already, aligned as any object. The arena is never
 * freed. */
void rn_arena_init_over(struct rn_arena *a, size_t limit, void *block, size_t size);

/* The first block of an empty arena, of about so many bytes: as much stays mapped when the arena is
 * rewound to its beginning again and again. Without memory nothing changes. */
void rn_arena_reserve(struct rn_arena *a, size_t bytes);

/* n objects of `size` bytes, zeroed, or NULL (with the arena as it was). `align` is a power of two
 * and at most 4096. */
void *rn_alloc(struct rn_arena *a, size_t size, size_t align, size_t n);
#define rn_new(a, type, n) ((type *)rn_alloc((a), sizeof(type), _Alignof(type), (n)))

/* Allocates a map of n numbers, and room for one more, with UINT32_MAX in every entry. Returns NULL
 * without memory. */
uint32_t *rn_new_map(struct rn_arena *a, size_t n);

/* Doubles the capacity of an array until it holds `need` elements, of which the first *cap are
 * copied. `array` is the address of the pointer. False without memory; nothing is changed then. */
bool rn_arena_grow(struct rn_arena *a, void *array, size_t size, uint64_t need, uint32_t *cap);

/* Room for `need` elements in an array of `cap` (uint32_t) elements, which may move. The arguments
 * are evaluated more than once. */
#define RN_GROW(a, array, need, cap)             \
	(__builtin_expect((need) <= (cap), 1) || \
	 rn_arena_grow((a), &(array), sizeof(*(array)), (need), &(cap)))

/* Everything allocated after a mark is given back by a rewind to it. */
struct rn_arena_mark rn_arena_mark(const struct rn_arena *a);
void rn_arena_rewind(struct rn_arena *a, struct rn_arena_mark mark);

/* Unmaps everything; the arena may be used again. */
void rn_arena_free(struct rn_arena *a);

#endif
