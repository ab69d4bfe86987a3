/*
 * prog_leaving.c - Calls that do not repeat, then a number of calls of one kind, and then an end
 * without MPI_Finalize.
 *
 *	prog_leaving CALLS
 */
#include <mpi.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned long long state = 1;
	int size;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 20000; i++) {
		MPI_Datatype type;

		state = state * 6364136223846793005u + 1442695040888963407u;
		MPI_Type_contiguous(1 + (int)((state >> 33) % 3000), MPI_INT, &type);
		MPI_Type_free(&type);
	}
	for (int i = atoi(argv[1]); i > 0; i--)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	exit(7);
}
