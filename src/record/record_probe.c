/*
 * record_probe.c - records the outcomes of the Probe family.
 *
 * With several threads, finding a message is a turn (post_order.h), and a blocking probe is
 * replaced by repeated nonblocking probes.
 */
#include "record/record.h"
#include "record/record_start.h"

#include "record/probe.h"

#include <sched.h>

static void record_message(const struct rn_order_call *c, const MPI_Status *s)
{
	const struct rn_order_done d = { .late = RN_ORDER_NOT,
					 .source = s->MPI_SOURCE,
					 .tag = s->MPI_TAG,
					 .flags = RN_ORDER_MATCHED };

	rn_record_completions(c, &d, 1);
}

static int probe(int source, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
	bool wild = rn_order_is_wild(source, tag), in_turn = rn_turns && source != MPI_PROC_NULL;
	struct rn_order_call c;
	int flag = 0, rc = MPI_SUCCESS;

	if (!(wild || in_turn) || !rn_probe_begin(&c, source, tag, comm))
		return rn_real_probe(source, tag, comm, m, status);
	if (!in_turn)
		rc = rn_real_probe(source, tag, comm, m, s);
	while (in_turn && rc == MPI_SUCCESS && !flag) {
		rc = rn_probe_in_turn(&c, source, tag, comm, &flag, m, s);
		if (!flag)
			sched_yield();
	}
	if (wild && rc == MPI_SUCCESS)
		record_message(&c, s);
	return rc;
}

static int probe_once(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,
		      MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
	struct rn_order_call c;
	int rc;

	if (source == MPI_PROC_NULL || !rn_probe_begin(&c, source, tag, comm))
		return rn_real_probe_once(source, tag, comm, flag, m, status);
	rc = rn_probe_in_turn(&c, source, tag, comm, flag, m, s);
	if (rc == MPI_SUCCESS && *flag)
		record_message(&c, s);
	else if (rc == MPI_SUCCESS)
		rn_record_failed_poll(&c);
	return rc;
}

RN_PROBES(probe, probe_once)

void rn_record_hook_probes(void)
{
	RN_HOOK_PROBES();
}
