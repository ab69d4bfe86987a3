/* prog_p2p.c - Blocking point-to-point calls: modes, statuses, wildcards, probes. The number of
 * ranks is even. */
#include "log.h"

#include <stdlib.h>
#include <string.h>

static int *a, *b; /* heap */
static int fixed[64];
static MPI_Status status;
static int next, prev, partner;

/* The receiver's half: a status that is read, one that is ignored, a buffer of each kind. */
static void receive_modes(void)
{
	int local[4];
	MPI_Request r;

	DO(MPI_Recv(b, 8, MPI_INT, partner, 1, MPI_COMM_WORLD, &status),
	   "buf=%p, count=8, datatype=MPI_INT, source=%d, tag=1, comm=MPI_COMM_WORLD, status=%S", b,
	   partner, &status);
	EXPECT(b[0] == partner);
	DO(MPI_Recv(b + 3, 1, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
	   "buf=%p, count=1, datatype=MPI_DOUBLE, source=%d, tag=2, comm=MPI_COMM_WORLD, "
	   "status=MPI_STATUS_IGNORE; matched?={source:%d,tag:2}",
	   b + 3, partner, partner);
	DO(MPI_Recv(fixed + 1, 2, MPI_INT, partner, 3, MPI_COMM_WORLD, &status),
	   "buf=static:*, count=2, datatype=MPI_INT, source=%d, tag=3, comm=MPI_COMM_WORLD, "
	   "status=%S",
	   partner, &status);
	DO(MPI_Irecv(local, 4, MPI_INT, partner, 4, MPI_COMM_WORLD, &r),
	   "buf=stack:*, count=4, datatype=MPI_INT, source=%d, tag=4, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   partner, &r);
	DO(MPI_Send(b, 0, MPI_BYTE, partner, 5, MPI_COMM_WORLD),
	   "buf=%p, count=0, datatype=MPI_BYTE, dest=%d, tag=5, comm=MPI_COMM_WORLD", b, partner);
	DO(MPI_Wait(&r, &status), "request=%q, status=%S", &r, &status);
}

static void send_modes(void)
{
	static char room[4096];
	int local[4] = { me, me, me, me };
	void *back;
	count_t size;

	a[0] = me;
	DO(MPI_Send(a, 5, MPI_INT, partner, 1, MPI_COMM_WORLD),
	   "buf=%p, count=5, datatype=MPI_INT, dest=%d, tag=1, comm=MPI_COMM_WORLD", a, partner);
	DO(MPI_Ssend(a + 2, 1, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD),
	   "buf=%p, count=1, datatype=MPI_DOUBLE, dest=%d, tag=2, comm=MPI_COMM_WORLD", a + 2,
	   partner);
	DO(MPI_Buffer_attach(room, sizeof(room)), "buffer=static:*, size=4096");
	DO(MPI_Bsend(fixed, 2, MPI_INT, partner, 3, MPI_COMM_WORLD),
	   "buf=static:*, count=2, datatype=MPI_INT, dest=%d, tag=3, comm=MPI_COMM_WORLD", partner);
	DO(MPI_Buffer_detach(&back, &size), "buffer_addr=static:*, size=%c", size);
	EXPECT(back == room && size == sizeof(room));
	DO(MPI_Recv(b, 0, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &status),
	   "buf=%p, count=0, datatype=MPI_BYTE, source=%d, tag=5, comm=MPI_COMM_WORLD, status=%S",
	   b, partner, &status);
	DO(MPI_Rsend(local, 4, MPI_INT, partner, 4, MPI_COMM_WORLD),
	   "buf=stack:*, count=4, datatype=MPI_INT, dest=%d, tag=4, comm=MPI_COMM_WORLD", partner);
}

static void exchange(void)
{
	a[0] = me;
	DO(MPI_Sendrecv(a, 4, MPI_INT, next, 10, b, 8, MPI_INT, prev, 10, MPI_COMM_WORLD, &status),
	   "sendbuf=%p, sendcount=4, sendtype=MPI_INT, dest=%d, sendtag=10, "
	   "recvbuf=%p, recvcount=8, recvtype=MPI_INT, source=%d, recvtag=10, "
	   "comm=MPI_COMM_WORLD, status=%S",
	   a, next, b, prev, &status);
	EXPECT(b[0] == prev);
	DO(MPI_Sendrecv(a, 4, MPI_INT, next, 10, b, 8, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE),
	   "sendbuf=%p, sendcount=4, sendtype=MPI_INT, dest=%d, sendtag=10, "
	   "recvbuf=%p, recvcount=8, recvtype=MPI_INT, source=MPI_ANY_SOURCE, recvtag=10, "
	   "comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; "
	   "matched={source:%d,tag:10}",
	   a, next, b, prev);
	DO(MPI_Sendrecv_replace(a, 4, MPI_INT, next, 11, prev, MPI_ANY_TAG, MPI_COMM_WORLD,
				&status),
	   "buf=%p, count=4, datatype=MPI_INT, dest=%d, sendtag=11, source=%d, "
	   "recvtag=MPI_ANY_TAG, comm=MPI_COMM_WORLD, status=%S",
	   a, next, prev, &status);
	EXPECT(a[0] == prev);
}

/* Rank 0 receives any message. The message contains its source, for receives without a status. */
static void wildcards(void)
{
	a[0] = me;
	a[1] = 100 + me;
	if (me != 0) {
		for (int i = 0; i < 2; i++)
			DO(MPI_Send(a, 2, MPI_INT, 0, 100 + me, MPI_COMM_WORLD),
			   "buf=%p, count=2, datatype=MPI_INT, dest=0, tag=%d, "
			   "comm=MPI_COMM_WORLD",
			   a, 100 + me);
		return;
	}
	for (int i = 1; i < procs; i++) {
		DO(MPI_Recv(b, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
		   "buf=%p, count=4, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, "
		   "comm=MPI_COMM_WORLD, status=%S",
		   b, &status);
		EXPECT(status.MPI_SOURCE == b[0] && status.MPI_TAG == b[1]);
	}
	for (int i = 1; i < procs; i++)
		DO(MPI_Recv(b, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE),
		   "buf=%p, count=4, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, "
		   "comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; matched={source:%d,tag:%d}",
		   b, b[0], b[1]);
}

static void probe(void)
{
	count_t count;
	MPI_Count elements;

	DO(MPI_Probe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status),
	   "source=MPI_ANY_SOURCE, tag=20, comm=MPI_COMM_WORLD, status=%S", &status);
	DO(MPI_Get_count(&status, MPI_INT, &count), "status=%S, datatype=MPI_INT, count=%c",
	   &status, count);
	EXPECT(count == 3);
	DO(MPI_Get_count(&status, MPI_DOUBLE, &count),
	   "status=%S, datatype=MPI_DOUBLE, count=MPI_UNDEFINED", &status);
	DO(MPI_Get_elements(&status, MPI_BYTE, &count), "status=%S, datatype=MPI_BYTE, count=12",
	   &status);
	DO(MPI_Get_elements_x(&status, MPI_BYTE, &elements),
	   "status=%S, datatype=MPI_BYTE, count=12", &status);
	DO(MPI_Recv(b, 3, MPI_INT, prev, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
	   "buf=%p, count=3, datatype=MPI_INT, source=%d, tag=20, comm=MPI_COMM_WORLD, "
	   "status=MPI_STATUS_IGNORE; matched?={source:%d,tag:20}",
	   b, prev, prev);
	DO(MPI_Probe(prev, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
	   "source=%d, tag=21, comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; "
	   "matched?={source:%d,tag:21}",
	   prev, prev);
}

/* The number of unsuccessful polls is known only from the trace. */
static void poll(int source, int tag)
{
	int flag = 0;

	while (!flag) {
		memset(&status, 0, sizeof(status));
		DO(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status),
		   flag ? "source=%r, tag=%t, comm=MPI_COMM_WORLD, flag=1, status=%S"
			: "source=%r, tag=%t, comm=MPI_COMM_WORLD, flag=0, status=?",
		   source, tag, &status);
	}
}

static void matched_probe(void)
{
	MPI_Message m, m2;
	MPI_Request r;
	int flag = 0;

	DO(MPI_Mprobe(MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &m, &status),
	   "source=MPI_ANY_SOURCE, tag=22, comm=MPI_COMM_WORLD, message=message:0, status=%S",
	   &status);
	while (!flag)
		DO(MPI_Improbe(prev, 23, MPI_COMM_WORLD, &flag, &m2, MPI_STATUS_IGNORE),
		   flag ? "source=%d, tag=23, comm=MPI_COMM_WORLD, flag=1, message=message:1, "
			  "status=MPI_STATUS_IGNORE; matched?={source:%d,tag:23}"
			: "source=%d, tag=23, comm=MPI_COMM_WORLD, flag=0, message=?, "
			  "status=MPI_STATUS_IGNORE",
		   prev, prev);
	DO(MPI_Mrecv(b, 4, MPI_INT, &m, &status),
	   "buf=%p, count=4, datatype=MPI_INT, message=message:0, status=%S", b, &status);
	EXPECT(m == MPI_MESSAGE_NULL);
	DO(MPI_Imrecv(b + 4, 4, MPI_INT, &m2, &r),
	   "buf=%p, count=4, datatype=MPI_INT, message=message:1, request=%+", b + 4, &r);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE),
	   "request=%q, status=MPI_STATUS_IGNORE; matched?={source:%d,tag:23}", &r, prev);
	DO(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, &status),
	   "source=MPI_PROC_NULL, tag=0, comm=MPI_COMM_WORLD, message=MPI_MESSAGE_NO_PROC, "
	   "status=%S",
	   &status);
	DO(MPI_Mrecv(b, 4, MPI_INT, &m, &status),
	   "buf=%p, count=4, datatype=MPI_INT, message=MPI_MESSAGE_NO_PROC, status=%S", b, &status);
}

