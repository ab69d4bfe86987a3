/*
 * prog_forks.c - Forks many times while other threads start, make one MPI call and end.
 *
 *	prog_forks FORKS
 *
 * Prints the number of children that did not exit with code 7.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool over; /* atomic */

static void *call(void *arg)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return arg;
}

static void *make_threads(void *arg)
{
	pthread_t thread[4];

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 4; i++)
			pthread_create(&thread[i], NULL, call, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
	}
	return arg;
}

static bool child_ends_well(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(7);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 7;
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 100, bad = 0, provided;
	pthread_t maker[2];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < 2; i++)
		pthread_create(&maker[i], NULL, make_threads, NULL);
	for (int i = 0; i < forks; i++)
		bad += !child_ends_well();
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(maker[i], NULL);
	printf("%d of %d children died\n", bad, forks);
	MPI_Finalize();
	return bad != 0;
}
