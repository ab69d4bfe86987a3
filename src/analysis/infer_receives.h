/*
 * infer_receives.h - infers the matches of unobserved wildcard receives from the sends of all
 * ranks.
 *
 * If a program crashed or freed a request, the trace does not contain the outcome of some receives.
 * It does contain the sends of all ranks. For each communicator, source, destination and tag, the
 * sends are first assigned to the receives with a known match. Completed sends that are left over
 * are then assigned to the earliest receive of their destination that could have matched them:
 *
 *   rank 1   Ssend(to 0, tag 7)                     left over; the send has returned
 *   rank 0   Irecv(from any, tag 7)    ...crash     therefore this receive matched rank 1
 *
 * A completed synchronous send proves that its message was received. Messages do not overtake, so
 * the earlier messages from the same sender to the same receiver were received too. These sends are
 * assigned first. Other messages may not have been received; assigning one to an unobserved receive
 * is harmless. If sends of several ranks were left over for a receive, its match is one of several
 * solutions and is counted as ambiguous.
 *
 * Cost: expected O(messages of all streams). Memory: O(channels + unmatched sends and receives),
 * from the arena.
 */
#ifndef RN_ANALYSIS_INFER_RECEIVES_H
#define RN_ANALYSIS_INFER_RECEIVES_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_orders;
struct rn_outcome;

/* `out` has the outcomes of all streams, by stream, as `from` has read them. Matches in state
 * RN_PLAN_UNSEEN become RN_PLAN_INFERRED. *ambiguous is the number of those for which there may be
 * another solution. Returns RN_OK or RN_E_NOMEM. */
int rn_unseen_infer(struct rn_arena *mem, const struct rn_orders *from, struct rn_outcome *out,
		    uint64_t streams, uint64_t *ambiguous);

#endif
