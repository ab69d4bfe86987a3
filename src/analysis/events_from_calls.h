/*
 * events_from_calls.h - derives order events, messages and replay calls from a trace with every
 * call.
 *
 * A stream is walked in call order, without nested calls, and its requests are followed
 * (request_follow.h) to find the wildcard receives and their ordinals (order/events.h). The result
 * consists of
 *
 *   - the events that `rondo trace --only=order` would have recorded
 *   - the calls with which a replay compares the program's calls (order/replay_plan.h)
 *   - the messages sent and received, from which infer_receives.h infers unobserved receives
 *
 * Functions are ids of this program's vocabulary. Communicators are numbered from 1 in the order in
 * which the reader first finds them, and the numbers are the same in all streams. Call sites
 * are nodes of the trace's stacks, counted from 1.
 *
 * Cost: O(bytes of the calls). Memory: O(events + messages + live requests), and 24 bytes per call
 * if calls are requested. Traces that have lost the order of calls (rn_trace_lossy) or contain only
 * some calls are not supported.
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

/* Maximum number of calls of a stream. */
#define RN_OUTCOMES_CALLS ((uint64_t)1 << 31)

/* The start of a thread's elements in each array of the outcome. They end where those of the next
 * thread start. */
struct rn_outcome_thread {
	int64_t lineage; /* preload/thread_lineage.h */
	bool named;      /* the trace contains its lineage; false: the process's first thread */
	size_t row, done, value, match, call;
};

struct rn_outcome {
	const struct rn_outcome_thread *thread; /* in stream order; at least one */
	size_t threads;
	struct rn_order order;              /* includes all sends */
	const unsigned char *sent;          /* enum rn_outcome_sent of each send */
	const struct rn_outcome_recv *recv; /* in posting order, MPI_PROC_NULL excluded */
	size_t recvs;
	struct rn_plan_match *match; /* of all wildcard receives, in the order of their start */
	size_t matches;
	const struct rn_plan_call *call;
	size_t calls;
};

/* Creates a reader. The trace must outlive it. Returns NULL if memory is exhausted. */
struct rn_outcomes *rn_outcomes_new(struct rn_arena *mem, const struct rn_trace *t);

/* Releases the memory that is not in the arena. NULL is allowed. */
void rn_outcomes_free(struct rn_outcomes *o);

/* Reads a stream of the given stream group; the result is in `mem`. `calls`: struct rn_plan_call
 * are requested. Returns RN_OK, RN_E_NOMEM, RN_E_DATA if a call lacks its elastic values, or
 * RN_E_RANGE if the stream has more than RN_OUTCOMES_CALLS calls. */
int rn_outcomes_read(struct rn_outcomes *o, uint64_t stream, uint32_t group, bool calls,
		     struct rn_arena *mem, struct rn_outcome *out);

/* The names of the communicators of all streams read so far. Communicator i + 1 is name[i]. */
const char *const *rn_outcomes_comms(const struct rn_outcomes *o, uint32_t *n);

#endif
