/*
 * replay_send.c - numbers sends (tracked_request.h), does not send what was cancelled in the
 * recorded run, and enforces the posting order of threads (replay_post_order.h).
 */
#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

#include "record/send_hooks.h"
#include "record/tracked_request.h"
#include "replay/replay_post_order.h"

struct send {
	struct rn_order_call c;
	struct rn_replay_turn turn;
};

static bool send_begins(struct send *x, int dest, int tag, MPI_Comm comm)
{
	(void)tag;
	if (!rn_turns || dest < 0 || !rn_replay_call(&x->c, RN_ORDER_WAIT, comm))
		return false;
	rn_replay_turn_begin(&x->turn, &x->c, RN_PLAN_SENDS);
	return true;
}

static void send_ends(struct send *x)
{
	rn_replay_turn_end(&x->turn, true);
}

static int number_send(int rc, const MPI_Request *request)
{
	return rn_track_numbered(rn_replay_current(rn_me), RN_REQUEST_SEND, rc, request);
}

static void track_send(const MPI_Request *request, MPI_Comm comm)
{
	struct rn_order_call c;

	if (rn_replay_call(&c, RN_ORDER_WAIT, comm))
		rn_track(request, &(struct rn_tracked){ .kind = RN_REQUEST_SEND,
							.state = RN_TRACKED_INACTIVE,
							.persistent = true,
							.comm = c.comm,
							.real = MPI_REQUEST_NULL });
}

/* A message that was cancelled is not sent, but had its turn. */
#define START(name, args)                                                         \
	(numbered && rn_replay_next_cancelled() ? rn_replay_post_nowhere(request) \
						: rn_real.MPI_##name args)

RN_SENDS

int rn_replay_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		    MPI_Comm comm, MPI_Request *q)
{
	return RN_START_SEND(buf, count, type, dest, tag, comm, q);
}

void rn_replay_hook_sends(void)
{
	RN_HOOK_SENDS(Isend, Ibsend, Issend, Irsend, );
}

void rn_replay_hook_posts(void)
{
	RN_HOOK_SENDS(Send, Bsend, Ssend, Rsend, );
	RN_HOOK_SENDS(Send, Bsend, Ssend, Rsend, _init);
}
