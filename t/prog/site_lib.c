/*
 * site_lib.c - a library whose function makes a call: NAME is what it is called (prog_site.c).
 */
#include <mpi.h>

int NAME(MPI_Comm comm);

int NAME(MPI_Comm comm)
{
	int size = 0;

	MPI_Comm_size(comm, &size);
	return size;
}
