/*
 * owned_ids.h - ids of live objects, each of which belongs to one owner forever.
 *
 * An object gets the lowest free id of its owner, or a new id if the owner has none. So an id
 * implies its owner, in the past and in the future, and the ids do not depend on the order in which
 * objects are released.
 *
 * Cost: O(log64 n) expected for n ids of one owner. Memory from the arena: 64 bytes for an owner,
 * 12 for an id, never released. Not locked; errno does not change.
 */
#ifndef RN_TRACK_OWNED_IDS_H
#define RN_TRACK_OWNED_IDS_H

#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"

struct rn_owned_ids {
	struct rn_map map;   /* owner -> index in `owner` */
	struct rn_seg owner; /* struct owner */
	struct rn_seg id;    /* struct owned: what each id is */
};

/* RN_OK or RN_E_NOMEM. */
int rn_owned_ids_init(struct rn_owned_ids *o, struct rn_arena *mem);

/* RN_OK, or RN_E_NOMEM; then no id is in use that was not before. */
int rn_owned_ids_take(struct rn_owned_ids *o, uint64_t owner, struct rn_arena *mem, uint32_t *id);

/* Releases an id that rn_owned_ids_take has returned. */
void rn_owned_ids_give(struct rn_owned_ids *o, uint32_t id);

#endif
