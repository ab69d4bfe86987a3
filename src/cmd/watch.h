/*
 * watch.h - A watcher: a process that waits for the end of a rank that a launcher started.
 *
 * rondo becomes the program of the rank, so that tracing does not change process id, parent,
 * signals and exit code. A rank that is killed cannot write its trace. The watcher then makes the
 * trace, or prints the `rondo recover` command. The watcher has its own session and is not a child
 * of the program. It has the standard error of the rank, and a status file in memory.
 */
#ifndef RN_CMD_WATCH_H
#define RN_CMD_WATCH_H

/* Starts the watcher of this process, and sets RONDO_STATUS. If no watcher can be started, for
 * example because there are too many processes, the rank is traced without one. */
void watch_rank(void);

#endif
