/*
 * order_time.c - The number of messages sent depends on the time.
 *
 *	order_time [STEPS [SEED [values]]]
 *
 * The time is that of MPI_Wtime. With `values`, the number also depends on the clocks of the
 * system, the process id and random bytes, and the hash also covers those values. The hash always
 * covers the times of MPI_Wtime. The last message to a partner in a step has another tag.
 */
#include <sys/random.h>
#include <sys/time.h>

#include "order_prog.h"

enum { MOST = 4, TAG = 1, TAG_LAST = 2 };

static struct order o;
static MPI_Request out[4 * MOST];
static double outbox[4 * MOST];

/* The header declares the parameter nonnull. */
static int (*volatile gettimeofday_of)(struct timeval *restrict, void *restrict) = gettimeofday;

static uint64_t of_system(void)
{
	struct timespec t;
	struct timeval v;
	struct timezone zone;
	uint64_t bytes = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	gettimeofday(&v, NULL);
	gettimeofday_of(NULL, &zone); /* the time zone only */
	if (getrandom(&bytes, sizeof(bytes), 0) != sizeof(bytes))
		MPI_Abort(MPI_COMM_WORLD, 9);
	order_fold(&o, (uint64_t)t.tv_nsec);
	order_fold(&o, (uint64_t)v.tv_usec);
	order_fold(&o, bytes);
	order_fold(&o, (uint64_t)time(NULL));
	order_fold(&o, (uint64_t)getpid());
	return o.hash;
}

static uint64_t of_mpi(void)
{
	double now = MPI_Wtime();
	uint64_t bits;

	memcpy(&bits, &now, sizeof(bits));
	order_fold(&o, bits);
	return o.hash;
}

static int send_all(int values)
{
	int n = 0;

	for (int partner = 0; partner < o.partners; partner++) {
		uint64_t chance = of_mpi() ^ (values ? of_system() : 0);

		for (int i = (int)(chance % MOST); i >= 0; i--, n++) {
			outbox[n] = order_value(&o);
			order_delay();
			MPI_Isend(&outbox[n], 1, MPI_DOUBLE, order_receiver(&o, partner),
				  i ? TAG : TAG_LAST, MPI_COMM_WORLD, &out[n]);
		}
	}
	return n;
}

static void receive_all(void)
{
	MPI_Status status;
	double value;

	for (int ended = 0, i = 0; ended < o.partners; i++) {
		MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			 &status);
		order_saw(&o, i, &status, value);
		ended += status.MPI_TAG == TAG_LAST;
	}
}

int main(int argc, char **argv)
{
	int values = argc > 3 && !strcmp(argv[3], "values");

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	for (int step = 0; step < o.steps; step++) {
		int sent = send_all(values);

		receive_all();
		MPI_Waitall(sent, out, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD); /* receives match the next step's messages, too */
	}
	return order_end(&o);
}
