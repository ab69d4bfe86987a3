/* rules_impl.h - rule pool internals shared by the source files of this directory. */
#ifndef RN_RULES_RULES_IMPL_H
#define RN_RULES_RULES_IMPL_H

#include <assert.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "rules/rules.h"

#define LENGTH_MAX ((uint64_t)1 << 62)

struct entry {
	const struct rn_item *item;
	const uint64_t *before;
	uint32_t n, height;
	uint64_t length, hash;
};

struct literal {
	const uint32_t *symbol;
	uint64_t n, hash;
};

struct rn_rules {
	struct rn_arena *mem;
	struct rn_seg entries, literals;
	struct rn_map by_hash, literal_by_hash;
};

static inline const struct entry *entry_at(const struct rn_rules *r, uint32_t i)
{
	assert(i < r->entries.n);
	return RN_SEG_AT(&r->entries, struct entry, i);
}

static inline const struct literal *literal_at(const struct rn_rules *r, uint32_t i)
{
	assert(i < r->literals.n);
	return RN_SEG_AT(&r->literals, struct literal, i);
}

/* Returns the number of symbols in one repeat of the item. */
static inline uint64_t unit_length(const struct rn_rules *r, const struct rn_item *item)
{
	assert(item->kind <= RN_KIND_LITERAL);
	if (item->kind == RN_KIND_TERMINAL)
		return 1;
	return item->kind == RN_KIND_RULE ? entry_at(r, item->id)->length
					  : literal_at(r, item->id)->n;
}

/* Whether both bodies have the same items in the same order. */
bool rn_rules_same_body(const struct entry *a, const struct entry *b);

#endif
