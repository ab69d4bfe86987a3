/*
 * branches.c - Steps in which ranks execute different branches, with derived datatypes.
 *
 *	branches [die]      die: rank 2 calls _exit before the last barrier
 */
#include <mpi.h>
#include <unistd.h>

static double in[64], out[64];

static void step(int rank, MPI_Datatype type)
{
	if (rank == 0)
		MPI_Send(out, 2, type, 1, 5, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(in, 2, type, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Datatype vector, type;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &vector);
	MPI_Type_contiguous(2, vector, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 20; i++)
		step(rank, type);
	if (argc > 1 && rank == 2)
		_exit(3);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Type_free(&type);
	MPI_Type_free(&vector);
	MPI_Finalize();
	return 0;
}
