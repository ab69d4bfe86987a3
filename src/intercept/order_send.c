/*
 * order_send.c - hooks for what sends, where the codec wants clocks (order/lamport.h): they are
 * computed from who sent what to whom, when all is over.
 *
 * Persistent sends are not among them: what they send counts as not known, which costs a few bytes.
 */
#include "intercept/order.h"

#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/order_log.h"

/* Before it is sent, so that what comes back finds it. */
static void sends(int dest, int tag, MPI_Comm comm)
{
	struct rn_order_call c;

	if (dest >= 0 && rn_order_call(&c, RN_ORDER_WAIT, comm))
		rn_order_log_send(c.t, c.comm, rn_comm_get(c.comm)->rank, dest, tag);
}

#define SEND(name, count_type)                                                                 \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm)                                         \
	{                                                                                      \
		sends(dest, tag, comm);                                                        \
		return rn_real.MPI_##name(buf, count, type, dest, tag, comm);                  \
	}

#define ISEND(name, count_type)                                                                \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm, MPI_Request *request)                   \
	{                                                                                      \
		sends(dest, tag, comm);                                                        \
		return rn_real.MPI_##name(buf, count, type, dest, tag, comm, request);         \
	}

#define ALL(suffix, count_type)           \
	SEND(Send##suffix, count_type)    \
	SEND(Bsend##suffix, count_type)   \
	SEND(Ssend##suffix, count_type)   \
	SEND(Rsend##suffix, count_type)   \
	ISEND(Isend##suffix, count_type)  \
	ISEND(Ibsend##suffix, count_type) \
	ISEND(Issend##suffix, count_type) \
	ISEND(Irsend##suffix, count_type)

#define HOOK(suffix)                                      \
	rn_next.MPI_Send##suffix = hook_Send##suffix;     \
	rn_next.MPI_Bsend##suffix = hook_Bsend##suffix;   \
	rn_next.MPI_Ssend##suffix = hook_Ssend##suffix;   \
	rn_next.MPI_Rsend##suffix = hook_Rsend##suffix;   \
	rn_next.MPI_Isend##suffix = hook_Isend##suffix;   \
	rn_next.MPI_Ibsend##suffix = hook_Ibsend##suffix; \
	rn_next.MPI_Issend##suffix = hook_Issend##suffix; \
	rn_next.MPI_Irsend##suffix = hook_Irsend##suffix;

ALL(, int)
#if MPI_VERSION >= 4
ALL(_c, MPI_Count)
#endif

void rn_order_hook_sends(void)
{
	if (!rn_config.order_sends)
		return;
	HOOK()
#if MPI_VERSION >= 4
	HOOK(_c)
#endif
}
