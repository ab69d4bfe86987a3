/*
 * order_general.c - Generalized requests, tested together with other requests.
 *
 *	order_general [STEPS [SEED]]
 *
 * Each step has one, together with a receive from any source. The program itself completes it at a
 * random time between two tests. Therefore a test must never wait for it. The hash excludes the
 * number of failed tests, but includes the time at which the test succeeds.
 */
#include "order_prog.h"

enum { TAG = 3 };

static struct order o;
static double inbox, outbox;
static int completed;

static int query(void *state, MPI_Status *status)
{
	(void)state;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

/* Completes the request with a probability of 1/16. */
static void maybe_complete(MPI_Request general)
{
	if (completed || order_chance() % 16)
		return;
	completed = 1;
	MPI_Grequest_complete(general);
}

static void by_testany(MPI_Request q[2])
{
	MPI_Request general = q[0];

	for (int left = 2; left > 0;) {
		MPI_Status status;
		int index, flag;

		maybe_complete(general);
		MPI_Testany(2, q, &index, &flag, &status);
		order_pause();
		if (!flag)
			continue;
		left--;
		order_fold(&o, (uint64_t)index);
		if (index == 1)
			order_saw(&o, index, &status, inbox);
	}
}

static void by_testsome(MPI_Request q[2])
{
	MPI_Request general = q[0];

	for (int left = 2; left > 0;) {
		MPI_Status status[2];
		int n, index[2];

		maybe_complete(general);
		MPI_Testsome(2, q, &n, index, status);
		order_pause();
		left -= n;
		for (int i = 0; i < n; i++) {
			order_fold(&o, (uint64_t)(n << 8 | index[i]));
			if (index[i] == 1)
				order_saw(&o, i, &status[i], inbox);
		}
	}
}

static void by_testall(MPI_Request q[2])
{
	MPI_Request general = q[0];
	MPI_Status status[2];

	for (int flag = 0; !flag; order_pause()) {
		maybe_complete(general);
		MPI_Testall(2, q, &flag, status);
	}
	order_saw(&o, 1, &status[1], inbox);
}

static void by_test(MPI_Request q[2])
{
	MPI_Request general = q[0];
	MPI_Status status;

	for (int flag = 0; !flag; order_pause()) {
		maybe_complete(general);
		MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
	}
	MPI_Wait(&q[1], &status);
	order_saw(&o, 1, &status, inbox);
}

int main(int argc, char **argv)
{
	static void (*const ways[])(MPI_Request[2]) = { by_testany, by_testsome, by_testall,
							by_test };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	for (int step = 0; step < o.steps; step++) {
		MPI_Request q[2], out;

		completed = 0;
		MPI_Grequest_start(query, release, cancel, NULL, &q[0]);
		MPI_Irecv(&inbox, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &q[1]);
		outbox = order_value(&o);
		order_delay();
		MPI_Isend(&outbox, 1, MPI_DOUBLE, (o.rank + 1 + step % (o.size - 1)) % o.size, TAG,
			  MPI_COMM_WORLD, &out);
		ways[step % 4](q);
		MPI_Wait(&out, MPI_STATUS_IGNORE);
	}
	return order_end(&o);
}
