/*
 * stub.c - library that `rondo trace` preloads into all processes that its command starts. It
 * detects processes that use MPI and executes them again with the tracer for that MPI in its place.
 *
 * The library to be preloaded must be chosen before a process starts, but the MPI of a process is
 * known only after its libraries are loaded. Before main, the stub therefore examines the libraries
 * that were loaded with the program. If one of them is an MPI, it executes the same file with the
 * same arguments and another LD_PRELOAD; process id, descriptors and working directory do not
 * change. A rank whose program may load MPI later (an interpreter) is executed again in the same
 * way, with the MPI of its launcher. With --mpi, this also applies to any other rank and to the
 * command itself. All other processes continue, and the stub stays in the environment for the
 * processes that they start. If such a process has loaded an MPI when it exits, the stub reports
 * that it was not traced.
 *
 * The stub is a separate library without MPI, linked with -z initfirst: constructors of other
 * libraries would otherwise be executed twice. It therefore runs before the C library and before
 * sanitizers are initialized. Before main it calls no function that a sanitizer replaces: it makes
 * system calls through syscall(), and has its own versions of C library functions (stub_libc.c). It
 * does not allocate memory or call getenv. After any error the program runs untraced.
 *
 * If the stub precedes AddressSanitizer's runtime (sanitizer.h) in a process, the stub executes the
 * process again with the runtime first, whether or not the process uses MPI.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bounded_text.h"
#include "base/mpi_detect.h"
#include "base/sanitizer.h"
#include "base/status_file.h"
#include "base/tracer_env.h"

#define HEAD 4096 /* bytes of the status file that are searched for an earlier report */

/* Processes with a limit on address space below this are not traced. MPICH needs 108 MB on one
 * rank, Open MPI 180 MB to load all its components, and tracing needs 6 MB and what MPI needs for
 * messages of the tracer. */
#define SPACE ((uint64_t)192 << 20)

struct process {
	char **argv, **env;
	enum rn_mpi linked;
	const char *self;      /* the path of this library */
	const char *asan;      /* path of AddressSanitizer's runtime, or NULL */
	bool asan_late;        /* the stub precedes the runtime */
	char exe[PATH_MAX];    /* path of the program */
	char status[PATH_MAX]; /* path of the file that `rondo trace` reads, or "" */
	bool traced;           /* a tracer is loaded already */
	bool forced;           /* an MPI was given with --mpi */
	pid_t untraced;        /* the process id if the program runs without a tracer, or 0 */
};

/* Valid until the process exits. The program may overwrite its environment earlier. */
static struct process process;

static void look_at(struct process *p, const char *path)
{
	const char *name = rn_base_name(path);

	if (strcmp(name, RN_STUB_LIBRARY) == 0)
		p->self = path;
	else if (strcmp(name, rn_mpi_names[RN_MPI_OMPI].tracer) == 0 ||
		 strcmp(name, rn_mpi_names[RN_MPI_MPICH].tracer) == 0)
		p->traced = true;
	else if (p->linked == RN_MPI_NONE)
		p->linked = rn_mpi_of_library(name);
}

/* Examines the loaded libraries before main. There is only one thread, so the loader's list needs
 * no lock. */
static void look_at_start(struct process *p)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		look_at(p, m->l_name);
		if (!p->asan && rn_is_asan(m->l_name)) {
			p->asan = m->l_name;
			p->asan_late = p->self != NULL;
		}
	}
}

static int look_at_end(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	look_at(arg, info->dlpi_name);
	return 0;
}

static void add_string(struct rn_bounded_text *t, const char *s)
{
	rn_bounded_add(t, s, strlen(s));
}

/* Adds the path of the tracer; without an MPI, that of this library. */
static void add_library(struct rn_bounded_text *t, const struct process *p, enum rn_mpi mpi)
{
	rn_bounded_add(t, p->self, (size_t)(rn_base_name(p->self) - p->self));
	add_string(t, mpi == RN_MPI_NONE ? RN_STUB_LIBRARY : rn_mpi_names[mpi].tracer);
}

/* Whether the first character of the variable is `value`, which is 0 or 1. Changes it to the other
 * one for the processes that are started. */
static bool flip(char **env, const char *name, char value)
{
	char *text = (char *)rn_env_get(env, name);

	if (!text || *text != value)
		return false;
	*text = value == '0' ? '1' : '0';
	return true;
}

/* Whether a line of the status file begins with the word. */
static bool is_reported(int fd, const char *word)
{
	char head[HEAD];
	long n = syscall(SYS_pread64, fd, head, sizeof(head) - 1, 0L);

	head[n > 0 ? n : 0] = 0;
	for (const char *line = head; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (rn_begins(line, word))
			return true;
	}
	return false;
}

