/*
 * target_program.h - the program that is to be traced: what it is, which MPI it uses, what is in
 * the way.
 */
#ifndef RN_LAUNCH_TARGET_PROGRAM_H
#define RN_LAUNCH_TARGET_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "base/mpi_detect.h"
#include "launch/elf_deps.h"

struct rn_buf;

struct target {
	const char *name;    /* as it was given */
	char path[PATH_MAX]; /* where it is */
	const char *runs;    /* what will run: itself, or a script's interpreter */
	struct elf elf;
};

/* Finds a program as execvp would and reads its headers. RN_OK or a negative code; free it if
 * RN_OK.
 */
int target_open(struct target *t, const char *name, struct rn_err *err);
void target_free(struct target *t);

bool target_is_launcher(const struct target *t);

/* Whether the program will be a rank of a launcher. */
bool target_is_rank(const struct target *t);

bool target_is_openmpi_launcher(const struct target *t);

/* Why no library can be preloaded into it, or NULL. */
const char *target_obstacle(const struct target *t);

/* The MPI of --mpi, or RN_MPI_NONE. */
enum rn_mpi forced_mpi(void);

/* Opens the program of a command, and refuses a command that certainly cannot be traced before it
 * is started. In each process, the stub (src/preload/stub.c) decides which tracer is loaded. If the
 * program is a launcher, its arguments that are programs are also checked. Returns RN_OK, or
 * RN_E_ARG with a note of the reason. */
int target_open_checked(struct target *t, char *const *command, bool replayed,
			struct rn_buf *notes);

#endif
