/*
 * elastic_reader.h - reads the elastic values of a stream (model/elastic_values_codec.h) call by
 * call.
 *
 * The n-th call of a signature in a stream has the n-th value of the series of each of its elastic
 * slots, so the reader counts calls. The calls before the position where reading begins are counted
 * from the rules without a walk: O(size of the rules). If the trace has no elastic slots, all
 * functions return immediately.
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

/* Creates a reader of a trace. The trace must outlive the reader. Returns NULL without memory. */
struct rn_value_view *rn_value_view_new(struct rn_arena *mem, const struct rn_trace *t);

/* Moves to the beginning of a stream. */
void rn_value_view_begin(struct rn_value_view *v, uint64_t stream);

/* Moves to the call that the walker reads next. */
void rn_value_view_seek(struct rn_value_view *v, const struct rn_walk *w);

/* Returns the elastic values of the next call of a signature that has elastic slots, one for each
 * slot. They are valid until the next call of this function. Returns NULL if the stream has fewer
 * values than calls. */
const int64_t *rn_value_view_next(struct rn_value_view *v, uint32_t sig);

#endif
