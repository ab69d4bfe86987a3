/*
 * spawn.h - starting other programs: finding them, preloading into them, waiting for them.
 *
 * Nothing here prints.
 */
#ifndef RN_LAUNCH_SPAWN_H
#define RN_LAUNCH_SPAWN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* Whether SIGPIPE was ignored when rondo was started; a program that it starts finds it so again.
 */
extern bool pipe_was_ignored;

/* Where execvp would find a program. If it would not: false, and errno is ENOENT, EACCES (there,
 * but not to be run), EISDIR, or what else the system says. */
bool find_program(const char *name, char path[PATH_MAX]);

/* A library of Rondo's own, beside the rondo program (in the build folder) or in ../lib/rondo. */
bool find_library(const char *name, char path[PATH_MAX]);

/* Adds a library to LD_PRELOAD in our environment. It precedes the user's libraries, so that it
 * sees memory before another allocator does. It follows other tools for MPI, which rely on being
 * called first, and AddressSanitizer, which must be the first library. The user's value, without
 * libraries of Rondo's, is stored in RONDO_PRELOAD. RN_OK or RN_E_NOMEM. */
int preload(const char *library);

/* Runs a program as a child and appends its standard output and error to `out`. Whether it could be
 * run and exited with 0. */
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

/* Becomes the program. Returns the errno that kept it from starting. */
int become(const char *path, char *const *argv);

#endif
