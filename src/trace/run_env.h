/*
 * run_env.h - the environment of a run: its arguments, its MPI library and the library's settings,
 * and its nodes.
 *
 * The values are recorded as metadata and compared when a replay starts, because a program that is
 * started differently may behave differently.
 *
 * Cost: MPI is queried once, after MPI_Init, which costs about 0.1 ms. Nothing here communicates.
 * Open MPI's variables are read from its internal table and not through MPI_T: MPI_T initialization
 * loads every component, which takes 0.2 s.
 */
#ifndef RN_TRACE_RUN_ENV_H
#define RN_TRACE_RUN_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "model/metadata.h"

/* Reads the environment after MPI_Init. `all`: also the settings that MPI chose by itself. They are
 * needed only in traces that are made for replay; other traces, which may be small, have only the
 * settings that the user made. */
void rn_setting_read(bool all);

/* The value of a metadata key in this run; "" if it is absent or not known at the start. */
const char *rn_setting_value(enum rn_meta_key key);

/* Record: stores the rank of this process on its node and the size of the node. False if they are
 * unknown, or if all ranks are on one node: the metadata entry for nodes says so. */
struct rn_comm_entry;
bool rn_setting_node(struct rn_comm_entry *e);

/* Returns the rank on the node and the size of the node, for any number of nodes. False:
 * unknown. */
bool rn_setting_place(int *rank, int *size);

#endif
