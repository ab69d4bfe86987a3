/* preload_env.c - see preload_env.h. */
#include "launch/preload_env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sanitizer.h"
#include "base/tracer_env.h"
#include "launch/ompi_forward.h"
#include "launch/preload_path.h"
#include "launch/spawn.h"
#include "launch/target_program.h"

/* Returns the directory of the trace, which processes on other nodes can read, or NULL if it is
 * unknown. */
static const char *shared_directory(char dir[PATH_MAX])
{
	const char *replay = getenv(RN_ENV_REPLAY), *file = replay ? replay : getenv(RN_ENV_OUTPUT);

	if (!file)
		return getenv(RN_ENV_CWD);
	snprintf(dir, PATH_MAX, "%.*s", (int)(rn_base_name(file) - file - 1), file);
	return dir;
}

int inject_stub(bool shared, struct rn_err *err)
{
	char dir[PATH_MAX], library[PATH_MAX], path[PATH_MAX];
	int error;

	if (!find_library(RN_STUB_LIBRARY, library))
		return rn_err_set(err, RN_E_SYS, "%s is neither beside rondo nor in ../lib/rondo",
				  RN_STUB_LIBRARY);
	error = preload_path(library, shared ? shared_directory(dir) : NULL, path);
	if (error)
		return rn_err_set(
			err, RN_E_SYS,
			"a link cannot be created (%s) to %s, a path that LD_PRELOAD cannot "
			"contain because it has a space, a colon or a dollar sign",
			strerror(error), library);
	if (preload(path) < 0 || setenv(RN_ENV_IS_COMMAND, "1", 1) < 0)
		return rn_err_nomem(err);
	return RN_OK;
}

static int cannot_run(const struct target *t, int error, struct rn_err *err)
{
	return rn_err_set(err, RN_E_SYS, "%s cannot be run: %s", t->name, strerror(error));
}

int inject_run(const struct target *t, char **command, wait_fn *meanwhile, void *arg, int *code,
	       struct rn_err *err)
{
	char **line = target_is_openmpi_launcher(t) ? forward_environment(command) : command;
	pid_t pid;
	int error;

	if (!line)
		return rn_err_nomem(err);
	error = start_program(t->path, line, &pid);
	if (error)
		return cannot_run(t, error, err);
	preload_path_program(pid);
	*code = wait_for_program(pid, meanwhile, arg);
	return *code < 0 ? rn_err_sys(err, "wait for %s", t->name) : RN_OK;
}

int inject_become(const struct target *t, char **command, struct rn_err *err)
{
	preload_path_program(getpid());
	return cannot_run(t, become(t->path, command), err);
}
