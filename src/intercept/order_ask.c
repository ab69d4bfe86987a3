/*
 * order_ask.c - hooks for what asks whether something has come, of things that are not requests or
 * not as a whole: parts of messages, epochs of windows.
 *
 * In a replay one that was true asks until it is again, and one that was not does not ask.
 */
#include "intercept/order.h"

#include "intercept/replay.h"

/* What is asked for, and how. */
struct question {
	int (*ask)(const struct question *q, int *flag);
	MPI_Request request;
	int partition;
	MPI_Win win;
};

/* False: the record counts no more. */
static bool ask_until(const struct rn_order_call *c, const struct question *q, int *flag, int *rc)
{
	struct rn_patience patience = { 0 };

	while ((*rc = q->ask(q, flag)) == MPI_SUCCESS && !*flag)
		if (rn_replay_wait(&patience, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING))
			return false;
	return true;
}

static void record(const struct rn_order_call *c, int flag)
{
	const struct rn_order_done yes = { .late = RN_ORDER_NOT };

	if (flag)
		rn_order_came_out(c, &yes, 1);
	else
		rn_order_failed(c);
}

static int ask(const struct question *q, int *flag)
{
	const struct rn_order_row *row;
	const struct rn_order_done *done;
	enum rn_fate fate = RN_FATE_FREE;
	struct rn_order_call c;
	int rc;

	if (!rn_order_call(&c, RN_ORDER_TEST, MPI_COMM_NULL))
		return q->ask(q, flag);
	if (c.o->replay)
		fate = rn_replay_next(&c, true, &row, &done);
	if (fate == RN_FATE_DONE && ask_until(&c, q, flag, &rc))
		return rc;
	if (fate == RN_FATE_FAIL) {
		rn_replay_progress();
		*flag = 0;
		return MPI_SUCCESS;
	}
	rc = q->ask(q, flag);
	if (rc == MPI_SUCCESS && rn_order_mode == RN_ORDER_RECORDS)
		record(&c, *flag);
	return rc;
}

static int win_test(const struct question *q, int *flag)
{
	return rn_real.MPI_Win_test(q->win, flag);
}

static int hook_Win_test(MPI_Win win, int *flag)
{
	return ask(&(struct question){ .ask = win_test, .win = win }, flag);
}

#if MPI_VERSION >= 4
static int parrived(const struct question *q, int *flag)
{
	return rn_real.MPI_Parrived(q->request, q->partition, flag);
}

static int hook_Parrived(MPI_Request request, int partition, int *flag)
{
	const struct question q = { .ask = parrived, .request = request, .partition = partition };

	return request == MPI_REQUEST_NULL ? parrived(&q, flag) : ask(&q, flag);
}
#endif

void rn_order_hook_asks(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Win_test, hook_Win_test);
#if MPI_VERSION >= 4
	RN_HOOK(RN_LINK_OUTCOME, MPI_Parrived, hook_Parrived);
#endif
}
