/*
 * completion.h - the requests of a call that completes requests, before and after it.
 *
 * Record and replay make the call on a copy of the requests, so that the handles before the call
 * are known after it.
 */
#ifndef RN_RECORD_COMPLETION_H
#define RN_RECORD_COMPLETION_H

#include "record/tracked_request.h"

#define RN_COMPLETION_FEW 64

struct rn_completion {
	struct rn_order_call c;
	uint32_t n;
	MPI_Request *q;                               /* the program's */
	MPI_Request *now, now_few[RN_COMPLETION_FEW]; /* the call is made on these */
	MPI_Status *s, s_few[RN_COMPLETION_FEW];      /* statuses, the program's or others */
	struct rn_order_done *out, out_few[RN_COMPLETION_FEW];
	struct rn_tracked **kept, *kept_few[RN_COMPLETION_FEW];
	bool keeps; /* `kept` is what is known of them */
	/* Memory of the arrays if there are many requests. The call owns it, because a callback of
	 * it may complete many requests, too. */
	struct rn_order_room room;
	/* Replay: the recorded outcome. */
	const struct rn_order_row *row;
	const struct rn_order_done *done;
};

/* Declares a struct rn_completion, whose room the thread gets back when the hook returns. */
#define RN_COMPLETION(b) struct rn_completion b __attribute__((cleanup(rn_completion_end)))

/* Copies the requests. False if all are MPI_REQUEST_NULL: the call is determined and no event. */
bool rn_completion_begin(struct rn_completion *b, int n, MPI_Request *q);

/* Room for all requests, and for statuses, if the program ignores them. False without memory: an
 * event is lost. */
bool rn_completion_room(struct rn_completion *b, MPI_Status *status);

/* Thread b->c.o keeps the room for its next call. */
void rn_completion_return_room(struct rn_completion *b);

static inline void rn_completion_end(struct rn_completion *b)
{
	if (b->room.p)
		rn_completion_return_room(b);
}

/* What is known of request i, by its handle before the call. */
static inline struct rn_tracked *rn_completion_known(const struct rn_completion *b, uint32_t i)
{
	return b->keeps ? b->kept[i] : rn_tracked_find(b->q[i], &b->q[i]);
}

/* Looks for all requests now. With several threads, a request that completes in the call may be
 * another thread's after it. */
void rn_completion_keep(struct rn_completion *b);

/* How MPI completes some requests: `count` is their number, 0, or MPI_UNDEFINED. */
typedef int rn_complete_some(int n, MPI_Request q[], int *count, int indices[], MPI_Status s[]);
int rn_real_Waitany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[]);
int rn_real_Testany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[]);

/* Hooks for the functions that complete some requests, by a function `some` of type rn_some_hook.
 */
#define RN_COMPLETE_SOME(some)                                                                     \
	static int hook_Waitany(int n, MPI_Request q[], int *index, MPI_Status *status)            \
	{                                                                                          \
		int count;                                                                         \
                                                                                                   \
		return some(RN_ORDER_ANY, false, rn_real_Waitany, n, q, &count, index, status);    \
	}                                                                                          \
                                                                                                   \
	static int hook_Testany(int n, MPI_Request q[], int *index, int *flag, MPI_Status *status) \
	{                                                                                          \
		int count, rc = some(RN_ORDER_ANY, true, rn_real_Testany, n, q, &count, index,     \
				     status);                                                      \
                                                                                                   \
		*flag = count != 0;                                                                \
		if (count == 0)                                                                    \
			*index = MPI_UNDEFINED;                                                    \
		return rc;                                                                         \
	}                                                                                          \
                                                                                                   \
	static int hook_Waitsome(int n, MPI_Request q[], int *count, int indices[],                \
				 MPI_Status status[])                                              \
	{                                                                                          \
		return some(RN_ORDER_SOME, false, rn_real.MPI_Waitsome, n, q, count, indices,      \
			    status);                                                               \
	}                                                                                          \
                                                                                                   \
	static int hook_Testsome(int n, MPI_Request q[], int *count, int indices[],                \
				 MPI_Status status[])                                              \
	{                                                                                          \
		return some(RN_ORDER_SOME, true, rn_real.MPI_Testsome, n, q, count, indices,       \
			    status);                                                               \
	}

/* Installs the hooks hook_Wait, ..., which both have. */
#define RN_HOOK_COMPLETIONS()                                                              \
	do {                                                                               \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Wait, hook_Wait);                             \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Waitall, hook_Waitall);                       \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Waitany, hook_Waitany);                       \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Waitsome, hook_Waitsome);                     \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Test, hook_Test);                             \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Testall, hook_Testall);                       \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Testany, hook_Testany);                       \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Testsome, hook_Testsome);                     \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Request_get_status, hook_Request_get_status); \
	} while (0)

#endif
