/*
 * values.h - what stands in the holes of signatures (encode/holes.h), over all streams.
 *
 * A place is a hole of a signature. What a stream has there is a series, less its first number (so
 * that ranks which differ in where they begin have the same one), and that number. Series are kept
 * once, whatever place and stream they are of; a place has its different series, the streams that
 * have each, ascending, and where they begin.
 *
 *	place   series                streams     begin
 *	3, 0    0 1 2 3 4 ...         0 1 2 3     0 1000 2000 3000
 *
 * Series are encoded quickly here, and made small when they get into the file.
 *
 * Adding and taking in expects streams in ascending order. Memory from the arena: the bytes of the
 * series, and 8 for each stream and place. Encoding is of the parts on their way to the trace, as
 * the other pieces of a bundle are; the form in the file is file/value_list.h.
 */
#ifndef RN_MERGE_VALUES_H
#define RN_MERGE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/seg.h"
#include "encode/call.h"
#include "merge/merge.h"

struct rn_alike_stacks;
struct rn_arena;
struct rn_buf;
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

/* How numbers are written: as this kind of value, of that rank; those of stacks as places among
 * these. */
struct rn_expressed {
	enum rn_value_kind kind;
	int64_t rank, size;
	const struct rn_alike_stacks *alike; /* NULL: they are not of stacks */
};

/* What a stream has at a place. RN_OK or RN_E_NOMEM. */
int rn_values_add(struct rn_values *v, struct rn_value_place at, uint64_t stream,
		  const struct rn_units *u, const struct rn_expressed *how);

/* All of another's, where signature i is called map[i]; UINT32_MAX: it is not there. RN_OK or
 * RN_E_NOMEM. */
int rn_values_merge(struct rn_values *v, const struct rn_values *from, const uint32_t *map);

/* Streams are written less `first`. */
int rn_values_encode(const struct rn_values *v, uint64_t first, struct rn_buf *out);

/* Into an empty one; numbers of signatures are below `sigs`, streams at most `last`. RN_OK,
 * RN_E_NOMEM or RN_E_DATA. */
int rn_values_decode(struct rn_values *v, const void *bytes, size_t len, uint32_t sigs,
		     uint64_t first, uint64_t last, struct rn_err *err);

#endif
