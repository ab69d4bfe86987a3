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

#endif
