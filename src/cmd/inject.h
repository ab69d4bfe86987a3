/*
 * inject.h - starting a program with the tracer in it.
 *
 * Behind a launcher (mpirun -n 4 rondo trace ./app) we will be a rank: the tracer for the program's
 * MPI is preloaded. In front of one (rondo trace mpirun -n 4 ./app), or without one, the stub
 * (src/intercept/stub.c) is preloaded into everything that is started, and finds the ranks.
 *
 * Functions return exit codes (cmd.h), and have printed what is wrong unless it is EXIT_DONE.
 */
#ifndef RN_CMD_INJECT_H
#define RN_CMD_INJECT_H

#include "base/which_mpi.h"

struct target;

/* The MPI that the user has named, or RN_MPI_NONE. */
enum rn_mpi inject_forced(void);

/* Puts tracer or stub into our environment. */
int inject_for_rank(const struct target *t);
int inject_for_all(const struct target *t, char **command);

/* Runs the command, to whose other nodes our environment goes too, and waits; its exit code. */
int inject_run(const struct target *t, char **command, int *code);

/* Becomes the command; returns if that cannot be done. */
int inject_become(const struct target *t, char **command);

#endif
