/*
 * names.h - a stream's calls as canonical bytes, when it is over.
 *
 * Twice: first with every number that may differ between ranks left out, to learn what those
 * numbers are (slots); then, when all ranks have agreed on how to express each slot, for good.
 */
#ifndef RN_INTERCEPT_NAMES_H
#define RN_INTERCEPT_NAMES_H

#include <stdint.h>

#include "base/err.h"

struct rn_choices;
struct rn_comms;
struct rn_peers;
struct rn_sigs;
struct rn_stream;

/* Adds the slots of all calls of a stream. RN_OK or RN_E_NOMEM. */
int rn_names_slots(struct rn_stream *t, struct rn_peers *p);

/* All calls into `out`; map[i] is where call i is. Numbers that each rank has its own of go to
 * `tables`. Calls of which not everything could be written are added to *lost; times are settled.
 * RN_OK or RN_E_NOMEM. */
int rn_names_write(struct rn_stream *t, const struct rn_choices *choices, struct rn_comms *tables,
		   struct rn_sigs *out, uint32_t *map, uint64_t *lost);

#endif
