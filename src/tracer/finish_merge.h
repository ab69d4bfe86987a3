/*
 * finish_merge.h - merges the process traces of all ranks over MPI and writes the trace on rank 0.
 */
#ifndef RN_TRACER_FINISH_MERGE_H
#define RN_TRACER_FINISH_MERGE_H

#include <stdint.h>

struct rn_finish;
struct rn_mpi_link;

/* Compares the clocks of all ranks. Called by all ranks together; `link` is NULL at the start of
 * the program. If clocks cannot be compared, they are assumed to be equal. */
void rn_finish_compare_clocks(struct rn_finish *f, struct rn_mpi_link *link);

/* Merges the traces of all ranks. Called by all ranks together. A rank in which a step fails
 * continues with the remaining steps. The result is the same on all ranks: RN_OK or an error. */
int rn_finish_merge(struct rn_finish *f, struct rn_mpi_link *link);

/* Returns the memory of the recorded data of this process, in bytes. */
uint64_t rn_finish_memory(void);

#endif
