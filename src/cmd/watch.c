/* watch.c - the watcher of a rank. See conclude.h. */
#include "cmd/conclude.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/status_file.h"
#include "base/tracer_env.h"
#include "launch/spawn.h"

/* Redirects standard input and output to /dev/null, and closes all other descriptors except the
 * status file and standard error. */
static void arrange_descriptors(int status)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close_between(STDERR_FILENO + 1, (unsigned)status - 1);
	close_between((unsigned)status + 1, ~0u);
}

/* Main function of the watcher. */
static void watch(int status, pid_t rank, struct timespec since, pid_t launcher)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	arrange_descriptors(status);
	wait_for_end(rank);
	conclude_rank(status, since, launcher);
	_exit(0);
}

/* Returns a descriptor of a memory file that is not a standard descriptor, or -1. */
static int create_status(void)
{
	int first = rn_status_create_memory(),
	    fd = first >= 0 ? fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

	if (first >= 0)
		close(first);
	return fd;
}

/* The watcher is not a child, so that the program has no child that it did not start. */
void watch_rank(void)
{
	pid_t rank = getpid(), launcher = getppid(), watcher;
	int status = create_status();
	struct timespec since;
	char path[64];

	if (status < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &since);
	watcher = start_detached();
	if (watcher == 0)
		watch(status, rank, since, launcher);
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)watcher, status);
	if (watcher > 0)
		setenv(RN_ENV_STATUS, path, 1);
	close(status);
}
