/* prog_late.c - One call completes many requests after the trace has been written: in MPI_Finalize,
 * when the attributes of the world are deleted. */
#include <mpi.h>
#include <stddef.h>

#define HALF 10

static MPI_Request request[2 * HALF];

static int finish(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	return MPI_Waitall(2 * HALF, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	static int x[2 * HALF];
	int keyval;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < HALF; i++) {
		MPI_Irecv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
		MPI_Isend(&x[HALF + i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[HALF + i]);
	}
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &keyval, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
	MPI_Finalize();
	return 0;
}
