/*
 * noise_cost.c - CPU time per call of a program whose calls do not compress.
 *
 *	noise_cost CALLS
 *
 * Calls MPI_Iprobe with 1000 different tags in random order, on one rank. Prints "noise/CALLS
 * nanoseconds": the mean over all calls, which includes the periodic work of the tracer.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int random_tag(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)((state >> 16) % 1000);
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	int flag;
	double t;

	MPI_Init(&argc, &argv);
	t = now();
	for (long i = 0; i < calls; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, random_tag(), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	printf("noise/%ld %.2f\n", calls, (now() - t) / (double)calls);
	MPI_Finalize();
	return 0;
}
