/* prog_system.c - Runs a shell command between MPI_Init and MPI_Finalize. With a second argument,
 * the program kills itself after the command. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 1 && system(argv[1]) != 0)
		return 9;
	if (argc > 2)
		raise(SIGKILL);
	MPI_Finalize();
	return 0;
}
