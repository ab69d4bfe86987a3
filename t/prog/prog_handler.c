/* prog_handler.c - Two threads use invalid communicators, and count the calls of the error handler.
 * Prints the count, and whether the world still has its error handler. For MPICH, which checks its
 * handles.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define CALLS 2000

static int told;

static void handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	int size, first = (int)(intptr_t)arg;

	for (int i = 0; i < CALLS; i++)
		MPI_Comm_size((MPI_Comm)(intptr_t)(first + i), &size);
	return NULL;
}

int main(int argc, char **argv)
{
	MPI_Errhandler ours, now;
	pthread_t thread[2];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_create_errhandler(handler, &ours);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, ours);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, ours);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, (void *)(1000 + i * CALLS));
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
	printf("told %d times, %s\n", told, now == ours ? "as before" : "and not again");
	MPI_Finalize();
	return 0;
}
