/*
 * order_strays.c - A program that can be made to differ from its recording.
 *
 *	order_strays STEPS SEED CALL      on 3 ranks or more
 *
 * In each step all other ranks send to rank 0, which receives from MPI_ANY_SOURCE with CALL. The
 * message of rank 1 is always the first, because the other ranks wait for a message from rank 1.
 * With STRAY in the environment, the last step differs: rank 1 probes for a message, which it did
 * not do in the recording, and sends only when rank 0 has received a message. If a replay makes
 * rank 0 wait for the message that was first in the recording, all ranks wait forever.
 */
#include "order_prog.h"

#include <stdbool.h>

enum { DATA = 1, GO, HURRY, LAST };

static struct order o;
static MPI_Request persistent;
static double value;

static void take(MPI_Status *s)
{
	MPI_Recv(&value, 1, MPI_DOUBLE, s->MPI_SOURCE, s->MPI_TAG, MPI_COMM_WORLD, s);
}

static void by_recv(MPI_Status *s)
{
	MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, s);
}

static void post(MPI_Request *q)
{
	MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, q);
}

static void by_wait(MPI_Status *s)
{
	MPI_Request q;

	post(&q);
	MPI_Wait(&q, s);
}

static void by_test(MPI_Status *s)
{
	MPI_Request q;
	int done = 0;

	for (post(&q); !done; order_pause())
		MPI_Test(&q, &done, s);
}

static void by_waitany(MPI_Status *s)
{
	MPI_Request q;
	int index;

	post(&q);
	MPI_Waitany(1, &q, &index, s);
}

static void by_testsome(MPI_Status *s)
{
	MPI_Request q;
	int n = 0, index;

	for (post(&q); n == 0; order_pause())
		MPI_Testsome(1, &q, &n, &index, s);
}

static void by_probe(MPI_Status *s)
{
	MPI_Probe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, s);
	take(s);
}

static void by_iprobe(MPI_Status *s)
{
	int there = 0;

	for (; !there; order_pause())
		MPI_Iprobe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &there, s);
	take(s);
}

static void by_mprobe(MPI_Status *s)
{
	MPI_Message m;

	MPI_Mprobe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &m, s);
	MPI_Mrecv(&value, 1, MPI_DOUBLE, &m, s);
}

static void by_start(MPI_Status *s)
{
	MPI_Start(&persistent);
	MPI_Wait(&persistent, s);
}

static const struct {
	const char *name;
	void (*receive)(MPI_Status *);
} calls[] = {
	{ "recv", by_recv },         { "wait", by_wait },     { "test", by_test },
	{ "waitany", by_waitany },   { "probe", by_probe },   { "iprobe", by_iprobe },
	{ "testsome", by_testsome }, { "mprobe", by_mprobe }, { "start", by_start },
};

static void collect(void (*receive)(MPI_Status *), bool stray)
{
	MPI_Status s;

	for (int i = 1; i < o.size; i++) {
		receive(&s);
		order_saw(&o, i, &s, value);
		if (stray && i == 1)
			MPI_Send(NULL, 0, MPI_BYTE, 1, HURRY, MPI_COMM_WORLD);
	}
}

static void lead(bool stray)
{
	MPI_Status s;

	if (stray) {
		MPI_Probe(MPI_ANY_SOURCE, HURRY, MPI_COMM_WORLD, &s);
		MPI_Recv(NULL, 0, MPI_BYTE, 0, HURRY, MPI_COMM_WORLD, &s);
	}
	value = order_value(&o);
	MPI_Send(&value, 1, MPI_DOUBLE, 0, DATA, MPI_COMM_WORLD);
	for (int i = 2; i < o.size && !stray; i++)
		MPI_Send(NULL, 0, MPI_BYTE, i, GO, MPI_COMM_WORLD);
}

static void come_along(bool stray)
{
	if (!stray)
		MPI_Recv(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	order_delay();
	value = order_value(&o);
	MPI_Send(&value, 1, MPI_DOUBLE, 0, DATA, MPI_COMM_WORLD);
}

/* A recorded outcome of rank 1. */
static void say_farewell(void)
{
	MPI_Request q;
	int index;

	if (o.rank == 0)
		MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
	if (o.rank != 1)
		return;
	MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, LAST, MPI_COMM_WORLD, &q);
	MPI_Waitany(1, &q, &index, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	size_t call = 0;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 5);
	for (size_t i = 0; argc > 3 && i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, argv[3]) == 0)
			call = i;
	MPI_Recv_init(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &persistent);
	for (int step = 0; step < o.steps; step++) {
		bool stray = getenv("STRAY") && step == o.steps - 1;

		if (o.rank == 0)
			collect(calls[call].receive, stray);
		else
			o.rank == 1 ? lead(stray) : come_along(stray);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	say_farewell();
	MPI_Request_free(&persistent);
	return order_end(&o);
}
