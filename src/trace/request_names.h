/* request_names.h - names requests for the wrappers, from their creation to their end. */
#ifndef RN_TRACE_REQUEST_NAMES_H
#define RN_TRACE_REQUEST_NAMES_H

#include <stdint.h>

#include "preload/next_mpi.h"
#include "trace/stream.h"
#include "track/request_table.h"

/* Registers a request that signature s created. Its index is the lowest free one of s. */
void rn_request_born(struct rn_stream *t, struct rn_sig *s, uint64_t handle, const void *var,
		     uint32_t comm, uint32_t wild);

/* Returns the call word of a request; var may be NULL. */
uint64_t rn_request_word(struct rn_stream *t, uint64_t handle, const void *var);

/* Returns the call word of a request that the next call ends, and ends it. `base`: the words of
 * that call. */
uint64_t rn_request_free(struct rn_stream *t, const uint64_t *base, uint64_t handle,
			 const void *var);

/* Tracks requests whose handle MPI_Start or MPI_Startall changes. Called before the hooks of
 * the link RN_LINK_OUTCOME are installed. */
void rn_request_hook_starts(void);

/* A request of a Wait or Test call. It is found before the call and ended after it. The call words
 * are in a separate array, because a long array of requests is recorded as such. */
struct rn_request_use {
	struct rn_request_token token;
	uint32_t comm;
	uint8_t kind; /* enum rn_request_kind */
};

void rn_request_look(struct rn_stream *t, uint32_t n, const MPI_Request *q,
		     struct rn_request_use *u, uint64_t *word);
/* After the call: ends the requests whose variable is now MPI_REQUEST_NULL. `base`: the words of
 * the call. */
void rn_request_settle(struct rn_stream *t, const uint64_t *base, uint32_t n, const MPI_Request *q,
		       const struct rn_request_use *u, uint64_t *word);

static inline uint64_t rn_status_count(const MPI_Status *s)
{
#ifdef OPEN_MPI
	return s->_ucount;
#else
	return (uint64_t)(uint32_t)s->count_lo |
	       (uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32;
#endif
}

static inline uint64_t rn_status_cancelled(const MPI_Status *s)
{
#ifdef OPEN_MPI
	return (uint64_t)(s->_cancelled != 0);
#else
	return (uint64_t)(s->count_hi_and_cancelled & 1);
#endif
}

/* Returns 0, or the call word of an error class: error codes are recorded by class. */
uint64_t rn_error_word_slow(int code);

static inline uint64_t rn_error_word(int code)
{
	return __builtin_expect(code == MPI_SUCCESS, 1) ? 0 : rn_error_word_slow(code);
}

#endif
