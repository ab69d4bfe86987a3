/*
 * order_cancel.c - Receives that are canceled when some of them have matched a message.
 *
 *	order_cancel [STEPS [SEED]]
 *
 * There are more receives than messages. All receives are canceled while messages arrive. The
 * messages that arrive too late for a receive are received afterwards. The hash covers the results
 * of MPI_Test_cancelled. Where the status is ignored, it covers the contents of the buffer.
 */
#include "order_prog.h"

enum { OPEN = 6, TAGS = 1000, TAG_NEVER = TAGS + 1 };

static struct order o;
static MPI_Request in[OPEN], out[OPEN];
static double inbox[OPEN], outbox[OPEN];

static void post(int step)
{
	for (int i = 0; i < OPEN; i++) {
		inbox[i] = NAN;
		MPI_Irecv(&inbox[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, step % TAGS, MPI_COMM_WORLD,
			  &in[i]);
	}
}

static void send_all(int step)
{
	for (int i = 0; i < o.partners; i++) {
		outbox[i] = order_value(&o);
		order_delay();
		MPI_Isend(&outbox[i], 1, MPI_DOUBLE, order_receiver(&o, i), step % TAGS,
			  MPI_COMM_WORLD, &out[i]);
	}
}

/* Completes receive i and returns whether it matched a message. */
static int with_status(int i)
{
	MPI_Status status;
	int cancelled;

	MPI_Wait(&in[i], &status);
	MPI_Test_cancelled(&status, &cancelled);
	order_fold(&o, (uint64_t)cancelled);
	if (!cancelled)
		order_saw(&o, i, &status, inbox[i]);
	return !cancelled;
}

static int by_buffer(int i)
{
	int got = !isnan(inbox[i]);

	order_fold(&o, (uint64_t)got);
	if (got)
		o.sum += inbox[i];
	return got;
}

/* Cancels the receives one by one; a receive that is not canceled yet may still match a message. */
static int cancel_each(void)
{
	int got = 0;

	for (int i = 0; i < OPEN; i++) {
		order_pause();
		MPI_Cancel(&in[i]);
		if (i % 2) {
			got += with_status(i);
			continue;
		}
		MPI_Wait(&in[i], MPI_STATUS_IGNORE);
		got += by_buffer(i);
	}
	return got;
}

static int cancel_and_waitall(void)
{
	MPI_Status status[OPEN];
	int got = 0;

	order_pause();
	for (int i = 0; i < OPEN; i++)
		MPI_Cancel(&in[i]);
	MPI_Waitall(OPEN, in, status);
	for (int i = 0; i < OPEN; i++) {
		int cancelled;

		MPI_Test_cancelled(&status[i], &cancelled);
		order_fold(&o, (uint64_t)cancelled);
		if (!cancelled)
			order_saw(&o, i, &status[i], inbox[i]);
		got += !cancelled;
	}
	return got;
}

/* The hash excludes failed tests: the time at which a canceled receive completes is not determined.
 */
static int cancel_and_testall(void)
{
	int got = 0, done = 0;

	for (int i = OPEN - 1; i >= 0; i--) {
		order_pause();
		MPI_Cancel(&in[i]);
	}
	for (; !done; order_pause())
		MPI_Testall(OPEN, in, &done, MPI_STATUSES_IGNORE);
	for (int i = 0; i < OPEN; i++)
		got += by_buffer(i);
	return got;
}

/* Some receives are found to be complete before this and are not canceled. */
static int test_or_cancel(void)
{
	MPI_Status status;
	int got = 0;

	for (int i = 0; i < OPEN; i++) {
		int flag;

		order_pause();
		MPI_Test(&in[i], &flag, &status);
		order_fold(&o, (uint64_t)flag);
		if (flag) {
			order_saw(&o, i, &status, inbox[i]);
			got++;
			continue;
		}
		MPI_Cancel(&in[i]);
		got += with_status(i);
	}
	return got;
}

/* No message matches this receive, so its completion does not need to be observed. */
static void cancel_and_free(void)
{
	static double nothing;
	MPI_Request request;

	MPI_Irecv(&nothing, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG_NEVER, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Request_free(&request);
}

static void receive_rest(int n, int step)
{
	MPI_Status status;
	double value;

	for (; n > 0; n--) {
		MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, step % TAGS, MPI_COMM_WORLD,
			 &status);
		order_saw(&o, n, &status, value);
	}
}

int main(int argc, char **argv)
{
	static int (*const cancel[])(void) = { cancel_each, cancel_and_waitall, cancel_and_testall,
					       test_or_cancel };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	for (int step = 0; step < o.steps; step++) {
		int got;

		post(step);
		send_all(step);
		got = cancel[step % 4]();
		cancel_and_free();
		receive_rest(o.partners - got, step);
		MPI_Waitall(o.partners, out, MPI_STATUSES_IGNORE);
	}
	return order_end(&o);
}
