/* preload_path.c - see preload_path.h. */
#include "launch/preload_path.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mpi_detect.h"
#include "launch/spawn.h"

/* The link of this process; empty: there is no link. */
static char directory[PATH_MAX], link_path[PATH_MAX + 32];

static bool is_usable(const char *path)
{
	return path[strcspn(path, " :$")] == 0;
}

static void remove_link(void)
{
	if (!*directory)
		return;
	unlink(link_path);
	rmdir(directory);
	*directory = 0;
}

static int make_link_in(const char *dir, const char *target)
{
	uint64_t name;
	int n;

	if (!dir || *dir != '/' || !is_usable(dir))
		return ENOENT;
	if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name))
		return errno;
	n = snprintf(directory, sizeof(directory), "%s/.rondo-lib.XXXXXX", dir);
	if (n >= PATH_MAX || !mkdtemp(directory)) {
		*directory = 0;
		return n >= PATH_MAX ? ENAMETOOLONG : errno;
	}
	snprintf(link_path, sizeof(link_path), "%s/%016" PRIx64, directory, name);
	if (symlink(target, link_path) == 0)
		return 0;
	n = errno;
	remove_link();
	return n;
}

/* Starts the watcher as a detached process, so that the program has no child that it did not start.
 */
void preload_path_program(pid_t pid)
{
	sigset_t all;

	if (!*directory || start_detached() != 0)
		return;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (chdir("/") == 0)
		close_between(0, ~0u);
	wait_for_end(pid);
	remove_link();
	_exit(0);
}

static int make_link(const char *dir, const char *target)
{
	const char *const places[] = { dir, getenv("TMPDIR"), "/tmp", "/dev/shm" };
	int error = ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && error; i++)
		error = make_link_in(places[i], target);
	if (!error)
		atexit(remove_link);
	return error;
}

int preload_path(const char *library, const char *dir, char path[PATH_MAX])
{
	const char *name = rn_base_name(library);
	char target[PATH_MAX];
	int error = 0, n;

	snprintf(target, sizeof(target), "%.*s", (int)(name - library), library);
	if (!is_usable(library) && !*directory)
		error = make_link(dir, target);
	if (error)
		return error;
	n = is_usable(library) ? snprintf(path, PATH_MAX, "%s", library)
			       : snprintf(path, PATH_MAX, "%s/%s", link_path, name);
	return n < PATH_MAX ? 0 : ENAMETOOLONG;
}
