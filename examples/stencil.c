/*
 * stencil.c - a small MPI program to try Rondo on: heat on a square plate, a 2D 5-point stencil.
 *
 *	mpicc -o stencil stencil.c -lm
 *	rondo trace mpirun -n 16 ./stencil 200
 *
 * The ranks form a grid. In every step each rank exchanges the borders of its tile with its four
 * neighbors. Every ten steps all ranks reduce the residual.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 32 /* cells per side of a tile, without its halo of one cell */

typedef double tile[N + 2][N + 2];

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static void exchange(tile t, MPI_Comm grid, const int *peer, MPI_Datatype column)
{
	static const int back[SIDES] = { SOUTH, NORTH, EAST, WEST };
	double *out[SIDES] = { &t[1][1], &t[N][1], &t[1][1], &t[1][N] };
	double *in[SIDES] = { &t[0][1], &t[N + 1][1], &t[1][0], &t[1][N + 1] };
	MPI_Request req[2 * SIDES];

	for (int s = 0; s < SIDES; s++) {
		int row = s == NORTH || s == SOUTH;

		MPI_Irecv(in[s], row ? N : 1, row ? MPI_DOUBLE : column, peer[s], back[s], grid,
			  &req[s]);
	}
	for (int s = 0; s < SIDES; s++) {
		int row = s == NORTH || s == SOUTH;

		MPI_Isend(out[s], row ? N : 1, row ? MPI_DOUBLE : column, peer[s], s, grid,
			  &req[SIDES + s]);
	}
	MPI_Waitall(2 * SIDES, req, MPI_STATUSES_IGNORE);
}

static double step(tile to, tile from)
{
	double change = 0;

	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= N; j++) {
			to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] +
				    from[i][j + 1]) /
				   4;
			change += fabs(to[i][j] - from[i][j]);
		}
	return change;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, size, rank, dims[2] = { 0 }, periods[2] = { 0 };
	int peer[SIDES];
	double all = 0, mine;
	tile *t[2];
	MPI_Comm grid;
	MPI_Datatype column;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_shift(grid, 0, 1, &peer[NORTH], &peer[SOUTH]);
	MPI_Cart_shift(grid, 1, 1, &peer[WEST], &peer[EAST]);
	MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	t[0] = calloc(1, sizeof(tile));
	t[1] = calloc(1, sizeof(tile));
	if (!t[0] || !t[1])
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (peer[NORTH] == MPI_PROC_NULL)
		for (int j = 0; j < N + 2; j++)
			(*t[0])[0][j] = (*t[1])[0][j] = 100;
	for (int s = 0; s < steps; s++) {
		exchange(*t[s % 2], grid, peer, column);
		mine = step(*t[1 - s % 2], *t[s % 2]);
		if (s % 10 == 9)
			MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
	}
	if (rank == 0)
		printf("%d ranks, %d steps, residual %g\n", size, steps, all);
	free(t[0]);
	free(t[1]);
	MPI_Type_free(&column);
	MPI_Comm_free(&grid);
	MPI_Finalize();
	return 0;
}
