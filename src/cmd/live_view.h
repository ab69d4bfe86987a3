/*
 * live_view.h - `rondo recover --live`: where the ranks of a running program are, and who waits for
 * whom (analyse/standstill.h), for people or as JSON. Nothing is written, and nothing that the
 * program does waits for this.
 */
#ifndef RN_CMD_LIVE_VIEW_H
#define RN_CMD_LIVE_VIEW_H

#include <stdbool.h>

/* Prints it. An exit code. */
int live_show(const char *folder, bool json);

#endif
