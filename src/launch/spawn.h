/*
 * spawn.h - finds programs and libraries, preloads libraries, starts programs and waits for them.
 *
 * Functions print nothing.
 */
#ifndef RN_LAUNCH_SPAWN_H
#define RN_LAUNCH_SPAWN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* SIGPIPE was ignored when rondo was started. Programs that rondo starts inherit this setting. */
extern bool pipe_was_ignored;

/* Sets `path` to the file that execvp would execute. Returns false if it would fail, with errno
 * set: ENOENT, EACCES (the file exists, but is not executable), EISDIR, or another error. */
bool find_program(const char *name, char path[PATH_MAX]);

/* Finds a library of Rondo, next to the rondo program (in the build directory) or in ../lib/rondo.
 * Returns false if it does not exist. */
bool find_library(const char *name, char path[PATH_MAX]);

/* Adds a library to LD_PRELOAD in the environment of this process. It precedes the user's
 * libraries, so that it observes memory before another allocator does. It follows other MPI tools,
 * which must be called first, and AddressSanitizer, which must be the first library. The user's
 * value, without libraries of Rondo, is stored in RONDO_PRELOAD. Returns RN_OK or RN_E_NOMEM. */
int preload(const char *library);

/* Runs a program as a child process and appends its standard output and error to `out`. Returns
 * whether it could be run and exited with 0. */
bool capture(char *const *argv, struct rn_buf *out);

/* Starts a program. Signals that are sent to this process are forwarded to it; signals of the
 * terminal reach it directly. Returns 0, or the errno value of the failure. */
int start_program(const char *path, char *const *argv, pid_t *pid);

/* Waits for the program, and calls `meanwhile` WAITS_PER_SECOND times a second if it is not NULL.
 * Returns the exit code, or 128 + the number of the signal that ended the program, or -1 if there
 * is no such child. */
#define WAITS_PER_SECOND 2
typedef void wait_fn(void *arg);
int wait_for_program(pid_t pid, wait_fn *meanwhile, void *arg);

/* Starts a process that is not a child of this one and has its own session. Returns its process id;
 * 0 in the new process, which ends with _exit; -1 if it cannot be started. */
pid_t start_detached(void);

/* Waits for the end of a process that is not a child. */
void wait_for_end(pid_t pid);

/* Closes the descriptors first..last. */
void close_between(unsigned first, unsigned last);

/* Replaces this process by the program. Returns the errno value if that fails. */
int become(const char *path, char *const *argv);

#endif
