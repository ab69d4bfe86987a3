/*
 * send_hooks.h - hooks for the functions that send, shared by record and replay.
 *
 * Record and replay expand RN_SENDS after they have defined START(name, args), the real call. The
 * hooks number sends, which may be cancelled (tracked_request.h). With several threads, they take
 * turns (post_order.h).
 */
#ifndef RN_RECORD_SEND_HOOKS_H
#define RN_RECORD_SEND_HOOKS_H

#include "record/post_order.h"
#include "record/tracked_request.h"
#include "runtime/tracer_config.h"

/* A message that is being sent. */
struct rn_send {
	struct rn_order_call c;
	struct rn_turn turn;
};

/* Returns whether the message is sent in a turn, which has begun. Records the message if sends are
 * recorded. It does so before the send, because an answer may arrive at once. */
bool rn_send_begin_turn(struct rn_send *x, int dest, int tag, MPI_Comm comm);

static inline bool rn_send_begins(struct rn_send *x, int dest, int tag, MPI_Comm comm)
{
	return (rn_turns || rn_config.order_sends) && dest >= 0 &&
	       rn_send_begin_turn(x, dest, tag, comm);
}

/* Tracks a persistent send that was created. */
void rn_track_send(const MPI_Request *request, MPI_Comm comm);

/* Starts the message in its turn, and then waits for it. */
#define RN_SEND(name, as, count_type)                                                          \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm)                                         \
	{                                                                                      \
		struct rn_send x;                                                              \
		MPI_Request q;                                                                 \
		int rc;                                                                        \
                                                                                               \
		if (!rn_send_begins(&x, dest, tag, comm))                                      \
			return rn_real.MPI_##name(buf, count, type, dest, tag, comm);          \
		rc = rn_real.MPI_##as(buf, count, type, dest, tag, comm, &q);                  \
		rn_turn_end(&x.turn);                                                          \
		return rc == MPI_SUCCESS ? rn_real.MPI_Wait(&q, MPI_STATUS_IGNORE) : rc;       \
	}

#define RN_ISEND(name, count_type)                                                              \
	static int start_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
				int tag, MPI_Comm comm, MPI_Request *request, bool numbered)    \
	{                                                                                       \
		struct rn_send x;                                                               \
		bool in_turn = rn_send_begins(&x, dest, tag, comm);                             \
		int rc = START(name, (buf, count, type, dest, tag, comm, request));             \
                                                                                                \
		if (in_turn)                                                                    \
			rn_turn_end(&x.turn);                                                   \
		return numbered ? rn_track_numbered(RN_REQUEST_SEND, rc, request) : rc;         \
	}                                                                                       \
                                                                                                \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest,  \
			       int tag, MPI_Comm comm, MPI_Request *request)                    \
	{                                                                                       \
		return start_##name(buf, count, type, dest, tag, comm, request, true);          \
	}

#define RN_SEND_INIT(name, count_type)                                                         \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm, MPI_Request *request)                   \
	{                                                                                      \
		int rc = rn_real.MPI_##name(buf, count, type, dest, tag, comm, request);       \
                                                                                               \
		if (rc == MPI_SUCCESS && dest >= 0)                                            \
			rn_track_send(request, comm);                                          \
		return rc;                                                                     \
	}

#define RN_SENDS_OF(suffix, count_type)                    \
	RN_SEND(Send##suffix, Isend##suffix, count_type)   \
	RN_SEND(Bsend##suffix, Ibsend##suffix, count_type) \
	RN_SEND(Ssend##suffix, Issend##suffix, count_type) \
	RN_SEND(Rsend##suffix, Irsend##suffix, count_type) \
	RN_ISEND(Isend##suffix, count_type)                \
	RN_ISEND(Ibsend##suffix, count_type)               \
	RN_ISEND(Issend##suffix, count_type)               \
	RN_ISEND(Irsend##suffix, count_type)               \
	RN_SEND_INIT(Send_init##suffix, count_type)        \
	RN_SEND_INIT(Bsend_init##suffix, count_type)       \
	RN_SEND_INIT(Ssend_init##suffix, count_type)       \
	RN_SEND_INIT(Rsend_init##suffix, count_type)

#define RN_HOOK_SEND(begin, end) RN_HOOK(RN_LINK_OUTCOME, MPI_##begin##end, hook_##begin##end)

#define RN_HOOK_SENDS_OF(a, b, c, d, end) \
	RN_HOOK_SEND(a, end);             \
	RN_HOOK_SEND(b, end);             \
	RN_HOOK_SEND(c, end);             \
	RN_HOOK_SEND(d, end)

/* RN_HOOK_SENDS installs the hooks of four functions whose names end with `end`. RN_START_SEND is
 * MPI_Isend in a turn, as a part of another call. */
#if MPI_VERSION >= 4
#define RN_SENDS           \
	RN_SENDS_OF(, int) \
	RN_SENDS_OF(_c, MPI_Count)
#define RN_HOOK_SENDS(a, b, c, d, end)     \
	RN_HOOK_SENDS_OF(a, b, c, d, end); \
	RN_HOOK_SENDS_OF(a, b, c, d, end##_c)
#define RN_START_SEND(buf, count, type, dest, tag, comm, q) \
	start_Isend_c(buf, count, type, dest, tag, comm, q, false)
#else
#define RN_SENDS      RN_SENDS_OF(, int)
#define RN_HOOK_SENDS RN_HOOK_SENDS_OF
#define RN_START_SEND(buf, count, type, dest, tag, comm, q) \
	start_Isend(buf, (int)(count), type, dest, tag, comm, q, false)
#endif

#endif
