/*
 * infer_receives.h - what wildcard receives got that nobody saw complete.
 *
 * A program that crashed, or freed a request, has receives of which the trace tells no outcome. But
 * it has the sends of all ranks. Per communicator, source, destination and tag, sends are matched
 * with the receives that are known, in their order; those that are left over, and are complete, go
 * to the earliest receive of their destination that could have got them:
 *
 *   rank 1   Ssend(to 0, tag 7)                     left over; it has returned
 *   rank 0   Irecv(from any, tag 7)    ...crash     so this has received from 1
 *
 * That a synchronous send is complete says that it was received, so such go first, with what the
 * same sender has sent to the same receiver before: messages do not overtake. Others may still have
 * been on their way, and giving one to a receive whose outcome nobody saw does no harm. Where sends
 * of more than one rank were left over for a receive, what it is said to have got is one of several
 * solutions, and counted.
 *
 * Cost: expected O(messages) of all streams. Memory from the arena: O(channels), and what is left
 * over; nothing where no receive is unseen.
 */
#ifndef RN_ANALYSIS_INFER_RECEIVES_H
#define RN_ANALYSIS_INFER_RECEIVES_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_outcome;
struct rn_outcomes;
struct rn_trace;

struct rn_unseen {
	uint64_t inferred;  /* wildcard receives that get an outcome */
	uint64_t parked;    /* those that get none */
	uint64_t ambiguous; /* of the inferred, there may be another solution */
	uint64_t misplaced; /* sends that were received, but for which there is no receive */
};

/* The outcomes of all streams, by stream, as `from` has read them: matches that are RN_PLAN_UNSEEN
 * become RN_PLAN_INFERRED. RN_OK, or RN_E_NOMEM. */
int rn_unseen_infer(struct rn_arena *mem, const struct rn_trace *t, const struct rn_outcomes *from,
		    struct rn_outcome *out, uint64_t streams, struct rn_unseen *told);

#endif
