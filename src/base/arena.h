/*
 * arena.h - region allocator for the grammar, rule and series data structures.
 *
 * An arena returns zeroed memory by advancing a pointer through blocks that it maps from the
 * system. Single allocations cannot be freed. A function allocates its results from an arena that
 * the caller passes. For scratch memory, the caller marks an arena before and rewinds it after.
 *
 * Cost: an allocation is a compare and an add; a new block is one mmap. No libc allocation, so a
 * wrapper of malloc may use it. Not locked: one arena per stream.
 *
 * Each block is charged to the budget of the process (budget.h).
 *
 * `limit` bounds the number of bytes mapped. `fail_at` makes the n-th allocation from now fail.
 * Tests use it to verify that an object survives every single failure.
 */
#ifndef RN_BASE_ARENA_H
#define RN_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_arena_block;

struct rn_arena {
	unsigned char *beg, *end;     /* free part of the current block */
	struct rn_arena_block *block; /* current block; linked to the older ones */
	size_t mapped;                /* bytes mapped so far */
	size_t limit;                 /* maximum of `mapped`; SIZE_MAX: unlimited */
	uint64_t fail_at;             /* n: the n-th allocation from now fails; 0: none fails */
};

struct rn_arena_mark {
	unsigned char *beg;
	struct rn_arena_block *block;
};

void rn_arena_init(struct rn_arena *a, size_t limit);

/* Initializes an arena whose first block is memory of the caller, aligned as for any object. Such
 * an arena is never freed. */
void rn_arena_init_over(struct rn_arena *a, size_t limit, void *block, size_t size);

/* Maps the first block of an empty arena, of about `bytes` bytes. This block stays mapped when the
 * arena is rewound to its beginning. If memory is short, nothing changes. */
void rn_arena_reserve(struct rn_arena *a, size_t bytes);

/* Allocates n zeroed objects of `size` bytes. Returns NULL, with the arena unchanged, if memory is
 * short. `align` is a power of two and at most 4096. */
void *rn_alloc(struct rn_arena *a, size_t size, size_t align, size_t n);
#define rn_new(a, type, n) ((type *)rn_alloc((a), sizeof(type), _Alignof(type), (n)))

/* Allocates a map of n numbers, and one spare entry, with UINT32_MAX in every entry. Returns NULL
 * if memory is short. */
uint32_t *rn_new_map(struct rn_arena *a, size_t n);

/* Doubles the capacity of an array until it is at least `need` elements, and copies the first *cap
 * elements. `array` is the address of the pointer. Returns false, with nothing changed, if memory
 * is short. */
bool rn_arena_grow(struct rn_arena *a, void *array, size_t size, uint64_t need, uint32_t *cap);

/* Ensures that an array of `cap` (uint32_t) elements has room for `need` elements. The array may
 * move. The arguments are evaluated more than once. */
#define RN_GROW(a, array, need, cap)             \
	(__builtin_expect((need) <= (cap), 1) || \
	 rn_arena_grow((a), &(array), sizeof(*(array)), (need), &(cap)))

/* A rewind releases everything that was allocated after the mark. */
struct rn_arena_mark rn_arena_mark(const struct rn_arena *a);
void rn_arena_rewind(struct rn_arena *a, struct rn_arena_mark mark);

/* Unmaps all blocks. The arena can be used again. */
void rn_arena_free(struct rn_arena *a);

#endif
