/*
 * order_startall.c - MPI_Startall with more requests than the tracer handles at a time (1,024).
 *
 *	order_startall [STEPS [SEED]]
 *
 * Rank 0 receives from any source in persistent requests; the other ranks send to it.
 */
#include "order_prog.h"

enum { REQUESTS = 1500 };

static MPI_Request request[REQUESTS];
static double value[REQUESTS];

int main(int argc, char **argv)
{
	MPI_Status status[REQUESTS];
	struct order o;
	int n;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 2);
	n = REQUESTS / (o.size - 1);
	for (int i = 0; i < n * (o.size - 1); i++) {
		if (o.rank == 0)
			MPI_Recv_init(&value[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
				      &request[i]);
		else if (i < n)
			MPI_Send_init(&value[i], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request[i]);
	}
	if (o.rank == 0)
		n *= o.size - 1;
	for (int step = 0; step < o.steps; step++) {
		for (int i = 0; o.rank && i < n; i++)
			value[i] = order_value(&o);
		order_delay();
		MPI_Startall(n, request);
		MPI_Waitall(n, request, status);
		for (int i = 0; o.rank == 0 && i < n; i++)
			order_saw(&o, i, &status[i], value[i]);
	}
	for (int i = 0; i < n; i++)
		MPI_Request_free(&request[i]);
	return order_end(&o);
}
