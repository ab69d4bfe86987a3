/*
 * bypass.h - the bypass through a wrapper, for runs that record or replay only outcomes
 * (--only=order, and a replay): arguments are not recorded and the clock is not read.
 *
 * Most functions are forwarded to MPI directly. If a hook exists for the function (outcome.h), the
 * bypass records the function and the call site, and puts the call in flight. Functions that create
 * or free communicators, and those that initialize or finalize MPI, do not use the bypass: hooks
 * refer to communicators by the names that the full path of the wrapper assigns.
 *
 * Cost: none for other runs, because the kind of bypass is part of the cached result for the caller
 * (caller_filter.h).
 */
#ifndef RN_TRACE_BYPASS_H
#define RN_TRACE_BYPASS_H

#include <stdint.h>

#include "encode/call_words.h"
#include "trace/stream.h"

enum rn_light {
	RN_LIGHT_NOT,      /* no bypass */
	RN_LIGHT_STRAIGHT, /* forwarded to MPI */
	RN_LIGHT_HOOKED,
	RN_LIGHT_COUNTED, /* only the fact that it was called is recorded */
};

#define RN_LIGHT_FUNCTIONS 1024u /* as in caller_filter.h */

/* Kind of bypass by function. Valid for functions with an entry in the caller cache. */
extern _Atomic uint8_t rn_light[RN_LIGHT_FUNCTIONS];

/* Computes and stores the kind of bypass. After hooks have been added, the caller cache must be
 * cleared (caller_filter.h). */
enum rn_light rn_light_way(uint32_t function);

/* Counts a call that did not use the bypass and has returned, if no hook can reach its outcome.
 * `head` is the first word of the call. */
void rn_light_count(struct rn_stream *t, uint64_t head);

/* Puts the call in flight. Returns the argument for rn_light_end, or NULL if too many calls are
 * nested; the call is then lost. */
uint64_t *rn_light_begin(struct rn_stream *t, uint32_t function, const void *frame);
void rn_light_end(struct rn_stream *t, uint64_t *base);

#endif
