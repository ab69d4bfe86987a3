/*
 * prog_hang.c - A program that hangs, on 3 ranks or more: `prog_hang HOW FILE`.
 *
 *	recv       ranks 0 and 1 receive from each other; the others are at a barrier
 *	late       rank 1 computes, the others are at a barrier of a duplicate of the world
 *	waitall    rank 0 waits for two messages, one of which is never sent; the others for 0
 *	loop       rank 1 computes forever; the others receive from it, or from ranks that do
 *	test       rank 0 tests for a message that is never sent, the others are at a barrier
 *	gone       rank 2 exits without MPI_Finalize, the others receive from it
 *	off        like recv, after recording was switched off by MPI_Pcontrol
 *	busy       no rank hangs: messages circulate in a ring forever
 *	finalize   rank 1 computes, the others are in MPI_Finalize
 *	thread     second threads of ranks 0 and 1 receive from each other
 *	ring       each rank receives from the previous one
 *	reduce     the root of a reduction waits for rank 1, which computes
 *
 * Each rank writes its process id to FILE.RANK just before it hangs. The hang ends after a limited
 * time.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void say(const char *file)
{
	char path[4096], done[4110];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%d", file, rank);
	snprintf(done, sizeof(done), "%s.new", path);
	f = fopen(done, "w");
	if (f) {
		fprintf(f, "%ld\n", (long)getpid());
		fclose(f);
		rename(done, path);
	}
}

static void compute(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static void receive(int from)
{
	int x;

	MPI_Recv(&x, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void waitall(void)
{
	int x[2], y = 0;
	MPI_Request q[2];

	if (rank == 2)
		MPI_Send(&y, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	if (rank)
		receive(0);
	MPI_Irecv(&x[0], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&x[1], 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void test(void)
{
	int x, flag = 0;
	MPI_Request q;

	if (rank)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Irecv(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &q);
	while (!flag)
		MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
}

static void busy(void)
{
	int x = 0;

	for (;;)
		MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size,
				     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
	int x = 0, y;

	if (rank == 1)
		compute();
	MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void *second(void *arg)
{
	receive(!rank);
	return arg;
}

static void with_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, second, NULL);
	pthread_join(t, NULL);
}

static void hang(const char *how)
{
	MPI_Comm dup;

	if (strcmp(how, "off") == 0)
		MPI_Pcontrol(0);
	if (strcmp(how, "recv") == 0 || strcmp(how, "off") == 0)
		rank < 2 ? receive(!rank) : (void)MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "late") == 0) {
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		if (rank == 1)
			compute();
		MPI_Barrier(dup);
	}
	if (strcmp(how, "waitall") == 0)
		waitall();
	if (strcmp(how, "loop") == 0)
		rank == 1 ? compute() : receive(rank ? rank - 1 : 1);
	if (strcmp(how, "test") == 0)
		test();
	if (strcmp(how, "gone") == 0)
		rank == 2 ? _exit(0) : receive(2);
	if (strcmp(how, "finalize") == 0 && rank == 1)
		compute();
	if (strcmp(how, "thread") == 0)
		with_thread();
	if (strcmp(how, "ring") == 0)
		receive((rank + size - 1) % size);
	if (strcmp(how, "reduce") == 0)
		reduce();
	if (strcmp(how, "busy") == 0)
		busy();
}

int main(int argc, char **argv)
{
	int provided;

	if (strcmp(argv[1], "thread") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	alarm(100);
	MPI_Barrier(MPI_COMM_WORLD);
	say(argv[2]);
	hang(argv[1]);
	MPI_Finalize();
	return 0;
}
