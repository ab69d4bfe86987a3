/*
 * elastic_values.h - the elastic values (encode/elastic_slots.h) of all streams.
 *
 * The values of a stream in an elastic slot are stored as a first value (`begin`) and a series of
 * differences from it, so that ranks whose values differ by a constant have the same series. Each
 * distinct series is stored once, whatever slot and stream it belongs to. A slot has its distinct
 * series; each of them has the streams that use it, ascending, and their first values.
 *
 *	slot    series              streams     begin
 *	3, 0    0 1 2 3 4 ...       0 1 2 3     0 1000 2000 3000
 *
 * Here series have a form that is fast to encode. They get their smallest form when the merge is
 * finished.
 *
 * Streams must be added and merged in ascending order. Memory is allocated from the arena: the
 * bytes of the series, and 16 bytes per stream and slot. For encoding, the values are converted to
 * a list (model/elastic_values_codec.h).
 */
#ifndef RN_MODEL_ELASTIC_VALUES_H
#define RN_MODEL_ELASTIC_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "encode/callsite.h"
#include "encode/signature.h"

struct rn_arena;
struct rn_sigs;
struct rn_units;

struct rn_value_place {
	uint32_t sig, hole;
};

/* One series of one slot, and the streams that use it. */
struct rn_value_use {
	struct rn_value_place place;
	uint32_t series;
	struct rn_seg stream; /* uint64_t: streams, ascending */
	struct rn_seg begin;  /* int64_t: first value of each stream */
};

struct rn_values {
	struct rn_arena *mem;
	struct rn_sigs *series; /* encoded struct rn_units */
	struct rn_sigs *uses;   /* (sig, hole, series) to the index in `use` */
	struct rn_seg use;      /* struct rn_value_use */
};

int rn_values_init(struct rn_values *v, struct rn_arena *mem);

/* Capacity for the stacks of one cluster that calls of a stream came from: the unknown stack and
 * all others. */
#define RN_ALIKE_MAX (RN_CALLSITE_ALIKE + 1)

struct rn_stack_cluster {
	uint32_t n;
	uint32_t stack[RN_ALIKE_MAX];    /* stack ids, ordered by the bytes of the stacks */
	uint32_t number[RN_ALIKE_MAX];   /* stack ids, ascending */
	uint16_t place_of[RN_ALIKE_MAX]; /* index in `stack` of the stack number[i] */
};

/* True if the stack id is in the cluster; *at is its index in `number`, or its insertion position.
 */
bool rn_alike_has(const struct rn_stack_cluster *s, uint32_t number, uint32_t *at);

/* Expression of values before they are stored: as this kind of value, relative to this rank. Stack
 * ids become indices in the cluster. */
struct rn_expressed {
	enum rn_value_kind kind;
	int64_t rank, size;
	const struct rn_stack_cluster *alike; /* NULL: the values are not stack ids */
};

/* Adds the values of a stream in a slot. Returns RN_OK or RN_E_NOMEM. */
int rn_values_add(struct rn_values *v, struct rn_value_place at, uint64_t stream,
		  const struct rn_units *u, const struct rn_expressed *how);

/* Returns the use of a series in a slot, and creates it if it does not exist; NULL without memory.
 */
struct rn_value_use *rn_values_use(struct rn_values *v, struct rn_value_place at, uint32_t series);

/* Adds a stream to a use. Returns RN_OK or RN_E_NOMEM. */
int rn_values_add_stream(struct rn_values *v, struct rn_value_use *u, uint64_t stream,
			 int64_t begin);

#endif
