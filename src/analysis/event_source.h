/*
 * event_source.h - events of a trace of either kind: read from it, or derived from its calls.
 *
 * A trace of `--only=order` contains events (order/events.h, read/event_reader.h). For a trace that
 * has every call, the events and the sent messages are derived (events_from_calls.h). For both
 * kinds, the function of an event site is its id in this program's vocabulary. The communicator is
 * 1 + an index of rn_orders_comms, or 0 for no communicator. The call site is 1 + a node of the
 * trace's stacks, or 0 if it was not recorded.
 *
 * Traces that have lost the order of calls are rejected. Cost and memory: see read/event_reader.h
 * and events_from_calls.h.
 */
#ifndef RN_ANALYSIS_EVENT_SOURCE_H
#define RN_ANALYSIS_EVENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/events_from_calls.h"
#include "base/err.h"

struct rn_arena;
struct rn_trace;

/* Maximum number of streams. It bounds the time spent on a malformed file. */
#define RN_ORDERS_STREAMS ((uint64_t)1 << 22)

struct rn_orders {
	const struct rn_trace *t;
	uint64_t streams;
	struct rn_outcomes *reader; /* NULL: the trace contains events */
	const uint32_t *group;      /* stream group of each stream; NULL without a reader */
};

/* The trace must outlive *o. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the trace has no order of
 * calls. */
int rn_orders_init(struct rn_orders *o, struct rn_arena *mem, const struct rn_trace *t,
		   struct rn_err *err);

/* Releases the memory that is not in the arena. */
void rn_orders_free(struct rn_orders *o);

/* Reads the threads and events of a stream into the arena. If they are derived from calls, reads
 * the whole outcome, including struct rn_plan_call if `calls` is set. The outcome is empty if the
 * stream does not exist. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_orders_outcome(const struct rn_orders *o, uint64_t stream, bool calls, struct rn_arena *mem,
		      struct rn_outcome *out, struct rn_err *err);

/* Reads the events of a stream without the rest of the outcome. */
int rn_orders_read(const struct rn_orders *o, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err);

/* The names of the communicators of all streams read so far. Communicator i + 1 is name[i]. */
const char *const *rn_orders_comms(const struct rn_orders *o, uint32_t *n);

/* Whether a trace that has every call may have events, that is whether its vocabulary has a
 * wildcard or a function that probes, tests or chooses. O(vocabulary). */
bool rn_orders_any(const struct rn_trace *t);

#endif
