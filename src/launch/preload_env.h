/*
 * preload_env.h - starts a command with the stub (src/preload/stub.c) preloaded.
 *
 * Every process of the command loads the stub. A process that uses MPI is executed again with the
 * tracer for that MPI.
 *
 * Functions return RN_OK, or a negative code with the reason in `err`.
 */
#ifndef RN_LAUNCH_PRELOAD_ENV_H
#define RN_LAUNCH_PRELOAD_ENV_H

#include <stdbool.h>

#include "launch/spawn.h"

struct rn_err;
struct target;

/* Adds the stub to LD_PRELOAD. `shared`: processes on other nodes also load it. */
int inject_stub(bool shared, struct rn_err *err);

/* Runs the command with the current environment, also on other nodes, and waits (wait_for_program).
 * Sets *code to its exit code. */
int inject_run(const struct target *t, char **command, wait_fn *meanwhile, void *arg, int *code,
	       struct rn_err *err);

/* Replaces this process by the command. Returns only if that fails. */
int inject_become(const struct target *t, char **command, struct rn_err *err);

#endif
