/*
 * elastic_values.h - what stands in the holes of signatures (encode/elastic_slots.h), over all
 *streams.
 *
 * A place is a hole of a signature. What a stream has there is a series, less its first number (so
 * that ranks which differ in where they begin have the same one), and that number. Series are kept
 * once, whatever place and stream they are of; a place has its different series, the streams that
 * have each, ascending, and where they begin.
 *
 *	place   series                streams     begin
 *	3, 0    0 1 2 3 4 ...         0 1 2 3     0 1000 2000 3000
 *
 * Series are encoded quickly here, and made small when the merge is finished.
 *
 * Adding and taking in expects streams in ascending order. Memory from the arena: the bytes of the
 * series, and 16 for each stream and place. For encoding they become a list
 *(model/elastic_values_codec.h).
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

/* One series at one place, and who has it. */
struct rn_value_use {
	struct rn_value_place place;
	uint32_t series;
	struct rn_seg stream; /* uint64_t */
	struct rn_seg begin;  /* int64_t */
};

struct rn_values {
	struct rn_arena *mem;
	struct rn_sigs *series; /* bytes of rn_units */
	struct rn_sigs *uses;   /* a place and a series, to their number */
	struct rn_seg use;      /* struct rn_value_use */
};

int rn_values_init(struct rn_values *v, struct rn_arena *mem);

/* The stacks of one cluster that calls of a stream came from. One that is not known, and all
 * others. */
#define RN_ALIKE_MAX (RN_CALLSITE_ALIKE + 1)

struct rn_stack_cluster {
	uint32_t n;
	uint32_t stack[RN_ALIKE_MAX];    /* by their bytes */
	uint32_t number[RN_ALIKE_MAX];   /* ascending */
	uint16_t place_of[RN_ALIKE_MAX]; /* where in `stack` each of those is */
};

/* Whether the number is among them; *at is where it is, or would be. */
bool rn_alike_has(const struct rn_stack_cluster *s, uint32_t number, uint32_t *at);

/* How numbers are written: as this kind of value, of that rank; those of stacks as places among
 * these. */
struct rn_expressed {
	enum rn_value_kind kind;
	int64_t rank, size;
	const struct rn_stack_cluster *alike; /* NULL: they are not of stacks */
};

/* What a stream has at a place. RN_OK or RN_E_NOMEM. */
int rn_values_add(struct rn_values *v, struct rn_value_place at, uint64_t stream,
		  const struct rn_units *u, const struct rn_expressed *how);

/* The use of a series at a place, made if there is none; NULL without memory. */
struct rn_value_use *rn_values_use(struct rn_values *v, struct rn_value_place at, uint32_t series);

/* One more stream that has it. RN_OK or RN_E_NOMEM. */
int rn_values_add_stream(struct rn_values *v, struct rn_value_use *u, uint64_t stream,
			 int64_t begin);

#endif
