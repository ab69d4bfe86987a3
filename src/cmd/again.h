/*
 * again.h - whether what is to be run once more is what was recorded: the program, and what it is
 * given.
 *
 * Only where the command line shows it for certain: a program that uses MPI, alone or as the first
 * program behind a launcher. Scripts and debuggers may start whatever they like; there, and where
 * we are started by a launcher ourselves, the first process looks (src/intercept/setting.h).
 */
#ifndef RN_CMD_AGAIN_H
#define RN_CMD_AGAIN_H

#include <stdbool.h>

struct rn_buf;
struct rn_trace;
struct target;

/* Notes the differences. False: they are not known here. */
bool again_compare(const struct rn_trace *trace, const struct target *t, char *const *command,
		   struct rn_buf *notes);

#endif
