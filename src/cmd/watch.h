/*
 * watch.h - a watcher waits for the end of a rank that a launcher started.
 *
 * rondo becomes the program of the rank, so that process id, parent, signals and exit code are what
 * they are without rondo. A rank that is killed cannot write its trace. The watcher, a process in
 * its own session that is not a child of the program, then does it, or prints the `rondo recover`
 * command. It has the standard error of the rank, and a status file in memory.
 */
#ifndef RN_CMD_WATCH_H
#define RN_CMD_WATCH_H

/* Starts the watcher of this process, and sets RONDO_STATUS. Without a watcher, for example because
 * there are too many processes, the rank is traced all the same. */
void watch_rank(void);

#endif
