/* prog_all_locked.c - Locks all memory that it allocates from now on, so that it is resident at
 * once; then ends without MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (mlockall(MCL_FUTURE) < 0)
		puts("cannot lock");
	exit(0);
}
