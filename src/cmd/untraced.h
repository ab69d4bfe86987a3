/*
 * untraced.h - Explains why no program of a command was traced.
 */
#ifndef RN_CMD_UNTRACED_H
#define RN_CMD_UNTRACED_H

#include <sys/types.h>

struct reports;
struct target;

/* Prints one line. Called if no tracer reported a run. `background`: a process of the command that
 * is still running, or 0. `code`: the exit code of the command. Returns EXIT_DONE, or EXIT_SELF if
 * a program that uses MPI could not be traced. */
int explain_untraced(const struct target *t, char **command, const struct reports *told,
		     pid_t background, int code);

#endif
