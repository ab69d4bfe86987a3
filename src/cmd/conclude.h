/*
 * conclude.h - Concludes a traced command or rank that has ended: makes the traces of killed runs
 * from their part files, and prints at most one line per run.
 */
#ifndef RN_CMD_CONCLUDE_H
#define RN_CMD_CONCLUDE_H

#include <sys/types.h>
#include <time.h>

struct target;

/* Concludes a command that ended with exit code `code`. `status` is a descriptor of the status
 * file. Returns EXIT_DONE, or EXIT_SELF if a program could not be traced. */
int conclude(const struct target *t, char **command, int status, int code);

/* Concludes a rank that the process `launcher` started at the time `since`. `status` is a
 * descriptor of its own status file. The first watcher of a node that has something to report
 * prints it; the other watchers print nothing. */
void conclude_rank(int status, struct timespec since, pid_t launcher);

#endif
