/*
 * slow_start.c - sleeps for 300 ms before MPI_Init. With an argument, rank 0 sleeps for 200 ms
 * after MPI_Finalize and then makes one more call.
 */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, finalized;

	usleep(300000);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	if (argc > 1 && rank == 0) {
		usleep(200000);
		MPI_Finalized(&finalized);
	}
	return 0;
}
