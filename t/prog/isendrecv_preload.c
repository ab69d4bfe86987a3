/*
 * isendrecv_preload.c - Implements MPI_Isendrecv with a status that describes the received message.
 * It is loaded between the tracer and an MPI that lacks the function (MPICH 4.0). Messages are so
 * short that MPI buffers them.
 */
#include <mpi.h>

static int both(const void *out, MPI_Count outcount, MPI_Datatype outtype, int dest, int sendtag,
		void *in, MPI_Count incount, MPI_Datatype intype, int source, int recvtag,
		MPI_Comm comm, MPI_Request *request)
{
	int rc = PMPI_Send_c(out, outcount, outtype, dest, sendtag, comm);

	return rc ? rc : PMPI_Irecv_c(in, incount, intype, source, recvtag, comm, request);
}

#define PAIR(name, count)                                                                         \
	int PMPI_Isendrecv##name(const void *out, count outcount, MPI_Datatype outtype, int dest, \
				 int sendtag, void *in, count incount, MPI_Datatype intype,       \
				 int source, int recvtag, MPI_Comm comm, MPI_Request *request)    \
	{                                                                                         \
		return both(out, outcount, outtype, dest, sendtag, in, incount, intype, source,   \
			    recvtag, comm, request);                                              \
	}                                                                                         \
	int PMPI_Isendrecv_replace##name(void *buf, count n, MPI_Datatype type, int dest,         \
					 int sendtag, int source, int recvtag, MPI_Comm comm,     \
					 MPI_Request *request)                                    \
	{                                                                                         \
		return both(buf, n, type, dest, sendtag, buf, n, type, source, recvtag, comm,     \
			    request);                                                             \
	}

PAIR(, int)
PAIR(_c, MPI_Count)

/* One function with two names, as in MPI. */
#define ALIAS(name) extern __typeof__(MPI_##name) MPI_##name __attribute__((alias("PMPI_" #name)));

ALIAS(Isendrecv)
ALIAS(Isendrecv_c)
ALIAS(Isendrecv_replace)
ALIAS(Isendrecv_replace_c)
