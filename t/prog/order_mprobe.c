/*
 * order_mprobe.c - Messages that are found with a matching probe for any source and tag.
 *
 *	order_mprobe [STEPS [SEED]]
 *
 * MPI_Mprobe and MPI_Improbe, with MPI_Mrecv and with MPI_Imrecv. Several of the latter are open at
 * a time and are completed with MPI_Waitany.
 */
#include "order_prog.h"

enum { EACH = 4, MOST = 4 * EACH, LONGEST = 9, TAGS = 3 };

static struct order o;
static int total;
static MPI_Request in[MOST], out[MOST];
static double inbox[MOST][LONGEST], outbox[MOST][LONGEST];

static void send_all(void)
{
	for (int i = 0; i < total; i++) {
		int length = 1 + order_below(&o, LONGEST);

		for (int k = 0; k < length; k++)
			outbox[i][k] = order_value(&o);
		order_delay();
		MPI_Isend(outbox[i], length, MPI_DOUBLE, order_receiver(&o, i % o.partners),
			  order_below(&o, TAGS), MPI_COMM_WORLD, &out[i]);
	}
}

/* Finds a message and returns its length. */
static int find(int polls, MPI_Message *message)
{
	MPI_Status status;
	int length, flag = 0;

	if (!polls)
		MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, message, &status);
	while (polls && !flag) {
		MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, message, &status);
		order_fold(&o, (uint64_t)flag);
		if (!flag)
			order_pause();
	}
	MPI_Get_count(&status, MPI_DOUBLE, &length);
	order_saw(&o, length, &status, 0);
	return length;
}

static void take(int i, const MPI_Status *status)
{
	int length;

	MPI_Get_count(status, MPI_DOUBLE, &length);
	order_saw(&o, i, status, 0);
	for (int k = 0; k < length; k++)
		o.sum += inbox[i][k];
}

/* Two of three messages are received at once, the others later. */
static void receive_all(int step)
{
	MPI_Message message;
	MPI_Status status;
	int open = 0, at;

	for (int i = 0; i < total; i++) {
		int length = find((i + step) % 2, &message);

		in[i] = MPI_REQUEST_NULL;
		if (i % 3 == 0) {
			MPI_Imrecv(inbox[i], length, MPI_DOUBLE, &message, &in[i]);
			open++;
			continue;
		}
		MPI_Mrecv(inbox[i], length, MPI_DOUBLE, &message, &status);
		take(i, &status);
	}
	for (; open > 0; open--) {
		MPI_Waitany(total, in, &at, &status);
		take(at, &status);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 40);
	total = o.partners * EACH;
	for (int step = 0; step < o.steps; step++) {
		send_all();
		receive_all(step);
		MPI_Waitall(total, out, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD); /* probes find the next step's messages, too */
	}
	return order_end(&o);
}
