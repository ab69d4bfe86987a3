/*
 * order_send.c - hooks for what sends: where threads take turns (order_turn.h), where it may be
 * cancelled (directed.h), and where the codec wants clocks (order/lamport.h): they are computed
 * from who sent what to whom, when all is over.
 *
 * Of persistent sends there are no clocks: what they send counts as not known, which costs a few
 * bytes.
 */
#include "intercept/directed.h"

#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/order_log.h"
#include "intercept/order_turn.h"
#include "intercept/replay.h"

/* A message to this rank. True if it is sent in turns, and one has begun; else it is just sent.
 * Before it is sent, so that what comes back finds it. */
static bool begin(struct rn_turn *turn, struct rn_order_call *c, int dest, int tag, MPI_Comm comm)
{
	if (!(rn_turns || rn_config.order_sends) || dest < 0 ||
	    !rn_order_call(c, RN_ORDER_WAIT, comm))
		return false;
	if (rn_config.order_sends)
		rn_order_log_send(c->t, c->comm, rn_comm_get(c->comm)->rank, dest, tag);
	if (rn_turns)
		rn_turn_begin(turn, c, RN_PLAN_SENDS);
	return rn_turns;
}

/* One that is started in its turn, and then waited for. */
#define SEND(name, as, count_type)                                                             \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm)                                         \
	{                                                                                      \
		struct rn_order_call c;                                                        \
		struct rn_turn turn;                                                           \
		MPI_Request q;                                                                 \
		int rc;                                                                        \
                                                                                               \
		if (!begin(&turn, &c, dest, tag, comm))                                        \
			return rn_real.MPI_##name(buf, count, type, dest, tag, comm);          \
		rc = rn_real.MPI_##as(buf, count, type, dest, tag, comm, &q);                  \
		rn_turn_end(&turn, true);                                                      \
		return rc == MPI_SUCCESS ? rn_real.MPI_Wait(&q, MPI_STATUS_IGNORE) : rc;       \
	}

/* `cancelled`: nothing is sent, but when it was recorded it had its turn. */
#define ISEND(name, count_type)                                                                    \
	static int start_##name(const void *buf, count_type count, MPI_Datatype type, int dest,    \
				int tag, MPI_Comm comm, MPI_Request *request, bool cancelled)      \
	{                                                                                          \
		struct rn_order_call c;                                                            \
		struct rn_turn turn;                                                               \
		bool in_turn = begin(&turn, &c, dest, tag, comm);                                  \
		int rc = cancelled                                                                 \
				 ? rn_replay_post_nowhere(request)                                 \
				 : rn_real.MPI_##name(buf, count, type, dest, tag, comm, request); \
                                                                                                   \
		if (in_turn)                                                                       \
			rn_turn_end(&turn, true);                                                  \
		return rc;                                                                         \
	}                                                                                          \
                                                                                                   \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest,     \
			       int tag, MPI_Comm comm, MPI_Request *request)                       \
	{                                                                                          \
		struct rn_directed d = rn_directed_begin(true);                                    \
		int rc = start_##name(buf, count, type, dest, tag, comm, request, d.cancelled);    \
                                                                                                   \
		return rn_directed_end(d, rc, request);                                            \
	}

/* It is started in turns. */
static void follow(const MPI_Request *request, MPI_Comm comm)
{
	struct rn_order_call c;

	if (rn_order_call(&c, RN_ORDER_WAIT, comm))
		rn_follow(request,
			  &(struct rn_followed){ .flags = RN_FOLLOWED_PERSISTENT |
							  RN_FOLLOWED_PLAIN | RN_FOLLOWED_SENDS,
						 .real = MPI_REQUEST_NULL,
						 .comm = c.comm });
}

#define SEND_INIT(name, count_type)                                                            \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm, MPI_Request *request)                   \
	{                                                                                      \
		int rc = rn_real.MPI_##name(buf, count, type, dest, tag, comm, request);       \
                                                                                               \
		if (rc == MPI_SUCCESS && dest >= 0)                                            \
			follow(request, comm);                                                 \
		return rc;                                                                     \
	}

#define ALL(suffix, count_type)                         \
	SEND(Send##suffix, Isend##suffix, count_type)   \
	SEND(Bsend##suffix, Ibsend##suffix, count_type) \
	SEND(Ssend##suffix, Issend##suffix, count_type) \
	SEND(Rsend##suffix, Irsend##suffix, count_type) \
	ISEND(Isend##suffix, count_type)                \
	ISEND(Ibsend##suffix, count_type)               \
	ISEND(Issend##suffix, count_type)               \
	ISEND(Irsend##suffix, count_type)               \
	SEND_INIT(Send_init##suffix, count_type)        \
	SEND_INIT(Bsend_init##suffix, count_type)       \
	SEND_INIT(Ssend_init##suffix, count_type)       \
	SEND_INIT(Rsend_init##suffix, count_type)

#define HOOK(suffix)                                                     \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Send##suffix, hook_Send##suffix);   \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Bsend##suffix, hook_Bsend##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Ssend##suffix, hook_Ssend##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Rsend##suffix, hook_Rsend##suffix);

#define HOOK_I(suffix)                                                     \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isend##suffix, hook_Isend##suffix);   \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Ibsend##suffix, hook_Ibsend##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Issend##suffix, hook_Issend##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Irsend##suffix, hook_Irsend##suffix);

ALL(, int)
#if MPI_VERSION >= 4
ALL(_c, MPI_Count)
#endif

#define HOOK_INIT(suffix)                                                          \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Send_init##suffix, hook_Send_init##suffix);   \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Bsend_init##suffix, hook_Bsend_init##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Ssend_init##suffix, hook_Ssend_init##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Rsend_init##suffix, hook_Rsend_init##suffix);

static void hook_sends(void)
{
	HOOK()
#if MPI_VERSION >= 4
	HOOK(_c)
#endif
}

int rn_order_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		   MPI_Comm comm, MPI_Request *q)
{
#if MPI_VERSION >= 4
	return start_Isend_c(buf, count, type, dest, tag, comm, q, false);
#else
	return start_Isend(buf, (int)count, type, dest, tag, comm, q, false);
#endif
}

void rn_order_hook_sends(void)
{
	HOOK_I()
#if MPI_VERSION >= 4
	HOOK_I(_c)
#endif
	if (rn_config.order_sends)
		hook_sends();
}

void rn_order_hook_turns(void)
{
	hook_sends();
	HOOK_INIT()
#if MPI_VERSION >= 4
	HOOK_INIT(_c)
#endif
}
