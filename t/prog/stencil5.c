/*
 * stencil5.c - A minimal 2D 5-point stencil: a grid of ranks in MPI_COMM_WORLD, one buffer per
 * side, MPI_DOUBLE, MPI_PROC_NULL at the borders.
 *
 *	stencil5 STEPS
 */
#include <mpi.h>
#include <stdlib.h>

#define N 64

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static int neighbour(const int *dims, int row, int column)
{
	if (row < 0 || row >= dims[0] || column < 0 || column >= dims[1])
		return MPI_PROC_NULL;
	return row * dims[1] + column;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, rank, size, dims[2] = { 0, 0 }, peer[SIDES];
	double *out[SIDES], *in[SIDES], mine = 1, all;
	MPI_Request r[2 * SIDES];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	peer[NORTH] = neighbour(dims, rank / dims[1] - 1, rank % dims[1]);
	peer[SOUTH] = neighbour(dims, rank / dims[1] + 1, rank % dims[1]);
	peer[WEST] = neighbour(dims, rank / dims[1], rank % dims[1] - 1);
	peer[EAST] = neighbour(dims, rank / dims[1], rank % dims[1] + 1);
	for (int s = 0; s < SIDES; s++) {
		out[s] = calloc(N, sizeof(double));
		in[s] = calloc(N, sizeof(double));
	}
	for (int i = 0; i < steps; i++) {
		for (int s = 0; s < SIDES; s++)
			MPI_Irecv(in[s], N, MPI_DOUBLE, peer[s], 0, MPI_COMM_WORLD, &r[s]);
		for (int s = 0; s < SIDES; s++)
			MPI_Isend(out[s], N, MPI_DOUBLE, peer[s], 0, MPI_COMM_WORLD, &r[SIDES + s]);
		MPI_Waitall(2 * SIDES, r, MPI_STATUSES_IGNORE);
	}
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return all == size ? 0 : 1;
}
