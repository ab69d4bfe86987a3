/*
 * vec.h - a growable array in fixed chunks, indexed by 32 bits.
 *
 * Elements never move once their chunk is full-sized, growing never copies more than one chunk,
 * and so no append is ever slow: what a doubling array cannot promise. Small arrays stay small:
 * chunk 0 starts with 16 elements and doubles (it alone may move, so keep indices, not pointers).
 * Memory comes from the arena. Access is one load more than in a plain array.
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
	uint32_t n;          /* elements in use */
	uint32_t cap;        /* elements there is room for */
	uint32_t dir_cap;
	uint32_t size; /* bytes per element */
};

static inline void rn_seg_init(struct rn_seg *s, uint32_t size)
{
	*s = (struct rn_seg){ .size = size };
}

/* Element i as a `type *`. */
#define RN_SEG_AT(s, type, i) (&((type *)(void *)(s)->dir[(i) >> RN_SEG_SHIFT])[(i)&RN_SEG_MASK])

/* Room for n elements in all; false leaves the array as it was. */
bool rn_seg_grow(struct rn_seg *s, struct rn_arena *mem, uint64_t n);

static inline bool rn_seg_reserve(struct rn_seg *s, struct rn_arena *mem, uint64_t more)
{
	return s->n + more <= s->cap || rn_seg_grow(s, mem, s->n + more);
}

/* Appends an element for which room is reserved. The value of the expression is its index. */
#define RN_SEG_PUT(s, type, ...) (*RN_SEG_AT((s), type, (s)->n) = (__VA_ARGS__), (s)->n++)

/* Appends an element. False without memory; the element is not evaluated then. The
 * arguments `s` and `mem` are evaluated more than once. */
#define RN_SEG_PUSH(s, mem, type, ...) \
	(rn_seg_reserve((s), (mem), 1) && (RN_SEG_PUT((s), type, __VA_ARGS__), true))

/* An empty array gets n elements that have no memory: what goes on where another ended. Those below
 * n that are wanted after all have some, zeroed, from rn_seg_touch on. False: as it was. */
bool rn_seg_skip(struct rn_seg *s, struct rn_arena *mem, uint32_t n);
bool rn_seg_touch(struct rn_seg *s, struct rn_arena *mem, uint32_t i);

/* Whether there is an element i that has memory. */
static inline bool rn_seg_has(const struct rn_seg *s, uint32_t i)
{
	return i < s->n && s->dir[i >> RN_SEG_SHIFT];
}

#endif
