/*
 * chunk_list.h - chunks of bytes by stream: the call times (encode/call_times.h) and the order
 * events (model/event_list.h) of those streams that have any.
 *
 * Nothing looks into a chunk before the trace is read. The head of a stream is a few numbers that
 * the chunks need. As bytes (doc/format.md, 14 and 16):
 *
 *   varint  number of streams in the list; per stream, ascending:
 *     varint  number of streams between it and the one before
 *     varint  length of the head; of each number a varint
 *     varint  number of chunks; of each a varint, its length, and its bytes
 *
 * Memory from the arena. Decoding does not trust its input, and refers to the bytes it was given.
 */
#ifndef RN_MODEL_CHUNK_LIST_H
#define RN_MODEL_CHUNK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/varint.h"
#include "base/vec.h"

struct rn_chunk_stream {
	uint64_t stream;
	const uint64_t *head;
	const struct rn_chunk *chunk;
	uint32_t heads, chunks;
};

struct rn_chunk_list {
	struct rn_arena *mem;
	struct rn_seg stream; /* struct rn_chunk_stream, ascending */
};

void rn_chunk_list_init(struct rn_chunk_list *l, struct rn_arena *mem);

struct rn_chunk_stream *rn_chunk_list_at(const struct rn_chunk_list *l, uint32_t i);

/* The chunks of a stream, or NULL. */
const struct rn_chunk_stream *rn_chunk_list_find(const struct rn_chunk_list *l, uint64_t stream);

/* Adds a stream, which follows all others; the list refers to its head and its chunks, or has
 * copies. RN_OK, RN_E_NOMEM, or RN_E_ARG: it does not follow. */
int rn_chunk_list_add(struct rn_chunk_list *l, const struct rn_chunk_stream *s);
int rn_chunk_list_copy(struct rn_chunk_list *l, const struct rn_chunk_stream *s);

/* Adds copies of all streams of another list, which follow those of this one. */
int rn_chunk_list_merge(struct rn_chunk_list *l, const struct rn_chunk_list *from);

/* Streams are numbered from `first` on. RN_OK or RN_E_NOMEM. */
int rn_chunk_list_encode(const struct rn_chunk_list *l, uint64_t first, struct rn_buf *out);

/* Fills an empty list; its streams are first .. first + n - 1. The caller verifies the end of the
 * input. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_chunk_list_decode(struct rn_chunk_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err);

#endif
