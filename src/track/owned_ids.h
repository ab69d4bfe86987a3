/*
 * owned_ids.h - ids of live objects. Each id always belongs to the same owner.
 *
 * An object receives the lowest free id of its owner, or a new id if the owner has no free id. An
 * id therefore implies its owner, and ids do not depend on the order in which objects are released.
 *
 * Cost: O(log64 n) expected for n ids of one owner. Memory from the arena: 64 bytes for each owner,
 * 12 bytes for each id, never released. Not locked; does not change errno.
 */
#ifndef RN_TRACK_OWNED_IDS_H
#define RN_TRACK_OWNED_IDS_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct rn_owned_ids {
	struct rn_map map;   /* owner -> index in `owner` */
	struct rn_seg owner; /* struct owner */
	struct rn_seg id;    /* struct owned, by id */
	uint32_t latest;     /* index of the owner of the latest object */
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_owned_ids_init(struct rn_owned_ids *o, struct rn_arena *mem);

/* Allocates an id of the owner. Returns RN_OK, or RN_E_NOMEM with no additional id in use. */
int rn_owned_ids_take(struct rn_owned_ids *o, uint64_t owner, struct rn_arena *mem, uint32_t *id);

/* The index of an id among the ids of its owner, in the order of their creation. */
uint32_t rn_owned_ids_index(const struct rn_owned_ids *o, uint32_t id);

/* Releases an id that rn_owned_ids_take returned. */
void rn_owned_ids_give(struct rn_owned_ids *o, uint32_t id);

#endif
