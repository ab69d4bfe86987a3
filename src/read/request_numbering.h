/*
 * request_numbering.h - requests by number: what a reader has to remember of a stream.
 *
 * A signature calls a request by its shape (the n-th distinct request-creating signature of the
 * stream) and its slot (the lowest one of that shape that was free), so that the calls of a loop
 * are the same in each iteration. People want to know which request it is: request:K is the K-th
 * one that the stream created. Here is the state that turns one into the other; a reader feeds it
 * the calls of a stream from its beginning (doc/format.md, 8.5).
 *
 * What comes before the place where reading begins is not walked call by call. A repeat that leaves
 * the same slots taken as it found does so every time, so the others are added up; a rule that
 * leaves nothing behind is remembered with the state it was met in; and what touches no request at
 * all, often everything, is passed over. Loops (rules/loop_stream.h) that touch requests are gone
 *through execution by execution, and the rounds of each like repeats.
 *
 *	next = 7    newest first:   6 (shape 0, slot 2) -> 3 (shape 1, slot 0) -> 0 (shape 0, slot
 *0)
 *
 * Cost: O(1) for a request; seeking is in practice O(rules), at worst one step for each call.
 *Memory is O(signatures + rules) and O(requests that are live at once), of which there may be 2^24:
 *those above that are counted, but not known. Uses an arena of its own for the stream. Trusts
 *nothing: a request that a stream refers to without having created it is not found, and that is
 *all.
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

/* A request in a call (RN_V_REQUEST): `num` is its number, `id` what the call does with it. */
enum rn_request_action { RN_REQUEST_CREATED, RN_REQUEST_USED, RN_REQUEST_ENDED };
#define RN_REQUEST_UNKNOWN (-1)

/* What the signatures, rules and loops (or NULL) of a trace do with requests; they are valid and
 * outlive it. NULL when there is no memory. At the beginning of a stream. */
struct rn_numbering *rn_numbering_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				      const struct rn_sigs *sigs, const struct rn_rules *rules,
				      const struct rn_loopset *loops);

/* Gives back what is not in the arena. */
void rn_numbering_free(struct rn_numbering *n);

/* To the call that the walker, at the beginning of a stream or somewhere inside it, is about to
 * read. RN_OK, RN_E_NOMEM, or RN_E_RANGE: there is more to follow than anybody will wait for, which
 * takes a forged trace. */
int rn_numbering_seek(struct rn_numbering *n, const struct rn_walk *w);

/* A call has been made. The requests among the values of its template become RN_V_REQUEST, with the
 * numbers from before the call; NULL: they are not wanted. RN_OK, or RN_E_NOMEM and then the
 * numbers are not to be used any more. */
int rn_numbering_call(struct rn_numbering *n, uint32_t sig, struct rn_value *value);

/* The number of the live request; false when there is none. */
bool rn_numbering_find(const struct rn_numbering *n, uint64_t shape, int64_t slot,
		       uint64_t *number);

/* The number that the next request will have. */
uint64_t rn_numbering_next(const struct rn_numbering *n);

/* Whether a stream refers only to requests that are live then. RN_OK; RN_E_NOMEM;
 * RN_E_DATA with a signature that does otherwise, or creates more than there may be; RN_E_RANGE
 * when it takes more than *patience steps to find out, from which what it took is subtracted. Ends
 * at the beginning of a stream. */
int rn_numbering_check(struct rn_numbering *n, const struct rn_flow *f, uint64_t *patience,
		       uint32_t *sig);

#endif
