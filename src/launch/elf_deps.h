/*
 * elf_deps.h - what kind of file a program is, and which libraries it needs.
 *
 * Only headers are read, and every byte of them may be wrong. Nothing is run but the dynamic loader
 * that the program names, and that only to list libraries.
 */
#ifndef RN_LAUNCH_ELF_DEPS_H
#define RN_LAUNCH_ELF_DEPS_H

#include <limits.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mpi_detect.h"

enum elf_kind {
	ELF_DYNAMIC,
	ELF_STATIC,  /* no dynamic loader: nothing can be preloaded */
	ELF_FOREIGN, /* for another kind of machine */
	ELF_SCRIPT,  /* not ELF; begins with #! */
	ELF_OTHER,   /* none of these; the kernel may still know what to do with it */
};

struct elf {
	enum elf_kind kind;
	char loader[PATH_MAX]; /* of a dynamic one; of a script, the program that runs it, as named
				*/
	struct rn_buf needed;  /* names of libraries, each with its 0, in the order of the file */
};

/* What the file is, and the libraries that it names itself. RN_OK or RN_E_SYS; free it if RN_OK. */
int elf_read(const char *path, struct elf *e, struct rn_err *err);
void elf_free(struct elf *e);

/* The name behind this one, the first one behind NULL; NULL at the end. */
const char *elf_library(const struct elf *e, const char *name);

/* Whether the name of one of them begins so. */
bool elf_needs(const struct elf *e, const char *begin);

/* The MPI that is among them. */
enum rn_mpi elf_mpi(const struct elf *e);

/* The MPI that is among all libraries that the program's loader would load for it, near or far.
 * False if the loader cannot tell: then the program will not start either. */
bool elf_mpi_deep(const char *path, const struct elf *e, enum rn_mpi *mpi);

/* Whether a library has a function for others whose name begins so. */
bool elf_defines(const char *path, const char *begin);

#endif
