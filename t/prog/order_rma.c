/*
 * order_rma.c - One-sided operations whose results depend on the order in which ranks issue them.
 *
 *	order_rma [STEPS]
 *
 * In each step every rank increments a counter of rank 0 with MPI_Fetch_and_op, tries to claim an
 * entry with MPI_Compare_and_swap, and reads both with MPI_Get_accumulate and MPI_Get.
 */
#include "order_prog.h"

static struct order o;
static MPI_Win win;

static void draw(void)
{
	const int one = 1, none = 0, mine = o.rank + 1;
	int number, place, unused[2] = { 0 }, both[2];

	MPI_Win_fence(0, win);
	MPI_Fetch_and_op(&one, &number, MPI_INT, 0, 0, MPI_SUM, win);
	MPI_Compare_and_swap(&mine, &none, &place, MPI_INT, 0, 1, win);
	MPI_Get_accumulate(unused, 2, MPI_INT, both, 2, MPI_INT, 0, 0, 2, MPI_INT, MPI_NO_OP, win);
	MPI_Get(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
	int memory[2] = { 0 };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 5);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int i = 0; i < o.steps; i++)
		draw();
	MPI_Win_free(&win);
	for (int i = 1; i < o.size && o.rank == 0; i++)
		MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (o.rank)
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
	return order_end(&o);
}
