/*
 * target.h - the program that is to be traced: what it is, which MPI it uses, what is in the way.
 *
 * Functions that return an exit code (cmd.h) have printed what is wrong unless it is EXIT_DONE.
 */
#ifndef RN_CMD_TARGET_H
#define RN_CMD_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "base/which_mpi.h"
#include "cmd/elf_needs.h"

struct target {
	const char *name;    /* as it was given */
	char path[PATH_MAX]; /* where it is */
	const char *runs;    /* what will run: itself, or a script's interpreter */
	struct elf elf;
};

/* Finds a program as execvp would and reads its headers. RN_OK or a negative code, and nothing is
 * printed; free it if RN_OK. */
int target_open(struct target *t, const char *name, struct rn_err *err);
void target_free(struct target *t);

bool target_is_launcher(const struct target *t);
bool target_is_openmpi_launcher(const struct target *t);

/* Why no library can be preloaded into it, or NULL. */
const char *target_obstacle(const struct target *t);

/* Whether a program that is about to be run can be traced, or can run others that are, as far as
 * can be known now. `forced` is the MPI of --mpi, or RN_MPI_NONE. */
int target_check(const struct target *t, enum rn_mpi forced);

/* The same for the program on a launcher's command line. Which word that is, is not certain: only
 * what is certainly wrong is found. */
int target_check_line(char *const *command, enum rn_mpi forced);

/* For a program that will be a rank: the MPI whose tracer it needs. RN_MPI_NONE if it does not use
 * MPI; the programs that it starts may use MPI. Rank 0 prints a warning, unless the program is
 * known to start other programs. If the program is to be replayed, this is an error. */
int target_choose(const struct target *t, enum rn_mpi forced, bool replayed, enum rn_mpi *mpi);

/* The tracer for an MPI that the program uses. */
int target_tracer(const struct target *t, enum rn_mpi mpi, char path[PATH_MAX]);

#endif
