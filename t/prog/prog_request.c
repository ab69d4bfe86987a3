/* prog_request.c - Requests: all ways to create, complete and free them; persistent and generalized
 * requests. */
#include "log.h"

#include <string.h>

#define MOST 8

static int *a, *b; /* heap */
static int next, prev;
static MPI_Request r[MOST];
static MPI_Status status, statuses[MOST];

/* Sends one message per tag from 0 to the next rank; receives as many from the previous rank. */
static void send_some(int n)
{
	for (int tag = 0; tag < n; tag++)
		DO(MPI_Send(a + tag, 1, MPI_INT, next, tag, MPI_COMM_WORLD),
		   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=%d, comm=MPI_COMM_WORLD",
		   a + tag, next, tag);
}

static void post_some(int n)
{
	for (int tag = 0; tag < n; tag++)
		DO(MPI_Irecv(b + tag, 1, MPI_INT, prev, tag, MPI_COMM_WORLD, &r[tag]),
		   "buf=%p, count=1, datatype=MPI_INT, source=%d, tag=%d, comm=MPI_COMM_WORLD, "
		   "request=%+",
		   b + tag, prev, tag, &r[tag]);
	memset(statuses, 0, sizeof(statuses));
	memset(&status, 0, sizeof(status));
}

static void modes(void)
{
	void *back;
	count_t size;
	static char room[4096];

	post_some(4);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	DO(MPI_Buffer_attach(room, sizeof(room)), "buffer=static:*, size=4096");
	DO(MPI_Isend(a, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &r[4]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=0, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[4]);
	DO(MPI_Ibsend(a, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r[5]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=1, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[5]);
	DO(MPI_Issend(a, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &r[6]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=2, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[6]);
	DO(MPI_Irsend(a, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &r[7]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=3, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[7]);
	DO(MPI_Waitall(8, r, statuses), "count=8, array_of_requests=%*q, array_of_statuses=%*S", 8,
	   r, 8, statuses);
	DO(MPI_Buffer_detach(&back, &size), "buffer_addr=static:*, size=%c", size);
}

/* Both MPIs return the same handle for all of these, because they complete immediately. */
static void same_handles(void)
{
	static const int order[6] = { 3, 0, 5, 1, 4, 2 };

	for (int i = 0; i < 6; i++)
		DO(MPI_Isend(a, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &r[i]),
		   "buf=%p, count=1, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=7, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   a, &r[i]);
	for (int i = 0; i < 6; i++)
		DO(MPI_Wait(&r[order[i]], MPI_STATUS_IGNORE),
		   "request=%q, status=MPI_STATUS_IGNORE", &r[order[i]]);
	for (int i = 0; i < 6; i++)
		DO(MPI_Isend(a + i, 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]),
		   "buf=%p, count=1, datatype=MPI_INT, dest=0, tag=%d, comm=MPI_COMM_SELF, "
		   "request=%+",
		   a + i, i, &r[i]);
	for (int i = 0; i < 6; i++)
		DO(MPI_Recv(b, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE),
		   "buf=%p, count=1, datatype=MPI_INT, source=0, tag=%d, comm=MPI_COMM_SELF, "
		   "status=MPI_STATUS_IGNORE; matched?={source:0,tag:%d}",
		   b, i, i);
	DO(MPI_Waitall(6, r, MPI_STATUSES_IGNORE),
	   "count=6, array_of_requests=%*q, array_of_statuses=MPI_STATUSES_IGNORE", 6, r);
}

static void one_by_one(void)
{
	MPI_Request elsewhere;
	int flag = 0;

	post_some(3);
	send_some(3);
	while (!flag)
		DO(MPI_Test(&r[1], &flag, &status),
		   flag ? "request=%q, flag=1, status=%S" : "request=%q, flag=0, status=?", &r[1],
		   &status);
	EXPECT(r[1] == MPI_REQUEST_NULL);
	DO(MPI_Test(&r[1], &flag, &status), "request=MPI_REQUEST_NULL, flag=1, status=%S", &status);
	for (flag = 0; !flag;)
		DO(MPI_Request_get_status(r[2], &flag, &status),
		   flag ? "request=%q, flag=1, status=%S" : "request=%q, flag=0, status=?", &r[2],
		   &status);
	elsewhere = r[2];
	moved(&r[2], &elsewhere);
	r[2] = MPI_REQUEST_NULL;
	DO(MPI_Wait(&elsewhere, &status), "request=%q, status=%S", &elsewhere, &status);
	DO(MPI_Wait(&r[0], MPI_STATUS_IGNORE),
	   "request=%q, status=MPI_STATUS_IGNORE; matched?={source:%d,tag:0}", &r[0], prev);
	DO(MPI_Wait(&r[0], &status), "request=MPI_REQUEST_NULL, status=%S", &status);
}

static void any(void)
{
	int index, flag;

	post_some(4);
	send_some(4);
	for (int left = 4; left > 2; left--) {
		DO(MPI_Waitany(4, r, &index, &status),
		   "count=4, array_of_requests=%*q, index=%x, status=%S", 4, r, index, &status);
		EXPECT(status.MPI_TAG == index);
	}
	for (int left = 2; left > 0; left -= flag)
		DO(MPI_Testany(4, r, &index, &flag, &status),
		   flag ? "count=4, array_of_requests=%*q, index=%x, flag=1, status=%S"
			: "count=4, array_of_requests=%*q, index=%i, flag=0, status=?",
		   4, r, index, &status);
	DO(MPI_Waitany(4, r, &index, &status),
	   "count=4, array_of_requests=%*q, index=MPI_UNDEFINED, status=%S", 4, r, &status);
	DO(MPI_Testany(4, r, &index, &flag, MPI_STATUS_IGNORE),
	   "count=4, array_of_requests=%*q, index=MPI_UNDEFINED, flag=1, "
	   "status=MPI_STATUS_IGNORE",
	   4, r);
}

static void some(void)
{
	int n, indices[MOST];

	post_some(6);
	send_some(6);
	for (int left = 6; left > 3; left -= n)
		DO(MPI_Waitsome(6, r, &n, indices, statuses),
		   "incount=6, array_of_requests=%*q, outcount=%d, array_of_indices=%*x, "
		   "array_of_statuses=%*S",
		   6, r, n, n, indices, n, statuses);
	do
		DO(MPI_Testsome(6, r, &n, indices, statuses),
		   n == MPI_UNDEFINED ? "incount=6, array_of_requests=%*q, outcount=MPI_UNDEFINED, "
					"array_of_indices=?, array_of_statuses=?"
				      : "incount=6, array_of_requests=%*q, outcount=%d, "
					"array_of_indices=%*x, array_of_statuses=%*S",
		   6, r, n, n, indices, n, statuses);
	while (n != MPI_UNDEFINED);
	DO(MPI_Waitsome(6, r, &n, indices, MPI_STATUSES_IGNORE),
	   "incount=6, array_of_requests=%*q, outcount=MPI_UNDEFINED, array_of_indices=?, "
	   "array_of_statuses=MPI_STATUSES_IGNORE",
	   6, r);
}

static void all(void)
{
	int flag = 0;

	post_some(5);
	send_some(5);
	while (!flag)
		DO(MPI_Testall(4, r + 1, &flag, statuses),
		   flag ? "count=4, array_of_requests=%*q, flag=1, array_of_statuses=%*S"
			: "count=4, array_of_requests=%*q, flag=0, array_of_statuses=?",
		   4, r + 1, 4, statuses);
	DO(MPI_Waitall(5, r, statuses), "count=5, array_of_requests=%*q, array_of_statuses=%*S", 5,
	   r, 5, statuses);
	DO(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE),
	   "count=0, array_of_requests=[], array_of_statuses=MPI_STATUSES_IGNORE");
}

/* The source of a message must be recorded even if the program ignores the status. */
static void ignored(void)
{
	for (int i = 0; i < 2; i++)
		DO(MPI_Irecv(b + i, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &r[i]),
		   "buf=%p, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=40, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   b + i, &r[i]);
	a[0] = me;
	for (int i = 2; i < 4; i++)
		DO(MPI_Isend(a, 1, MPI_INT, i == 2 ? next : prev, 40, MPI_COMM_WORLD, &r[i]),
		   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=40, comm=MPI_COMM_WORLD, "
		   "request=%+",
		   a, i == 2 ? next : prev, &r[i]);
	DO(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
	   "count=4, array_of_requests=%*q, array_of_statuses=MPI_STATUSES_IGNORE; "
	   "matched=[{source:%d,tag:40},{source:%d,tag:40},null,null]",
	   4, r, b[0], b[1]);
	DO(MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &r[0]),
	   "buf=%p, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, "
	   "comm=MPI_COMM_SELF, request=%+",
	   b, &r[0]);
	DO(MPI_Send(a, 1, MPI_INT, 0, 41, MPI_COMM_SELF),
	   "buf=%p, count=1, datatype=MPI_INT, dest=0, tag=41, comm=MPI_COMM_SELF", a);
	DO(MPI_Wait(&r[0], MPI_STATUS_IGNORE),
	   "request=%q, status=MPI_STATUS_IGNORE; matched={source:0,tag:41}", &r[0]);
}

/* Calls of a program that passes a status to Fortran. */
static void converted(void)
{
	static MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];

	DO(MPI_Status_c2f(&status, f), "c_status=?, f_status=?");
	DO(MPI_Status_f2c(f, &status), "f_status=?, c_status=?");
}

static void given_up(void)
{
	int flag;

	memset(&status, 0, sizeof(status));
	DO(MPI_Irecv(b, 1, MPI_INT, prev, 50, MPI_COMM_WORLD, &r[0]),
	   "buf=%p, count=1, datatype=MPI_INT, source=%d, tag=50, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   b, prev, &r[0]);
	DO(MPI_Cancel(&r[0]), "request=%q", &r[0]);
	DO(MPI_Wait(&r[0], &status), "request=%q, status=%S", &r[0], &status);
	DO(MPI_Test_cancelled(&status, &flag), "status=%S, flag=1", &status);
	EXPECT(flag);
	DO(MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, 52, MPI_COMM_WORLD, &r[0]),
	   "buf=%p, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, tag=52, "
	   "comm=MPI_COMM_WORLD, request=%+",
	   b, &r[0]);
	DO(MPI_Cancel(&r[0]), "request=%q", &r[0]);
	DO(MPI_Wait(&r[0], MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r[0]);
	DO(MPI_Wait(&r[0], MPI_STATUS_IGNORE),
	   "request=MPI_REQUEST_NULL, status=MPI_STATUS_IGNORE");
	DO(MPI_Isend(a, 1, MPI_INT, next, 51, MPI_COMM_WORLD, &r[0]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=51, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[0]);
	DO(MPI_Request_free(&r[0]), "request=%q", &r[0]);
	EXPECT(r[0] == MPI_REQUEST_NULL);
	DO(MPI_Recv(b, 1, MPI_INT, prev, 51, MPI_COMM_WORLD, &status),
	   "buf=%p, count=1, datatype=MPI_INT, source=%d, tag=51, comm=MPI_COMM_WORLD, status=%S",
	   b, prev, &status);
}

static void prepare(void)
{
	DO(MPI_Recv_init(b, 2, MPI_INT, prev, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]),
	   "buf=%p, count=2, datatype=MPI_INT, source=%d, tag=MPI_ANY_TAG, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   b, prev, &r[0]);
	DO(MPI_Send_init(a, 2, MPI_INT, next, 60, MPI_COMM_WORLD, &r[1]),
	   "buf=%p, count=2, datatype=MPI_INT, dest=%d, tag=60, comm=MPI_COMM_WORLD, request=%+", a,
	   next, &r[1]);
	DO(MPI_Ssend_init(a, 2, MPI_INT, MPI_PROC_NULL, 61, MPI_COMM_WORLD, &r[2]),
	   "buf=%p, count=2, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=61, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   a, &r[2]);
	DO(MPI_Bsend_init(a, 2, MPI_INT, MPI_PROC_NULL, 62, MPI_COMM_WORLD, &r[3]),
	   "buf=%p, count=2, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=62, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   a, &r[3]);
	DO(MPI_Rsend_init(a, 2, MPI_INT, MPI_PROC_NULL, 63, MPI_COMM_WORLD, &r[4]),
	   "buf=%p, count=2, datatype=MPI_INT, dest=MPI_PROC_NULL, tag=63, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   a, &r[4]);
}

static void persistent(void)
{
	int index;

	prepare();
	memset(statuses, 0, sizeof(statuses));
	for (int round = 0; round < 3; round++) {
		DO(MPI_Startall(2, r), "count=2, array_of_requests=%*q", 2, r);
		DO(MPI_Waitall(2, r, statuses),
		   "count=2, array_of_requests=%*q, array_of_statuses=%*S", 2, r, 2, statuses);
	}
	EXPECT(r[0] != MPI_REQUEST_NULL);
	/* All of these requests are inactive. */
	DO(MPI_Wait(&r[0], &status), "request=%q, status=%S", &r[0], &status);
	DO(MPI_Waitany(5, r, &index, &status),
	   "count=5, array_of_requests=%*q, index=MPI_UNDEFINED, status=%S", 5, r, &status);
	DO(MPI_Start(&r[3]), "request=%q", &r[3]);
	DO(MPI_Waitany(5, r, &index, &status),
	   "count=5, array_of_requests=%*q, index=%x, status=%S", 5, r, index, &status);
	for (int i = 0; i < 5; i++)
		DO(MPI_Request_free(&r[i]), "request=%q", &r[i]);
}

#define MANY  100000 /* ints: a message that is in transit until it is received */
#define TIMES 4

static void receive_large(int *to)
{
	for (int i = 0; i < TIMES; i++)
		for (int tag = 65; tag < 67; tag++)
			DO(MPI_Recv(to, MANY, MPI_INT, prev, tag, MPI_COMM_WORLD, &status),
			   "buf=%p, count=100000, datatype=MPI_INT, source=%d, tag=%d, "
			   "comm=MPI_COMM_WORLD, status=%S",
			   to, prev, tag, &status);
}

/* Starts buffered sends again while their previous messages are in transit. Open MPI then changes
 * the handles. */
static void restarted(void)
{
	int size = 2 * TIMES * (MANY * (int)sizeof(int) + MPI_BSEND_OVERHEAD), *large, *to;
	count_t got;
	void *room = grab((size_t)size), *back;

	large = grab(MANY * sizeof(*large));
	to = grab(MANY * sizeof(*to));
	DO(MPI_Buffer_attach(room, size), "buffer=%p, size=%d", room, size);
	for (int i = 0; i < 2; i++)
		DO(MPI_Bsend_init(large, MANY, MPI_INT, next, 65 + i, MPI_COMM_WORLD, &r[i]),
		   "buf=%p, count=100000, datatype=MPI_INT, dest=%d, tag=%d, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   large, next, 65 + i, &r[i]);
	for (int i = 0; i < TIMES; i++) {
		if (i % 2)
			DO(MPI_Startall(2, r), "count=2, array_of_requests=%*q", 2, r);
		for (int k = 0; k < 2 && i % 2 == 0; k++)
			DO(MPI_Start(&r[k]), "request=%q", &r[k]);
		memset(statuses, 0, sizeof(statuses));
		DO(MPI_Waitall(2, r, statuses),
		   "count=2, array_of_requests=%*q, array_of_statuses=%*S", 2, r, 2, statuses);
	}
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	receive_large(to);
	for (int i = 0; i < 2; i++)
		DO(MPI_Request_free(&r[i]), "request=%q", &r[i]);
	DO(MPI_Buffer_detach(&back, &got), "buffer_addr=%p, size=%c", back, got);
	drop(to);
	drop(large);
	drop(room);
}

static int query(void *state, MPI_Status *s)
{
	(void)state;
	s->MPI_SOURCE = 3;
	s->MPI_TAG = 77;
	s->MPI_ERROR = 0;
	DO(MPI_Status_set_cancelled(s, 0), "status=?, flag=0");
	DO(MPI_Status_set_elements(s, MPI_INT, 5), "status=%S, datatype=MPI_INT, count=5", s);
	DO(MPI_Status_set_elements_x(s, MPI_BYTE, 24), "status=%S, datatype=MPI_BYTE, count=24", s);
	return MPI_SUCCESS;
}

static int release(void *state)
{
	++*(int *)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static void generalised(void)
{
	static int released;
	int flag;

	DO(MPI_Grequest_start(query, release, cancel, &released, &r[0]),
	   "query_fn=static:*, free_fn=static:*, cancel_fn=static:*, extra_state=static:*, "
	   "request=%+",
	   &r[0]);
	DO(MPI_Test(&r[0], &flag, &status), "request=%q, flag=0, status=?", &r[0]);
	EXPECT(!flag);
	DO(MPI_Grequest_complete(r[0]), "request=%q", &r[0]);
	memset(&status, 0, sizeof(status));
	DO(MPI_Wait(&r[0], &status), "request=%q, status=%S", &r[0], &status);
	EXPECT(released && status.MPI_TAG == 77);
}

#if MPI_VERSION >= 4
static void both_ways(void)
{
	memset(statuses, 0, sizeof(statuses));
	DO(MPI_Isendrecv(a, 1, MPI_INT, next, 70, b, 1, MPI_INT, prev, 70, MPI_COMM_WORLD, &r[0]),
	   "sendbuf=%p, sendcount=1, sendtype=MPI_INT, dest=%d, sendtag=70, "
	   "recvbuf=%p, recvcount=1, recvtype=MPI_INT, source=%d, recvtag=70, "
	   "comm=MPI_COMM_WORLD, request=%+",
	   a, next, b, prev, &r[0]);
	DO(MPI_Isendrecv_replace(a, 1, MPI_INT, next, 71, prev, 71, MPI_COMM_WORLD, &r[1]),
	   "buf=%p, count=1, datatype=MPI_INT, dest=%d, sendtag=71, source=%d, recvtag=71, "
	   "comm=MPI_COMM_WORLD, request=%+",
	   a, next, prev, &r[1]);
	DO(MPI_Waitall(2, r, statuses), "count=2, array_of_requests=%*q, array_of_statuses=%*S", 2,
	   r, 2, statuses);
}
#else
static void both_ways(void)
{
}
#endif

int main(void)
{
	begin();
	next = (me + 1) % procs;
	prev = (me + procs - 1) % procs;
	a = grab(64 * sizeof(*a));
	b = grab(64 * sizeof(*b));
	for (int i = 0; i < MOST; i++)
		r[i] = MPI_REQUEST_NULL;
	for (int round = 0; round < 3; round++) {
		modes();
		same_handles();
		one_by_one();
		any();
		some();
		all();
		ignored();
		given_up();
		converted();
		persistent();
		restarted();
		generalised();
		both_ways();
	}
	end();
	return 0;
}
