/*
 * vec.h - growable array in fixed-size chunks, with 32-bit indices.
 *
 * Elements do not move once their chunk has its full size. Growing copies at most one chunk, so no
 * append is slow. An array that doubles as a whole cannot guarantee this. Small arrays stay small:
 * chunk 0 starts with 16 elements and doubles. Only chunk 0 can move, so store indices, not
 * pointers. Memory is from the arena. An access needs one load more than in a plain array.
 */
#ifndef RN_BASE_VEC_H
#define RN_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define RN_SEG_SHIFT 12
#define RN_SEG_CHUNK (1u << RN_SEG_SHIFT)
#define RN_SEG_MASK  (RN_SEG_CHUNK - 1)

struct rn_seg {
	unsigned char **dir; /* chunks */
	uint32_t n;          /* number of elements */
	uint32_t cap;        /* capacity in elements */
	uint32_t dir_cap;
	uint32_t size; /* bytes per element */
};

static inline void rn_seg_init(struct rn_seg *s, uint32_t size)
{
	*s = (struct rn_seg){ .size = size };
}

/* Element i as a `type *`. */
#define RN_SEG_AT(s, type, i) (&((type *)(void *)(s)->dir[(i) >> RN_SEG_SHIFT])[(i)&RN_SEG_MASK])

/* Ensures room for n elements in total. False if memory is short; the array is then unchanged. */
bool rn_seg_grow(struct rn_seg *s, struct rn_arena *mem, uint64_t n);

static inline bool rn_seg_reserve(struct rn_seg *s, struct rn_arena *mem, uint64_t more)
{
	return s->n + more <= s->cap || rn_seg_grow(s, mem, s->n + more);
}

/* Appends an element for which room is reserved. The value of the expression is its index. */
#define RN_SEG_PUT(s, type, ...) (*RN_SEG_AT((s), type, (s)->n) = (__VA_ARGS__), (s)->n++)

/* Appends an element. False if memory is short; the element is then not evaluated. The arguments
 * `s` and `mem` are evaluated more than once. */
#define RN_SEG_PUSH(s, mem, type, ...) \
	(rn_seg_reserve((s), (mem), 1) && (RN_SEG_PUT((s), type, __VA_ARGS__), true))

/* rn_seg_skip sets the length of an empty array to n, for an array that continues another one. The
 * elements have no memory. rn_seg_touch allocates zeroed memory for the chunk of element i, if it
 * has none. Both return false, with the array unchanged, if memory is short. */
bool rn_seg_skip(struct rn_seg *s, struct rn_arena *mem, uint32_t n);
bool rn_seg_touch(struct rn_seg *s, struct rn_arena *mem, uint32_t i);

/* Whether element i exists and has memory. */
static inline bool rn_seg_has(const struct rn_seg *s, uint32_t i)
{
	return i < s->n && s->dir[i >> RN_SEG_SHIFT];
}

#endif
