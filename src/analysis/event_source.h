/*
 * event_source.h - the events (order/events.h) of a trace of either kind, stream by stream.
 *
 * A trace of `--only=order` has them (read/event_reader.h); from one that has every call they are
 * made, with what was sent (events_from_calls.h). In both, the function of a site is a number of
 * this program's vocabulary, its communicator a name below, and its place a node of the trace's
 * stacks, the latter two counted from 1.
 *
 * Cost and memory: as of the two. Not for traces that have lost the order of calls.
 */
#ifndef RN_ANALYSIS_EVENT_SOURCE_H
#define RN_ANALYSIS_EVENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/events_from_calls.h"
#include "base/err.h"

struct rn_arena;
struct rn_trace;

/* More streams than anybody has, so that a file that claims to have them takes no time. */
#define RN_ORDERS_STREAMS ((uint64_t)1 << 22)

struct rn_orders {
	const struct rn_trace *t;
	uint64_t streams;
	struct rn_outcomes *reader; /* NULL: the trace has events */
	const uint32_t *group;      /* by stream, where there is a reader */
};

/* Of a trace, which outlives it. RN_OK, RN_E_NOMEM, or RN_E_DATA: there is no order to read. */
int rn_orders_init(struct rn_orders *o, struct rn_arena *mem, const struct rn_trace *t,
		   struct rn_err *err);

/* Gives back what is not in the arena. */
void rn_orders_free(struct rn_orders *o);

/* The threads and events of a stream, in the arena; from calls also the rest of its outcome, with
 * struct rn_plan_call if `calls`. Empty if there is no such stream. RN_OK, RN_E_NOMEM or RN_E_DATA.
 */
int rn_orders_outcome(const struct rn_orders *o, uint64_t stream, bool calls, struct rn_arena *mem,
		      struct rn_outcome *out, struct rn_err *err);

/* The events of a stream alone. */
int rn_orders_read(const struct rn_orders *o, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err);

/* Communicators that have come up so far: number i + 1 is name[i]. */
const char *const *rn_orders_comms(const struct rn_orders *o, uint32_t *n);

/* Whether a trace that has every call may have events at all: whether functions are used in it that
 * choose, or wildcards. O(vocabulary). */
bool rn_orders_any(const struct rn_trace *t);

#endif
