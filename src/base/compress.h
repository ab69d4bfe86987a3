/*
 * compress.h - the one general compressor: a piece of data as one Zstandard frame, and back.
 *
 * A frame states its content size, and a reader believes it only when it is possible. Tool-side
 * code: zstd allocates with malloc.
 */
#ifndef RN_BASE_COMPRESS_H
#define RN_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct rn_packer { /* zeroed is ready; keeps the compressor's memory between calls */
	void *ctx;
	int level; /* at most this one of Zstandard's; 0: the strongest that is worth its time */
};

/* Bytes that packer and unpacker both have; {0}: none. */
struct rn_pack_dict {
	const void *bytes;
	size_t len;
	void *ready; /* by rn_pack_prepare; or NULL */
};

/* For small pieces: packing one does not go through the dictionary then, which takes longer than
 * the piece. Without memory nothing changes. Kept until the process ends. */
void rn_pack_prepare(struct rn_pack_dict *dict);

/* out becomes the frame (larger than the data when that does not compress). RN_E_NOMEM. */
int rn_pack(struct rn_packer *p, struct rn_pack_dict dict, const void *bytes, size_t len,
	    struct rn_buf *out);
void rn_packer_free(struct rn_packer *p);

/* A frame of `len` bytes can hold `size` bytes. */
bool rn_pack_possible(uint64_t size, uint64_t len);

/* The content size, if these bytes are one whole frame and can hold it; else 0. */
uint64_t rn_packed_size(const void *frame, size_t len);

/* Unpacks exactly `size` bytes. RN_OK, RN_E_NOMEM, or RN_E_DATA when the frame is damaged. */
int rn_unpack(struct rn_pack_dict dict, const void *frame, size_t len, void *raw, size_t size);

#endif
