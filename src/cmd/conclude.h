/*
 * conclude.h - what is done when a traced command or rank has ended: the traces of runs that were
 * killed are made from their part files, and one line per run reports what is left to report.
 */
#ifndef RN_CMD_CONCLUDE_H
#define RN_CMD_CONCLUDE_H

#include <time.h>

struct target;

/* The command has ended with exit code `code`. `status` is a descriptor of the status file. Returns
 * EXIT_DONE, or EXIT_SELF if a program could not be traced. */
int conclude(const struct target *t, char **command, int status, int code);

/* A rank has ended that was started at the time `since`; `status` is its own status file. The first
 * watcher of a node that finds an unfinished run reports it; the others print nothing. */
void conclude_rank(int status, struct timespec since);

#endif
