/*
 * handles.h - MPI's handles as words: predefined ones by name, others by number.
 *
 * Objects are numbered per kind, the lowest free number first (windows and messages: the lowest
 * free number of their communicator); communicators by symbol (comm_registry.h). A handle that
 * nobody has seen being made (a library's, or from before) gets a number when it is first used.
 *
 * Each thread keeps the words of the handles that it used lately; any change of the tables makes
 * all of that stale (rn_tracer.generation), which costs a lookup and no more.
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

/* Where the thread keeps its word. */
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

/* An object was born, with the communicator (a word) that its ranks are of, or 0; its word. */
uint64_t rn_handle_new(enum rn_param_kind kind, uint64_t handle, uint64_t comm);

/* One was asked for, which is there already as a rule, and has to be freed once more. */
uint64_t rn_handle_again(enum rn_param_kind kind, uint64_t handle);

/* Has it been seen? Only of such a one is sure that it is a handle. */
bool rn_handle_known(enum rn_param_kind kind, uint64_t handle);

/* The object, which is no communicator, ends with the call that is about to be made; its word. */
uint64_t rn_handle_free(struct rn_stream *t, enum rn_param_kind kind, uint64_t handle);

/* A communicator's symbol is its word. Unset: if it is this one's still. */
void rn_handle_set(enum rn_param_kind kind, uint64_t handle, uint64_t word);
void rn_handle_unset(enum rn_param_kind kind, uint64_t handle, uint64_t word);

/* The word of a constant of an integer kind, or -1; for handles, 0 asks for the null one. */
int64_t rn_constant(enum rn_param_kind kind, int64_t value);
/* A table that contains all constants and no objects. */
struct rn_process_table;
const struct rn_process_table *rn_constants(void);

#endif
