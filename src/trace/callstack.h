/*
 * callstack.h - where calls are made (--callsite): the stack of a call as a number, which becomes
 * part of its first word, so that calls from different places are different calls.
 *
 * A stack is a list of frames as (module, offset), innermost first. Frames of ours, of the MPI
 * library and of its bindings are left out wherever they are, those that are to be ignored as well,
 * and what is below main or a thread's function. The process has one table of its stacks, by their
 * bytes (encode/callsite.h), numbered from 1; number 1 is the stack that is not known.
 *
 * A thread remembers stacks by return address and stack pointer, and with each the words of the
 * stack that finding it depended on (track/unwind.h): all return addresses of the chain, and those
 * frame pointers that say where a frame is. It is the same stack if all of these words are as they
 * were: by induction every frame then is where it was, called from where it was. So what is
 * remembered is never taken for another, and checking it is a compare for each frame.
 *
 * Costs nothing without --callsite: the first word of a call is compared anyhow, and only where it
 * is not the expected one does anybody ask for a stack.
 */
#ifndef RN_TRACE_CALLSTACK_H
#define RN_TRACE_CALLSTACK_H

#include <stddef.h>
#include <stdint.h>

#include "encode/call_words.h"
#include "runtime/tracer_config.h"

struct rn_stream;

/* The number of the stack above a function of ours, whose frame this is; with RN_RAW_SITE_ALIKE, if
 * there are others that are alike. */
uint32_t rn_callstack(struct rn_stream *t, const void *frame);

/* A call's first word. */
static inline uint64_t rn_callstack_head(struct rn_stream *t, uint32_t function, const void *frame)
{
	if (__builtin_expect(rn_config.callsite == 0, 1))
		return function;
	return RN_RAW_HEAD(function, rn_callstack(t, frame));
}

/* All call stacks so far. RN_OK or RN_E_NOMEM. */
struct rn_arena;
struct rn_objects;
int rn_callstack_list(struct rn_arena *mem, struct rn_objects *out);

#define RN_CALLSTACK_PATHS 32u

/* The i-th of those files, of which there are at most so many; false behind the last one. */
bool rn_callstack_path(uint32_t i, const char **key, const char **path);

/* The first stack of the stack cluster of this one, which never changes. */
uint32_t rn_slack_first(uint32_t number);

/* Code was unloaded, and other code may take its addresses. */
void rn_callstack_forget(void);

#endif
