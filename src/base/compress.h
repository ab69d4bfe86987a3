/*
 * compress.h - compresses a buffer to one Zstandard frame, and decompresses it.
 *
 * A frame states its content size. The reader uses this size only if the frame can contain that
 * much. Only for commands, because zstd allocates with malloc.
 */
#ifndef RN_BASE_COMPRESS_H
#define RN_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct rn_packer { /* zero-initialized; retains the compressor's memory between calls */
	void *ctx;
	int level; /* maximum Zstandard level; 0: the strongest that is worth its time */
};

/* A dictionary, which must be the same for packing and unpacking; {0}: no dictionary. */
struct rn_pack_dict {
	const void *bytes;
	size_t len;
	void *ready; /* created by rn_pack_prepare; or NULL */
};

/* Prepares a dictionary for small data. Otherwise each call processes the dictionary, which takes
 * longer than the data. If memory is short, nothing changes. The memory is never released. */
void rn_pack_prepare(struct rn_pack_dict *dict);

/* Stores the frame in out, and replaces its contents. The frame is larger than incompressible data.
 * Returns RN_OK or RN_E_NOMEM. */
int rn_pack(struct rn_packer *p, struct rn_pack_dict dict, const void *bytes, size_t len,
	    struct rn_buf *out);
void rn_packer_free(struct rn_packer *p);

/* Whether a frame of `len` bytes can contain `size` bytes. */
bool rn_pack_possible(uint64_t size, uint64_t len);

/* Returns the content size if the bytes are one complete frame that can contain it; otherwise 0. */
uint64_t rn_packed_size(const void *frame, size_t len);

/* Unpacks exactly `size` bytes. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the frame is damaged. */
int rn_unpack(struct rn_pack_dict dict, const void *frame, size_t len, void *raw, size_t size);

#endif
