/*
 * cmd_doctor.c - `rondo doctor`: checks the installation: MPI libraries, tracers, system settings.
 *
 * MPI implementations are identified by the version output of the launchers and compilers in PATH.
 * Their names do not identify them, because every implementation has an mpirun and an mpicc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mpi_detect.h"
#include "base/tick_clock.h"
#include "base/version.h"
#include "cmd/cmd.h"
#include "file/container.h"
#include "launch/preload_path.h"
#include "launch/spawn.h"

static const struct usage usage = {
	"doctor",
	"",
	"Says which MPIs and other things that Rondo uses are here, as `key: value` lines, and\n"
	"what will work. Exit status 0: tracing will work with at least one MPI; 1: it will not.",
	"rondo doctor",
	NULL,
	0,
};

#define MPIS 3 /* number of values of enum rn_mpi */

static const char *const keys[MPIS] = { "", "openmpi", "mpich" };

struct tool {
	char path[PATH_MAX], version[32];
};

/* --- launchers and compilers --------------------------------------------------------------- */

static enum rn_mpi who(const char *text)
{
	static const struct {
		const char *mark;
		enum rn_mpi mpi;
	} marks[] = {
		{ "Open MPI", RN_MPI_OMPI },
		{ "OpenRTE", RN_MPI_OMPI },
		{ "HYDRA", RN_MPI_MPICH },
		{ "MPICH", RN_MPI_MPICH },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strstr(text, marks[i].mark))
			return marks[i].mpi;
	return RN_MPI_NONE;
}

/* Copies the first word with digits and a dot, for example 4.1.4. */
static void copy_version(const char *text, struct tool *t)
{
	static const char digits[] = "0123456789";

	for (; *(text += strcspn(text, digits)); text += strspn(text, digits)) {
		size_t n = strspn(text, "0123456789.");

		if (text[strspn(text, digits)] != '.' || n >= sizeof(t->version))
			continue;
		memcpy(t->version, text, n);
		t->version[n] = 0;
		return;
	}
}

/* Runs a program of this name, if it exists, with the option `question`, and stores it for the MPI
 * that its output identifies. Returns whether it identified an MPI. */
static bool ask(const char *name, const char *question, struct tool tools[MPIS])
{
	char path[PATH_MAX];
	char *argv[] = { path, (char *)question, NULL };
	struct rn_buf out = { 0 };
	enum rn_mpi mpi = RN_MPI_NONE;

	if (!find_program(name, path))
		return false;
	capture(argv, &out);
	rn_buf_byte(&out, 0);
	if (rn_buf_status(&out) == RN_OK)
		mpi = who((char *)out.data);
	if (mpi != RN_MPI_NONE && !*tools[mpi].path) {
		strcpy(tools[mpi].path, path);
		copy_version((char *)out.data, &tools[mpi]);
	}
	rn_buf_free(&out);
	return mpi != RN_MPI_NONE;
}

static void find_launchers(struct tool tools[MPIS])
{
	static const char *const names[] = { "mpirun",       "mpiexec",       "mpirun.openmpi",
					     "mpirun.mpich", "mpiexec.hydra", NULL };

	for (const char *const *name = names; *name; name++)
		ask(*name, "--version", tools);
}

static void find_compilers(struct tool tools[MPIS])
{
	static const char *const names[] = { "mpicc", "mpicc.openmpi", "mpicc.mpich", NULL };

	for (const char *const *name = names; *name; name++)
		if (!ask(*name, "--showme:version", tools))
			ask(*name, "-v", tools);
}

static void print_tool(const char *key, const char *what, const struct tool *t)
{
	printf("%s.%s: ", key, what);
	print_safe(stdout, *t->path ? t->path : "not found");
	if (*t->path) {
		fputs(" (", stdout);
		print_safe(stdout, *t->version ? t->version : "?");
		putchar(')');
	}
	putchar('\n');
}

/* --- the libraries of Rondo ------------------------------------------------------------------ */

/* Loads a library in a separate process, because loading it changes the process. Sets `why` to ""
 * or to the reason of the failure. */
