/*
 * elf_deps.h - reads the file type of a program and the libraries that it needs.
 *
 * Only headers are read. Input is untrusted. Nothing is executed except the dynamic loader that the
 * program names, and only to list libraries.
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
	ELF_FOREIGN, /* for another machine architecture */
	ELF_SCRIPT,  /* not ELF; begins with #! */
	ELF_OTHER,   /* another format; the kernel may be able to execute it */
};

struct elf {
	enum elf_kind kind;
	char loader[PATH_MAX]; /* dynamic loader of the program; for a script: the interpreter as
				  named in it */
	struct rn_buf needed;  /* names of the libraries, each terminated by 0, in file order */
};

/* Reads the type of the file and the libraries that it names directly. Returns RN_OK or RN_E_SYS.
 * After RN_OK the result must be freed with elf_free. */
int elf_read(const char *path, struct elf *e, struct rn_err *err);
void elf_free(struct elf *e);

/* Returns the library name after `name`, the first one if `name` is NULL; NULL at the end. */
const char *elf_library(const struct elf *e, const char *name);

/* Whether the name of a needed library begins with `begin`. */
bool elf_needs(const struct elf *e, const char *begin);

/* Returns the MPI implementation among the needed libraries. */
enum rn_mpi elf_mpi(const struct elf *e);

/* Sets *mpi to the MPI implementation among all libraries that the program's loader would load for
 * it, direct and indirect. Returns false if the loader cannot list them. In that case the program
 * cannot start either. */
bool elf_mpi_deep(const char *path, const struct elf *e, enum rn_mpi *mpi);

/* Whether a library exports a function whose name begins with `begin`. */
bool elf_defines(const char *path, const char *begin);

#endif
