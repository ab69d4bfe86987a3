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
	MPI_Request *q;                               /* the program's requests */
	MPI_Request *now, now_few[RN_COMPLETION_FEW]; /* copy on which the call is made */
	MPI_Status *s, s_few[RN_COMPLETION_FEW];      /* statuses: the program's or our own */
	struct rn_order_done *out, out_few[RN_COMPLETION_FEW];
	struct rn_tracked **kept, *kept_few[RN_COMPLETION_FEW];
	bool keeps; /* `kept` contains the tracked requests */
	/* Memory of the arrays if there are many requests. It belongs to the call, because a
	 * callback of the call may also complete many requests. */
	struct rn_order_room room;
	/* Replay: the recorded outcome. */
	const struct rn_order_row *row;
	const struct rn_order_done *done;
};

/* Declares a struct rn_completion, whose memory is returned to the thread when the hook returns. */
#define RN_COMPLETION(b) struct rn_completion b __attribute__((cleanup(rn_completion_end)))

/* Copies the requests. Returns false if all are MPI_REQUEST_NULL: the outcome is determined, and
 * the call is not an event. */
bool rn_completion_begin(struct rn_completion *b, int n, MPI_Request *q);

/* Provides memory for all requests, and for statuses if the program ignores them. Returns false
 * without memory: an event is lost. */
bool rn_completion_room(struct rn_completion *b, MPI_Status *status);

/* Stores the memory in thread b->c.o for its next call. */
void rn_completion_return_room(struct rn_completion *b);

static inline void rn_completion_end(struct rn_completion *b)
{
	if (b->room.p)
		rn_completion_return_room(b);
}

/* Returns the tracked request of request i, by its handle before the call, or NULL. */
static inline struct rn_tracked *rn_completion_known(const struct rn_completion *b, uint32_t i)
{
	return b->keeps ? b->kept[i] : rn_tracked_find(b->q[i], &b->q[i]);
}

/* Looks up all requests before the call. With several threads, the handle of a request that
 * completes in the call may belong to another thread's request afterwards. */
void rn_completion_keep(struct rn_completion *b);

/* MPI's function that completes some requests. `count` becomes their number, 0, or MPI_UNDEFINED.
 */
typedef int rn_complete_some(int n, MPI_Request q[], int *count, int indices[], MPI_Status s[]);
int rn_real_Waitany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[]);
int rn_real_Testany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[]);

/* Defines the hooks of the functions that complete some requests. `some` is their implementation.
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

/* Installs hook_Wait and the others. Record and replay define hooks of the same names. */
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
