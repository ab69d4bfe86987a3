/*
 * events_from_calls.h - how the calls of a stream came out: from a whole trace to what a replay
 * needs.
 *
 * A stream is walked in the order of its calls, without those that were made inside others, and its
 * requests are followed: which of them are wildcard receives, and by what number (order/events.h).
 * So a trace that has every call gives the events that `rondo trace --only=order` would have kept,
 * what each call is compared with (order/replay_plan.h), and the messages that were sent and
 * received, from which infer_receives.h tells what nobody has seen.
 *
 * Functions are numbers of this program's table. Communicators are names that the reader counts
 * from 1 as they come up, the same in all streams; places are nodes of the trace's stacks + 1.
 *
 * Cost: O(bytes of the calls). Memory: 24 bytes for each call if calls are wanted; for each event,
 * message, and request that is live at a time. Not for traces that have lost the order of calls
 * (rn_trace_lossy) or keep only some of them.
 */
#ifndef RN_ANALYSIS_EVENTS_FROM_CALLS_H
#define RN_ANALYSIS_EVENTS_FROM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/request_follow.h"
#include "base/err.h"
#include "order/events.h"
#include "order/replay_plan.h"

struct rn_arena;
struct rn_outcomes; /* opaque */
struct rn_trace;

/* Calls that a stream may have. */
#define RN_OUTCOMES_CALLS ((uint64_t)1 << 31)

/* The start of a thread's elements in each array of the outcome. They end where those of the next
 * thread start. */
struct rn_outcome_thread {
	int64_t lineage; /* preload/thread_lineage.h */
	bool named;      /* the trace contains its lineage; false: the process's first thread */
	size_t row, done, value, match, call;
};

struct rn_outcome {
	const struct rn_outcome_thread *thread; /* in the order of the stream; at least one */
	size_t threads;
	struct rn_order order;              /* with all sends */
	const unsigned char *sent;          /* enum rn_outcome_sent, of each send */
	const struct rn_outcome_recv *recv; /* as they were posted; none is of MPI_PROC_NULL */
	size_t recvs;
	struct rn_plan_match *match; /* of all wildcard receives that were started */
	size_t matches;
	const struct rn_plan_call *call;
	size_t calls;
};

/* A reader of a trace, which outlives it. NULL when there is no memory. */
struct rn_outcomes *rn_outcomes_new(struct rn_arena *mem, const struct rn_trace *t);

/* Gives back what is not in the arena. */
void rn_outcomes_free(struct rn_outcomes *o);

/* A stream of that group; the result is in `mem`. `calls`: struct rn_plan_call are wanted. RN_OK;
 * RN_E_NOMEM; RN_E_DATA: calls have holes without numbers; RN_E_RANGE: there are more calls than
 * anybody wants to replay. */
int rn_outcomes_read(struct rn_outcomes *o, uint64_t stream, uint32_t group, bool calls,
		     struct rn_arena *mem, struct rn_outcome *out);

/* The communicators that have come up so far: number i + 1 is name[i]. */
const char *const *rn_outcomes_comms(const struct rn_outcomes *o, uint32_t *n);

#endif
