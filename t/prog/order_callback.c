/*
 * order_callback.c - Completion of many requests in a callback of another request.
 *
 *	order_callback
 *
 * Each rank sends OUTER messages to itself and tests all receives at once, together with a
 * generalized request. The query function of that request tests INNER requests, which needs more
 * memory than the outer call. For Open MPI only: MPICH does not permit MPI calls in a query
 * function.
 */
#include "order_prog.h"

enum { OUTER = 100, INNER = 400 };

static int completed_inside;

static int query(void *state, MPI_Status *status)
{
	MPI_Request request[INNER];

	(void)state;
	for (int i = 0; i < INNER; i++)
		MPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[i]);
	MPI_Testall(INNER, request, &completed_inside, MPI_STATUSES_IGNORE);
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	MPI_Request request[OUTER + 1];
	int received[OUTER], flag = 0;
	struct order o;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 1);
	MPI_Grequest_start(query, release, cancel, NULL, &request[OUTER]);
	MPI_Grequest_complete(request[OUTER]);
	for (int i = 0; i < OUTER; i++)
		MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
	for (int i = 0; i < OUTER; i++)
		MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
	while (!flag)
		MPI_Testall(OUTER + 1, request, &flag, MPI_STATUSES_IGNORE);
	for (int i = 0; i <= OUTER; i++)
		order_fold(&o, request[i] == MPI_REQUEST_NULL);
	for (int i = 0; i < OUTER; i++)
		o.sum += received[i];
	order_fold(&o, (uint64_t)completed_inside);
	return order_end(&o);
}
