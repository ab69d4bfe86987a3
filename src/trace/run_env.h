/*
 * run_env.h - what a run was started with, apart from what it did: its arguments, its MPI and how
 * that is set, the nodes. Recorded as metadata, and compared when a replay starts: who does not
 * start alike may do something else.
 *
 * MPI is asked once, when MPI_Init is done: some 0.1 ms. Nothing here communicates. Open MPI's
 * variables are read from where it has them, not through MPI_T: to begin with that, it loads
 * every component there is, which takes 0.2 s.
 */
#ifndef RN_TRACE_RUN_ENV_H
#define RN_TRACE_RUN_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "model/metadata.h"

/* After MPI_Init. `all`: for a trace that is there to be replayed; others, of which most never are,
 * and which may have few bytes, have what the user has set, but not what MPI chose by itself. */
void rn_setting_read(bool all);

/* The value of a metadata key in this run; "" if it is absent or not known at the start. */
const char *rn_setting_value(enum rn_meta_key key);

/* Recording: which rank of its node this is, of how many. False: it is not known, or all are on one
 * node, which the above tells. */
struct rn_comm_entry;
bool rn_setting_node(struct rn_comm_entry *e);

/* The rank on its node and the size of the node, for any number of nodes. False: unknown. */
bool rn_setting_place(int *rank, int *size);

#endif
