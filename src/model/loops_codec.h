/*
 * loops_codec.h - the section of loops: what elastic counts need besides rules and ranks
 * (merge/loop_fold.h).
 *
 *   varint  number of loops, at least 1; per loop:
 *     varint  what a round is: its number << 1, and 1 for a rule, 0 for a signature
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per group and loop:
 *     varint  0, or the series' number + 1
 */
#ifndef RN_MODEL_LOOPS_CODEC_H
#define RN_MODEL_LOOPS_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_folded;

void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out);

/* Everything but f->streams. Numbers are checked by rn_folded_open. RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_loops_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_folded *f,
		    struct rn_err *err);

#endif
