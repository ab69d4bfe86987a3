/*
 * order_probe.c - hooks for what looks for messages.
 *
 * In a replay a probe looks for the message that it saw, until that is there; one that saw none
 * does not look. Where threads take turns (order_turn.h), finding something is one.
 */
#include "intercept/order.h"

#include "intercept/order_turn.h"
#include "intercept/replay.h"

#include <sched.h>

/* Looks once. */
typedef int look_fn(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m, MPI_Status *s);

static int look(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m, MPI_Status *s)
{
	(void)m;
	return rn_real.MPI_Iprobe(source, tag, comm, flag, s);
}

static int look_and_take(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,
			 MPI_Status *s)
{
	return rn_real.MPI_Improbe(source, tag, comm, flag, m, s);
}

static int look_in_turn(const struct rn_order_call *c, int source, int tag, MPI_Comm comm,
			look_fn *fn, int *flag, MPI_Message *m, MPI_Status *s)
{
	struct rn_turn turn;
	int rc;

	if (!rn_turns)
		return fn(source, tag, comm, flag, m, s);
	rn_turn_begin(&turn, c, RN_PLAN_RECEIVES);
	rc = fn(source, tag, comm, flag, m, s);
	rn_turn_end(&turn, rc == MPI_SUCCESS && *flag);
	return rc;
}

/* Until it is there; false: the record counts no more. */
static bool await(const struct rn_order_call *c, int source, int tag, MPI_Comm comm, look_fn *fn,
		  MPI_Message *m, MPI_Status *s, int *rc)
{
	struct rn_patience patience = { 0 };
	int flag = 0;

	if (c->o->replay && !rn_replay_reaches(c, comm, source))
		return false;
	for (;;) {
		*rc = look_in_turn(c, source, tag, comm, fn, &flag, m, s);
		if (*rc != MPI_SUCCESS || flag)
			return true;
		if (!c->o->replay)
			sched_yield();
		else if (rn_replay_wait(&patience, c, source, tag))
			return false;
	}
}

static void saw(const struct rn_order_call *c, const MPI_Status *s)
{
	const struct rn_order_done d = { .late = RN_ORDER_NOT,
					 .source = s->MPI_SOURCE,
					 .tag = s->MPI_TAG,
					 .flags = RN_ORDER_MATCHED };

	if (rn_order_mode == RN_ORDER_RECORDS)
		rn_order_came_out(c, &d, 1);
}

static bool begin(struct rn_order_call *c, int source, int tag, MPI_Comm comm)
{
	if (!rn_order_call(c, RN_ORDER_PROBE, comm))
		return false;
	c->source = source;
	c->tag = tag;
	return true;
}

/* ---- those that wait ---- */

static int probe(int source, int tag, MPI_Comm comm, look_fn *fn, MPI_Message *m,
		 MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
	const struct rn_order_done *d;
	const struct rn_order_row *row;
	struct rn_order_call c;
	bool wild = rn_order_is_wild(source, tag), in_turn = rn_turns && source != MPI_PROC_NULL;
	bool ours = (wild || in_turn) && begin(&c, source, tag, comm);
	int rc;

	if (ours && wild && c.o->replay && rn_replay_next(&c, false, &row, &d) == RN_FATE_DONE &&
	    await(&c, d->source, d->tag, comm, fn, m, s, &rc))
		return rc;
	if (!ours || !in_turn || !await(&c, source, tag, comm, fn, m, s, &rc))
		rc = m ? rn_real.MPI_Mprobe(source, tag, comm, m, s)
		       : rn_real.MPI_Probe(source, tag, comm, s);
	if (ours && wild && rc == MPI_SUCCESS)
		saw(&c, s);
	return rc;
}

static int hook_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	return probe(source, tag, comm, look, NULL, status);
}

static int hook_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *status)
{
	return probe(source, tag, comm, look_and_take, m, status);
}

/* ---- those that look once ---- */

static int probe_once(int source, int tag, MPI_Comm comm, look_fn *fn, int *flag, MPI_Message *m,
		      MPI_Status *status)
{
	MPI_Status own, *s = status == MPI_STATUS_IGNORE ? &own : status;
	const struct rn_order_done *d;
	const struct rn_order_row *row;
	struct rn_order_call c;
	enum rn_fate fate = RN_FATE_FREE;
	int rc;

	if (source == MPI_PROC_NULL || !begin(&c, source, tag, comm))
		return fn(source, tag, comm, flag, m, status);
	if (c.o->replay)
		fate = rn_replay_next(&c, true, &row, &d);
	if (fate == RN_FATE_FAIL) {
		rn_replay_progress();
		*flag = 0;
		return MPI_SUCCESS;
	}
	if (fate == RN_FATE_DONE && await(&c, d->source, d->tag, comm, fn, m, s, &rc)) {
		*flag = 1;
		return rc;
	}
	rc = look_in_turn(&c, source, tag, comm, fn, flag, m, s);
	if (rc == MPI_SUCCESS && *flag)
		saw(&c, s);
	else if (rc == MPI_SUCCESS && rn_order_mode == RN_ORDER_RECORDS)
		rn_order_failed(&c);
	return rc;
}

static int hook_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	return probe_once(source, tag, comm, look, flag, NULL, status);
}

static int hook_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,
			MPI_Status *status)
{
	return probe_once(source, tag, comm, look_and_take, flag, m, status);
}

void rn_order_hook_probes(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Probe, hook_Probe);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Mprobe, hook_Mprobe);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Iprobe, hook_Iprobe);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Improbe, hook_Improbe);
}
