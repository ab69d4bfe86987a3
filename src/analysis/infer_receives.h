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
 * over.
 */
#ifndef RN_ANALYSIS_INFER_RECEIVES_H
#define RN_ANALYSIS_INFER_RECEIVES_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_orders;
struct rn_outcome;

/* The outcomes of all streams, by stream, as `from` has read them: matches that are RN_PLAN_UNSEEN
 * become RN_PLAN_INFERRED. *ambiguous: number of these for which there may be another solution.
 * RN_OK, or RN_E_NOMEM. */
int rn_unseen_infer(struct rn_arena *mem, const struct rn_orders *from, struct rn_outcome *out,
		    uint64_t streams, uint64_t *ambiguous);

#endif
