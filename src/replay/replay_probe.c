/*
 * replay_probe.c - enforces the recorded outcomes of the Probe family.
 *
 * A probe that found a message is repeated until that message arrives. A probe that found none is
 * not passed to MPI. With several threads, finding a message is a turn (post_order.h).
 */
#include "record/probe.h"

#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

#include <sched.h>

/* Probes until the message arrives. Returns false if the thread was released. */
static bool await(const struct rn_order_call *c, int source, int tag, MPI_Comm comm, MPI_Message *m,
		  MPI_Status *s, int *rc)
{
	struct rn_patience patience = { 0 };
	int flag = 0;

	if (c->o->replay && !rn_replay_reaches(c, comm, source))
		return false;
	for (;;) {
		*rc = rn_probe_in_turn(c, source, tag, comm, &flag, m, s);
		if (*rc != MPI_SUCCESS || flag)
			return true;
		if (!c->o->replay)
			sched_yield();
		else if (rn_replay_wait(&patience, c, source, tag))
			return false;
	}
}

static int probe(int source, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *status)
{
	bool wild = rn_order_is_wild(source, tag), in_turn = rn_turns && source != MPI_PROC_NULL;
	const struct rn_order_done *d;
	const struct rn_order_row *row;
	struct rn_order_call c;
	bool ours = (wild || in_turn) && rn_probe_begin(&c, source, tag, comm);
	int rc;

	if (ours && wild && c.o->replay && rn_replay_next(&c, false, &row, &d) == RN_FATE_DONE &&
	    await(&c, d->source, d->tag, comm, m, status, &rc))
		return rc;
	if (ours && in_turn && await(&c, source, tag, comm, m, status, &rc))
		return rc;
	return rn_real_probe(source, tag, comm, m, status);
}

static int probe_once(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,
		      MPI_Status *status)
{
	const struct rn_order_done *d;
	const struct rn_order_row *row;
	struct rn_order_call c;
	enum rn_fate fate = RN_FATE_FREE;
	int rc;

	if (source == MPI_PROC_NULL || !rn_probe_begin(&c, source, tag, comm))
		return rn_real_probe_once(source, tag, comm, flag, m, status);
	if (c.o->replay)
		fate = rn_replay_next(&c, true, &row, &d);
	if (fate == RN_FATE_FAIL) {
		rn_replay_progress();
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (fate == RN_FATE_DONE && await(&c, d->source, d->tag, comm, m, status, &rc)) {
		*flag = 1;
		return rc;
	}
	return rn_probe_in_turn(&c, source, tag, comm, flag, m, status);
}

RN_PROBES(probe, probe_once)

void rn_replay_hook_probes(void)
{
	RN_HOOK_PROBES();
}