static void probes(void)
{
	for (int tag = 20; tag < 24; tag++)
		DO(MPI_Send(a, 3, MPI_INT, next, tag, MPI_COMM_WORLD),
		   "buf=%p, count=3, datatype=MPI_INT, dest=%d, tag=%d, comm=MPI_COMM_WORLD", a,
		   next, tag);
	probe();
	poll(prev, 21);
	DO(MPI_Recv(b, 3, MPI_INT, prev, 21, MPI_COMM_WORLD, &status),
	   "buf=%p, count=3, datatype=MPI_INT, source=%d, tag=21, comm=MPI_COMM_WORLD, status=%S",
	   b, prev, &status);
	matched_probe();
}

static void nobody(void)
{
	DO(MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD),
	   "buf=%p, count=1, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=7, comm=MPI_COMM_WORLD", a);
	DO(MPI_Recv(a, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
	   "buf=%p, count=1, datatype=MPI_INT, source=MPI_PROC_NULL, tag=MPI_ANY_TAG, "
	   "comm=MPI_COMM_WORLD, status=%S",
	   a, &status);
	EXPECT(status.MPI_SOURCE == MPI_PROC_NULL);
	DO(MPI_Sendrecv(a, 1, MPI_CHAR, MPI_PROC_NULL, 8, b, 1, MPI_CHAR, MPI_PROC_NULL, 9,
			MPI_COMM_SELF, &status),
	   "sendbuf=%p, sendcount=1, sendtype=MPI_CHAR, dest=MPI_PROC_NULL, sendtag=8, "
	   "recvbuf=%p, recvcount=1, recvtype=MPI_CHAR, source=MPI_PROC_NULL, recvtag=9, "
	   "comm=MPI_COMM_SELF, status=%S",
	   a, b, &status);
	poll(MPI_PROC_NULL, MPI_ANY_TAG);
}

