/*
 * setting.h - what a run was started with, apart from what it did: its arguments, its MPI. Recorded
 * as metadata, and compared when a replay starts: who does not start alike may do something else.
 *
 * Asked for once, when MPI_Init is done. Nothing here communicates.
 */
#ifndef RN_INTERCEPT_SETTING_H
#define RN_INTERCEPT_SETTING_H

#include <stdbool.h>
#include <stdint.h>

/* After MPI_Init. */
void rn_setting_read(void);

/* Recording: the i-th of them, of which there are no more than so many; false behind the last. */
#define RN_SETTINGS 8
bool rn_setting(uint32_t i, const char **key, const char **value);

/* Replaying, on the first rank, whose settings those of the record are: a line for each kind of
 * difference. */
void rn_setting_compare(void);

#endif
