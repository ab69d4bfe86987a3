/* preload_path.c - see preload_path.h. */
#include "launch/preload_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mpi_detect.h"
#include "launch/spawn.h"

/* The link of this process; empty: none. */
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

/* --- the watcher --------------------------------------------------------------------------- */

static int to_watcher = -1;

/* Closes all file descriptors but one. */
static void close_others(int kept)
{
	close_from(kept + 1);
	for (int fd = 0; fd < kept; fd++)
		close(fd);
}

static void wait_for_end(pid_t pid)
{
	struct pollfd process = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };

	if (process.fd >= 0)
		poll(&process, 1, -1);
	else /* an old kernel, or a container that forbids it */
		while (kill(pid, 0) == 0)
			sleep(1);
}

/* Reads the program's process id from rondo, which may exit without sending one. */
static void watch(int from_rondo)
{
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (chdir("/") == 0)
		close_others(from_rondo);
	if (read(from_rondo, &pid, sizeof(pid)) == (ssize_t)sizeof(pid))
		wait_for_end(pid);
	remove_link();
}

/* The program has no child that it did not start. */
static void start_watcher(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	if (start_detached()) {
		close(ends[1]);
		watch(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	to_watcher = ends[1];
}

void preload_path_program(pid_t pid)
{
	if (to_watcher >= 0)
		(void)!write(to_watcher, &pid, sizeof(pid));
}

/* --- the path ------------------------------------------------------------------------------ */

static int make_link(const char *dir, const char *target)
{
	const char *const places[] = { dir, getenv("TMPDIR"), "/tmp", "/dev/shm" };
	int error = ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && error; i++)
		error = make_link_in(places[i], target);
	if (!error) {
		atexit(remove_link);
		start_watcher();
	}
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
