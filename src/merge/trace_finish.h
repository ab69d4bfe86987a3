/*
 * trace_finish.h - the last steps of a merge: each creates some of the data of a trace in memory
 * (section_kinds.h) from merged data.
 *
 * Folding of loops, lossy distributions, renumbering and recoding happen only here, before the
 * first byte is encoded. Results are in the arena of the trace or refer to the merged data, which
 * must outlive it. All functions return RN_OK or an error.
 */
#ifndef RN_MERGE_TRACE_FINISH_H
#define RN_MERGE_TRACE_FINISH_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_meta;
struct rn_order_list;
struct rn_site_tables;
struct rn_streams;
struct rn_trace;
struct rn_values;
struct rn_vocab;

/* Sets metadata, vocabulary and streams. Only the part of the vocabulary that is used is stored.
 * Returns RN_E_ARG if a reader would refuse the metadata or a signature. */
int rn_finish_streams(struct rn_trace *t, const struct rn_streams *s, const struct rn_vocab *vocab,
		      const struct rn_meta *meta, struct rn_err *err);

/* Sets the elastic values. `v` has signatures of the merge; map[i] is signature i in the trace, or
 * UINT32_MAX if it is unused. */
int rn_finish_values(struct rn_trace *t, const struct rn_values *v, const uint32_t *map,
		     struct rn_arena *scratch);

/* Sets the events. Their call stacks become nodes of the tables; events are written in the codec of
 * the trace. */
int rn_finish_order(struct rn_trace *t, const struct rn_order_list *l,
		    struct rn_site_tables *tables, struct rn_err *err);

#endif
