/*
 * order_crash.c - A bug that occurs only with some message orders.
 *
 *	order_crash STEPS SEED segv|abort|mpi_abort|exit|none [open]
 *
 * In each step rank 0 receives a message from every other rank. If the first message in the last
 * step is from a rank k with k % 3 == SEED % 3, rank 0 prints this line and ends in the named way:
 *
 *	crash hash=<hex> sum=<number> first=<k>
 *
 * Otherwise the program ends normally.
 *
 * open: at that time there are open receives from any source whose completion the program has not
 * observed. Long messages (rendezvous) and synchronous messages have been matched, because their
 * sends returned. Short messages are sent just before the last message of the other ranks, and may
 * or may not have arrived. One more receive never matches a message.
 */
#include <signal.h>

#include "order_prog.h"

enum { TAG = 1, TAG_NEVER = 9, TAG_OPEN = 10, KINDS = 3, LONG = 1 << 17 };

static struct order o;
static MPI_Request *open_in; /* on rank 0: [0] never matches a message, [i] is posted for rank i */
static double **open_box;

static void die(const char *how, int first)
{
	printf("crash hash=%016llx sum=%.17g first=%d\n", (unsigned long long)o.hash, o.sum, first);
	fflush(stdout);
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "mpi_abort"))
		MPI_Abort(MPI_COMM_WORLD, 3);
	else
		exit(3);
}

/* The kinds of message rotate among ranks; receives differ by kind, not by rank. */
static void post_open(void)
{
	open_in = calloc((size_t)o.size, sizeof(*open_in));
	open_box = calloc((size_t)o.size, sizeof(*open_box));
	for (int i = 0; i < o.size; i++) {
		open_box[i] = calloc(LONG, sizeof(double));
		MPI_Irecv(open_box[i], LONG, MPI_DOUBLE, MPI_ANY_SOURCE,
			  i ? TAG_OPEN + i % KINDS : TAG_NEVER, MPI_COMM_WORLD, &open_in[i]);
	}
}

/* Kinds 0 and 1: the send returns only when there is a matching receive. */
static void send_open(int kind)
{
	double *box = calloc(LONG, sizeof(*box));

	box[0] = order_value(&o);
	order_delay();
	if (kind == 0)
		MPI_Ssend(box, 1, MPI_DOUBLE, 0, TAG_OPEN + kind, MPI_COMM_WORLD);
	else
		MPI_Send(box, kind == 1 ? LONG : 1, MPI_DOUBLE, 0, TAG_OPEN + kind, MPI_COMM_WORLD);
	free(box);
}

static void close_open(void)
{
	MPI_Status status;

	MPI_Cancel(&open_in[0]);
	for (int i = 0; i < o.size; i++) {
		MPI_Wait(&open_in[i], &status);
		if (i > 0)
			order_saw(&o, i, &status, open_box[i][0]);
		free(open_box[i]);
	}
	free(open_box);
	free(open_in);
}

static void receive_all(const char *how, int bad)
{
	MPI_Status status;
	double value;

	for (int i = 1; i < o.size; i++) {
		MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
		order_saw(&o, i, &status, value);
		if (i == 1 && status.MPI_SOURCE % 3 == bad)
			die(how, status.MPI_SOURCE);
	}
}

static void run_step(const char *how, int bad, int open)
{
	double value = order_value(&o);
	int kind = o.rank % KINDS;

	if (o.rank == 0 && open)
		post_open();
	if (o.rank > 0 && open && kind < 2)
		send_open(kind);
	MPI_Barrier(MPI_COMM_WORLD); /* so that any rank may be the first */
	if (o.rank == 0) {
		receive_all(how, bad);
		if (open)
			close_open();
		return;
	}
	if (open && kind == 2)
		send_open(kind);
	order_delay();
	MPI_Send(&value, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 0);
	for (int step = 1; step < o.steps; step++)
		run_step("", -1, 0);
	run_step(argv[3], strcmp(argv[3], "none") ? atoi(argv[2]) % 3 : -1, argc > 4);
	return order_end(&o);
}
