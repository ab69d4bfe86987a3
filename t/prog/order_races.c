/*
 * order_races.c - Receives that compete for messages.
 *
 *	order_races [STEPS [SEED]]
 *
 * Each rank gets messages with three tags from several partners. It has receives open for any
 * source with one tag, for one source with any tag, and for any source and tag. Which receive
 * matches which message depends on the order of arrival. The program completes them with
 * MPI_Waitany, MPI_Waitsome, MPI_Testany and MPI_Wait in turn.
 *
 * All receives complete in any order: a message matches the first matching receive in posting
 * order, and the more specific receives are posted first. There are more messages with TAG than
 * receives for it. The one partner that is named sends 4 messages, of which those receives match at
 * most 2.
 */
#include "order_prog.h"

enum { EACH = 4, TAG = 1, NAMED = 2, MOST = 4 * EACH };

static const int tags[EACH] = { TAG, 2, TAG, 3 };

static struct order o;
static int total;
static MPI_Request in[MOST], out[MOST];
static double inbox[MOST], outbox[MOST];

static void post(void)
{
	int any_source = o.partners, partner = (o.rank + 1) % o.size;

	for (int i = 0; i < total; i++) {
		int named = i >= any_source && i < any_source + NAMED;

		MPI_Irecv(&inbox[i], 1, MPI_DOUBLE, named ? partner : MPI_ANY_SOURCE,
			  i < any_source ? TAG : MPI_ANY_TAG, MPI_COMM_WORLD, &in[i]);
	}
}

/* Sends one message to each partner, then the next one to each. */
static void send_all(void)
{
	for (int i = 0; i < total; i++) {
		outbox[i] = order_value(&o);
		order_delay();
		MPI_Isend(&outbox[i], 1, MPI_DOUBLE, order_receiver(&o, i % o.partners),
			  tags[i / o.partners], MPI_COMM_WORLD, &out[i]);
	}
}

static void with_waitany(void)
{
	MPI_Status status;
	int i;

	for (int n = 0; n < total; n++) {
		MPI_Waitany(total, in, &i, &status);
		order_saw(&o, i, &status, inbox[i]);
	}
}

static void with_waitsome(void)
{
	MPI_Status status[MOST];
	int done, index[MOST];

	for (int n = 0; n < total; n += done) {
		MPI_Waitsome(total, in, &done, index, status);
		order_fold(&o, (uint64_t)done);
		for (int i = 0; i < done; i++)
			order_saw(&o, index[i], &status[i], inbox[index[i]]);
		order_delay();
	}
}

static void with_testany(void)
{
	MPI_Status status;
	int i, flag;

	for (int n = 0; n < total; n += flag) {
		MPI_Testany(total, in, &i, &flag, &status);
		order_fold(&o, (uint64_t)flag);
		if (flag)
			order_saw(&o, i, &status, inbox[i]);
		else
			order_pause();
	}
}

/* Completes the receives in another order than that of posting. */
static void with_wait(void)
{
	MPI_Status status;

	for (int i = total - 1; i >= 0; i--) {
		MPI_Wait(&in[i], &status);
		order_saw(&o, i, &status, inbox[i]);
	}
}

int main(int argc, char **argv)
{
	static void (*const complete[])(void) = { with_waitany, with_waitsome, with_testany,
						  with_wait };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 40);
	total = o.partners * EACH;
	for (int step = 0; step < o.steps; step++) {
		/* In half of the steps, the receives are posted before the messages arrive. */
		if (step / 4 % 2) {
			post();
			send_all();
		} else {
			send_all();
			post();
		}
		complete[step % 4]();
		MPI_Waitall(total, out, MPI_STATUSES_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD); /* receives match the next step's messages, too */
	}
	return order_end(&o);
}
