/* owned_ids.c - see owned_ids.h. */
#include "track/owned_ids.h"

#include "base/hash.h"
#include "track/id_pool.h"

struct owner {
	uint64_t key;
	struct rn_idpool pool; /* pool of indices in `id` */
	struct rn_seg id;      /* uint32_t: its ids, in the order of their creation */
};

struct owned {
	uint32_t owner, index; /* index of the owner, and index of the id in the owner's `id` */
};

static struct owner *owner_at(const struct rn_owned_ids *o, uint32_t i)
{
	return RN_SEG_AT(&o->owner, struct owner, i);
}

int rn_owned_ids_init(struct rn_owned_ids *o, struct rn_arena *mem)
{
	o->latest = 0;
	rn_seg_init(&o->owner, sizeof(struct owner));
	rn_seg_init(&o->id, sizeof(struct owned));
	return rn_map_init(&o->map, mem);
}

/* Returns the index of the owner, or RN_MAP_NONE without memory. */
static uint32_t find_or_add(struct rn_owned_ids *o, uint64_t key, struct rn_arena *mem)
{
	uint32_t tag, n = o->owner.n;
	struct owner *owner;

	if (o->latest < n && owner_at(o, o->latest)->key == key)
		return o->latest;
	tag = (uint32_t)rn_hash_u64(key);
	RN_MAP_EACH (&o->map, tag, i)
		if (owner_at(o, i)->key == key)
			return i;
	if (rn_map_reserve(&o->map, tag) < 0 || !rn_seg_reserve(&o->owner, mem, 1))
		return RN_MAP_NONE;
	RN_SEG_PUT(&o->owner, struct owner, (struct owner){ .key = key });
	owner = owner_at(o, n);
	rn_idpool_init(&owner->pool);
	rn_seg_init(&owner->id, sizeof(uint32_t));
	rn_map_insert(&o->map, tag, n);
	return n;
}

int rn_owned_ids_take(struct rn_owned_ids *o, uint64_t key, struct rn_arena *mem, uint32_t *id)
{
	uint32_t i = find_or_add(o, key, mem), index;
	struct owner *owner;

	if (i == RN_MAP_NONE)
		return RN_E_NOMEM;
	o->latest = i;
	owner = owner_at(o, i);
	if (!rn_seg_reserve(&owner->id, mem, 1) || !rn_seg_reserve(&o->id, mem, 1) ||
	    rn_idpool_take(&owner->pool, mem, &index) < 0)
		return RN_E_NOMEM;
	if (index == owner->id.n) {
		RN_SEG_PUT(&owner->id, uint32_t, o->id.n);
		RN_SEG_PUT(&o->id, struct owned, (struct owned){ i, index });
	}
	*id = *RN_SEG_AT(&owner->id, uint32_t, index);
	return RN_OK;
}

uint32_t rn_owned_ids_index(const struct rn_owned_ids *o, uint32_t id)
{
	return RN_SEG_AT(&o->id, struct owned, id)->index;
}

void rn_owned_ids_give(struct rn_owned_ids *o, uint32_t id)
{
	const struct owned *owned = RN_SEG_AT(&o->id, struct owned, id);

	rn_idpool_give(&owner_at(o, owned->owner)->pool, owned->index);
}
