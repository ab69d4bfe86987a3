/*
 * order_persistent.c - Persistent receives from any source.
 *
 *	order_persistent [STEPS [SEED]]
 *
 * There are more messages than receives, which are restarted as they complete. The program
 * alternates between MPI_Testany, MPI_Waitsome and MPI_Waitall. At the end some receives are freed
 * while they are active. They match messages, but the program does not observe their completion.
 */
#include "order_prog.h"

enum { OPEN = 4, EACH = 3, MOST = 4 * EACH, TAGS = 2, TAG_FREED = TAGS + 1 };

static struct order o;
static int total, left; /* messages in a step; number of receives that are still to be started */
static MPI_Request in[OPEN], out[MOST];
static double inbox[OPEN], outbox[MOST];

static void create(void)
{
	for (int i = 0; i < OPEN; i++)
		MPI_Recv_init(&inbox[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			      &in[i]);
	for (int i = 0; i < total; i++)
		MPI_Send_init(&outbox[i], 1, MPI_DOUBLE, order_receiver(&o, i % o.partners),
			      i % TAGS, MPI_COMM_WORLD, &out[i]);
}

static void free_all(void)
{
	for (int i = 0; i < OPEN; i++)
		MPI_Request_free(&in[i]);
	for (int i = 0; i < total; i++)
		MPI_Request_free(&out[i]);
}

static void send_all(void)
{
	for (int i = 0; i < total; i++) {
		outbox[i] = order_value(&o);
		order_delay();
		MPI_Start(&out[i]);
	}
}

/* Returns the number of receives started. */
static int start_all(void)
{
	int n = left < OPEN ? left : OPEN;

	MPI_Startall(n, in);
	left -= n;
	return n;
}

static void take(int i, const MPI_Status *status)
{
	order_saw(&o, i, status, inbox[i]);
	if (left == 0)
		return;
	left--;
	MPI_Start(&in[i]);
}

static void with_testany(void)
{
	MPI_Status status;
	int i, flag;

	start_all();
	for (int n = 0; n < total; n += flag) {
		MPI_Testany(OPEN, in, &i, &flag, &status);
		order_fold(&o, (uint64_t)flag);
		if (flag)
			take(i, &status);
		else
			order_pause();
	}
}

static void with_waitsome(void)
{
	MPI_Status status[OPEN];
	int done, index[OPEN];

	start_all();
	for (int n = 0; n < total; n += done) {
		MPI_Waitsome(OPEN, in, &done, index, status);
		order_fold(&o, (uint64_t)done);
		for (int i = 0; i < done; i++)
			take(index[i], &status[i]);
		order_delay();
	}
}

static void with_waitall(void)
{
	MPI_Status status[OPEN];

	while (left > 0) {
		int n = start_all();

		MPI_Waitall(n, in, status);
		for (int i = 0; i < n; i++)
			order_saw(&o, i, &status[i], inbox[i]);
	}
}

/* Sends a message for each of these receives, followed by a barrier. */
static void free_active(void)
{
	static double freed[MOST];
	MPI_Request request;

	for (int i = 0; i < o.partners; i++) {
		MPI_Recv_init(&freed[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG_FREED, MPI_COMM_WORLD,
			      &request);
		MPI_Start(&request);
		MPI_Request_free(&request);
	}
	for (int i = 0; i < o.partners; i++)
		MPI_Ssend(&outbox[i], 1, MPI_DOUBLE, order_receiver(&o, i), TAG_FREED,
			  MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static void (*const complete[])(void) = { with_testany, with_waitsome, with_waitall };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	total = o.partners * EACH;
	create();
	for (int step = 0; step < o.steps; step++) {
		left = total;
		send_all();
		complete[step % 3]();
		MPI_Waitall(total, out, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD); /* receives match the next step's messages, too */
	}
	free_all();
	free_active();
	return order_end(&o);
}
