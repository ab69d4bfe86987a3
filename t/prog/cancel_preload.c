/*
 * cancel_preload.c - Makes sends cancelable; loaded between the tracer and MPI.
 *
 * Both MPIs report for each send that it was too late to cancel it. Here a synchronous send is
 * replaced by a receive that never matches a message.
 */
#include <mpi.h>

int PMPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
		MPI_Request *request)
{
	(void)buf, (void)count, (void)type, (void)dest, (void)comm;
	return PMPI_Irecv(0, 0, MPI_BYTE, 0, tag, MPI_COMM_SELF, request);
}

/* One function with two names, as in MPI. */
int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	       MPI_Request *request) __attribute__((alias("PMPI_Issend")));
