/*
 * limited.c - A program that limits its own resources, and then makes a ring of messages, many
 * different calls, or calls in threads with small stacks.
 *
 *	limited as|nofile|fsize before|after BYTES	sets the limit before or after MPI_Init
 *	limited calls					sets no limit
 *	limited stack					calls MPI in threads with stacks of 64 KiB
 *	limited peak					prints the peak of its address space in KiB
 *
 * The exit code is 7. The program prints a line when it receives SIGXFSZ (file too large).
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CODE = 7, THREADS = 4, STACK = 64 << 10, COUNT = 4000, MANY = 20000 };

static int block[COUNT];

static void on_signal(int sig)
{
	static const char text[] = "signal: a file is too large\n";

	(void)sig;
	(void)!write(1, text, sizeof(text) - 1);
}

static void set_limit(const char *name, const char *bytes)
{
	int which = strcmp(name, "as") == 0       ? RLIMIT_AS
		    : strcmp(name, "nofile") == 0 ? RLIMIT_NOFILE
						  : RLIMIT_FSIZE;
	struct rlimit limit = { strtoul(bytes, NULL, 10), strtoul(bytes, NULL, 10) };

	if (setrlimit(which, &limit) < 0)
		exit(1);
}

static void *call_mpi(void *arg)
{
	int flag, rank;

	for (int i = 0; i < 1000; i++) {
		MPI_Initialized(&flag);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Wtime();
	}
	return arg;
}

static void run_threads(void)
{
	pthread_t thread[THREADS];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], &attr, call_mpi, NULL) != 0)
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Makes calls that all differ, so that the files of the run grow. */
static void run_calls(int rank, int size)
{
	MPI_Request request;

	for (int i = 0; i < 100; i++)
		MPI_Sendrecv_replace(block, i, MPI_INT, (rank + 1) % size, i,
				     (rank + size - 1) % size, i, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
	for (int i = 0; i < MANY; i++) {
		MPI_Isend(block + i % COUNT, i % 17, MPI_INT, MPI_PROC_NULL, (i * 7919) % 30000,
			  MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void print_peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long peak = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPeak: %ld", &peak);
	printf("peak %ld\n", peak);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int rank, size, provided;

	signal(SIGXFSZ, on_signal);
	if (argc > 3 && strcmp(argv[2], "before") == 0)
		set_limit(mode, argv[3]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (argc > 3 && strcmp(argv[2], "after") == 0)
		set_limit(mode, argv[3]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(mode, "stack") == 0)
		run_threads();
	if (strcmp(mode, "peak") == 0)
		print_peak();
	else
		run_calls(rank, size);
	printf("rank %d of %d\n", rank, size);
	fflush(stdout);
	MPI_Finalize();
	return CODE;
}
