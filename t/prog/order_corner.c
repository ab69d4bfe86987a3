/*
 * order_corner.c - Calls for which a recording stores only that they were made. Each must be
 * replayed as recorded.
 *
 *	order_corner null        MPI_Testall on an array that begins with MPI_REQUEST_NULL
 *	order_corner sources     MPI_Iprobe in a loop over sources, at one call site
 *	order_corner late        calls after MPI_Finalize
 *	order_corner error       a wildcard receive that fails, before one that succeeds
 *
 * Rank 0 prints its results.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, procs;

/* The first request of the array is null. */
static void null_first(void)
{
	MPI_Request q[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int flag = 0, value = me;

	if (me == 1)
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (me != 0)
		return;
	MPI_Isend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[1]);
	while (!flag)
		MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);
	printf("sent\n");
}

/* Only the last rank sends: the polls of a round fail, and the last one succeeds. */
static void loop_over_sources(void)
{
	int found = 0, failed = 0, value = me;

	if (me == procs - 1)
		MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	while (me == 0 && !found)
		for (int s = 1; s < procs && !found; s++) {
			MPI_Iprobe(s, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
			failed += !found;
		}
	if (me != 0)
		return;
	MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("%d after %d\n", value, failed);
}

/* Receives a message that is too long, and one that fits. */
static void receive_error(void)
{
	int value[2] = { me, me }, class;

	if (me == 1) {
		MPI_Send(value, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Send(value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
	}
	if (me != 0)
		return;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Error_class(
		MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
		&class);
	MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("%s, then %d\n", class == MPI_ERR_TRUNCATE ? "truncated" : "not truncated",
	       value[0]);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &procs);
	if (strcmp(mode, "null") == 0)
		null_first();
	else if (strcmp(mode, "sources") == 0)
		loop_over_sources();
	else if (strcmp(mode, "error") == 0)
		receive_error();
	else if (me == 0)
		printf("late\n");
	fflush(stdout);
	MPI_Finalize();
	/* Before MPI-4 this is permitted only before MPI_Finalize. */
	if (MPI_VERSION >= 4 && strcmp(mode, "late") == 0) {
		MPI_Info_create(&info);
		MPI_Info_free(&info);
	}
	return 0;
}