/* Ids are assigned at first use, not at allocation, and are reused. */
static void blocks(void)
{
	int *x = grab(400), *y = grab(800), *z = grab(1 << 20);
	int *order[] = { z, x, y };

	for (int i = 0; i < 3; i++)
		DO(MPI_Sendrecv(order[i], 1, MPI_INT, 0, 30, order[i] + 7, 1, MPI_INT, 0, 30,
				MPI_COMM_SELF, MPI_STATUS_IGNORE),
		   "sendbuf=%p, sendcount=1, sendtype=MPI_INT, dest=0, sendtag=30, "
		   "recvbuf=%p, recvcount=1, recvtype=MPI_INT, source=0, recvtag=30, "
		   "comm=MPI_COMM_SELF, status=MPI_STATUS_IGNORE; matched?={source:0,tag:30}",
		   order[i], order[i] + 7);
	drop(x);
	x = grab(123);
	drop(z);
	DO(MPI_Sendrecv(y, 1, MPI_INT, 0, 30, x, 1, MPI_INT, 0, 30, MPI_COMM_SELF, &status),
	   "sendbuf=%p, sendcount=1, sendtype=MPI_INT, dest=0, sendtag=30, "
	   "recvbuf=%p, recvcount=1, recvtype=MPI_INT, source=0, recvtag=30, "
	   "comm=MPI_COMM_SELF, status=%S",
	   y, x, &status);
	drop(x);
	drop(y);
}

int main(void)
{
	begin();
	next = (me + 1) % procs;
	prev = (me + procs - 1) % procs;
	partner = me ^ 1;
	a = grab(64 * sizeof(*a));
	b = grab(64 * sizeof(*b));
	for (int round = 0; round < 3; round++) {
		if (me % 2)
			receive_modes();
		else
			send_modes();
		exchange();
		wildcards();
		DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
		probes();
		nobody();
		blocks();
	}
	end();
	return 0;
}
