/*
 * bypass.h - the short way of a call through a wrapper, where only outcomes count (--only=order,
 * and in a replay): nothing is written of what the call was given, and nobody looks at a clock.
 *
 * Most functions go straight to MPI. Where a hook is in between (outcome.h), it is told the
 * function and where the call is made, and that the call is under way. Functions that make or end
 * communicators, and those that begin and end everything, go the long way: hooks know communicators
 * by the names that they get there.
 *
 * Which way a call goes is part of what is remembered of its site (caller_filter.h), so others do
 * not pay.
 */
#ifndef RN_TRACE_BYPASS_H
#define RN_TRACE_BYPASS_H

#include <stdint.h>

#include "encode/call_words.h"
#include "trace/stream.h"

enum rn_light {
	RN_LIGHT_NOT,      /* the long way */
	RN_LIGHT_STRAIGHT, /* to MPI */
	RN_LIGHT_HOOKED,
	RN_LIGHT_COUNTED, /* that it was called is all there is to it */
};

#define RN_LIGHT_FUNCTIONS 1024u /* as in caller_filter.h */

/* By function, of those that there are sites of. */
extern _Atomic uint8_t rn_light[RN_LIGHT_FUNCTIONS];

/* Finds out; when there are more hooks than before, sites are to be forgotten (caller_filter.h). */
enum rn_light rn_light_way(uint32_t function);

/* Counts a call that took the long way and has returned, if no hook can reach its outcome. `head`
 * is the first word of the call. */
void rn_light_count(struct rn_stream *t, uint64_t head);

/* The call is under way. NULL: there are too many in each other, and it is lost. Else for _end. */
uint64_t *rn_light_begin(struct rn_stream *t, uint32_t function, const void *frame);
void rn_light_end(struct rn_stream *t, uint64_t *base);

#endif
