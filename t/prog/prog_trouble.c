/*
 * prog_trouble.c - A program that continues to work when no resources are left for a tracer: see
 * the table.
 *
 *	prog_trouble TROUBLE FOLDER CODE
 *
 * Prints its result and exits with CODE. FOLDER is the directory in which the trace will be
 * written.
 */
#include "log.h"

#include <errno.h>
#include <fenv.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TAGS 3000

static const char *folder;

static void limit(int what, rlim_t to)
{
	struct rlimit r;

	EXPECT(getrlimit(what, &r) == 0);
	r.rlim_cur = to;
	EXPECT(setrlimit(what, &r) == 0);
}

static void no_files(void)
{
	limit(RLIMIT_NOFILE, 0);
}

/* A write beyond the limit raises a signal, in addition to the error. */
static void no_space(void)
{
	limit(RLIMIT_FSIZE, 0);
}

/* Makes calls that all differ, so that a tracer has to store each of them. */
static long compute(int first_tag)
{
	long sum = 0;
	int got = 0;

	for (int i = 0; i < TAGS; i++) {
		int tag = first_tag + i, x = i * (me + 1);

		errno = 77;
		MPI_Sendrecv(&x, 1, MPI_INT, me, tag, &got, 1, MPI_INT, me, tag, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		EXPECT(errno == 77);
		sum += got;
	}
	return sum;
}

/* Limits the address space to its current size. The messages sent before make the MPI library
 * allocate the memory that it needs for messages. */
static void no_memory(void)
{
	long pages = 0;
	FILE *f;

	compute(TAGS);
	f = fopen("/proc/self/statm", "r");
	EXPECT(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	limit(RLIMIT_AS, (rlim_t)(pages * sysconf(_SC_PAGESIZE)));
}

static void no_folder(void)
{
	char *args[] = { "rm", "-rf", (char *)folder, NULL };
	pid_t pid = me == 0 ? fork() : -1;

	if (pid == 0) {
		execv("/bin/rm", args);
		_exit(1);
	}
}

static void sleep_a_while(MPI_Comm *comm, int *code, ...)
{
	const struct timespec t = { 0, 300000000 };

	(void)comm;
	(void)code;
	nanosleep(&t, NULL);
}

/* Also makes a call that lasts at least 0.3 seconds. */
static void a_folder_instead(void)
{
	char path[4096];
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(sleep_a_while, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);

	snprintf(path, sizeof(path), "%s/trace.rondo", folder);
	mkdir(path, 0777);
}

static void elsewhere(void)
{
	EXPECT(chdir("/") == 0);
}

static void no_descriptors(void)
{
	fflush(stdout);
	close(0);
	close(2);
}

/* The next file that the program opens gets the descriptor number of standard error, but is not
 * standard error. */
static void another_file(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/own-%d", folder, me);
	close(2);
	EXPECT(open(path, O_CREAT | O_EXCL | O_WRONLY, 0666) == 2);
	EXPECT(write(2, "mine\n", 5) == 5);
}

static void no_listener(void)
{
	int ends[2];

	EXPECT(pipe(ends) == 0);
	dup2(ends[1], 2);
	close(ends[0]);
	close(ends[1]);
}

/* An inexact floating-point result raises a signal. */
static void only_exact(void)
{
	EXPECT(feenableexcept(FE_INEXACT) >= 0);
}

static void none(void)
{
}

static const struct {
	const char *name;
	void (*make)(void);
} troubles[] = {
	{ "none", none },
	{ "no-files", no_files },
	{ "no-space", no_space },
	{ "no-memory", no_memory },
	{ "no-folder", no_folder },
	{ "a-folder-instead", a_folder_instead },
	{ "elsewhere", elsewhere },
	{ "no-descriptors", no_descriptors },
	{ "another-file", another_file },
	{ "no-listener", no_listener },
	{ "only-exact", only_exact },
};

int main(int argc, char **argv)
{
	char line[100];
	int n;

	folder = argc > 2 ? argv[2] : "";
	log_off();
	begin();
	MPI_Barrier(MPI_COMM_WORLD);
	for (size_t i = 0; argc > 1 && i < sizeof(troubles) / sizeof(*troubles); i++)
		if (strcmp(argv[1], troubles[i].name) == 0)
			troubles[i].make();
	n = snprintf(line, sizeof(line), "rank %d: %ld\n", me, compute(0));
	EXPECT(write(1, line, (size_t)n) == n);
	MPI_Barrier(MPI_COMM_WORLD);
	end();
	return argc > 3 ? atoi(argv[3]) : 0;
}
