/*
 * loops.h - the section of loops: what elastic counts need besides rules and ranks (merge/fold.h).
 *
 *   varint  number of loops, at least 1; per loop:
 *     varint  what a round is: its number << 1, and 1 for a rule, 0 for a signature
 *   varint  number of series; per series:
 *     varint  length, and that many bytes: the series (doc/format.md, 7)
 *   per group and loop:
 *     varint  0, or the series' number + 1
 */
#ifndef RN_FILE_LOOPS_H
#define RN_FILE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_folded;

void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out);

/* How many loops there are, before the rest can be read; 0: this is no such section. */
uint32_t rn_loops_count(const void *bytes, size_t len);

/* Everything but f->streams, which is there already. Numbers are looked at by rn_folded_open.
 * RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_loops_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_folded *f,
		    struct rn_err *err);

#endif
