/*
 * order_collectives.c - Non-blocking collectives that are completed together with receives.
 *
 *	order_collectives [STEPS [SEED]]
 *
 * The program alternates between MPI_Ibarrier, MPI_Iallreduce and MPI_Ibcast, together with
 * receives from MPI_ANY_SOURCE. To complete them, it alternates between MPI_Testany, MPI_Testall,
 * and MPI_Request_get_status with MPI_Testsome. The reduced and broadcast values are hashes, so
 * that each rank depends on the message order of other ranks. They are integers, so that the order
 * of reduction has no effect.
 */
#include "order_prog.h"

enum { EACH = 2, MOST = 4 * EACH, TAGS = 1000 };

static struct order o;
static int total;
static MPI_Request request[1 + MOST], out[MOST]; /* the collective is the first element */
static double inbox[1 + MOST], outbox[MOST];
static uint64_t given, got;

/* Early messages of the next step have another tag. */
static void post(int step)
{
	for (int i = 1; i <= total; i++)
		MPI_Irecv(&inbox[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, step % TAGS, MPI_COMM_WORLD,
			  &request[i]);
}

static void send_all(int step)
{
	for (int i = 0; i < total; i++) {
		outbox[i] = order_value(&o);
		order_delay();
		MPI_Isend(&outbox[i], 1, MPI_DOUBLE, order_receiver(&o, i % o.partners),
			  step % TAGS, MPI_COMM_WORLD, &out[i]);
	}
}

static void start_collective(int kind, int root)
{
	given = o.hash;
	got = 0;
	if (kind == 0)
		MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
	else if (kind == 1)
		MPI_Iallreduce(&given, &got, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request[0]);
	else
		MPI_Ibcast(o.rank == root ? &given : &got, 1, MPI_UINT64_T, root, MPI_COMM_WORLD,
			   &request[0]);
}

/* The status of a collective has no defined fields. */
static void take(int i, const MPI_Status *status)
{
	order_fold(&o, (uint64_t)i);
	if (i == 0)
		order_fold(&o, got);
	else
		order_saw(&o, i, status, inbox[i]);
}

static void with_testany(void)
{
	MPI_Status status;
	int i, flag;

	for (int n = 0; n < 1 + total; n += flag) {
		MPI_Testany(1 + total, request, &i, &flag, &status);
		order_fold(&o, (uint64_t)flag);
		if (flag)
			take(i, &status);
		else
			order_pause();
	}
}

static void with_testall(void)
{
	MPI_Status status[1 + MOST];
	int flag;

	for (;;) {
		MPI_Testall(1 + total, request, &flag, status);
		order_fold(&o, (uint64_t)flag);
		if (flag)
			break;
		order_pause();
	}
	for (int i = 0; i <= total; i++)
		take(i, &status[i]);
}

static int look_at_collective(void)
{
	MPI_Status status;
	int flag;

	MPI_Request_get_status(request[0], &flag, &status);
	order_fold(&o, (uint64_t)flag);
	if (flag) {
		MPI_Wait(&request[0], &status);
		take(0, &status);
	}
	return flag;
}

static int look_at_receives(void)
{
	MPI_Status status[MOST];
	int n, index[MOST];

	MPI_Testsome(total, request + 1, &n, index, status);
	order_fold(&o, (uint64_t)n);
	for (int i = 0; i < n; i++)
		take(1 + index[i], &status[i]);
	return n;
}

static void with_get_status(void)
{
	for (int n = 0, synced = 0; n < total || !synced; order_pause()) {
		if (!synced)
			synced = look_at_collective();
		if (n < total)
			n += look_at_receives();
	}
}

int main(int argc, char **argv)
{
	static void (*const complete[])(void) = { with_testany, with_testall, with_get_status };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 60);
	total = o.partners * EACH;
	for (int step = 0; step < o.steps; step++) {
		post(step);
		send_all(step);
		start_collective(step % 3, step % o.size);
		complete[step / 3 % 3]();
		MPI_Waitall(total, out, MPI_STATUSES_IGNORE);
	}
	return order_end(&o);
}
