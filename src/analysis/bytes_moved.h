/*
 * bytes_moved.h - how many bytes a call moves, as far as its signature says so.
 *
 * That is count times the size of the datatype, for what hands data over: messages where they are
 * sent (receives count nothing, so that no message counts twice), collectives with what each rank
 * puts in (of a broadcast its buffer, on every rank), one-sided calls and files with what they
 * read or write. Nothing goes to MPI_PROC_NULL.
 *
 * Where each call has a count of its own (model/elastic_values_codec.h), it is their mean.
 *
 * Sizes of predefined datatypes are those of 64-bit machines. Of derived ones they are known where
 * everything that made one of that name made it of the same size. Requests that are started again
 * and again (MPI_Start) do not say what they move.
 */
#ifndef RN_ANALYSIS_BYTES_MOVED_H
#define RN_ANALYSIS_BYTES_MOVED_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_sigs;
struct rn_value_list;
struct rn_vocab;

#define RN_VOLUME_UNKNOWN UINT64_MAX

/* bytes[] gets an entry for each signature: a number, or RN_VOLUME_UNKNOWN. RN_OK or RN_E_NOMEM. */
int rn_volumes(const struct rn_sigs *sigs, const struct rn_value_list *values,
	       const struct rn_vocab *vocab, uint64_t ranks, struct rn_arena *scratch,
	       uint64_t *bytes);

#endif
