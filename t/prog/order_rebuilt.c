/*
 * order_rebuilt.c - a program that can be changed after it was recorded, as by a new build.
 *
 *	order_rebuilt [CALL]      on 4 ranks
 *
 * In each step ranks 1 to 3 send messages with the tags FIRST to LAST to rank 0, one rank after the
 * other. Rank 0 receives those with tag FIRST by CALL, from MPI_ANY_SOURCE, and the others in fixed
 * ways. The environment variable CHANGE names the difference in the second step, or in the number
 * of steps. Only two of the changed programs hang: those that send one message less (send-fewer) or
 * to another rank (send-other).
 *
 * A message contains the sender's rank, the tag and the number of the communicator. The receiver
 * compares them and the status with its arguments, and prints "unasked" if they differ.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST = 1, SECOND, THIRD, LAST, EXTRA, TOKEN, RANKS = 4, SENDERS = RANKS - 1, STEPS = 3 };

/* A message consists of one or two of these elements. */
struct message {
	int source, tag, comm;
	int unused;
};

/* The arguments of a receive. */
struct query {
	int source, tag;
};

static int rank, unasked;
static MPI_Comm comms[2]; /* the communicator in use, and another one */
static int use;           /* index of the communicator in use */

static bool changed; /* this step contains the change */

static bool is(const char *change)
{
	const char *name = getenv("CHANGE");

	return changed && name && strcmp(name, change) == 0;
}

enum { INTS = sizeof(struct message) / sizeof(int), ROOM = 2 * INTS };

static void verify(const struct query *q, const struct message *m, const MPI_Status *s)
{
	if ((q->source == MPI_ANY_SOURCE || q->source == s->MPI_SOURCE) &&
	    (q->tag == MPI_ANY_TAG || q->tag == s->MPI_TAG) && m->source == s->MPI_SOURCE &&
	    m->tag == s->MPI_TAG && m->comm == use)
		return;
	printf("unasked: wanted source %d, tag %d; got source %d, tag %d, with %d %d %d in it\n",
	       q->source, q->tag, s->MPI_SOURCE, s->MPI_TAG, m->source, m->tag, m->comm);
	fflush(stdout);
	unasked++;
}

/* ---- ways to receive one message ---- */

static void by_recv(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Recv(m, ROOM, MPI_INT, q->source, q->tag, comms[use], s);
}

static void post(const struct query *q, struct message *m, MPI_Request *r)
{
	MPI_Irecv(m, ROOM, MPI_INT, q->source, q->tag, comms[use], r);
}

static void by_wait(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Request r;

	post(q, m, &r);
	MPI_Wait(&r, s);
}

static void by_test(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Request r;
	int done = 0;

	for (post(q, m, &r); !done;)
		MPI_Test(&r, &done, s);
}

static void by_waitany(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Request r;
	int index;

	post(q, m, &r);
	MPI_Waitany(1, &r, &index, s);
}

static void by_testsome(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Request r;
	int n = 0, index;

	for (post(q, m, &r); n == 0;)
		MPI_Testsome(1, &r, &n, &index, s);
}

static void by_start(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Request r;

	MPI_Recv_init(m, ROOM, MPI_INT, q->source, q->tag, comms[use], &r);
	MPI_Start(&r);
	MPI_Wait(&r, s);
	MPI_Request_free(&r);
}

static void by_sendrecv(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, m, ROOM, MPI_INT, q->source, q->tag,
		     comms[use], s);
}

static void take(struct message *m, MPI_Status *s)
{
	MPI_Recv(m, ROOM, MPI_INT, s->MPI_SOURCE, s->MPI_TAG, comms[use], s);
}

static void by_probe(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Probe(q->source, q->tag, comms[use], s);
	take(m, s);
}

static void by_iprobe(const struct query *q, struct message *m, MPI_Status *s)
{
	int there = 0;

	while (!there)
		MPI_Iprobe(q->source, q->tag, comms[use], &there, s);
	take(m, s);
}

static void by_mprobe(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Message found;

	MPI_Mprobe(q->source, q->tag, comms[use], &found, s);
	MPI_Mrecv(m, ROOM, MPI_INT, &found, s);
}

static void by_improbe(const struct query *q, struct message *m, MPI_Status *s)
{
	MPI_Message found;
	int there = 0;

	while (!there)
		MPI_Improbe(q->source, q->tag, comms[use], &there, &found, s);
	MPI_Mrecv(m, ROOM, MPI_INT, &found, s);
}

static const struct {
	const char *name;
	void (*receive)(const struct query *q, struct message *m, MPI_Status *s);
} calls[] = {
	{ "recv", by_recv },         { "wait", by_wait },         { "test", by_test },
	{ "waitany", by_waitany },   { "testsome", by_testsome }, { "start", by_start },
	{ "sendrecv", by_sendrecv }, { "probe", by_probe },       { "iprobe", by_iprobe },
	{ "mprobe", by_mprobe },     { "improbe", by_improbe },
};

static size_t call;

