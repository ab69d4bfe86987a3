/*
 * stack_match.h - which stacks are alike (--callsite-slack), so that calls from all of them are the
 * same calls (encode/callsite.h).
 *
 * A new stack is alike with the first one there was that it differs from in no more frames than it
 * may, and alone if there is none; so sets of stacks grow, and no stack goes from one to another.
 * A set has at most RN_CALLSITE_ALIKE, and only the latest sets that have the same depth and
 * innermost frame are looked at, so a new stack costs at most some microseconds more.
 *
 * Stacks are added under the lock of callstack.c; what is the first one of a set never changes, and
 * may be asked by whoever has the number of a stack.
 */
#ifndef RN_TRACE_STACK_MATCH_H
#define RN_TRACE_STACK_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct rn_arena;
struct rn_callsite;
struct rn_sigs;

/* Stack `number`, the newest in the table of their bytes. True when it is the second one of its
 * set: until now the first one was alone. */
bool rn_slack_add(struct rn_arena *mem, const struct rn_sigs *table, uint32_t number,
		  const struct rn_callsite *s);

/* Whether it is alike with others. With the lock. */
bool rn_slack_alike(uint32_t number);

/* The first one of its set. */
uint32_t rn_slack_first(uint32_t number);

#endif
