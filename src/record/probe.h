/*
 * probe.h - calls of the Probe family, shared by record and replay. `m` is NULL except in the
 * functions that return the message (Mprobe, Improbe).
 */
#ifndef RN_RECORD_PROBE_H
#define RN_RECORD_PROBE_H

#include "record/post_order.h"

static inline int rn_real_probe(int source, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *s)
{
	return m ? rn_real.MPI_Mprobe(source, tag, comm, m, s)
		 : rn_real.MPI_Probe(source, tag, comm, s);
}

static inline int rn_real_probe_once(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,
				     MPI_Status *s)
{
	return m ? rn_real.MPI_Improbe(source, tag, comm, flag, m, s)
		 : rn_real.MPI_Iprobe(source, tag, comm, flag, s);
}

static inline bool rn_probe_begin(struct rn_order_call *c, int source, int tag, MPI_Comm comm)
{
	bool known = rn_order_call(c, RN_ORDER_PROBE, comm);

	c->source = source;
	c->tag = tag;
	return known;
}

/* Probes once. With several threads, a probe that finds a message is a turn. */
static inline int rn_probe_in_turn(const struct rn_order_call *c, int source, int tag,
				   MPI_Comm comm, int *flag, MPI_Message *m, MPI_Status *s)
{
	int rc;

	if (!rn_turns)
		return rn_real_probe_once(source, tag, comm, flag, m, s);
	RN_TURN(turn, c, RN_PLAN_RECEIVES);
	rc = rn_real_probe_once(source, tag, comm, flag, m, s);
	turn.had = rc == MPI_SUCCESS && *flag;
	return rc;
}

/* Defines the hooks of the four functions, which call `probe` and `probe_once`. */
#define RN_PROBES(probe, probe_once)                                                              \
	static int hook_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)             \
	{                                                                                         \
		return probe(source, tag, comm, NULL, status);                                    \
	}                                                                                         \
                                                                                                  \
	static int hook_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *m,                \
			       MPI_Status *status)                                                \
	{                                                                                         \
		return probe(source, tag, comm, m, status);                                       \
	}                                                                                         \
                                                                                                  \
	static int hook_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) \
	{                                                                                         \
		return probe_once(source, tag, comm, flag, NULL, status);                         \
	}                                                                                         \
                                                                                                  \
	static int hook_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *m,    \
				MPI_Status *status)                                               \
	{                                                                                         \
		return probe_once(source, tag, comm, flag, m, status);                            \
	}

#define RN_HOOK_PROBES()                                             \
	do {                                                         \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Probe, hook_Probe);     \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Mprobe, hook_Mprobe);   \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Iprobe, hook_Iprobe);   \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Improbe, hook_Improbe); \
	} while (0)

#endif
