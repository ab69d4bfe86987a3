/*
 * run_env_check.h - compares the run environment of a replay with the recorded one, and warns
 * about differences.
 *
 * The processes compare, not the command `rondo replay`: scripts and debuggers may start any
 * program with any arguments.
 */
#ifndef RN_REPLAY_RUN_ENV_CHECK_H
#define RN_REPLAY_RUN_ENV_CHECK_H

#include <stdbool.h>

/* On rank 0, whose settings are recorded: prints one line per kind of difference. */
void rn_setting_compare(void);

/* On all ranks: prints a line if the ranks are not on the nodes where they were recorded. `first`
 * returns whether no rank has reported this yet. */
void rn_setting_compare_node(bool (*first)(void));

#endif
