/*
 * part_times.h - statistics of a part's calls, which move with its signatures' numbers.
 *
 * As bytes they are exact (rn_times_save) and speak of the signatures of the part that they come
 * with. Taken in, they speak of those of the part that took that one in; in the trace, of the
 * finished ones.
 */
#ifndef RN_FILE_PART_TIMES_H
#define RN_FILE_PART_TIMES_H

#include <stddef.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_sigs;
struct rn_streams;
struct rn_times;

/* Reads those of a part with these signatures. Trusts no byte. */
int rn_part_times_load(struct rn_arena *mem, const void *bytes, size_t len,
		       const struct rn_sigs *sigs, struct rn_times *out, struct rn_err *err);

/* Adds `its`, of the signatures `from`, to those of `to`, which has them all. */
int rn_part_times_add(struct rn_times *times, struct rn_sigs *to, const struct rn_times *its,
		      const struct rn_sigs *from, struct rn_arena *scratch);

/* The section `times` of the trace that a part with these signatures was finished to. */
int rn_part_times_finish(const struct rn_times *times, const struct rn_sigs *sigs,
			 const struct rn_streams *s, struct rn_arena *scratch, struct rn_buf *out);

#endif
