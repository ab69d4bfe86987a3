/*
 * callstack.h - call sites (--callsite): the id of the call stack is part of the first word of a
 * call, so calls from different sites have different signatures.
 *
 * A stack is a list of frames as (module, offset), innermost first. Frames of the tracer, of the
 * MPI library and its bindings, of ignored modules, and below main or a thread's start function are
 * omitted. The process has one table of stacks, by their bytes (encode/callsite.h). Ids start at 1;
 * id 1 is the unknown stack.
 *
 * A thread caches stacks by return address and stack pointer. With each it stores the words of the
 * stack memory that unwinding depended on (track/unwind.h): all return addresses of the chain, and
 * the frame pointers that locate a frame. A cached stack is valid if all of these words are
 * unchanged: by induction, every frame is then at the same address and has the same caller. So a
 * cached stack is never used for another stack.
 *
 * Cost: one comparison per frame for a cached stack. None without --callsite: the first word of a
 * call is compared in any case, and a stack is requested only if the word was not predicted.
 */
#ifndef RN_TRACE_CALLSTACK_H
#define RN_TRACE_CALLSTACK_H

#include <stddef.h>
#include <stdint.h>

#include "encode/call_words.h"
#include "runtime/tracer_config.h"

struct rn_stream;

/* Returns the id of the stack above a function of the tracer whose frame this is. RN_RAW_SITE_ALIKE
 * is set if the stack cluster has other stacks. */
uint32_t rn_callstack(struct rn_stream *t, const void *frame);

/* Returns the first word of a call. */
static inline uint64_t rn_callstack_head(struct rn_stream *t, uint32_t function, const void *frame)
{
	if (__builtin_expect(rn_config.callsite == 0, 1))
		return function;
	return RN_RAW_HEAD(function, rn_callstack(t, frame));
}

/* Stores all call stacks recorded so far in `out`. RN_OK or RN_E_NOMEM. */
struct rn_arena;
struct rn_objects;
int rn_callstack_list(struct rn_arena *mem, struct rn_objects *out);

#define RN_CALLSTACK_PATHS 32u

/* Returns the metadata key and the path of the i-th module that occurs in call stacks. There are at
 * most RN_CALLSTACK_PATHS. False if i is beyond the last one. */
bool rn_callstack_path(uint32_t i, const char **key, const char **path);

/* Returns the first stack of the cluster of this stack. It never changes. */
uint32_t rn_slack_first(uint32_t number);

/* Invalidates the cached stacks after code was unloaded, because other code may be loaded at its
 * addresses. */
void rn_callstack_forget(void);

#endif
