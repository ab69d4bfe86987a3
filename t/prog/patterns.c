/*
 * patterns.c - Well-known communication patterns on a grid of ranks that is as square as possible.
 *
 *	patterns STEPS neighbour|transpose|butterfly|wavefront
 *
 * neighbour: exchange with the four adjacent ranks, MPI_PROC_NULL at the edges. transpose: send to
 * the rank with row and column swapped; needs a square number of ranks. butterfly: exchange with
 * rank xor 1, 2, 4 ... wavefront: a sweep from the first corner to the last.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, rows, cols;
static double in[4], out[4];

static int at(int row, int col)
{
	if (row < 0 || row >= rows || col < 0 || col >= cols)
		return MPI_PROC_NULL;
	return row * cols + col;
}

static void neighbour(void)
{
	int row = rank / cols, col = rank % cols;
	int peer[4] = { at(row - 1, col), at(row + 1, col), at(row, col - 1), at(row, col + 1) };
	MPI_Request q[8];

	for (int i = 0; i < 4; i++)
		MPI_Irecv(&in[i], 1, MPI_DOUBLE, peer[i], i ^ 1, MPI_COMM_WORLD, &q[i]);
	for (int i = 0; i < 4; i++)
		MPI_Isend(&out[i], 1, MPI_DOUBLE, peer[i], i, MPI_COMM_WORLD, &q[4 + i]);
	MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
}

static void transpose(void)
{
	int peer = at(rank % cols, rank / cols);

	MPI_Sendrecv(out, 4, MPI_DOUBLE, peer, 1, in, 4, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void butterfly(void)
{
	for (int bit = 1; bit < size; bit *= 2)
		MPI_Sendrecv(out, 4, MPI_DOUBLE, rank ^ bit, 1, in, 4, MPI_DOUBLE, rank ^ bit, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wavefront(void)
{
	int row = rank / cols, col = rank % cols;

	MPI_Recv(&in[0], 1, MPI_DOUBLE, at(row - 1, col), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(&in[1], 1, MPI_DOUBLE, at(row, col - 1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&out[0], 1, MPI_DOUBLE, at(row + 1, col), 1, MPI_COMM_WORLD);
	MPI_Send(&out[1], 1, MPI_DOUBLE, at(row, col + 1), 1, MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*step)(void);
} patterns[] = {
	{ "neighbour", neighbour },
	{ "transpose", transpose },
	{ "butterfly", butterfly },
	{ "wavefront", wavefront },
};

static void run(const char *name, int steps)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		for (int s = 0; s < steps && strcmp(patterns[i].name, name) == 0; s++)
			patterns[i].step();
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (rows = 1; (rows + 1) * (rows + 1) <= size;)
		rows++;
	while (size % rows)
		rows--;
	cols = size / rows;
	if (argc == 3)
		run(argv[2], atoi(argv[1]));
	MPI_Finalize();
	return 0;
}
