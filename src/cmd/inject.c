/* inject.c - see inject.h. */
#include "cmd/inject.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sanitizer.h"
#include "base/tracer_env.h"
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
	return rn_mpi_of_word(getenv(RN_ENV_MPI));
}

/* The directory of the trace, which processes on other nodes can read; NULL: unknown. */
static const char *shared_directory(char dir[PATH_MAX])
{
	const char *replay = getenv(RN_ENV_REPLAY), *file = replay ? replay : getenv(RN_ENV_OUTPUT);

	if (!file)
		return getenv(RN_ENV_CWD);
	snprintf(dir, PATH_MAX, "%.*s", (int)(rn_base_name(file) - file - 1), file);
	return dir;
}

int inject_stub(bool shared)
{
	char dir[PATH_MAX], library[PATH_MAX], path[PATH_MAX];
	int error;

	if (!find_library(RN_STUB_LIBRARY, library))
		return fail(EXIT_SELF, "%s is neither beside rondo nor in ../lib/rondo",
			    RN_STUB_LIBRARY);
	error = preload_path(library, shared ? shared_directory(dir) : NULL, path);
	if (error)
		return fail(EXIT_SELF,
			    "LD_PRELOAD cannot contain the path %s (it has a space, a colon or a "
			    "dollar sign), and a link to it cannot be created: %s",
			    library, strerror(error));
	if (preload(path) < 0 || setenv(RN_ENV_IS_COMMAND, "1", 1) < 0)
		return no_memory();
	return EXIT_DONE;
}

static int cannot_run(const struct target *t, int error)
{
	return fail(EXIT_SELF, "%s cannot be run: %s", t->name, strerror(error));
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