/* Reports "WORD EXE[REASON]" to `rondo trace`, unless another process has reported WORD. */
static void report(const struct process *p, const char *word, const char *reason)
{
	char line[PATH_MAX + 256];
	struct rn_bounded_text t = { line, 0, sizeof(line), false };
	int fd = *p->status ? rn_status_open(p->status) : -1;

	if (fd < 0)
		return;
	add_string(&t, word);
	add_string(&t, p->exe);
	add_string(&t, reason);
	add_string(&t, "\n");
	if (!t.full && !is_reported((int)fd, word))
		syscall(SYS_write, fd, line, t.len);
	syscall(SYS_close, fd);
}

#define PRELOAD "LD_PRELOAD="

/* Adds LD_PRELOAD with a new value: the value `old`, with the tracer in place of the stub if the
 * process uses MPI, and with the sanitizer's runtime first. */
static void add_preload(struct rn_bounded_text *t, const struct process *p, const char *old,
			enum rn_mpi mpi)
{
	static const char separators[] = ": ";
	const char *between = "";
	bool there = false;

	add_string(t, PRELOAD);
	if (p->asan) {
		add_string(t,
			   p->asan[strcspn(p->asan, separators)] ? rn_base_name(p->asan) : p->asan);
		between = ":";
	}
	while (*(old += strspn(old, separators))) {
		size_t n = strcspn(old, separators);

		add_string(t, between);
		if (n == strlen(p->self) && strncmp(old, p->self, n) == 0) {
			add_library(t, p, mpi);
			there = true;
		} else {
			rn_bounded_add(t, old, n);
		}
		between = ":";
		old += n;
	}
	if (!there) {
		add_string(t, between);
		add_library(t, p, mpi);
	}
}

/* Returns the position of LD_PRELOAD in the environment: the last one, which the dynamic linker
 * uses. */
static char **place_of_preload(char **env)
{
	char **last = NULL;

	for (; *env; env++)
		if (rn_begins(*env, PRELOAD))
			last = env;
	return last;
}

/* Executes the process again. Returns only on failure. Without an MPI, the stub stays preloaded. */
static void start_again(const struct process *p, enum rn_mpi mpi)
{
	char line[4 * PATH_MAX];
	struct rn_bounded_text t = { line, 0, sizeof(line), false };
	char **at = place_of_preload(p->env), *old;

	if (!at) {
		report(p, RN_TAG_UNTRACED " ", ": Rondo is preloaded, but not by LD_PRELOAD");
		return;
	}
	add_preload(&t, p, *at + strlen(PRELOAD), mpi);
	if (t.full) {
		report(p, RN_TAG_UNTRACED " ", ": its environment is too large");
		return;
	}
	if (p->asan)
		flip(p->env, RN_ENV_SANITIZER_FIRST, '0');
	if (mpi != RN_MPI_NONE)
		report(p, RN_TAG_STARTED " ", "");
	old = *at;
	*at = line;
	syscall(SYS_execve, p->exe, p->argv, p->env);
	*at = old;
	report(p, RN_TAG_UNTRACED " ", " could not be started again");
}

/* Removes the first name from LD_PRELOAD if it was added only for this process. */
static void remove_asan(char **env)
{
	char **at = place_of_preload(env), *preload;

	if (!at || !flip(env, RN_ENV_SANITIZER_FIRST, '1'))
		return;
	preload = *at + strlen(PRELOAD);
	for (const char *rest = rn_after_first(preload); (*preload = *rest); rest++)
		preload++;
}

static bool has_tracer(const struct process *p, enum rn_mpi mpi)
{
	char path[PATH_MAX];
	struct rn_bounded_text t = { path, 0, sizeof(path), false };

	add_library(&t, p, mpi);
	return !t.full && syscall(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;
}

/* The MPI that a rank may load later: the MPI of its launcher, or the only MPI with a tracer. */
static enum rn_mpi guess(const struct process *p)
{
	bool ompi = has_tracer(p, RN_MPI_OMPI), mpich = has_tracer(p, RN_MPI_MPICH);

	if (rn_mpi_of_rank(p->env) != RN_MPI_NONE || !rn_is_rank(p->env) || ompi == mpich)
		return rn_mpi_of_rank(p->env);
	return ompi ? RN_MPI_OMPI : RN_MPI_MPICH;
}

/* The MPI whose tracer this process needs. If --mpi was given, the command or a rank may load that
 * MPI later. */
static enum rn_mpi choose(const struct process *p, enum rn_mpi forced)
{
	bool is_command = flip(p->env, RN_ENV_IS_COMMAND, '1');
	bool may_load = is_command || rn_is_rank(p->env);

	if (p->linked != RN_MPI_NONE)
		return rn_is_launcher(p->exe) ? RN_MPI_NONE : p->linked;
	if (rn_is_interpreter(p->exe))
		return forced != RN_MPI_NONE ? forced : guess(p);
	if (rn_is_launcher(p->exe) || rn_is_runner(p->exe) || !may_load)
		return RN_MPI_NONE;
	return forced;
}

/* Whether a limit (ulimit -v) leaves too little address space for MPI and the tracer. Depends on
 * the limit alone: ranks that decide differently would wait for each other. */
static bool lacks_space(void)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, 0L, RLIMIT_AS, NULL, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < SPACE;
}

