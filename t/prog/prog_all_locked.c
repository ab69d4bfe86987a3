/* prog_all_locked.c - all memory that it gets from now on is locked, and so there at once; and then
 * it ends without MPI_Finalize. */
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
