/*
 * bytes_moved.h - number of bytes that a call moves, from count and datatype size.
 *
 * The number is count times datatype size. A message counts at the sender; receives count 0, so
 * that no message is counted twice. A collective call counts the data that each rank contributes
 * (for a broadcast the buffer, on every rank). One-sided calls and file operations count the data
 * that they read or write. A call with destination MPI_PROC_NULL counts 0.
 *
 * If the count of a call is elastic (model/elastic_values_codec.h), its mean is used.
 *
 * Sizes of predefined datatypes are those of 64-bit machines. The size of a derived datatype is
 * known if all calls that create a datatype with this name give it the same size. Starts of
 * persistent requests (MPI_Start) are unknown.
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

/* Stores the number of bytes, or RN_VOLUME_UNKNOWN, of each signature in bytes[]. Returns RN_OK or
 * RN_E_NOMEM. */
int rn_volumes(const struct rn_sigs *sigs, const struct rn_value_list *values,
	       const struct rn_vocab *vocab, uint64_t ranks, struct rn_arena *scratch,
	       uint64_t *bytes);

#endif
