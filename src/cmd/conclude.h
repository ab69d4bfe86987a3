/*
 * conclude.h - concludes a traced command or rank that has ended: makes the traces of killed runs
 * from their journals, and prints at most one line per run.
 *
 * A watcher is a process that waits for the end of a rank that a launcher started. rondo becomes
 * the program of the rank by exec, so that tracing does not change process id, parent, signals and
 * exit code. A rank that is killed cannot write its trace. The watcher then makes the trace, or
 * prints the `rondo recover` command. The watcher has its own session and is not a child of the
 * program. It shares the standard error of the rank, and has a status file in memory.
 */
#ifndef RN_CMD_CONCLUDE_H
#define RN_CMD_CONCLUDE_H

#include <sys/types.h>
#include <time.h>

struct reports;
struct target;

/* Concludes a command that ended with exit code `code`. `status` is a descriptor of the status
 * file. Returns EXIT_DONE, or EXIT_SELF if a program could not be traced. */
int conclude(const struct target *t, char **command, int status, int code);

/* Explains why no program of a command was traced, in one line. Called if no tracer reported a run.
 * `background`: a process of the command that is still running, or 0. `code`: the exit code of the
 * command. Returns EXIT_DONE, or EXIT_SELF if a program that uses MPI could not be traced. */
int explain_untraced(const struct target *t, char **command, const struct reports *told,
		     pid_t background, int code);

/* Starts the watcher of this process, and sets RONDO_STATUS. If no watcher can be started, for
 * example because there are too many processes, the rank is traced without one. */
void watch_rank(void);

/* Concludes a rank that the process `launcher` started at the time `since`. `status` is a
 * descriptor of its own status file. The first watcher of a node that has something to report
 * prints it; the other watchers print nothing. */
void conclude_rank(int status, struct timespec since, pid_t launcher);

#endif
