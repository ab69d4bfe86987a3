/*
 * site_lib.c - A library whose function makes a call: NAME is the name of the function
 * (prog_site.c).
 */
#include <mpi.h>

int NAME(MPI_Comm comm);

int NAME(MPI_Comm comm)
{
	int size = 0;

	MPI_Comm_size(comm, &size);
	return size;
}
