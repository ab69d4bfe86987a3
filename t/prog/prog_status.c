/*
 * prog_status.c - a status of every kind of operation, with fields that MPI does not set.
 *
 * Every status is filled with the same bytes before the call, so that a field that MPI leaves unset
 * has a wrong value. The first argument is the path of a file to write.
 */
#include "log.h"

#include <string.h>

#define SELF MPI_COMM_SELF

static MPI_Status status[3];
static MPI_Request r[3];
static int *a, *b;

static MPI_Status *filled(void)
{
	memset(status, 0x11, sizeof(status));
	return status;
}

static void to_self(int tag, int count)
{
	DO(MPI_Isend(a, count, MPI_INT, 0, tag, SELF, &r[0]),
	   "buf=%p, count=%d, datatype=MPI_INT, dest=0, tag=%d, comm=MPI_COMM_SELF, request=%+", a,
	   count, tag, &r[0]);
}

static void from_self(int tag)
{
	DO(MPI_Irecv(b, 1, MPI_INT, 0, tag, SELF, &r[1]),
	   "buf=%p, count=1, datatype=MPI_INT, source=0, tag=%d, comm=MPI_COMM_SELF, request=%+", b,
	   tag, &r[1]);
}

static void messages(void)
{
	int flag;

	to_self(1, 1);
	from_self(1);
	r[2] = MPI_REQUEST_NULL;
	DO(MPI_Waitall(3, r, filled()), "count=3, array_of_requests=%*q, array_of_statuses=%*S", 3,
	   r, 3, status);
	to_self(2, 1);
	DO(MPI_Probe(0, 2, SELF, filled()), "source=0, tag=2, comm=MPI_COMM_SELF, "
					    "status={source:0,tag:2,error:0,count:4,cancelled:0}");
	DO(MPI_Recv(b, 1, MPI_INT, 0, 2, SELF, filled()),
	   "buf=%p, count=1, datatype=MPI_INT, source=0, tag=2, comm=MPI_COMM_SELF, "
	   "status={source:0,tag:2,error:0,count:4,cancelled:0}",
	   b);
	DO(MPI_Wait(&r[0], filled()), "request=%q, status={cancelled:0}", &r[0]);
	from_self(3);
	DO(MPI_Cancel(&r[1]), "request=%q", &r[1]);
	DO(MPI_Wait(&r[1], filled()), "request=%q, status={cancelled:1}", &r[1]);
	DO(MPI_Test_cancelled(status, &flag), "status={cancelled:1}, flag=1");
}

/* The message is longer than the receive; the send may be complete. */
static void truncated(void)
{
	DO(MPI_Comm_set_errhandler(SELF, MPI_ERRORS_RETURN),
	   "comm=MPI_COMM_SELF, errhandler=MPI_ERRORS_RETURN");
	DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_RETURN");
	to_self(4, 2);
	from_self(4);
	FAILS("MPI_ERR_IN_STATUS", MPI_Waitall(2, r, filled()),
	      "count=2, array_of_requests=%*q, array_of_statuses=%*S", 2, r, 2, status);
}

static void others(char *path)
{
	MPI_File fh;

	DO(MPI_Ibarrier(SELF, &r[0]), "comm=MPI_COMM_SELF, request=%+", &r[0]);
	DO(MPI_Wait(&r[0], filled()), "request=%q, status={}", &r[0]);
	DO(MPI_File_open(SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
	   "comm=MPI_COMM_SELF, filename=%s, amode=MPI_MODE_CREATE|MPI_MODE_RDWR, "
	   "info=MPI_INFO_NULL, fh=file:0",
	   path);
	DO(MPI_File_write(fh, a, 2, MPI_INT, filled()),
	   "fh=file:0, buf=%p, count=2, datatype=MPI_INT, status={count:8}", a);
	DO(MPI_File_close(&fh), "fh=file:0");
}

int main(int argc, char **argv)
{
	(void)argc;
	begin();
	a = grab(16);
	b = grab(16);
	messages();
	others(argv[1]);
	truncated();
	end();
	return 0;
}
