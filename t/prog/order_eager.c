/*
 * order_eager.c - Continues when a send is complete that has not been received yet.
 *
 *	order_eager [STEPS [SEED]]
 *
 * MPI has to buffer the message. If it does not, the program never ends.
 */
#include "order_prog.h"

enum { COUNT = 1000, TAG = 1, TAG_GO = 2 };

static struct order o;
static double data[COUNT];

static void send_first(void)
{
	MPI_Request request;
	int flag = 0;

	MPI_Isend(data, COUNT, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, &request);
	for (; !flag; order_pause())
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	MPI_Send(data, 1, MPI_DOUBLE, 1, TAG_GO, MPI_COMM_WORLD);
}

static void receive_first(void)
{
	MPI_Recv(data, 1, MPI_DOUBLE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(data, COUNT, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 1);
	for (int step = 0; step < o.steps; step++)
		o.rank ? receive_first() : send_first();
	return order_end(&o);
}
