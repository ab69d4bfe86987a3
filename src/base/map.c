/* map.c - see map.h. */
#include "base/err.h"
#include "base/map.h"

#include <string.h>

#define MIN_BITS  4  /* first page: 16 slots */
#define MAX_BITS  12 /* pages double up to 4096 slots, then split */
#define MAX_DEPTH 20 /* with 2^20 directory entries, pages double again (many equal tags) */

static uint32_t room_for(uint32_t bits)
{
	return (uint32_t)(((uint64_t)11 << bits) / 16);
}

static uint32_t bits_of(const struct rn_map_page *p)
{
	return (uint32_t)__builtin_popcount(p->mask);
}

static struct rn_map_page *new_page(struct rn_map *m, uint32_t bits, uint32_t depth)
{
	size_t slots = (size_t)1 << bits;
	struct rn_map_page *p = bits < RN_MAP_SIZES ? m->free_pages[bits] : NULL;

	if (p)
		m->free_pages[bits] = p->next_free;
	else
		p = rn_alloc(m->mem, sizeof(*p) + slots * sizeof(p->slot[0]), 64, 1);
	if (!p)
		return NULL;
	p->mask = (uint32_t)slots - 1;
	p->depth = depth;
	p->used = 0;
	p->room = room_for(bits);
	memset(p->slot, 0xff, slots * sizeof(p->slot[0]));
	return p;
}

static void retire(struct rn_map *m, struct rn_map_page *p)
{
	uint32_t bits = bits_of(p);

	if (bits >= RN_MAP_SIZES)
		return;
	p->next_free = m->free_pages[bits];
	m->free_pages[bits] = p;
}

int rn_map_init(struct rn_map *m, struct rn_arena *mem)
{
	*m = (struct rn_map){ .mem = mem };
	m->dir = rn_new(mem, struct rn_map_page *, 1);
	if (!m->dir)
		return RN_E_NOMEM;
	m->dir[0] = new_page(m, MIN_BITS, 0);
	return m->dir[0] ? RN_OK : RN_E_NOMEM;
}

static void page_add(struct rn_map_page *p, struct rn_map_slot s)
{
	uint32_t i = s.tag & p->mask;

	while (p->slot[i].val != RN_MAP_NONE)
		i = (i + 1) & p->mask;
	p->slot[i] = s;
	p->used++;
	p->room--;
}

/* Sets every directory entry that shares the tag prefix of the page to one of two pages, which may
 * be the same. */
static void redirect(struct rn_map *m, uint32_t tag, uint32_t depth, struct rn_map_page *lo,
		     struct rn_map_page *hi)
{
	uint32_t span = 1u << (m->depth - depth);
	uint32_t first = (uint32_t)((uint64_t)tag >> (32 - m->depth)) & ~(span - 1);

	for (uint32_t i = 0; i < span; i++)
		m->dir[first + i] = i < span / 2 ? lo : hi;
}

static int double_page(struct rn_map *m, uint32_t tag, struct rn_map_page *old)
{
	struct rn_map_page *p = new_page(m, bits_of(old) + 1, old->depth);

	if (!p)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i <= old->mask; i++)
		if (old->slot[i].val != RN_MAP_NONE)
			page_add(p, old->slot[i]);
	redirect(m, tag, old->depth, p, p);
	retire(m, old);
	return RN_OK;
}

static int double_dir(struct rn_map *m)
{
	uint32_t n = 1u << m->depth;
	struct rn_map_page **dir = rn_new(m->mem, struct rn_map_page *, 2 * (size_t)n);

	if (!dir)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		dir[2 * i] = dir[2 * i + 1] = m->dir[i];
	m->dir = dir;
	m->depth++;
	return RN_OK;
}

static int split_page(struct rn_map *m, uint32_t tag, struct rn_map_page *old)
{
	struct rn_map_page *half[2];
	uint32_t bit = 31 - old->depth;

	if (old->depth == m->depth && double_dir(m) < 0)
		return RN_E_NOMEM;
	for (int i = 0; i < 2; i++) {
		half[i] = new_page(m, bits_of(old), old->depth + 1);
		if (!half[i]) {
			if (i)
				retire(m, half[0]);
			return RN_E_NOMEM;
		}
	}
	for (uint32_t i = 0; i <= old->mask; i++)
		if (old->slot[i].val != RN_MAP_NONE)
			page_add(half[old->slot[i].tag >> bit & 1], old->slot[i]);
	redirect(m, tag, old->depth, half[0], half[1]);
	retire(m, old);
	return RN_OK;
}

int rn_map_make_room(struct rn_map *m, uint32_t tag)
{
	for (;;) {
		struct rn_map_page *p = rn_map_page(m, tag);
		int rc;

		if (p->room)
			return RN_OK;
		if (bits_of(p) < MAX_BITS || p->depth == MAX_DEPTH)
			rc = bits_of(p) < 30 ? double_page(m, tag, p) : RN_E_NOMEM;
		else
			rc = split_page(m, tag, p);
		if (rc < 0)
			return rc;
	}
}

void rn_map_insert(struct rn_map *m, uint32_t tag, uint32_t val)
{
	page_add(rn_map_page(m, tag), (struct rn_map_slot){ tag, val });
	m->used++;
}

/* Closes the gap at i: later entries of the probe sequence move up if their home slot permits. */
static void close_gap(struct rn_map_page *p, uint32_t i)
{
	uint32_t j = i;

	for (;;) {
		uint32_t home;

		j = (j + 1) & p->mask;
		if (p->slot[j].val == RN_MAP_NONE)
			break;
		home = p->slot[j].tag & p->mask;
		if (((j - home) & p->mask) >= ((j - i) & p->mask)) {
			p->slot[i] = p->slot[j];
			i = j;
		}
	}
	p->slot[i].val = RN_MAP_NONE;
}

bool rn_map_remove(struct rn_map *m, uint32_t tag, uint32_t val)
{
	struct rn_map_page *p = rn_map_page(m, tag);
	uint32_t i = tag & p->mask;

	while (p->slot[i].val != val || p->slot[i].tag != tag) {
		if (p->slot[i].val == RN_MAP_NONE)
			return false;
		i = (i + 1) & p->mask;
	}
	close_gap(p, i);
	p->used--;
	p->room++;
	m->used--;
	return true;
}

void rn_map_clear(struct rn_map *m)
{
	uint32_t n = 1u << m->depth;

	for (uint32_t i = 0; i < n; i++) {
		struct rn_map_page *p = m->dir[i];

		if (!p->used)
			continue;
		memset(p->slot, 0xff, ((size_t)p->mask + 1) * sizeof(p->slot[0]));
		p->used = 0;
		p->room = room_for(bits_of(p));
	}
	m->used = 0;
}

static bool page_check(const struct rn_map *m, const struct rn_map_page *p, uint64_t *used)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= p->mask; i++) {
		uint32_t tag = p->slot[i].tag, j;

		if (p->slot[i].val == RN_MAP_NONE)
			continue;
		n++;
		if (rn_map_page(m, tag) != p)
			return false;
		for (j = tag & p->mask; j != i; j = (j + 1) & p->mask)
			if (p->slot[j].val == RN_MAP_NONE)
				return false;
	}
	*used += n;
	return n == p->used && p->used + p->room == room_for(bits_of(p));
}

bool rn_map_check(const struct rn_map *m)
{
	uint32_t n = 1u << m->depth;
	uint64_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct rn_map_page *p = m->dir[i];

		if (i && p == m->dir[i - 1])
			continue;
		if (p->depth > m->depth || !page_check(m, p, &used))
			return false;
	}
	return used == m->used;
}
