/* mem_location.h - converts addresses to call words: memory locations, constants and integers. */
#ifndef RN_TRACE_MEM_LOCATION_H
#define RN_TRACE_MEM_LOCATION_H

#include <stdint.h>

#include "encode/call_words.h"
#include "preload/next_mpi.h"
#include "trace/stream.h"

struct rn_place_words {
	uint64_t head, disp;
};

/* For pointers that are not plain memory: sentinels, functions, and integers stored in a
 * pointer. */
struct rn_place_words rn_place_special(struct rn_stream *t, enum rn_param_kind kind, const void *p);

static inline struct rn_place_words rn_place_memory(struct rn_stream *t, const void *p)
{
	struct rn_place place = rn_mem_place(&t->places, p);

	return (struct rn_place_words){ place.cls | (uint64_t)place.id << 8, (uint64_t)place.disp };
}

/* Add memory that MPI allocated, and remove the memory of a window that is freed. */
void rn_place_given(uint32_t function, const void *p, size_t n);
void rn_place_win_ends(MPI_Win win);

static inline struct rn_place_words rn_place_words(struct rn_stream *t, enum rn_param_kind kind,
						   const void *p)
{
	if (kind != RN_K_buffer || (uintptr_t)p < 4096 || p == MPI_IN_PLACE)
		return rn_place_special(t, kind, p);
	return rn_place_memory(t, p);
}

#endif
