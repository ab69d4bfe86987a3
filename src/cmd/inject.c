/* inject.c - see inject.h. */
#include "cmd/inject.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sanitizer.h"
#include "cmd/cmd.h"
#include "cmd/forward.h"
#include "cmd/launch.h"
#include "cmd/preload_path.h"
#include "cmd/target.h"

static int no_memory(void)
{
	return fail(EXIT_SELF, "out of memory");
}

enum rn_mpi inject_forced(void)
{
	return rn_mpi_of_word(getenv("RONDO_MPI"));
}

/* The directory of the trace, which processes on other nodes can read; NULL: unknown. */
static const char *shared_directory(char dir[PATH_MAX])
{
	const char *replay = getenv("RONDO_REPLAY"),
		   *file = replay ? replay : getenv("RONDO_OUTPUT");

	if (!file)
		return getenv("RONDO_CWD");
	snprintf(dir, PATH_MAX, "%.*s", (int)(rn_base_name(file) - file - 1), file);
	return dir;
}

/* `shared`: processes on other nodes also load the library. */
static int preload_library(const char *library, bool shared)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int error = preload_path(library, shared ? shared_directory(dir) : NULL, path);

	if (error)
		return fail(EXIT_SELF,
			    "LD_PRELOAD cannot contain the path %s (it has a space, a colon or a "
			    "dollar sign), and a link to it cannot be created: %s",
			    library, strerror(error));
	return preload(path) < 0 ? no_memory() : EXIT_DONE;
}

static int preload_stub(bool shared)
{
	char path[PATH_MAX];

	if (!find_library(RN_STUB_LIBRARY, path))
		return fail(EXIT_SELF, "%s is neither beside rondo nor in ../lib/rondo",
			    RN_STUB_LIBRARY);
	return preload_library(path, shared);
}

static int preload_tracer(const struct target *t, enum rn_mpi mpi, bool shared)
{
	char path[PATH_MAX];
	int code = target_tracer(t, mpi, path);

	return code ? code : preload_library(path, shared);
}

static int cannot_run(const struct target *t, int error)
{
	return fail(EXIT_SELF, "%s cannot be run: %s", t->name, strerror(error));
}

/* Whether the program needs AddressSanitizer's runtime. The stub then puts it before the tracer. */
static bool needs_asan(const struct target *t)
{
	for (const char *name = elf_next(&t->elf, NULL); name; name = elf_next(&t->elf, name))
		if (rn_is_asan(name))
			return true;
	return false;
}

int inject_for_rank(const struct target *t)
{
	enum rn_mpi mpi;
	int code = target_choose(t, inject_forced(), false, &mpi);

	if (code)
		return code;
	return mpi == RN_MPI_NONE || needs_asan(t) ? preload_stub(false)
						   : preload_tracer(t, mpi, false);
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
	return loads_mpi(t) ? preload_tracer(t, inject_forced(), true) : preload_stub(true);
}

int inject_run(const struct target *t, char **command, int *code)
{
	char **line = target_is_openmpi_launcher(t) ? forward_environment(command) : command;
	pid_t pid;
	int error;

	if (!line)
		return no_memory();
	error = start_program(t->path, line, &pid);
	if (error)
		return cannot_run(t, error);
	preload_path_program(pid);
	*code = wait_for_program(pid);
	return EXIT_DONE;
}

int inject_become(const struct target *t, char **command)
{
	preload_path_program(getpid());
	return cannot_run(t, become(t->path, command));
}
