/*
 * comm_loop.c - Communicators of all kinds, created and freed in every step. This imitates
 * libraries that create one for each of their calls.
 *
 *	comm_loop STEPS
 */
#include <mpi.h>
#include <stdlib.h>

static int rank, size;

static int asks(MPI_Comm comm, int key, void *value, void *state)
{
	int n;

	(void)key;
	(void)value;
	(void)state;
	return MPI_Comm_size(comm, &n);
}

static void collectives(int key)
{
	int periodic = 1;
	MPI_Request r;
	MPI_Comm a, b, c;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_set_attr(a, key, NULL);
	MPI_Comm_split(a, rank % 2, 0, &b);
	MPI_Comm_free(&a);
	MPI_Comm_idup(b, &c, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_free(&b);
	MPI_Comm_free(&c);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &a);
	MPI_Comm_free(&a);
}

static void by_some(MPI_Group group)
{
	MPI_Comm a, b;

	if (rank == 0)
		return;
	MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &a);
	MPI_Comm_dup(a, &b);
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
}

static void sides(MPI_Comm half)
{
	MPI_Comm inter, all;

	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 2, &inter);
	MPI_Intercomm_merge(inter, rank % 2, &all);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, none = 0, key;
	MPI_Group world, most;
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, asks, &key, NULL);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_excl(world, 1, &none, &most);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
	for (int i = 0; i < steps; i++) {
		collectives(key);
		by_some(most);
		sides(half);
	}
	MPI_Finalize();
	return 0;
}
