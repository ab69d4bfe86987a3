/* prog_thread.c - Two threads of each rank call MPI concurrently (MPI_THREAD_MULTIPLE), each with
 * its own calls and requests. Then one thread waits for the requests that the other started. The
 * argument is the number of repetitions. */
#include "log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LEFT 3

static MPI_Request left[LEFT];
static pthread_barrier_t turn;
static int times = 4;
static int *shared; /* heap, used only by the main thread */

/* Tags distinguish the messages of the threads. */
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

/* One thread starts requests; both alternate in completing them, in another order than they were
 * started. */
static void begin_some(void)
{
	for (int i = 0; i < LEFT; i++)
		DO(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, i / 2, MPI_COMM_WORLD, &left[i]),
		   "buf=?, count=0, datatype=MPI_INT, source=MPI_PROC_NULL, tag=%d, "
		   "comm=MPI_COMM_WORLD, request=%+",
		   i / 2, &left[i]);
}

static void end_some(int from, int step)
{
	for (int i = from; i >= 0 && i < LEFT; i += step)
		DO(MPI_Wait(&left[i], MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE",
		   &left[i]);
}

static void hand_over(bool begins)
{
	for (int i = 0; i < times; i++) {
		if (begins)
			begin_some();
		pthread_barrier_wait(&turn);
		if (i % 3 != 2 && begins != (i % 3 == 0))
			end_some(i % 2 ? LEFT - 1 : 0, i % 2 ? -1 : 1);
		else if (i % 3 == 2)
			end_some(begins ? 0 : 1, 2);
		pthread_barrier_wait(&turn);
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
	hand_over(true);
	begin_some();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	int provided, color;
	MPI_Comm half;

	DO(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided),
	   "argc=NULL, argv=NULL, required=MPI_THREAD_MULTIPLE, provided=MPI_THREAD_MULTIPLE");
	EXPECT(provided == MPI_THREAD_MULTIPLE);
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "comm=MPI_COMM_WORLD, rank=%d", me);
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "comm=MPI_COMM_WORLD, size=%d", procs);
	if (argc > 1)
		times = atoi(argv[1]);
	pthread_barrier_init(&turn, NULL, 2);
	shared = grab(64);
	color = me % 2;
	pthread_create(&other, NULL, second, NULL);
	work(0, 30);
	DO(MPI_Comm_split(MPI_COMM_WORLD, color, 0, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=0, newcomm=comm:world.0", color);
	DO(MPI_Bcast(shared, 4, MPI_INT, 0, half),
	   "buffer=%p, count=4, datatype=MPI_INT, root=0, comm=comm:world.0", shared);
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
	hand_over(false);
	pthread_join(other, NULL);
	end_some(0, 1);
	end();
	return 0;
}
