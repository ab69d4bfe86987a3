/*
 * many_requests.c - CPU time per request with many outstanding requests, on one rank.
 *
 *	many_requests N         prints "request/N" and nanoseconds per request
 *
 * N receives are posted, N sends complete them, and one MPI_Waitall waits for all receives. The
 * printed time is the sum for one receive, one send and one request in MPI_Waitall.
 * bench/tracer-cost runs it with and without the tracer; the difference is the cost of tracing.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000, x = 1;
	MPI_Request *q = malloc((size_t)n * sizeof(*q));
	int *in = malloc((size_t)n * sizeof(*in));
	double t;

	MPI_Init(&argc, &argv);
	if (!q || !in)
		MPI_Abort(MPI_COMM_WORLD, 1);
	t = now();
	for (int i = 0; i < n; i++)
		MPI_Irecv(in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q[i]);
	for (int i = 0; i < n; i++)
		MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	printf("request/%d %.1f\n", n, (now() - t) / n);
	free(in);
	free(q);
	MPI_Finalize();
	return 0;
}
