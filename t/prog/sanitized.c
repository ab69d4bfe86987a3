/*
 * sanitized.c - A program for sanitizers: a ring of messages, a thread, and optionally an error.
 *
 *	sanitized [overflow | shift]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int additions;

static void *add(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		additions++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void ring(int *block, int rank, int size)
{
	for (int i = 0; i < 20; i++)
		MPI_Sendrecv_replace(block, COUNT, MPI_INT, (rank + 1) % size, 0,
				     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
}

/* Triggers the error that the argument names. */
static void make_error(const char *name, int *block)
{
	volatile int n = COUNT;

	if (strcmp(name, "overflow") == 0)
		block[n] = 1;
	if (strcmp(name, "shift") == 0)
		block[0] = 1 << n;
}

int main(int argc, char **argv)
{
	int rank, size, provided, *block = calloc(COUNT, sizeof(*block));
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_create(&thread, NULL, add, NULL);
	ring(block, rank, size);
	pthread_join(thread, NULL);
	if (argc > 1)
		make_error(argv[1], block);
	printf("rank %d: %d\n", rank, additions);
	fflush(stdout);
	free(block);
	MPI_Finalize();
	return 0;
}
