/*
 * site_cost.c - CPU time of a call at several depths of the call stack, as the program observes it.
 *
 * Prints "name nanoseconds" for each depth: the minimum of 50 chunks. bench/tracer-cost traces it
 * with and without --callsite; the difference is the cost of a call stack. The "frames" cases call
 * from the same stack each time. The "elsewhere" case changes the stack pointer each time, so only
 * data cached per frame helps, not data cached per stack.
 */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNKS 50
#define CALLS  2000

#define KEEP __attribute__((noipa))

static volatile int sink;
static unsigned seed = 1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

KEEP static void calls(int n)
{
	int rank;

	for (int i = 0; i < n; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

KEEP static void deep(int depth, int n)
{
	if (depth > 1)
		deep(depth - 1, n);
	else
		calls(n);
	sink = n;
}

KEEP static void once(int depth)
{
	volatile char *room;

	seed = seed * 1103515245 + 12345;
	room = alloca((seed >> 16 & 0x3ff0) + 16);
	room[0] = 1;
	deep(depth, 1);
	sink = room[0];
}

KEEP static void elsewhere(int depth, int n)
{
	for (int i = 0; i < n; i++)
		once(depth);
}

static void measure(const char *name, void (*f)(int, int), int depth)
{
	double least = 1e30;

	for (int i = 0; i < CHUNKS; i++) {
		double t = now();

		f(depth, CALLS);
		t = (now() - t) / CALLS;
		least = t < least ? t : least;
	}
	printf("%s %.2f\n", name, least);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	measure("3-frames", deep, 1);
	measure("8-frames", deep, 6);
	measure("16-frames", deep, 14);
	measure("8-frames-elsewhere", elsewhere, 3);
	MPI_Finalize();
	return 0;
}
