/*
 * send_hooks.h - hooks for the functions that send: included by record_send.c and replay_send.c,
 * which define before
 *
 *	struct send              a message that is being sent
 *	send_begins(x, dest, tag, comm)   true: the message is sent in a turn, which has begun
 *	send_ends(x)                      the turn ends
 *	START(name, args)                 the real call
 *	number_send(rc, request)          numbers the operation (tracked_request.h)
 *	track_send(request, comm)         a persistent one is created
 */

/* A message that is started in its turn, and then waited for. */
#define SEND(name, as, count_type)                                                             \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm)                                         \
	{                                                                                      \
		struct send x;                                                                 \
		MPI_Request q;                                                                 \
		int rc;                                                                        \
                                                                                               \
		if (!send_begins(&x, dest, tag, comm))                                         \
			return rn_real.MPI_##name(buf, count, type, dest, tag, comm);          \
		rc = rn_real.MPI_##as(buf, count, type, dest, tag, comm, &q);                  \
		send_ends(&x);                                                                 \
		return rc == MPI_SUCCESS ? rn_real.MPI_Wait(&q, MPI_STATUS_IGNORE) : rc;       \
	}

#define ISEND(name, count_type)                                                                 \
	static int start_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
				int tag, MPI_Comm comm, MPI_Request *request, bool numbered)    \
	{                                                                                       \
		struct send x;                                                                  \
		bool in_turn = send_begins(&x, dest, tag, comm);                                \
		int rc = START(name, (buf, count, type, dest, tag, comm, request));             \
                                                                                                \
		if (in_turn)                                                                    \
			send_ends(&x);                                                          \
		return numbered ? number_send(rc, request) : rc;                                \
	}                                                                                       \
                                                                                                \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest,  \
			       int tag, MPI_Comm comm, MPI_Request *request)                    \
	{                                                                                       \
		return start_##name(buf, count, type, dest, tag, comm, request, true);          \
	}

#define SEND_INIT(name, count_type)                                                            \
	static int hook_##name(const void *buf, count_type count, MPI_Datatype type, int dest, \
			       int tag, MPI_Comm comm, MPI_Request *request)                   \
	{                                                                                      \
		int rc = rn_real.MPI_##name(buf, count, type, dest, tag, comm, request);       \
                                                                                               \
		if (rc == MPI_SUCCESS && dest >= 0)                                            \
			track_send(request, comm);                                             \
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

ALL(, int)
#if MPI_VERSION >= 4
ALL(_c, MPI_Count)
#endif

#define HOOK(begin, end) RN_HOOK(RN_LINK_OUTCOME, MPI_##begin##end, hook_##begin##end);

#define HOOK_ALL(a, b, c, d, end) HOOK(a, end) HOOK(b, end) HOOK(c, end) HOOK(d, end)

#if MPI_VERSION >= 4
#define HOOK_BOTH(a, b, c, d, end) HOOK_ALL(a, b, c, d, end) HOOK_ALL(a, b, c, d, end##_c)
#else
#define HOOK_BOTH HOOK_ALL
#endif

static void hook_sends(void)
{
	HOOK_BOTH(Send, Bsend, Ssend, Rsend, )
}

static void hook_isends(void)
{
	HOOK_BOTH(Isend, Ibsend, Issend, Irsend, )
}

static void hook_send_inits(void)
{
	HOOK_BOTH(Send, Bsend, Ssend, Rsend, _init)
}

/* MPI_Isend in a turn, as a part of another call. */
static int start_send(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		      MPI_Comm comm, MPI_Request *q)
{
#if MPI_VERSION >= 4
	return start_Isend_c(buf, count, type, dest, tag, comm, q, false);
#else
	return start_Isend(buf, (int)count, type, dest, tag, comm, q, false);
#endif
}
