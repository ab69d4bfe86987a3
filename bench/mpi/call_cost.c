/*
 * call_cost.c - CPU time per call of some MPI functions on one rank, as the program observes it.
 *
 * Prints "name nanoseconds" for each function: the minimum of 20 chunks. bench/tracer-cost runs it
 * with and without the tracer; the difference is the cost of tracing. As in a real program, the
 * process has 100,000 live heap blocks and 64 communicators.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNKS 20
/* Large enough that the tracer writes a checkpoint to the journal in every chunk
 * (trace/stream_journal.h). */
#define CALLS  20000
#define BLOCKS 100000
#define COMMS  64

static void *block[BLOCKS];
static MPI_Comm comm[COMMS];
static double *a, *b;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void comm_rank(void)
{
	int rank;

	MPI_Comm_rank(comm[0], &rank);
}

static void iprobe(void)
{
	int flag;

	MPI_Iprobe(MPI_ANY_SOURCE, 7, comm[0], &flag, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
	MPI_Status s;

	MPI_Sendrecv(a, 1, MPI_DOUBLE, 0, 3, b, 1, MPI_DOUBLE, 0, 3, comm[0], &s);
}

static void new_tag(void)
{
	static int tag;
	MPI_Status s;

	tag = (tag + 1) & 0x7fff;
	MPI_Sendrecv(a, 1, MPI_DOUBLE, 0, tag, b, 1, MPI_DOUBLE, 0, tag, comm[0], &s);
}

static void isend_irecv(void)
{
	MPI_Request q[2];

	MPI_Irecv(b, 1, MPI_DOUBLE, 0, 5, comm[0], &q[0]);
	MPI_Isend(a, 1, MPI_DOUBLE, 0, 5, comm[0], &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void malloc_sendrecv(void)
{
	double *p = malloc(256);
	MPI_Status s;

	MPI_Sendrecv(p, 1, MPI_DOUBLE, 0, 3, b, 1, MPI_DOUBLE, 0, 3, comm[0], &s);
	free(p);
}

static void malloc_free(void)
{
	void *volatile p = malloc(256);

	free(p);
}

static const struct {
	const char *name;
	void (*run)(void);
	int calls; /* number of MPI or heap calls per run */
} tests[] = {
	{ "Comm_rank", comm_rank, 1 },
	{ "Iprobe", iprobe, 1 },
	{ "Sendrecv", sendrecv, 1 },
	{ "Sendrecv-new-tag", new_tag, 1 },
	{ "Irecv/Isend/Waitall", isend_irecv, 3 },
	{ "malloc-Sendrecv-free", malloc_sendrecv, 1 },
	{ "malloc+free", malloc_free, 1 },
};

static double least(int k)
{
	double best = 1e18;

	for (int c = 0; c < CHUNKS; c++) {
		double t = now();

		for (int i = 0; i < CALLS; i++)
			tests[k].run();
		t = (now() - t) / CALLS / tests[k].calls;
		if (t < best)
			best = t;
	}
	return best;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < BLOCKS; i++)
		block[i] = malloc(16 + (size_t)(i * 7919 % 500));
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
	a = malloc(800);
	b = malloc(800);
	for (size_t k = 0; k < sizeof(tests) / sizeof(tests[0]); k++)
		printf("%s %.2f\n", tests[k].name, least((int)k));
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_free(&comm[i]);
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	free(a);
	free(b);
	MPI_Finalize();
	return 0;
}
