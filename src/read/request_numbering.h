/*
 * request_numbering.h - converts the request names of a stream to request numbers.
 *
 * A signature names a request by its creator and its index. The creator is the n-th distinct
 * request-creating signature of the stream (`shape`). The index is the lowest one of that creator
 * that was free (`slot`). The calls of a loop therefore have equal signatures in each iteration. In
 * output, request:K is the K-th request that the stream created. The state of this module maps one
 * to the other. A reader passes it the calls of a stream in order, from the beginning
 * (doc/format.md, 8.5).
 *
 * Seeking does not walk the calls before the position one by one:
 *   - If a repeat of an item leaves the same slots occupied as before it, so do further repeats.
 *     Their requests are only added to the count.
 *   - If no request that a rule created is live after it, the result is cached with the state in
 *     which the rule began.
 *   - Items that contain no request operation, which are often all items, are skipped.
 *   - Loops (rules/loop_stream.h) with request operations are processed execution by execution, and
 *     the iterations of an execution like repeats.
 *
 *	next = 7
 *	newest first:   6 (shape 0, slot 2) -> 3 (shape 1, slot 0) -> 0 (shape 0, slot 0)
 *
 * Cost: O(1) for a request. Seeking is O(rules) in practice, and one step for each call in the
 * worst case. Memory is O(signatures + rules) and O(live requests). At most 2^24 requests can be
 * live; further ones are counted, but cannot be found. Each stream uses an arena of its own. Input
 * is untrusted: a request that the stream uses but did not create is not found, without other
 * effect.
 */
#ifndef RN_READ_REQUEST_NUMBERING_H
#define RN_READ_REQUEST_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_flow;
struct rn_loopset;
struct rn_numbering; /* opaque */
struct rn_rules;
struct rn_sigs;
struct rn_value;
struct rn_vocab;
struct rn_walk;

#define RN_REQUESTS_MAX ((uint32_t)1 << 24)

/* A request in a call (RN_V_REQUEST): `num` is its number, `id` is the action of the call on it. */
enum rn_request_action { RN_REQUEST_CREATED, RN_REQUEST_USED, RN_REQUEST_ENDED };
#define RN_REQUEST_UNKNOWN (-1)

/* Creates the state, at the beginning of a stream, and analyzes the request operations of the
 * signatures, rules and loops of a trace. These must be valid and outlive it; `loops` may be NULL.
 * Returns NULL without memory. */
struct rn_numbering *rn_numbering_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				      const struct rn_sigs *sigs, const struct rn_rules *rules,
				      const struct rn_loopset *loops);

/* Releases all memory that is not in the arena. */
void rn_numbering_free(struct rn_numbering *n);

/* Moves to the call that the walker, anywhere in a stream, reads next. Returns RN_OK, RN_E_NOMEM,
 * or RN_E_RANGE if the calls before it take too many steps, which only a forged trace causes. */
int rn_numbering_seek(struct rn_numbering *n, const struct rn_walk *w);

/* Processes a call. The requests among the values of its template become RN_V_REQUEST, with the
 * numbers that they had before the call. `value` is NULL if the caller does not need them. Returns
 * RN_OK, or RN_E_NOMEM, after which the numbers must not be used. */
int rn_numbering_call(struct rn_numbering *n, uint32_t sig, struct rn_value *value);

/* Sets *number to the number of a live request. Returns false if there is no such request. */
bool rn_numbering_find(const struct rn_numbering *n, uint64_t shape, int64_t slot,
		       uint64_t *number);

/* Returns the number that the next created request gets. */
uint64_t rn_numbering_next(const struct rn_numbering *n);

/* Checks that a stream uses a request only while it is live. Returns RN_OK; RN_E_NOMEM; RN_E_DATA,
 * with *sig set to a signature that uses another request or creates more than RN_REQUESTS_MAX;
 * RN_E_RANGE if the check takes more than *patience steps. The steps used are subtracted from
 * *patience. The state is then at the beginning of a stream. */
int rn_numbering_check(struct rn_numbering *n, const struct rn_flow *f, uint64_t *patience,
		       uint32_t *sig);

#endif
