/*
 * solver.c - Time steps with a solver that takes 8 to 32 iterations, the same on all ranks, and
 * occasionally a reduction: regular structure with irregular counts.
 *
 *	solver STEPS [own]      own: each rank has its own counts for work without a partner
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state = 12345;

static int below(int n)
{
	state = state * 1664525u + 1013904223u;
	return (int)((uint64_t)(state >> 8) * (unsigned)n >> 24);
}

static int left, right;
static double in[2], out[2], sum;

static void iterate(void)
{
	MPI_Request q[4];

	MPI_Irecv(&in[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&in[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[1]);
	MPI_Isend(&out[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[2]);
	MPI_Isend(&out[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	MPI_Allreduce(&out[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, own = argc > 2 && !strcmp(argv[2], "own");
	int rank, size, flag;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	for (int step = 0; step < steps; step++) {
		int iterations = 8 + below(25);

		for (int i = 0; i < iterations; i++)
			iterate();
		if (below(10) == 0)
			MPI_Reduce(&out[0], &sum, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
		for (int i = rand() % 7 + rank % 3; own && i > 0; i--)
			MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
