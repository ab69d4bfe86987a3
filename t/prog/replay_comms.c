/*
 * replay_comms.c - Creates communicators of all kinds, between receives whose order is not
 * determined, so that there are outcomes to replay.
 *
 *	replay_comms
 *
 * CHANGE in the environment names the difference in this run; messages and calls are the same.
 *
 *	size      a split has fewer members
 *	rank      all ranks but the first have another order
 *	leader    another rank is the first
 *	none      the last rank gets no communicator
 *	new       in a loop of equal splits, one differs
 *	inter     the members of one side of an inter-communicator have another order
 *	late      the last communicator, after all receives, has fewer members
 *	abort     the program aborts after that
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static int is(const char *change)
{
	const char *given = getenv("CHANGE");

	return given && strcmp(given, change) == 0;
}

/* Rank 0 receives from all ranks. */
static void gather(void)
{
	int got, sum = 0;

	if (rank)
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	for (int i = 1; rank == 0 && i < size; i++) {
		MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sum = 3 * sum + got;
	}
	MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank) /* so that every rank has a recorded outcome */
		MPI_Wtime();
}

static void split(int color, int key)
{
	MPI_Comm part;

	MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
	gather();
	if (part != MPI_COMM_NULL)
		MPI_Comm_free(&part);
}

/* With four ranks: one side has 0 and 2, the other 1 and 3. */
static void pieces(void)
{
	split(is("size") ? rank : rank % 2, rank);
	split(0, is("rank") && rank ? size - rank : rank);
	split(0, is("leader") && rank == size - 2 ? -1 : rank);
	split(is("none") && rank == size - 1 ? MPI_UNDEFINED : 0, rank);
}

static void alike(void)
{
	for (int i = 0; i < 6; i++)
		split(is("new") && i == 4 ? rank / 2 : 0, rank);
}

static void shapes(void)
{
	int dims[2] = { 0, 0 }, periods[2] = { 0, 0 };
	MPI_Comm grid, dup, half, inter, both;

	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_split(dup, rank % 2, is("inter") && rank % 2 ? -rank : rank, &half);
	MPI_Intercomm_create(half, 0, dup,
			     is("inter") ? size - 1 - (rank % 2) * (size - 1) : (rank + 1) % 2, 7,
			     &inter);
	gather();
	MPI_Intercomm_merge(inter, rank % 2, &both);
	gather();
	MPI_Comm_free(&both);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	MPI_Comm_free(&dup);
	if (grid != MPI_COMM_NULL)
		MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
	MPI_Comm last;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	gather();
	pieces();
	alike();
	shapes();
	gather();
	MPI_Comm_split(MPI_COMM_WORLD, is("late") ? rank : 0, rank, &last);
	MPI_Comm_free(&last);
	if (is("abort"))
		MPI_Abort(MPI_COMM_WORLD, 3);
	if (rank == 0)
		puts("done");
	MPI_Finalize();
	return 0;
}
