/*
 * folded_streams.h - streams in which loops with elastic counts are folded (merge/loop_fold.h):
 * loop bodies, and for each stream group and loop a series of counts.
 *
 * This is the form of the file. Opening validates loops and series and produces streams whose rules
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
	/* Several stream groups may have the same root. Terminal sigs + k is loop k. */
	struct rn_streams streams;
	struct rn_loop *loop;
	uint32_t loops; /* 0: no loop is folded */
	/* Distinct series of counts, encoded (series/units.h). `ref` has the id of a series plus 1
	 * by stream group and loop; 0: the group does not have the loop. */
	struct rn_sigs *series;
	uint32_t *ref; /* [group * loops + loop] */
	size_t refs;
};

/* Converts the folded streams to readable streams: *out has their rules and their loops. Validates
 * all ids and counts. f->loop must outlive *out. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_folded_open(const struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out, struct rn_err *err);

/* The section `loops`: the data that elastic counts need in addition to rules and ranks.
 *
 *   varint  number of loops, at least 1; per loop:
 *     varint  its body: id << 1, plus 1 for a rule, 0 for a signature
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per stream group and loop:
 *     varint  0, or the id of the series + 1
 */
void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out);

/* Decodes everything except f->streams. rn_folded_open validates the ids. Returns RN_OK, RN_E_NOMEM
 * or RN_E_DATA. */
int rn_loops_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_folded *f,
		    struct rn_err *err);

#endif
