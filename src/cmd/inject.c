/* inject.c - see inject.h. */
#include "cmd/inject.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/forward.h"
#include "cmd/launch.h"
#include "cmd/target.h"

static int no_memory(void)
{
	return fail(EXIT_SELF, "out of memory");
}

enum rn_mpi inject_forced(void)
{
	return rn_mpi_of_word(getenv("RONDO_MPI"));
}

static int preload_library(const char *path)
{
	if (strpbrk(path, ": "))
		return fail(EXIT_SELF, "%s: a path with a blank or colon cannot be preloaded",
			    path);
	return preload(path) < 0 ? no_memory() : EXIT_DONE;
}

static int preload_stub(void)
{
	char path[PATH_MAX];

	if (!find_library(RN_STUB_LIBRARY, path))
		return fail(EXIT_SELF, "%s is neither beside rondo nor in ../lib/rondo",
			    RN_STUB_LIBRARY);
	return preload_library(path);
}

static int preload_tracer(const struct target *t, enum rn_mpi mpi)
{
	char path[PATH_MAX];
	int code = target_tracer(t, mpi, path);

	return code ? code : preload_library(path);
}

static int cannot_run(const struct target *t, int error)
{
	return fail(EXIT_SELF, "%s cannot be run: %s", t->name, strerror(error));
}

int inject_for_rank(const struct target *t)
{
	enum rn_mpi mpi;
	int code = target_choose(t, inject_forced(), &mpi);

	if (code)
		return code;
	return mpi == RN_MPI_NONE ? preload_stub() : preload_tracer(t, mpi);
}

/* Alone, and only --mpi tells which MPI it will load. */
static bool loads_mpi(const struct target *t)
{
	return inject_forced() != RN_MPI_NONE && t->elf.kind == ELF_DYNAMIC &&
	       elf_mpi(&t->elf) == RN_MPI_NONE && !target_is_launcher(t) && !rn_is_runner(t->runs);
}

int inject_for_all(const struct target *t, char **command)
{
	int code = target_is_launcher(t) ? target_check_line(command, inject_forced()) : EXIT_DONE;

	if (code)
		return code;
	return loads_mpi(t) ? preload_tracer(t, inject_forced()) : preload_stub();
}

int inject_run(const struct target *t, char **command, int *code)
{
	char **line = target_is_openmpi_launcher(t) ? forward_environment(command) : command;
	int error;

	if (!line)
		return no_memory();
	error = run_and_wait(t->path, line, code);
	return error ? cannot_run(t, error) : EXIT_DONE;
}

int inject_become(const struct target *t, char **command)
{
	return cannot_run(t, become(t->path, command));
}
