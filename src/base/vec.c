/* vec.c - see vec.h. */
#include "base/vec.h"

#include <string.h>

#define FIRST_CAP 16u

static bool grow_first(struct rn_seg *s, struct rn_arena *mem, uint64_t n)
{
	uint32_t cap = s->cap ? s->cap : FIRST_CAP;
	unsigned char *chunk;

	while (cap < n && cap < RN_SEG_CHUNK)
		cap *= 2;
	chunk = rn_alloc(mem, s->size, 16, cap);
	if (!chunk)
		return false;
	if (s->n)
		memcpy(chunk, s->dir[0], (size_t)s->n * s->size);
	s->dir[0] = chunk;
	s->cap = cap;
	return true;
}

bool rn_seg_grow(struct rn_seg *s, struct rn_arena *mem, uint64_t n)
{
	uint64_t chunks = (n + RN_SEG_MASK) >> RN_SEG_SHIFT;

	if (n <= s->cap)
		return true;
	if (n > UINT32_MAX - RN_SEG_CHUNK)
		return false;
	if (!RN_GROW(mem, s->dir, chunks, s->dir_cap))
		return false;
	if (s->cap < RN_SEG_CHUNK && !grow_first(s, mem, n))
		return false;
	while (s->cap < n) {
		unsigned char *chunk = rn_alloc(mem, s->size, 16, RN_SEG_CHUNK);

		if (!chunk)
			return false; /* the chunks that were added remain as capacity */
		s->dir[s->cap >> RN_SEG_SHIFT] = chunk;
		s->cap += RN_SEG_CHUNK;
	}
	return true;
}

bool rn_seg_touch(struct rn_seg *s, struct rn_arena *mem, uint32_t i)
{
	unsigned char **chunk = &s->dir[i >> RN_SEG_SHIFT];

	if (!*chunk)
		*chunk = rn_alloc(mem, s->size, 16, RN_SEG_CHUNK);
	return *chunk != NULL;
}

/* All chunks have the full size, including the first. */
bool rn_seg_skip(struct rn_seg *s, struct rn_arena *mem, uint32_t n)
{
	uint32_t chunks = (n >> RN_SEG_SHIFT) + 1;

	if (n > UINT32_MAX - 2 * RN_SEG_CHUNK || !RN_GROW(mem, s->dir, chunks, s->dir_cap) ||
	    !rn_seg_touch(s, mem, n))
		return false;
	s->n = n;
	s->cap = chunks << RN_SEG_SHIFT;
	return true;
}
