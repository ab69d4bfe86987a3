/*
 * moment_list.h - the times of every call of some streams: chunks (encode/moments.h) on their way
 * into the trace, and in it.
 *
 * They are bytes that nobody looks into before the trace is read: ranks' lists are put one behind
 * the other. As bytes (doc/format.md, 14):
 *
 *   varint  number of streams that have times; per stream, ascending:
 *     varint  how many streams lie between it and the one before
 *     varint  length of what follows
 *     varint  nanoseconds per tick, times 2^32
 *     varint  when the stream began, in nanoseconds of its host's clock
 *             its chunks, each behind its length, a varint
 *
 * Memory from the arena. Decoding trusts no byte, and refers to those that it was given.
 */
#ifndef RN_FILE_MOMENT_LIST_H
#define RN_FILE_MOMENT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/seg.h"

struct rn_arena;
struct rn_buf;

struct rn_moment_bytes {
	const unsigned char *bytes;
	size_t len;
};

/* The times of one stream. */
struct rn_moments {
	uint64_t scale, zero;
	const struct rn_moment_bytes *chunk;
	uint32_t chunks;
};

struct rn_moment_stream {
	uint64_t stream;
	struct rn_moment_bytes bytes;
};

struct rn_moment_list {
	struct rn_arena *mem;
	struct rn_seg stream; /* struct rn_moment_stream, ascending */
};

void rn_moment_list_init(struct rn_moment_list *l, struct rn_arena *mem);

/* A stream behind all others. RN_OK, RN_E_NOMEM, or RN_E_ARG: it is not. */
int rn_moment_list_add(struct rn_moment_list *l, uint64_t stream, const struct rn_moments *m);

/* Streams are numbered from `first` on. RN_OK or RN_E_NOMEM. */
int rn_moment_list_encode(const struct rn_moment_list *l, uint64_t first, struct rn_buf *out);

/* Appends what is there: its streams are first .. first + n. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_moment_list_decode(struct rn_moment_list *l, const void *bytes, size_t len, uint64_t first,
			  uint64_t n, struct rn_err *err);

/* The times of a stream, in the arena; without chunks if it has none. RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_moment_list_get(const struct rn_moment_list *l, uint64_t stream, struct rn_arena *mem,
		       struct rn_moments *out, struct rn_err *err);

#endif
