/*
 * row_col.c - Communicators for the rows and columns of a grid of ranks, and collectives on them,
 * as in a distributed matrix product.
 *
 *	row_col STEPS
 */
#include <mpi.h>
#include <stdlib.h>

#define N 64

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, rank, size, dims[2] = { 0, 0 };
	double *a = calloc(N, sizeof(double)), *b = calloc(N, sizeof(double));
	double *c = calloc(N, sizeof(double));
	MPI_Comm row, column;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank, &row);
	MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank, &column);
	for (int i = 0; i < steps; i++) {
		MPI_Bcast(a, N, MPI_DOUBLE, 0, row);
		MPI_Bcast(b, N, MPI_DOUBLE, 0, column);
		MPI_Allreduce(a, c, N, MPI_DOUBLE, MPI_SUM, column);
	}
	MPI_Comm_free(&row);
	MPI_Comm_free(&column);
	MPI_Finalize();
	return 0;
}
