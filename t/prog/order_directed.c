/*
 * order_directed.c - Sends and receives that name their partner, and are canceled.
 *
 *	order_directed [STEPS [SEED [ignore]]]
 *
 * In each step a rank sends to the preceding rank. Receives for these messages are canceled while
 * the messages arrive. Messages that arrive too late for a receive are received afterwards. A
 * canceled send is repeated with another value. If the first send was not canceled in time, its
 * value is received.
 */
#include "order_prog.h"

enum { TAG = 7, TAG_CANCELLED = 8, OPEN = 3 };

static struct order o;
static MPI_Request in[OPEN], again;
static double inbox[OPEN];
static int ignores; /* statuses of MPI_Waitall */

static int before(void)
{
	return (o.rank + o.size - 1) % o.size;
}

static int behind(void)
{
	return (o.rank + 1) % o.size;
}

/* Adds to the hash whether the operation was canceled. Returns true if it was not. */
static int told(const MPI_Status *status, double value)
{
	int cancelled;

	MPI_Test_cancelled(status, &cancelled);
	order_fold(&o, (uint64_t)cancelled);
	if (!cancelled)
		o.sum += value;
	return !cancelled;
}

static void pause_some(void)
{
	for (int i = order_chance() % 40; i > 0; i--)
		order_pause();
}

static void post(void)
{
	for (int i = 0; i < OPEN; i++) {
		inbox[i] = NAN;
		MPI_Irecv(&inbox[i], 1, MPI_DOUBLE, behind(), TAG, MPI_COMM_WORLD, &in[i]);
	}
}

static int by_wait(void)
{
	MPI_Status status;
	int got = 0;

	post();
	for (int i = 0; i < OPEN; i++) {
		pause_some();
		MPI_Cancel(&in[i]);
		MPI_Wait(&in[i], &status);
		got += told(&status, inbox[i]);
	}
	return got;
}

static int by_waitall(void)
{
	MPI_Status status[OPEN];
	int got = 0;

	post();
	pause_some();
	for (int i = 0; i < OPEN; i++)
		MPI_Cancel(&in[i]);
	MPI_Waitall(OPEN, in, ignores ? MPI_STATUSES_IGNORE : status);
	for (int i = 0; i < OPEN; i++)
		if (!isnan(inbox[i])) {
			order_fold(&o, (uint64_t)i);
			o.sum += inbox[i];
			got++;
		}
	return got;
}

static int by_testsome(void)
{
	int left = OPEN, got = 0;

	post();
	pause_some();
	for (int i = OPEN - 1; i >= 0; i--)
		MPI_Cancel(&in[i]);
	while (left > 0) {
		MPI_Status status[OPEN];
		int n, index[OPEN];

		MPI_Testsome(OPEN, in, &n, index, status);
		order_fold(&o, (uint64_t)n);
		for (int i = 0; i < n; i++)
			got += told(&status[i], inbox[index[i]]);
		left -= n;
		order_pause();
	}
	return got;
}

static int by_start(void)
{
	MPI_Status status;

	MPI_Start(&again);
	pause_some();
	MPI_Cancel(&again);
	MPI_Wait(&again, &status);
	return told(&status, inbox[0]);
}

static void receive(void)
{
	double value;

	MPI_Recv(&value, 1, MPI_DOUBLE, behind(), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	o.sum += value;
}

static void send_value(void)
{
	double value = order_value(&o);

	pause_some();
	MPI_Send(&value, 1, MPI_DOUBLE, before(), TAG, MPI_COMM_WORLD);
}

/* MPI may return that it was too late to cancel; cancel_preload.c does not. */
static void cancel_send(void)
{
	double value = order_value(&o), got;
	MPI_Request request;
	MPI_Status status;

	MPI_Irecv(&got, 1, MPI_DOUBLE, behind(), TAG_CANCELLED, MPI_COMM_WORLD, &in[0]);
	MPI_Issend(&value, 1, MPI_DOUBLE, before(), TAG_CANCELLED, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	if (!told(&status, value)) {
		value += 1;
		MPI_Send(&value, 1, MPI_DOUBLE, before(), TAG_CANCELLED, MPI_COMM_WORLD);
	}
	MPI_Wait(&in[0], MPI_STATUS_IGNORE);
	o.sum += got;
}

int main(int argc, char **argv)
{
	static int (*const ways[])(void) = { by_wait, by_waitall, by_testsome, by_start };

	int due = 0; /* a negative number: messages of later steps have arrived */

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	ignores = argc > 3;
	MPI_Recv_init(&inbox[0], 1, MPI_DOUBLE, behind(), TAG, MPI_COMM_WORLD, &again);
	for (int step = 0; step < o.steps; step++) {
		send_value();
		due += 1 - ways[step % 4]();
		for (; due > 0; due--)
			receive();
		if (step % 5 == 0)
			cancel_send();
	}
	MPI_Request_free(&again);
	return order_end(&o);
}
