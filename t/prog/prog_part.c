/* prog_part.c - partitioned communication (MPI-4): each part is sent when it is ready. */
#include "log.h"

#include <string.h>

#define PARTS 6

static int *out, *in; /* heap */
static MPI_Request r[2];

static void ready(void)
{
	int list[2] = { 4, 1 };

	DO(MPI_Pready(5, r[0]), "partition=5, request=%q", &r[0]);
	DO(MPI_Pready_range(2, 3, r[0]), "partition_low=2, partition_high=3, request=%q", &r[0]);
	DO(MPI_Pready_list(2, list, r[0]), "length=2, array_of_partitions=[4,1], request=%q",
	   &r[0]);
	DO(MPI_Pready(0, r[0]), "partition=0, request=%q", &r[0]);
}

static void arrived(int part)
{
	int flag = 0;

	while (!flag)
		DO(MPI_Parrived(r[1], part, &flag), "request=%q, partition=%d, flag=%d", &r[1],
		   part, flag);
}

int main(void)
{
	int next, prev;
	MPI_Status statuses[2];

	begin();
	next = (me + 1) % procs;
	prev = (me + procs - 1) % procs;
	out = grab(PARTS * 2 * sizeof(*out));
	in = grab(PARTS * 2 * sizeof(*in));
	DO(MPI_Psend_init(out, PARTS, 2, MPI_INT, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]),
	   "buf=%p, partitions=6, count=2, datatype=MPI_INT, dest=%d, tag=8, "
	   "comm=MPI_COMM_WORLD, info=MPI_INFO_NULL, request=%+",
	   out, next, &r[0]);
	DO(MPI_Precv_init(in, PARTS, 2, MPI_INT, prev, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]),
	   "buf=%p, partitions=6, count=2, datatype=MPI_INT, source=%d, tag=8, "
	   "comm=MPI_COMM_WORLD, info=MPI_INFO_NULL, request=%+",
	   in, prev, &r[1]);
	for (int round = 0; round < 3; round++) {
		memset(statuses, 0, sizeof(statuses));
		DO(MPI_Startall(2, r), "count=2, array_of_requests=%*q", 2, r);
		ready();
		arrived(3);
		DO(MPI_Waitall(2, r, statuses),
		   "count=2, array_of_requests=%*q, array_of_statuses=%*S", 2, r, 2, statuses);
	}
	for (int i = 0; i < 2; i++)
		DO(MPI_Request_free(&r[i]), "request=%q", &r[i]);
	end();
	return 0;
}
