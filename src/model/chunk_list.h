/*
 * chunk_list.h - chunks of bytes by stream: the call times (encode/call_times.h) or the order
 * events (model/event_list.h) of the streams that have any.
 *
 * Chunks are opaque until the trace is read. The head of a stream is a short list of numbers that
 * the reader of its chunks needs. Encoded form (doc/format.md, 14 and 16):
 *
 *   varint  number of streams in the list; per stream, ascending:
 *     varint  number of streams between this one and the previous one
 *     varint  length of the head; the numbers, each a varint
 *     varint  number of chunks; per chunk a varint, its length, and its bytes
 *
 * Memory is allocated from the arena. Input of the decoder is untrusted. The decoded list refers to
 * the input, which must outlive it.
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

/* Adds a stream, whose number must be greater than those in the list. rn_chunk_list_add refers to
 * the head and the chunks; rn_chunk_list_copy copies them. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG
 * if the streams do not ascend. */
int rn_chunk_list_add(struct rn_chunk_list *l, const struct rn_chunk_stream *s);
int rn_chunk_list_copy(struct rn_chunk_list *l, const struct rn_chunk_stream *s);

/* Adds copies of all streams of another list. Their numbers must be greater than those in this
 * list. */
int rn_chunk_list_merge(struct rn_chunk_list *l, const struct rn_chunk_list *from);

/* Encodes the list with stream `first` as number 0. Returns RN_OK or RN_E_NOMEM. */
int rn_chunk_list_encode(const struct rn_chunk_list *l, uint64_t first, struct rn_buf *out);

/* Decodes into an empty list; its streams are within first .. first + n - 1. The caller verifies
 * the end of the input. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_chunk_list_decode(struct rn_chunk_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err);

#endif
