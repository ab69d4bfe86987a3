/* prog_thread_end.c - Threads that end inside a call, and more threads than the tracer supports.
 *
 *	prog_thread_end inside   in a callback, inside a call; then another thread
 *	prog_thread_end many N   N at a time, each with one call; then another thread
 *
 * Prints its results, or that the system cannot create so many threads. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t last_words;

static void speak(void *unused)
{
	int size;

	(void)unused;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* A reduction that never returns. */
static void leave(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int rank;

	(void)in;
	(void)inout;
	(void)n;
	(void)type;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_exit(NULL);
}

static void *reduce(void *op)
{
	int x = 1, y = 2;

	pthread_setspecific(last_words, op);
	MPI_Reduce_local(&x, &y, 1, MPI_INT, *(MPI_Op *)op);
	return NULL;
}

static void *ask(void *unused)
{
	int flag;

	(void)unused;
	MPI_Initialized(&flag);
	return NULL;
}

static pthread_barrier_t all;

static void *ask_and_wait(void *unused)
{
	ask(unused);
	pthread_barrier_wait(&all);
	return NULL;
}

static void run(void *(*function)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, function, arg) == 0)
		pthread_join(t, NULL);
}

static void run_many(unsigned n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	pthread_barrier_init(&all, NULL, n);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&t[i], &small, ask_and_wait, NULL) != 0) {
			printf("only %u threads\n", i);
			fflush(stdout);
			_Exit(0);
		}
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

int main(int argc, char **argv)
{
	int provided, inside = argc == 2 && !strcmp(argv[1], "inside");
	MPI_Op op;

	/* With MPI_THREAD_MULTIPLE, a thread that ends inside a call may leave a lock held. */
	MPI_Init_thread(&argc, &argv, inside ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE,
			&provided);
	if (inside) {
		pthread_key_create(&last_words, speak);
		MPI_Op_create(leave, 1, &op);
		run(reduce, &op);
	} else {
		run_many((unsigned)atoi(argv[2]));
	}
	run(ask, NULL);
	MPI_Finalize();
	return 0;
}
