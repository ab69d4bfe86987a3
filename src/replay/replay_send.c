/*
 * replay_send.c - replays sends: numbers them (tracked_request.h), omits those that were cancelled
 * in the recorded run, and enforces the posting order of threads (replay_post_order.c).
 */
#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

#include "record/send_hooks.h"

/* A cancelled message is not sent, but its turn is taken. */
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
