/* spawn.c - see spawn.h. */
#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/errno_guard.h"
#include "base/io.h"
#include "base/mpi_detect.h"
#include "base/notes.h"
#include "base/sanitizer.h"
#include "base/tracer_env.h"
#include "launch/elf_deps.h"

bool pipe_was_ignored;

/* Returns 0, or the errno value that executing the file would cause. */
static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

/* Returns 0, or the errno value that executing DIR/NAME would cause; ENOENT if the path is too
 * long. */
static int runnable_in(const char *dir, size_t len, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, dir, len ? "/" : "", name);

	return n < 0 || n >= PATH_MAX ? ENOENT : runnable(path);
}

bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	int why = ENOENT;

	if (strchr(name, '/')) {
		errno = runnable_in("", 0, name, path);
		return errno == 0;
	}
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *name && dirs; dirs = strchr(dirs, ':')) {
		dirs += *dirs == ':';
		errno = runnable_in(dirs, strcspn(dirs, ":"), name, path);
		if (errno == 0)
			return true;
		if (errno == EACCES && access(path, F_OK) == 0)
			why = EACCES;
	}
	errno = why;
	return false;
}

bool find_library(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = { "", "/../lib/rondo" };
	char self[PATH_MAX / 2], at[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool found = false;

	if (n <= 0)
		return false;
	self[n] = 0;
	self[rn_base_name(self) - self - 1] = 0;
	for (size_t i = 0; i < 2 && !found; i++) {
		snprintf(at, sizeof(at), "%s%s/%s", self, places[i], name);
		found = access(at, R_OK) == 0 && realpath(at, path);
	}
	return found;
}

enum preloaded { OURS, TOOLS, OTHERS };

static enum preloaded which(const char *library)
{
	if (rn_begins(rn_base_name(library), "librondo-"))
		return OURS;
	return rn_is_asan(library) || elf_defines(library, "MPI_") ? TOOLS : OTHERS;
}

/* Sets a variable to a text, or unsets it if the text is empty. Returns RN_OK or RN_E_NOMEM. */
static int set_or_unset(const char *name, struct rn_buf *text)
{
	bool empty = text->len == 0;

	rn_buf_byte(text, 0);
	if (rn_buf_status(text) < 0)
		return RN_E_NOMEM;
	return (empty ? unsetenv(name) : setenv(name, (char *)text->data, 1)) < 0 ? RN_E_NOMEM
										  : RN_OK;
}

int preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *copy = strdup(before ? before : ""), *rest = NULL, *one;
	struct rn_buf all = { 0 }, others = { 0 }, users = { 0 };
	int rc = copy ? RN_OK : RN_E_NOMEM;

	one = copy ? strtok_r(copy, ": ", &rest) : NULL;
	for (; one; one = strtok_r(NULL, ": ", &rest)) {
		enum preloaded is = which(one);

		if (is != OURS)
			rn_putf(&users, "%s%s", users.len ? ":" : "", one);
		if (is == TOOLS)
			rn_putf(&all, "%s:", one);
		if (is == OTHERS)
			rn_putf(&others, ":%s", one);
	}
	rn_putf(&all, "%s", library);
	rn_buf_add(&all, others.data, others.len);
	all.failed |= others.failed;
	if (rc == RN_OK)
		rc = set_or_unset("LD_PRELOAD", &all);
	if (rc == RN_OK)
		rc = set_or_unset(RN_ENV_PRELOAD, &users);
	if (rc == RN_OK && setenv(RN_ENV_SANITIZER_FIRST, "0", 1) < 0)
		rc = RN_E_NOMEM;
	rn_buf_free(&all);
	rn_buf_free(&others);
	rn_buf_free(&users);
	free(copy);
	return rc;
}

/* SIGCHLD is blocked while `meanwhile` is called, so that it ends the next wait. */
int wait_for_program(pid_t pid, wait_fn *meanwhile, void *arg)
{
	static const struct timespec interval = { 0, 1000000000 / WAITS_PER_SECOND };
	sigset_t ended, before;
	int status;
	pid_t got;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, meanwhile ? &ended : NULL, &before);
	while ((got = waitpid(pid, &status, meanwhile ? WNOHANG : 0)) <= 0) {
		if (got < 0 && errno != EINTR)
			break;
		if (got == 0 && sigtimedwait(&ended, NULL, &interval) < 0 && errno == EAGAIN)
			meanwhile(arg);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (got < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool capture(char *const *argv, struct rn_buf *out)
{
	posix_spawn_file_actions_t to_pipe;
	int ends[2], rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&to_pipe);
	posix_spawn_file_actions_addopen(&to_pipe, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&to_pipe, ends[1], 1);
	posix_spawn_file_actions_adddup2(&to_pipe, ends[1], 2);
	rc = posix_spawn(&pid, argv[0], &to_pipe, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&to_pipe);
	close(ends[1]);
	if (rc == 0)
		rn_io_read_rest(ends[0], argv[0], out, NULL);
	close(ends[0]);
	return rc == 0 && wait_for_program(pid, NULL, NULL) == 0;
}

/* --- running the user's program ------------------------------------------------------------ */

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

static volatile sig_atomic_t child;

/* Forwards a signal that a process has sent to rondo only. A signal from the terminal was delivered
 * to all foreground processes, including the program, and is not forwarded. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	RN_ERRNO_GUARD;

	(void)context;
	if (info->si_code <= 0)
		kill((pid_t)child, sig);
}

/* Installs the handler for the forwarded signals and adds them to `set`, which the caller blocks.
 * Ignored signals remain ignored, here and in the child. */
static void take_signals(sigset_t *set)
{
	struct sigaction take = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART },
			 old;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
		if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
			sigaddset(set, passed_on[i]);
			sigaction(passed_on[i], &take, NULL);
		}
}

/* Starts the program with `mask` as its signal mask, and with the disposition that SIGPIPE had when
 * rondo was started; rondo itself ignores SIGPIPE. */
static int spawn(pid_t *pid, const char *path, char *const *argv, const sigset_t *mask)
{
	posix_spawnattr_t attr;
	sigset_t pipe;
	int rc;

	sigemptyset(&pipe);
	if (!pipe_was_ignored)
		sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(pid, path, NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

int start_program(const char *path, char *const *argv, pid_t *pid)
{
	sigset_t set, before;
	int rc;

	signal(SIGCHLD, SIG_DFL); /* if SIGCHLD is ignored, the exit code is lost */
	take_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	rc = spawn(pid, path, argv, &before);
	child = rc == 0 ? *pid : 0;
	if (rc == 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

pid_t start_detached(void)
{
	pid_t between, pid = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	between = fork();
	if (between == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			close(ends[0]);
			close(ends[1]);
			return 0;
		}
		_exit(write(ends[1], &pid, sizeof(pid)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		pid = -1;
	close(ends[0]);
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	return pid;
}

void wait_for_end(pid_t pid)
{
	struct pollfd process = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };

	if (process.fd >= 0)
		poll(&process, 1, -1);
	else /* pidfd_open is missing in an old kernel, or forbidden in a container */
		while (kill(pid, 0) == 0)
			sleep(1);
}

void close_between(unsigned first, unsigned last)
{
	if (first <= last && syscall(SYS_close_range, first, last, 0) < 0)
		for (; first <= last && first < 1024; first++)
			close((int)first);
}

int become(const char *path, char *const *argv)
{
	if (!pipe_was_ignored)
		signal(SIGPIPE, SIG_DFL);
	execv(path, argv);
	return errno;
}
