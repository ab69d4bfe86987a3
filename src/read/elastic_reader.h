/*
 * elastic_reader.h - the elastic values of a stream (model/elastic_values_codec.h), call after
 * call.
 *
 * The n-th call of a signature in a stream has the n-th number of each of its holes' series, so a
 * reader counts calls. What comes before the place where reading begins is counted from the rules,
 * without walking them: O(size of the rules). Where a trace has no holes, nothing is done.
 *
 * Memory: O(signatures + rules), from the arena.
 */
#ifndef RN_READ_ELASTIC_READER_H
#define RN_READ_ELASTIC_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_trace;
struct rn_value_view; /* opaque */
struct rn_walk;

/* Of a trace, which outlives it. NULL when there is no memory. */
struct rn_value_view *rn_value_view_new(struct rn_arena *mem, const struct rn_trace *t);

/* At the beginning of a stream. */
void rn_value_view_begin(struct rn_value_view *v, uint64_t stream);

/* To the call that the walker is about to read. */
void rn_value_view_seek(struct rn_value_view *v, const struct rn_walk *w);

/* The elastic values of the next call of a signature that has elastic slots, one for each series;
 * valid until the next call. NULL if the stream has fewer values than calls. */
const int64_t *rn_value_view_next(struct rn_value_view *v, uint32_t sig);

#endif
