/*
 * cancel_preload.c - sends that can be cancelled, between the tracer and MPI.
 *
 * Both MPIs say of each send that it was too late to cancel it. Here a synchronous one is none:
 * what is started instead is a receive for which nothing comes.
 */
#include <mpi.h>

int PMPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
		MPI_Request *request)
{
	(void)buf, (void)count, (void)type, (void)dest, (void)comm;
	return PMPI_Irecv(0, 0, MPI_BYTE, 0, tag, MPI_COMM_SELF, request);
}

/* One function with two names, as MPI has it. */
int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
	       MPI_Request *request) __attribute__((alias("PMPI_Issend")));
