/*
 * prog_first_comm.c - Prints two values that a communicator of the tracer would change: the Fortran
 * handle of the program's first communicator, and the number of copies of an attribute of
 * MPI_COMM_WORLD.
 */
#include <mpi.h>
#include <stdio.h>

static int copies;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)key;
	(void)extra;
	*(void **)out = in;
	*flag = 1;
	copies++;
	return MPI_SUCCESS;
}

/* Delete function of an attribute of MPI_COMM_SELF: called by MPI_Finalize. */
static int print_copies(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	printf("copies %d\n", copies);
	fflush(stdout);
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int world_key, self_key, rank;
	MPI_Comm first;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &first);
	if (rank == 0)
		printf("first %d\n", (int)MPI_Comm_c2f(first));
	MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &world_key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, world_key, &copies);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, print_copies, &self_key, NULL);
	if (rank == 0)
		MPI_Comm_set_attr(MPI_COMM_SELF, self_key, &copies);
	MPI_Finalize();
	return 0;
}
