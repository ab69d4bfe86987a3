/*
 * elastic_values_codec.h - the section of values: what stands in the holes of signatures
 * (model/elastic_values.h), as it is in a trace.
 *
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per signature, and per hole of it (rn_call_elastics), in order:
 *     varint  how many different ones streams have there; for each, by the first of its streams:
 *       varint  number of the series
 *       series  the streams that have it, ascending
 *       series  for each of those, what is added to every number
 *
 * A stream that has a signature has a series for each hole of it, with at least as many numbers as
 * it has calls of that signature.
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

/* Who has which, at one place. */
struct rn_value_share {
	uint32_t number;               /* of the series */
	const struct rn_units *series; /* once the list is open */
	const struct rn_units *streams, *begin;
	uint64_t first, last, reach; /* of the streams; highest `last` of the place up to here */
};

struct rn_value_list {
	uint32_t *place;              /* of a signature's first hole; sigs + 1 entries */
	uint32_t *share_of;           /* of a place's first share; places + 1 entries */
	struct rn_value_share *share; /* NULL: there are no holes */
	uint32_t places;
	struct rn_sigs *series; /* as bytes */
};

/* Makes a list of the values. Signature i of the values is signature map[i] of `sigs` (UINT32_MAX:
 * it is omitted; NULL for map: i). Streams are numbered from `first` on. Refers to the series of
 * the values. Without values the list is empty. RN_OK, RN_E_NOMEM, or RN_E_ARG: a signature has
 * fewer holes. */
int rn_value_list_make(const struct rn_values *v, const uint32_t *map, const struct rn_sigs *sigs,
		       uint64_t first, struct rn_arena *mem, struct rn_value_list *out);

/* Adds the list, whose signature i is map[i] (UINT32_MAX: it is left out), and whose streams are
 * numbered from `first` on, to the values. RN_OK or RN_E_NOMEM. */
int rn_value_list_merge(const struct rn_value_list *l, const uint32_t *map, uint32_t sigs,
			uint64_t first, struct rn_values *v);

/* Nothing, if the list is empty. RN_OK or RN_E_NOMEM. */
int rn_value_list_encode(const struct rn_value_list *l, struct rn_buf *out);

/* The caller verifies the end of the input. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_value_list_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_sigs *sigs,
			 uint64_t streams, struct rn_value_list *out, struct rn_err *err);

/* Decodes the series, for the functions below. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_value_list_open(struct rn_value_list *l, struct rn_arena *mem, struct rn_err *err);

/* Where numbers of a hole of a stream are. */
struct rn_value_source {
	const struct rn_units *series; /* NULL: it has none */
	int64_t begin;                 /* is added */
};

/* O(log shares), where streams of different shares do not lie between each other. */
struct rn_value_source rn_value_list_find(const struct rn_value_list *l, uint32_t sig,
					  uint32_t hole, uint64_t stream);

/* The mean over all calls of all streams, rounded down; 0 without any. */
int64_t rn_value_list_mean(const struct rn_value_list *l, uint32_t sig, uint32_t hole);

/* How many holes a signature has. */
static inline uint32_t rn_value_list_holes(const struct rn_value_list *l, uint32_t sig)
{
	return l->share ? l->place[sig + 1] - l->place[sig] : 0;
}

#endif
