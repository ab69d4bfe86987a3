/*
 * replay_poll.c - enforces the recorded outcomes of MPI_Parrived and MPI_Win_test.
 *
 * A call that returned true is repeated until it returns true again. A call that returned false is
 * not passed to MPI.
 */
#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

/* A call of one of the functions, with its arguments. */
struct question {
	int (*ask)(const struct question *q, int *flag);
	MPI_Request request;
	int partition;
	MPI_Win win;
};

/* Repeats the call until its flag is true. Returns false if the thread was released. */
static bool ask_until(const struct rn_order_call *c, const struct question *q, int *flag, int *rc)
{
	struct rn_patience patience = { 0 };

	while ((*rc = q->ask(q, flag)) == MPI_SUCCESS && !*flag)
		if (rn_replay_wait(&patience, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING))
			return false;
	return true;
}

static int ask(const struct question *q, int *flag)
{
	const struct rn_order_row *row;
	const struct rn_order_done *done;
	enum rn_fate fate = RN_FATE_FREE;
	struct rn_order_call c;
	int rc;

	if (rn_order_call(&c, RN_ORDER_TEST, MPI_COMM_NULL) && c.o->replay)
		fate = rn_replay_next(&c, true, &row, &done);
	if (fate == RN_FATE_DONE && ask_until(&c, q, flag, &rc))
		return rc;
	if (fate != RN_FATE_FAIL)
		return q->ask(q, flag);
	rn_replay_progress();
	*flag = 0;
	return MPI_SUCCESS;
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

void rn_replay_hook_polls(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Win_test, hook_Win_test);
#if MPI_VERSION >= 4
	RN_HOOK(RN_LINK_OUTCOME, MPI_Parrived, hook_Parrived);
#endif
}
