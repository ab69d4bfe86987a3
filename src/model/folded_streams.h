/*
 * folded_streams.h - streams in which loops with elastic counts are folded (merge/loop_fold.h):
 * loop bodies, and for each group and loop a series of counts.
 *
 * This is the form of the file. Opening validates loops and series, and gives streams whose rules
 * have loops (rules/loop_stream.h).
 */
#ifndef RN_MODEL_FOLDED_STREAMS_H
#define RN_MODEL_FOLDED_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/merged_streams.h"
#include "rules/loop_stream.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs;

struct rn_folded {
	/* Groups may have the same root. Terminal sigs + k is loop k. */
	struct rn_streams streams;
	struct rn_loop *loop;
	uint32_t loops; /* 0: there is nothing to fold */
	/* Series, as units are encoded (series/units.h), each once; and by group and loop the
	 * number of one + 1, or 0 where the group does not have the loop. */
	struct rn_sigs *series;
	uint32_t *ref; /* [group * loops + loop] */
	size_t refs;
};

/* Makes the folded streams readable as they are: *out has their rules, and loops. Trusts no number
 * in it; f->loop outlives it. RN_OK, RN_E_NOMEM, or RN_E_DATA. */
int rn_folded_open(const struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out, struct rn_err *err);

/* The section of loops: what elastic counts need besides rules and ranks.
 *
 *   varint  number of loops, at least 1; per loop:
 *     varint  what a round is: its number << 1, and 1 for a rule, 0 for a signature
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per group and loop:
 *     varint  0, or the series' number + 1
 */
void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out);

/* Everything but f->streams. Numbers are checked by rn_folded_open. RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_loops_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_folded *f,
		    struct rn_err *err);

#endif
