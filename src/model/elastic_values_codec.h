/*
 * elastic_values_codec.h - the section `values`: elastic values (model/elastic_values.h) as stored
 * in a trace.
 *
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per signature, and per elastic slot of it (rn_call_elastics), in order:
 *     varint  number of distinct series in this slot; per series, by its first stream:
 *       varint  id of the series
 *       series  the streams that use it, ascending
 *       series  per such stream, the value that is added to every element
 *
 * A stream that has a signature has a series for each elastic slot of it. The series has at least
 * as many elements as the stream has calls of that signature.
 */
#ifndef RN_MODEL_ELASTIC_VALUES_CODEC_H
#define RN_MODEL_ELASTIC_VALUES_CODEC_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs;
struct rn_units;
struct rn_values;

/* A series of one slot, and the streams that use it. */
struct rn_value_share {
	uint32_t number;               /* id of the series */
	const struct rn_units *series; /* set by rn_value_list_open */
	const struct rn_units *streams, *begin;
	uint64_t first, last, reach; /* first and last stream; highest `last` up to this share */
};

struct rn_value_list {
	uint32_t *place;              /* by signature: index of its first slot; sigs + 1 entries */
	uint32_t *share_of;           /* by slot: index of its first share; places + 1 entries */
	struct rn_value_share *share; /* NULL: no elastic slots */
	uint32_t places;
	struct rn_sigs *series; /* encoded */
};

/* Converts the values to a list. Signature i of the values is signature map[i] of `sigs`;
 * UINT32_MAX omits it, and a NULL map is the identity. Stream `first` becomes number 0. The list
 * refers to the series of the values. Without values the list is empty. Returns RN_OK, RN_E_NOMEM,
 * or RN_E_ARG if a signature has fewer slots than its values. */
int rn_value_list_make(const struct rn_values *v, const uint32_t *map, const struct rn_sigs *sigs,
		       uint64_t first, struct rn_arena *mem, struct rn_value_list *out);

/* Adds the list to the values. Its signature i becomes map[i]; UINT32_MAX omits it. Its stream 0
 * becomes `first`. Returns RN_OK or RN_E_NOMEM. */
int rn_value_list_merge(const struct rn_value_list *l, const uint32_t *map, uint32_t sigs,
			uint64_t first, struct rn_values *v);

/* Appends nothing if the list is empty. Returns RN_OK or RN_E_NOMEM. */
int rn_value_list_encode(const struct rn_value_list *l, struct rn_buf *out);

/* The caller verifies the end of the input. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_value_list_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_sigs *sigs,
			 uint64_t streams, struct rn_value_list *out, struct rn_err *err);

/* Decodes the series, which the functions below require. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_value_list_open(struct rn_value_list *l, struct rn_arena *mem, struct rn_err *err);

/* The elastic values of a stream in one slot. */
struct rn_value_source {
	const struct rn_units *series; /* NULL: the stream has no values in this slot */
	int64_t begin;                 /* added to each element of the series */
};

/* Cost: O(log shares) if the stream ranges of the shares do not overlap. */
struct rn_value_source rn_value_list_find(const struct rn_value_list *l, uint32_t sig,
					  uint32_t hole, uint64_t stream);

/* Returns the mean over all calls of all streams, rounded down; 0 without calls. */
int64_t rn_value_list_mean(const struct rn_value_list *l, uint32_t sig, uint32_t hole);

/* Returns the number of elastic slots of a signature. */
static inline uint32_t rn_value_list_holes(const struct rn_value_list *l, uint32_t sig)
{
	return l->share ? l->place[sig + 1] - l->place[sig] : 0;
}

#endif
