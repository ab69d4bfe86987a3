/*
 * map.h - the hash table of the hot path: 32-bit hash tag -> 32-bit value.
 *
 * The keys live with the caller (the value is an index to them), who compares them while probing.
 * Open addressing with linear probing inside pages of at most 4096 slots; a directory indexed by
 * the tag's top bits leads to the page (extendible hashing). A full page splits alone, so no
 * insertion is slow however large the table: the reason not to use one doubling table.
 *
 *   tag 0110....  dir[011] -> page, depth 2 (shared with dir[010])  slot[tag & mask], next, next..
 *
 * Cost: find and insert O(1) expected; a split moves one page. Memory from the arena; pages that a
 * split or doubling retires are kept on a list and used again. Not locked.
 * RN_MAP_NONE is not a valid value.
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
	uint32_t room; /* insertions left before it must grow */
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

/* 0 or RN_E_NOMEM. */
int rn_map_init(struct rn_map *m, struct rn_arena *mem);

static inline struct rn_map_page *rn_map_page(const struct rn_map *m, uint32_t tag)
{
	return m->dir[(uint64_t)tag >> (32 - m->depth)];
}

/* Starts loading what a search for this tag will look at. */
static inline void rn_map_prefetch(const struct rn_map *m, uint32_t tag)
{
	const struct rn_map_page *p = rn_map_page(m, tag);

	__builtin_prefetch(&p->slot[tag & p->mask]);
}

/* Walks the entries with this tag: start with `*pos = tag`, call until it gives RN_MAP_NONE. */
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

/* Makes sure that the next insertion of `tag` cannot fail. 0 or RN_E_NOMEM. */
int rn_map_make_room(struct rn_map *m, uint32_t tag);

static inline int rn_map_reserve(struct rn_map *m, uint32_t tag)
{
	return rn_map_page(m, tag)->room ? 0 : rn_map_make_room(m, tag);
}

/* Adds an entry; several with one tag are fine. The room must have been reserved. */
void rn_map_insert(struct rn_map *m, uint32_t tag, uint32_t val);

/* Removes the entry (tag, val) if it is there. */
bool rn_map_remove(struct rn_map *m, uint32_t tag, uint32_t val);

/* Empties the table and keeps its memory. */
void rn_map_clear(struct rn_map *m);

/* Every entry sits in the page and the probe run where a search looks for it. */
bool rn_map_check(const struct rn_map *m);

#endif