/* Why this process cannot be traced, or NULL. */
static const char *obstacle(const struct process *p, enum rn_mpi mpi, enum rn_mpi forced)
{
	const char *preload = rn_env_get(p->env, "LD_PRELOAD");

	if (forced != RN_MPI_NONE && forced != mpi)
		return mpi == RN_MPI_OMPI ? " uses Open MPI, but --mpi=mpich was given"
					  : " uses MPICH, but --mpi=ompi was given";
	if (preload && strstr(preload, "vgpreload"))
		return " runs under valgrind, which would lose sight of it";
	if (lacks_space())
		return " has a limit on address space (ulimit -v) of less than 192 MiB";
	if (!has_tracer(p, mpi))
		return mpi == RN_MPI_OMPI ? " uses Open MPI, but this Rondo was built without it"
					  : " uses MPICH, but this Rondo was built without it";
	return NULL;
}

/* Removes Rondo from the environment. A job that a rank starts is not part of the rank's world and
 * would overwrite its trace. "RONDO_PRELOAD=VALUE" is overwritten in place, so that it ends in
 * "LD_PRELOAD=VALUE". */
static void leave_alone(char **env)
{
	char **to = env;

	for (char **e = env; *e; e++) {
		if (rn_begins(*e, RN_ENV_PRELOAD "="))
			*to++ = memcpy(*e + 3, "LD", 2);
		else if (!rn_begins(*e, "LD_PRELOAD=") && !rn_begins(*e, RN_ENV_PREFIX))
			*to++ = *e;
	}
	*to = NULL;
}

/* Reports to `rondo trace` that the launcher started a rank. Only the first process of each rank
 * reports: the processes that it starts find the variable changed. */
static void report_rank(const struct process *p)
{
	if (rn_is_rank(p->env) && flip(p->env, RN_ENV_RANK_SEEN, '0'))
		report(p, RN_TAG_RANK " ", "");
}

/* Lets the process continue without a tracer. */
static void stay(struct process *p, enum rn_mpi forced)
{
	if (rn_is_launcher(p->exe)) {
		report(p, RN_TAG_LAUNCHER " ", "");
		return;
	}
	p->untraced = (pid_t)syscall(SYS_getpid);
	p->forced = forced != RN_MPI_NONE;
	report_rank(p);
}

static void copy_status(struct process *p)
{
	const char *path = rn_env_get(p->env, RN_ENV_STATUS);
	struct rn_bounded_text t = { p->status, 0, sizeof(p->status), false };

	if (path)
		add_string(&t, path);
}

static void decide(struct process *p)
{
	enum rn_mpi mpi, forced = rn_mpi_of_word(rn_env_get(p->env, RN_ENV_MPI));
	long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", p->exe, sizeof(p->exe) - 1);
	const char *reason;

	look_at_start(p);
	if (!p->self || p->traced || n < 0)
		return;
	remove_asan(p->env);
	p->exe[n] = 0;
	copy_status(p);
	if (rn_is_launcher(p->exe) && rn_env_get(p->env, RN_ENV_IN_RANK)) {
		leave_alone(p->env);
		return;
	}
	mpi = choose(p, forced);
	reason = mpi != RN_MPI_NONE ? obstacle(p, mpi, forced) : NULL;
	if (p->asan_late && (mpi == RN_MPI_NONE || reason))
		start_again(p, RN_MPI_NONE);
	if (mpi == RN_MPI_NONE)
		stay(p, forced);
	else if (reason)
		report(p, RN_TAG_UNTRACED " ", reason);
	else
		start_again(p, mpi);
}

__attribute__((constructor)) static void before_main(int argc, char **argv, char **env)
{
	int saved = errno;

	process.argv = argv;
	process.env = env;
	if (argc > 0 && argv && env && !getauxval(AT_SECURE))
		decide(&process);
	errno = saved;
}

/* Does not run in a forked child, where another thread may have held the loader's lock. */
__attribute__((destructor)) static void after_main(void)
{
	if (!process.untraced || process.untraced != getpid() || !*process.status)
		return;
	process.linked = RN_MPI_NONE;
	dl_iterate_phdr(look_at_end, &process);
	if (process.linked == RN_MPI_NONE || process.traced)
		return;
	report(&process, RN_TAG_UNTRACED " ",
	       process.forced ? " loaded MPI while it ran; try rondo trace right before it"
	       : process.linked == RN_MPI_OMPI ? " loaded Open MPI while it ran; try --mpi=ompi"
					       : " loaded MPICH while it ran; try --mpi=mpich");
}
