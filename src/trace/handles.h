/*
 * handles.h - converts MPI handles to call words: predefined handles by name, others by id.
 *
 * Ids are assigned per kind of object. The lowest free id is used; for windows and messages, the
 * lowest free id of their communicator. Communicators use symbols (comm_registry.h). A handle whose
 * creation was not seen (created by a library, or before tracing began) is numbered when it is
 * first used.
 *
 * Each thread caches the words of the handles that it used recently. Any change of the tables
 * invalidates the caches of all threads (rn_tracer.generation), which costs one lookup per entry.
 */
#ifndef RN_TRACE_HANDLES_H
#define RN_TRACE_HANDLES_H

#include <stdint.h>

#include "encode/call_words.h"
#include "runtime/tracer_state.h"
#include "trace/stream.h"

/* RN_OK or RN_E_NOMEM. */
int rn_handles_init(struct rn_arena *mem);

uint64_t rn_handle_word_slow(enum rn_param_kind kind, uint64_t handle, struct rn_handle_cache *c);

/* Returns the entry of the thread's cache for this handle. */
static inline struct rn_handle_cache *rn_handle_kept(struct rn_stream *t, enum rn_param_kind kind,
						     uint64_t handle)
{
	uint64_t key = handle ^ (uint64_t)kind << 56;

	return &t->handles[(key >> 4 ^ key ^ key >> 11 ^ (uint64_t)kind << 2) % RN_HANDLE_CACHE];
}

static inline bool rn_handle_fresh(const struct rn_handle_cache *c, enum rn_param_kind kind,
				   uint64_t handle)
{
	return __builtin_expect(c->key == (handle ^ (uint64_t)kind << 56) &&
					c->generation == rn_tracer_generation(),
				1);
}

static inline uint64_t rn_handle_word(struct rn_stream *t, enum rn_param_kind kind, uint64_t handle)
{
	struct rn_handle_cache *c = rn_handle_kept(t, kind, handle);

	return rn_handle_fresh(c, kind, handle) ? c->word : rn_handle_word_slow(kind, handle, c);
}

/* Assigns an id to a new object. `comm`: call word of the communicator that its ranks refer to, or
 * 0. Returns its call word. */
uint64_t rn_handle_new(enum rn_param_kind kind, uint64_t handle, uint64_t comm);

/* Registers a handle that MPI returned and that usually exists already. The program must free it
 * once more. Returns its call word. */
uint64_t rn_handle_again(enum rn_param_kind kind, uint64_t handle);

/* Whether the handle is in the table. Only such a value is certainly a handle. */
bool rn_handle_known(enum rn_param_kind kind, uint64_t handle);

/* Releases the id of an object that the next call frees; not for communicators. Returns its call
 * word. */
uint64_t rn_handle_free(struct rn_stream *t, enum rn_param_kind kind, uint64_t handle);

/* Set and remove the call word of a communicator, which contains its symbol. rn_handle_unset does
 * nothing if the handle has another word by now. */
void rn_handle_set(enum rn_param_kind kind, uint64_t handle, uint64_t word);
void rn_handle_unset(enum rn_param_kind kind, uint64_t handle, uint64_t word);

/* Returns the keyword of a constant of an integer kind, or -1. For handle kinds, the value 0
 * selects the null handle. */
int64_t rn_constant(enum rn_param_kind kind, int64_t value);
/* A table that contains all constants and no objects. */
struct rn_process_table;
const struct rn_process_table *rn_constants(void);

#endif
