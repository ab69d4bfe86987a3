/* prog_thread.c - two threads of each rank calling MPI at once (MPI_THREAD_MULTIPLE), each with
 * calls and requests of its own; then one waits for what the other began. */
#include "log.h"

#include <pthread.h>
#include <stdio.h>

static MPI_Request left;
static int *shared; /* heap, used by the main thread alone */

/* Tags tell the threads' messages apart. */
static void work(int thread, int steps)
{
	static int x[2][2];
	int next = (me + 1) % procs, prev = (me + procs - 1) % procs;
	MPI_Request r[2];
	MPI_Status s[2];

	for (int i = 0; i < steps; i++) {
		DO(MPI_Irecv(&x[thread][0], 1, MPI_INT, prev, thread, MPI_COMM_WORLD, &r[0]),
		   "buf=static:*, count=1, datatype=MPI_INT, source=%d, tag=%d, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   prev, thread, &r[0]);
		DO(MPI_Isend(&x[thread][1], 1, MPI_INT, next, thread, MPI_COMM_WORLD, &r[1]),
		   "buf=static:*, count=1, datatype=MPI_INT, dest=%d, tag=%d, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   next, thread, &r[1]);
		s[0].MPI_ERROR = s[1].MPI_ERROR = 0;
		DO(MPI_Wait(&r[0], &s[0]), "request=%q, status=%S", &r[0], &s[0]);
		DO(MPI_Wait(&r[1], MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE",
		   &r[1]);
	}
}

static void *second(void *unused)
{
	int flag;

	(void)unused;
	log_thread(1);
	DO(MPI_Is_thread_main(&flag), "flag=0");
	EXPECT(!flag);
	work(1, 40);
	DO(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &left),
	   "buf=?, count=0, datatype=MPI_INT, source=MPI_PROC_NULL, tag=9, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   &left);
	return NULL;
}

int main(void)
{
	pthread_t other;
	int provided, color;
	MPI_Comm half;

	DO(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided),
	   "argc=NULL, argv=NULL, required=MPI_THREAD_MULTIPLE, provided=MPI_THREAD_MULTIPLE");
	EXPECT(provided == MPI_THREAD_MULTIPLE);
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "comm=MPI_COMM_WORLD, rank=%d", me);
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "comm=MPI_COMM_WORLD, size=%d", procs);
	shared = grab(64);
	color = me % 2;
	pthread_create(&other, NULL, second, NULL);
	work(0, 30);
	DO(MPI_Comm_split(MPI_COMM_WORLD, color, 0, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=0, newcomm=comm:world.0", color);
	DO(MPI_Bcast(shared, 4, MPI_INT, 0, half),
	   "buffer=%p, count=4, datatype=MPI_INT, root=0, comm=comm:world.0", shared);
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
	pthread_join(other, NULL);
	DO(MPI_Wait(&left, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &left);
	end();
	return 0;
}
