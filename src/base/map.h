/*
 * map.h - hash table for the hot path: 32-bit hash tag -> 32-bit value.
 *
 * The caller owns the keys and compares them while probing; the value is an index to them. The
 * table uses open addressing with linear probing inside pages of at most 4096 slots. A directory,
 * indexed by the top bits of the tag, refers to the pages (extendible hashing). A full page splits
 * by itself, so no insertion is slow, however large the table is. A table that doubles as a whole
 * cannot guarantee this.
 *
 *   tag 0110....  dir[011] -> page, depth 2 (shared with dir[010])  slot[tag & mask], next, next..
 *
 * Cost: find and insert are O(1) expected; a split moves one page. Memory: from the arena. Pages
 * that a split or a doubling retires are stored in a list and reused. Not locked. RN_MAP_NONE is
 * not a valid value.
 */
#ifndef RN_BASE_MAP_H
#define RN_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define RN_MAP_NONE UINT32_MAX

struct rn_map_slot {
	uint32_t tag, val;
};

struct rn_map_page {
	struct rn_map_page *next_free;
	uint32_t mask;  /* slots - 1 */
	uint32_t depth; /* tag bits that all entries of this page share */
	uint32_t used;
	uint32_t room; /* insertions left before the page must grow */
	struct rn_map_slot slot[];
};

#define RN_MAP_SIZES 16

struct rn_map {
	struct rn_arena *mem;
	struct rn_map_page **dir;
	uint32_t depth; /* the directory has 2^depth entries */
	uint64_t used;
	struct rn_map_page *free_pages[RN_MAP_SIZES]; /* retired pages by log2 of their size */
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_map_init(struct rn_map *m, struct rn_arena *mem);

static inline struct rn_map_page *rn_map_page(const struct rn_map *m, uint32_t tag)
{
	return m->dir[(uint64_t)tag >> (32 - m->depth)];
}

/* Prefetches the slot at which a search for this tag starts. */
static inline void rn_map_prefetch(const struct rn_map *m, uint32_t tag)
{
	const struct rn_map_page *p = rn_map_page(m, tag);

	__builtin_prefetch(&p->slot[tag & p->mask]);
}

/* Iterates over the entries with this tag: start with `*pos = tag`, call until RN_MAP_NONE. */
static inline uint32_t rn_map_next(const struct rn_map_page *p, uint32_t tag, uint32_t *pos)
{
	for (;;) {
		const struct rn_map_slot *s = &p->slot[(*pos)++ & p->mask];

		if (s->val == RN_MAP_NONE || s->tag == tag)
			return s->val;
	}
}

/* Loops over the entries with this tag; `val` is declared by the macro. */
#define RN_MAP_EACH(m, tag, val)               \
	for (uint32_t rn_map_pos = (tag), val; \
	     (val = rn_map_next(rn_map_page((m), (tag)), (tag), &rn_map_pos)) != RN_MAP_NONE;)

/* Reserves memory, so that the next insertion of `tag` cannot fail. Returns RN_OK or RN_E_NOMEM. */
int rn_map_make_room(struct rn_map *m, uint32_t tag);

static inline int rn_map_reserve(struct rn_map *m, uint32_t tag)
{
	return rn_map_page(m, tag)->room ? 0 : rn_map_make_room(m, tag);
}

/* Adds an entry. Several entries may have the same tag. The caller must have reserved memory. */
void rn_map_insert(struct rn_map *m, uint32_t tag, uint32_t val);

/* Removes the entry (tag, val). Returns false if there is no such entry. */
bool rn_map_remove(struct rn_map *m, uint32_t tag, uint32_t val);

/* Removes all entries and retains the memory. */
void rn_map_clear(struct rn_map *m);

/* Verifies that every entry is in the page and the probe sequence where a search expects it. */
bool rn_map_check(const struct rn_map *m);

#endif
