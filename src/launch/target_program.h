/*
 * target_program.h - examines the program to be traced: its file, its MPI, and obstacles to
 * tracing.
 */
#ifndef RN_LAUNCH_TARGET_PROGRAM_H
#define RN_LAUNCH_TARGET_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "base/mpi_detect.h"
#include "launch/elf_deps.h"

struct rn_buf;

struct target {
	const char *name;    /* name as given on the command line */
	char path[PATH_MAX]; /* path of the file */
	const char *runs;    /* executable that runs: the program, or the interpreter of a script */
	struct elf elf;
};

/* Finds a program as execvp would, and reads its headers. Returns RN_OK or a negative code. After
 * RN_OK the target must be freed with target_free. */
int target_open(struct target *t, const char *name, struct rn_err *err);
void target_free(struct target *t);

bool target_is_launcher(const struct target *t);

/* Whether the program will be a rank of a launcher. */
bool target_is_rank(const struct target *t);

bool target_is_openmpi_launcher(const struct target *t);

/* Returns why no library can be preloaded into the program, or NULL. */
const char *target_obstacle(const struct target *t);

/* Returns the MPI of the option --mpi, or RN_MPI_NONE. */
enum rn_mpi forced_mpi(void);

/* Opens the program of a command. A command that certainly cannot be traced is rejected before it
 * is started. In each process, the stub (src/preload/stub.c) decides which tracer is loaded. If the
 * program is a launcher, its arguments that are programs are also checked. Returns RN_OK, or
 * RN_E_ARG with a note of the reason. */
int target_open_checked(struct target *t, char *const *command, bool replayed,
			struct rn_buf *notes);

#endif
