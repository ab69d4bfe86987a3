/* watch.c - the watcher of a rank. See conclude.h. */
#include "cmd/conclude.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status_file.h"
#include "base/tracer_env.h"
#include "launch/spawn.h"

/* Descriptor numbers in the watcher. */
enum { STATUS = 3, RANK, TO_RONDO };

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Moves the descriptors to STATUS, RANK and TO_RONDO. Keeps standard error open, redirects standard
 * input and output to /dev/null, and closes all other descriptors. */
static void arrange_descriptors(int status, int rank, int to_rondo)
{
	int null = open("/dev/null", O_RDWR);
	int high[3] = { fcntl(status, F_DUPFD, 16), fcntl(rank, F_DUPFD, 16),
			fcntl(to_rondo, F_DUPFD, 16) };

	dup2(null, 0);
	dup2(null, 1);
	for (int i = 0; i < 3; i++)
		dup2(high[i], STATUS + i);
	close_from(TO_RONDO + 1);
}

/* Main function of the watcher. Sends its process id to rondo when it is ready. */
static void watch(int status, int rank, int to_rondo, struct timespec since, pid_t launcher)
{
	struct pollfd end = { RANK, POLLIN, 0 };
	pid_t self = getpid();
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	arrange_descriptors(status, rank, to_rondo);
	(void)!write(TO_RONDO, &self, sizeof(self));
	close(TO_RONDO);
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	conclude_rank(STATUS, since, launcher);
}

/* Starts the watcher, which is not a child, so that the program has no child that it did not start.
 * Returns its process id, or 0. */
static pid_t start_watcher(int status, int rank)
{
	struct timespec since;
	pid_t watcher = 0, launcher = getppid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &since);
	if (start_detached()) {
		watch(status, rank, ends[1], since, launcher);
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &watcher, sizeof(watcher)) != (ssize_t)sizeof(watcher))
		watcher = 0;
	close(ends[0]);
	return watcher;
}

void watch_rank(void)
{
	int rank = open_process(getpid()), status = rank >= 0 ? rn_status_create_memory() : -1;
	pid_t watcher = status >= 0 ? start_watcher(status, rank) : 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)watcher, STATUS);
	if (watcher)
		setenv(RN_ENV_STATUS, path, 1);
	if (status >= 0)
		close(status);
	if (rank >= 0)
		close(rank);
}
