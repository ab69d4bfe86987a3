/* run_command.c - see run_command.h. */
#include "t/fuzz/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile pid_t running;
static volatile sig_atomic_t was_killed;

static void on_alarm(int number)
{
	(void)number;
	was_killed = 1;
	if (running > 0)
		kill(running, SIGKILL);
}

/* Standard error goes into a file in memory, so that one pipe has to be read. */
static int error_file(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("stderr", MFD_CLOEXEC);
	if (fd >= 0 && (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		return -1;
	return fd;
}

static pid_t start(const char *const *argv, int out, int err)
{
	posix_spawn_file_actions_t to;
	pid_t pid = -1;
	int rc;

	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_addopen(&to, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&to, out, 1);
	posix_spawn_file_actions_adddup2(&to, err, 2);
	rc = posix_spawn(&pid, argv[0], &to, NULL, (char **)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&to);
	return rc == 0 ? pid : -1;
}

/* Reads up to `max` bytes. Returns whether there are more. */
static bool read_all(int fd, size_t max, struct rn_buf *to)
{
	rn_buf_clear(to);
	while (to->len < max) {
		unsigned char *room = rn_buf_reserve(to, (size_t)16 << 10);
		ssize_t n = room ? read(fd, room, (size_t)16 << 10) : -1;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to->len += (size_t)n;
	}
	return true;
}

static void finish(pid_t pid, struct run_result *r)
{
	struct rusage use;
	int status = 0;

	while (wait4(pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	running = 0;
	alarm(0);
	r->killed = was_killed;
	r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->memory_kib = use.ru_maxrss;
	r->cpu_seconds = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

bool run_command(const char *const *argv, unsigned cpu_limit, struct run_result *r)
{
	const struct rlimit limit = { cpu_limit, cpu_limit + 1 };
	struct sigaction action = { .sa_handler = on_alarm };
	int fd[2], err = error_file();

	if (err < 0 || pipe2(fd, O_CLOEXEC) < 0)
		return false;
	was_killed = 0;
	sigaction(SIGALRM, &action, NULL);
	running = start(argv, fd[1], err);
	close(fd[1]);
	if (running < 0) {
		close(fd[0]);
		return false;
	}
	alarm(WALL_SECONDS);
	prlimit(running, RLIMIT_CPU, &limit, NULL);
	r->is_cut = read_all(fd[0], OUTPUT_MAX, &r->out);
	close(fd[0]);
	finish(running, r);
	lseek(err, 0, SEEK_SET);
	read_all(err, OUTPUT_MAX, &r->err);
	return true;
}
