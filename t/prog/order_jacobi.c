/*
 * order_jacobi.c - Jacobi iteration on a torus: hidden determinism.
 *
 *	order_jacobi [STEPS [SEED [sides]]]
 *
 * Halos are received from MPI_ANY_SOURCE, although each tag is sent by only one neighbor. They are
 * stored in order of arrival, after MPI_Waitany. The result does not depend on that order: the line
 * is the same in all runs except for a last number `order=`, the hash of the order. With `sides` a
 * halo is received only when the previous one has arrived. Then the order is the same in all runs,
 * too.
 */
#include "order_prog.h"

enum { SIDES = 4, N = 12 };

static struct order o;
static int neighbour[SIDES], by_side;
static double grid[N + 2][N + 2], next[N + 2][N + 2], in[SIDES][N], out[SIDES][N];

static void find_neighbours(void)
{
	int dims[2] = { 0, 0 }, periods[2] = { 1, 1 };
	MPI_Comm torus;

	MPI_Dims_create(o.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
	MPI_Cart_shift(torus, 0, 1, &neighbour[0], &neighbour[1]);
	MPI_Cart_shift(torus, 1, 1, &neighbour[2], &neighbour[3]);
	MPI_Comm_free(&torus);
}

/* Point i of the row or column at this distance from a side: 0 is the halo, 1 the edge. */
static double *point(int side, int inside, int i)
{
	int at = side % 2 ? N + 1 - inside : inside;

	return side < 2 ? &grid[at][i + 1] : &grid[i + 1][at];
}

/* A message is tagged with the side at which it arrives. */
static void receive(int side, MPI_Request *request)
{
	MPI_Irecv(in[side], N, MPI_DOUBLE, MPI_ANY_SOURCE, side, MPI_COMM_WORLD, request);
}

static void send_all(MPI_Request *request)
{
	for (int side = 0; side < SIDES; side++) {
		for (int i = 0; i < N; i++)
			out[side][i] = *point(side, 1, i);
		order_delay();
		MPI_Isend(out[side], N, MPI_DOUBLE, neighbour[side], side ^ 1, MPI_COMM_WORLD,
			  &request[side]);
	}
}

/* Stores one of the received halos. */
static void take(MPI_Request *request)
{
	MPI_Status status;
	int side;

	MPI_Waitany(SIDES, request, &side, &status);
	order_saw(&o, side, &status, 0);
	for (int i = 0; i < N; i++)
		*point(side, 0, i) = in[side][i];
}

static void exchange(void)
{
	MPI_Request request[SIDES], sent[SIDES];

	for (int side = 0; side < SIDES; side++) {
		request[side] = MPI_REQUEST_NULL;
		if (!by_side)
			receive(side, &request[side]);
	}
	send_all(sent);
	for (int side = 0; side < SIDES; side++) {
		if (by_side)
			receive(side, &request[side]);
		take(request);
	}
	MPI_Waitall(SIDES, sent, MPI_STATUSES_IGNORE);
}

static void relax(void)
{
	for (int y = 1; y <= N; y++)
		for (int x = 1; x <= N; x++)
			next[y][x] = (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] +
				      grid[y][x + 1]) /
					     4 +
				     grid[y][x] / 1024;
	memcpy(grid, next, sizeof(grid));
}

/* The hash covers only the values. */
static struct order result(void)
{
	struct order r = o;
	uint64_t bits;

	order_seed(&r, 0);
	for (int y = 1; y <= N; y++)
		for (int x = 1; x <= N; x++) {
			memcpy(&bits, &grid[y][x], sizeof(bits));
			order_fold(&r, bits);
			r.sum += grid[y][x];
		}
	return r;
}

int main(int argc, char **argv)
{
	struct order r;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 1000);
	by_side = argc > 3 && strcmp(argv[3], "sides") == 0;
	find_neighbours();
	for (int y = 1; y <= N; y++)
		for (int x = 1; x <= N; x++)
			grid[y][x] = order_value(&o);
	for (int step = 0; step < o.steps; step++) {
		exchange();
		relax();
	}
	r = result();
	order_gather(&o);
	if (order_gather(&r))
		printf("hash=%016llx sum=%.17g order=%016llx\n", (unsigned long long)r.hash, r.sum,
		       (unsigned long long)o.hash);
	MPI_Finalize();
	return 0;
}
