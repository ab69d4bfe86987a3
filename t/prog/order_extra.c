/*
 * order_extra.c - Receives from any source, preceded by probes whose number differs between runs.
 *
 *	order_extra [STEPS [SEED]]
 *
 * Rank 0 receives STEPS messages from each of the other ranks. Environment variables: EARLY is the
 * number of MPI_Iprobe calls before anything is sent. LATE is the number of such calls after
 * everything was sent; rank 0 prints how many of them succeeded. PROBE: rank 0 also calls
 * MPI_Probe. Probes must return the same results as in the recording.
 */
#include "order_prog.h"

static int times(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

static int look(int n)
{
	int found = 0, flag;

	for (int i = 0; i < n; i++) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		found += flag;
	}
	return found;
}

static void receive_all(struct order *o)
{
	MPI_Status status;
	double value;

	for (int i = o->steps * (o->size - 1); i > 0; i--) {
		MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
		order_saw(o, 0, &status, value);
	}
}

/* The last rank is the first source: a run with fewer ranks lacks the first messages. */
static void send_all(struct order *o)
{
	const struct timespec nap = { 0, (o->size - 1 - o->rank) * 20000000 };

	nanosleep(&nap, NULL);
	for (int i = 0; i < o->steps; i++) {
		double value = order_value(o);

		MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 100000000 };
	struct order o;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 10);
	if (o.rank == 0)
		look(times("EARLY"));
	MPI_Barrier(MPI_COMM_WORLD);
	if (o.rank == 0) {
		nanosleep(&nap, NULL);
		if (times("LATE"))
			printf("found %d\n", look(times("LATE")));
		if (times("PROBE"))
			MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		receive_all(&o);
	} else {
		send_all(&o);
	}
	return order_end(&o);
}