static void receive_by(size_t which, int source, int tag)
{
	const struct query q = { source, tag };
	struct message m[2] = { { 0 } };
	MPI_Status s;

	calls[which].receive(&q, m, &s);
	verify(&q, m, &s);
}

static size_t find_call(const char *name)
{
	size_t i = sizeof(calls) / sizeof(*calls);

	while (i-- > 1)
		if (strcmp(calls[i].name, name) == 0)
			break;
	return i;
}

/* ---- rank 0 ---- */

static void receive_first(void)
{
	int n = SENDERS + is("receive-more") - is("receive-fewer");

	for (int i = 0; i < n; i++)
		if (is("source"))
			receive_by(call, RANKS - 1 - i, MPI_ANY_TAG);
		else
			receive_by(call, MPI_ANY_SOURCE, is("tag") ? SECOND : FIRST);
	for (int i = 0; i < SENDERS && is("tag"); i++)
		receive_by(call, MPI_ANY_SOURCE, FIRST);
}

/* Two receives that are open at the same time, for different tags. */
static void receive_two(int tag, int other)
{
	struct query q[2] = { { MPI_ANY_SOURCE, tag }, { MPI_ANY_SOURCE, other } };
	struct message m[2][2];
	MPI_Request r[2];
	MPI_Status s;
	int index;

	post(&q[0], m[0], &r[0]);
	post(&q[1], m[1], &r[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Waitany(2, r, &index, &s);
		verify(&q[index], m[index], &s);
	}
}

static void look(void)
{
	MPI_Status s;

	MPI_Probe(MPI_ANY_SOURCE, LAST, comms[use], &s);
}

static void receive_last(bool probe, bool test)
{
	const struct query q = { MPI_ANY_SOURCE, LAST };
	struct message m[2];
	MPI_Request r;
	MPI_Status s;
	int done = 0;

	if (probe)
		look();
	post(&q, m, &r);
	while (test && !done)
		MPI_Test(&r, &done, &s);
	if (!done)
		MPI_Wait(&r, &s);
	verify(&q, m, &s);
}

static void collect(void)
{
	bool tags = is("tag"), swaps = is("posts");

	receive_first();
	for (int i = 0; i < SENDERS && !is("source") && !tags; i++)
		receive_two(swaps ? THIRD : SECOND, swaps ? SECOND : THIRD);
	for (int i = 0; i < SENDERS && (is("source") || tags); i++)
		receive_by(0, MPI_ANY_SOURCE, THIRD);
	for (int i = 0; i < SENDERS && is("source"); i++)
		receive_by(0, MPI_ANY_SOURCE, MPI_ANY_TAG);
	if (is("probe-more"))
		look();
	for (int i = 0; i < SENDERS; i++)
		receive_last(i == 0 && !is("probe-fewer"),
			     i == 0 ? !is("test-fewer") : is("test-more"));
}

/* ---- the other ranks ---- */

static void send_to(int dest, int tag)
{
	struct message m[2] = { { rank, tag, use, 0 } };

	MPI_Send(m, is("count") ? ROOM : INTS, MPI_INT, dest, tag, comms[use]);
}

static void send_all(void)
{
	bool mine = rank == 1;

	for (int tag = FIRST; tag <= LAST; tag++) {
		if (mine && tag == THIRD && is("send-fewer"))
			continue;
		send_to(mine && tag == THIRD && is("send-other") ? 2 : 0, tag);
	}
	if (mine && is("send-more"))
		send_to(0, EXTRA);
	if (mine && is("receive-more"))
		send_to(0, FIRST);
}

/* The ranks send one after the other; `branch` reverses their order. */
static void take_turn(void)
{
	int turn = is("branch") ? RANKS - rank : rank;
	int step = is("branch") ? -1 : 1;

	if (turn > 1)
		MPI_Recv(NULL, 0, MPI_INT, rank - step, TOKEN, comms[use], MPI_STATUS_IGNORE);
	send_all();
	if (turn < SENDERS)
		MPI_Send(NULL, 0, MPI_INT, rank + step, TOKEN, comms[use]);
}

/* ---- */

/* Rank 0 computes for DELAY seconds, without MPI. */
static void compute(void)
{
	const char *delay = getenv("DELAY");
	time_t end = time(NULL) + (delay ? atoi(delay) : 0);

	while (rank == 0 && changed && time(NULL) < end)
		;
}

static void do_step(void)
{
	use = is("communicator");
	compute();
	if (rank == 0)
		collect();
	else
		take_turn();
	use = 0;
	if (!is("collective-fewer"))
		MPI_Barrier(comms[0]);
	if (is("collective-more"))
		MPI_Barrier(comms[0]);
}

static int steps(void)
{
	changed = true;
	return STEPS + is("steps-more") - 2 * is("steps-fewer");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	call = find_call(argc > 1 ? argv[1] : "recv");
	for (int i = 0, n = steps(); i < n; i++) {
		changed = i == 1;
		do_step();
	}
	if (rank == 0)
		printf("done: %d unasked\n", unasked);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
