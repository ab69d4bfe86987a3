/*
 * trace_finish.h - the last steps of a merge: each makes one part of a trace in memory
 * (section_kinds.h) from merged data.
 *
 * Folding of loops, lossy distributions, renumbering and recoding are done here and nowhere else,
 * before the first byte is encoded. Results are in the arena of the trace, or remain in the data
 * that they are made from, which outlives it. All functions: RN_OK or an error.
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

/* Metadata, vocabulary and streams. Only the part of the vocabulary that is used is stored.
 * RN_E_ARG if a reader would refuse the metadata or a signature. */
int rn_finish_streams(struct rn_trace *t, const struct rn_streams *s, const struct rn_vocab *vocab,
		      const struct rn_meta *meta, struct rn_err *err);

/* Values by old signatures; map: old to new, UINT32_MAX: not used any more. */
int rn_finish_values(struct rn_trace *t, const struct rn_values *v, const uint32_t *map,
		     struct rn_arena *scratch);

/* Call stacks of events become nodes of the tables; events are written in the codec of the trace.
 */
int rn_finish_order(struct rn_trace *t, const struct rn_order_list *l,
		    struct rn_site_tables *tables, struct rn_err *err);

#endif
