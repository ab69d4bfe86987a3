/* prog_filter.c - Calls for filters: on user-defined types and communicators, with requests, and
 * some while tracing is switched off. */
#include "log.h"

static int x[8], y[8];

static void around(MPI_Comm comm, MPI_Datatype type, int tag)
{
	int rank, size;
	MPI_Request r[2];

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Irecv(x, 1, type, (rank + size - 1) % size, tag, comm, &r[0]);
	MPI_Isend(y, 1, type, (rank + 1) % size, tag, comm, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Bcast(x, 1, type, 0, comm);
}

int main(void)
{
	MPI_Datatype pair, triple;
	MPI_Comm half, twin;

	log_off();
	begin();
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Type_contiguous(3, MPI_INT, &triple);
	MPI_Type_commit(&triple);
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
	MPI_Comm_dup(half, &twin);
	for (int i = 0; i < 10; i++) {
		around(MPI_COMM_WORLD, MPI_INT, i);
		around(half, pair, 1);
		around(twin, triple, 2);
		if (i == 4) {
			MPI_Pcontrol(0);
			around(half, triple, 99);
			MPI_Pcontrol(1);
		}
	}
	MPI_Type_free(&pair);
	around(half, triple, 3);
	MPI_Type_free(&triple);
	MPI_Comm_free(&twin);
	MPI_Comm_free(&half);
	end();
	return 0;
}
