/* prog_world_handler.c - an invalid call on a duplicate of MPI_COMM_WORLD, after the error handler
 * of MPI_COMM_WORLD has changed. With MPICH the error is returned, because the duplicate has no
 * handler of its own. With other MPI libraries the duplicate has the initial handler, which ends
 * the program. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	MPI_Comm comm;
	int ret;

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	ret = MPI_Send(NULL, -1, MPI_INT, 0, 0, comm);
	puts(ret == MPI_SUCCESS ? "no error" : "an error was returned");
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