static void try_load(const char *path, char *why, size_t cap)
{
	int ends[2];
	ssize_t n;
	pid_t pid;

	snprintf(why, cap, "no process can be started");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		const char *error = dlopen(path, RTLD_NOW | RTLD_LOCAL) ? "" : dlerror();

		_exit(write(ends[1], error, strlen(error) + 1) < 0);
	}
	close(ends[1]);
	if (pid > 0) {
		n = read(ends[0], why, cap - 1);
		why[n > 0 ? n : 0] = 0;
		if (n <= 0)
			snprintf(why, cap, "its start ends the process");
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
}

/* Whether the library exists and can be loaded, by the path that `rondo trace` would use. */
static bool check_library(const char *key, const char *name)
{
	char path[PATH_MAX], loaded[PATH_MAX], why[512];
	int error;

	if (!find_library(name, path)) {
		printf("%s: not built (there is no %s)\n", key, name);
		return false;
	}
	error = preload_path(path, NULL, loaded);
	preload_path_program(getpid());
	if (error)
		snprintf(why, sizeof(why), "a link to it cannot be created: %s", strerror(error));
	else
		try_load(loaded, why, sizeof(why));
	printf("%s: ", key);
	print_safe(stdout, path);
	if (*why) {
		fputs(" cannot be loaded: ", stdout);
		print_safe(stdout, why);
	}
	putchar('\n');
	return !*why;
}

static bool check_tracer(enum rn_mpi mpi)
{
	char key[32];

	snprintf(key, sizeof(key), "%s.tracer", keys[mpi]);
	return check_library(key, rn_mpi_names[mpi].tracer);
}

/* --- the system ---------------------------------------------------------------------------- */

static void check_system(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	rn_clock_start();
	printf("clock: %s\n", rn_clock_counter ? "the processor's counter (invariant TSC)"
					       : "the system's (no invariant TSC; slower)");
	printf("shm: /dev/shm %s\n",
	       access("/dev/shm", W_OK | X_OK) == 0 ? "is writable" : "is not writable");
	printf("zstd: %s\n", ZSTD_versionString());
	if (fuse >= 0)
		printf("fuse: usable\n");
	else
		printf("fuse: not usable (/dev/fuse: %s); tracing does not need it\n",
		       strerror(errno));
	if (fuse >= 0)
		close(fuse);
	printf("ptrace: not needed\n");
}

static int conclude(bool ompi, bool mpich, bool stub)
{
	if (!ompi && !mpich)
		printf("tracing: will not work; it needs Open MPI or MPICH, and a Rondo built with "
		       "it\n");
	else
		printf("tracing: will work with %s%s%s%s\n", ompi ? "Open MPI" : "",
		       ompi && mpich ? " and " : "", mpich ? "MPICH" : "",
		       stub ? ""
			    : ", but only behind the launcher: mpirun ... rondo trace PROGRAM");
	return ompi || mpich ? EXIT_DONE : EXIT_NO;
}

int cmd_doctor(int argc, char **argv)
{
	static struct tool launchers[MPIS], compilers[MPIS];
	bool traces[MPIS] = { false }, stub;
	char **more;
	int code = parse_command(&usage, argc, argv, &more);

	if (code || !more)
		return code;
	if (*more)
		return fail(EXIT_USAGE, "doctor: takes no %s (usage: rondo doctor)", *more);
	printf("rondo: %s (format %d.%d)\n", RN_VERSION, RN_FORMAT_MAJOR, RN_FORMAT_MINOR);
	find_launchers(launchers);
	find_compilers(compilers);
	for (enum rn_mpi mpi = RN_MPI_OMPI; mpi < MPIS; mpi++) {
		print_tool(keys[mpi], "mpirun", &launchers[mpi]);
		print_tool(keys[mpi], "mpicc", &compilers[mpi]);
		traces[mpi] = check_tracer(mpi);
	}
	stub = check_library("stub", RN_STUB_LIBRARY);
	check_system();
	code = conclude(traces[RN_MPI_OMPI], traces[RN_MPI_MPICH], stub);
	return finish_output() ? EXIT_SELF : code;
}
