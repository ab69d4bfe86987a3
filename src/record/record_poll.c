/*
 * record_poll.c - records the outcomes of MPI_Parrived and MPI_Win_test.
 */
#include "record/record.h"
#include "record/record_start.h"

int rn_record_poll(int rc, const int *flag)
{
	const struct rn_order_done yes = { .late = RN_ORDER_NOT };
	struct rn_order_call c;

	if (rc != MPI_SUCCESS)
		return rc;
	if (!rn_order_call(&c, RN_ORDER_TEST, MPI_COMM_NULL))
		rn_stream_lost(rn_me);
	else if (*flag)
		rn_record_completions(&c, &yes, 1);
	else
		rn_record_failed_poll(&c);
	return rc;
}

static int hook_Win_test(MPI_Win win, int *flag)
{
	int rc = rn_real.MPI_Win_test(win, flag);

	return rn_record_poll(rc, flag);
}

#if MPI_VERSION >= 4
static int hook_Parrived(MPI_Request request, int partition, int *flag)
{
	int rc = rn_real.MPI_Parrived(request, partition, flag);

	return request == MPI_REQUEST_NULL ? rc : rn_record_poll(rc, flag);
}
#endif

void rn_record_hook_polls(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Win_test, hook_Win_test);
#if MPI_VERSION >= 4
	RN_HOOK(RN_LINK_OUTCOME, MPI_Parrived, hook_Parrived);
#endif
}
