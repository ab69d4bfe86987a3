/*
 * record_send.c - hooks for sends: numbering, posting order, and Lamport clocks.
 *
 * Sends are numbered because they may be cancelled (tracked_request.h). With several threads they
 * take turns (post_order.h). They are recorded if the codec computes clocks from the messages of
 * all ranks (order/lamport.h). Messages of persistent sends are not recorded: they count as
 * unknown, which costs a few bytes.
 */
#include "record/record.h"
#include "record/record_start.h"

#include "record/event_log.h"
#include "record/send_hooks.h"
#include "trace/comm_registry.h"

bool rn_send_begin_turn(struct rn_send *x, int dest, int tag, MPI_Comm comm)
{
	if (!rn_order_call(&x->c, RN_ORDER_WAIT, comm))
		return false;
	if (rn_config.order_sends)
		rn_order_log_send(x->c.t, x->c.comm, rn_comm_get(x->c.comm)->rank, dest, tag);
	if (rn_turns)
		rn_turn_begin(&x->turn, &x->c, RN_PLAN_SENDS);
	return rn_turns != NULL;
}

void rn_track_send(const MPI_Request *request, MPI_Comm comm)
{
	struct rn_order_call c;

	if (rn_order_call(&c, RN_ORDER_WAIT, comm))
		rn_track(request, &(struct rn_tracked){ .kind = RN_REQUEST_SEND,
							.state = RN_TRACKED_INACTIVE,
							.persistent = true,
							.comm = c.comm,
							.real = MPI_REQUEST_NULL });
}

#define START(name, args) rn_real.MPI_##name args

RN_SENDS

int rn_record_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		    MPI_Comm comm, MPI_Request *q)
{
	return RN_START_SEND(buf, count, type, dest, tag, comm, q);
}

void rn_record_hook_sends(void)
{
	RN_HOOK_SENDS(Isend, Ibsend, Issend, Irsend, );
	if (rn_config.order_sends) {
		RN_HOOK_SENDS(Send, Bsend, Ssend, Rsend, );
	}
}

void rn_record_hook_posts(void)
{
	RN_HOOK_SENDS(Send, Bsend, Ssend, Rsend, );
	RN_HOOK_SENDS(Send, Bsend, Ssend, Rsend, _init);
}
