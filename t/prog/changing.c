/*
 * changing.c - Arguments that change with every call, as in real programs.
 *
 *	changing WHAT STEPS [FILE]
 *
 *	tags      a message with a new tag in each step
 *	counts    lengths that repeat after 50 steps
 *	buffers   another offset in an array in each step
 *	offsets   consecutive records of all ranks in FILE, in each step
 *	amr       every 10 steps new neighbors, and new lengths for each
 *	crowd     like amr, with more neighbors than a request array has entries in the call words
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#define LONGEST    4096
#define NEIGHBOURS 40 /* at most */

static char in[NEIGHBOURS][LONGEST], out[NEIGHBOURS][LONGEST];
static int me, procs;
static const char *path;

/* Returns the same value on all ranks. */
static unsigned any(unsigned n)
{
	static unsigned long long state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void pass(const char *from, int count, int tag)
{
	MPI_Sendrecv(from, count, MPI_CHAR, (me + 1) % procs, tag, in[0], LONGEST, MPI_CHAR,
		     (me + procs - 1) % procs, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tags(int steps)
{
	for (int i = 0; i < steps; i++)
		pass(out[0], 8, i);
}

static void counts(int steps)
{
	for (int i = 0; i < steps; i++)
		pass(out[0], 1 + i % 50 * (i % 50), 0);
}

static void buffers(int steps)
{
	for (int i = 0; i < steps; i++)
		pass(out[0] + i * 8 % LONGEST, 8, 0);
}

static void offsets(int steps)
{
	MPI_File f;

	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
	for (int i = 0; i < steps; i++)
		MPI_File_write_at(f, ((MPI_Offset)i * procs + me) * 100, out[0], 100, MPI_CHAR,
				  MPI_STATUS_IGNORE);
	MPI_File_close(&f);
}

/* Each rank sends to one rank and receives from one rank. */
static void shuffle(int *to, int *from)
{
	int *order = malloc((size_t)procs * sizeof(*order));

	for (int i = 0; i < procs; i++)
		order[i] = i;
	for (int i = procs - 1; i > 0; i--) {
		int k = (int)any((unsigned)i + 1), x = order[i];

		order[i] = order[k];
		order[k] = x;
	}
	*to = order[me];
	for (int i = 0; i < procs; i++)
		if (order[i] == me)
			*from = i;
	free(order);
}

static void exchange(int n, const int *to, const int *from, const int *length)
{
	MPI_Request r[2 * NEIGHBOURS];

	for (int k = 0; k < n; k++)
		MPI_Irecv(in[k], LONGEST, MPI_CHAR, from[k], k, MPI_COMM_WORLD, &r[k]);
	for (int k = 0; k < n; k++)
		MPI_Isend(out[k], length[k], MPI_CHAR, to[k], k, MPI_COMM_WORLD, &r[n + k]);
	MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
}

static void refine(int neighbours, int steps)
{
	int to[NEIGHBOURS], from[NEIGHBOURS], length[NEIGHBOURS];

	for (int i = 0; i < steps; i++) {
		for (int k = 0; i % 10 == 0 && k < neighbours; k++) {
			shuffle(&to[k], &from[k]);
			length[k] = (int)(any(LONGEST) * 7919u + (unsigned)me * 104729u) % LONGEST;
		}
		exchange(neighbours, to, from, length);
	}
}

static void amr(int steps)
{
	refine(4, steps);
}

static void crowd(int steps)
{
	refine(NEIGHBOURS, steps);
}

static const struct {
	const char *name;
	void (*run)(int steps);
} programs[] = {
	{ "tags", tags },       { "counts", counts }, { "buffers", buffers },
	{ "offsets", offsets }, { "amr", amr },       { "crowd", crowd },
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &procs);
	path = argc > 3 ? argv[3] : "";
	for (size_t i = 0; argc > 2 && i < sizeof(programs) / sizeof(*programs); i++)
		if (strcmp(argv[1], programs[i].name) == 0)
			programs[i].run(atoi(argv[2]));
	MPI_Finalize();
	return 0;
}
