/* compress.c - see compress.h. */
#include "base/compress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_initStaticCDict */
#include <zstd.h>
#include <zstd_errors.h>

/* Maximum expansion of four bytes of a frame: one block of the largest size. */
#define BLOCK 131072

/* The content size for which ZSTD_createCDict selects its parameters. */
#define SMALL 513

/* Returns the level for data of a given length. The strongest level costs little for small data. */
static int level_for(size_t len)
{
	return len < (size_t)256 << 10 ? 19 : len < (size_t)4 << 20 ? 16 : 9;
}

#define SAMPLE 65536u

/* Whether all byte values are about equally frequent, as in the output of Rondo's own coder. A high
 * level is then useless. The sum of the squares is minimal if the frequencies are equal. */
static bool is_dense(const unsigned char *bytes, size_t len)
{
	uint32_t count[256] = { 0 };
	uint64_t squares = 0;

	if (len < SAMPLE)
		return false;
	for (size_t i = 0; i < SAMPLE; i++)
		count[bytes[i]]++;
	for (unsigned i = 0; i < 256; i++)
		squares += (uint64_t)count[i] * count[i];
	return squares < (uint64_t)SAMPLE * SAMPLE / 256 * 11 / 10;
}

/* Allocates the memory itself, because ZSTD_createCDict crashes if memory is short (zstd 1.5.4). */
void rn_pack_prepare(struct rn_pack_dict *dict)
{
	ZSTD_compressionParameters p = ZSTD_getCParams(level_for(0), SMALL, dict->len);
	size_t size = ZSTD_estimateCDictSize_advanced(dict->len, p, ZSTD_dlm_byRef);
	void *room = malloc(size);

	if (room)
		dict->ready = (void *)ZSTD_initStaticCDict(room, size, dict->bytes, dict->len,
							   ZSTD_dlm_byRef, ZSTD_dct_auto, p);
	if (!dict->ready)
		free(room);
}

static int at_most(int limit, int level)
{
	return limit && limit < level ? limit : level;
}

int rn_pack(struct rn_packer *p, struct rn_pack_dict dict, const void *bytes, size_t len,
	    struct rn_buf *out)
{
	size_t room = ZSTD_compressBound(len), n;
	unsigned char *to;

	rn_buf_clear(out);
	to = rn_buf_reserve(out, room);
	if (!p->ctx)
		p->ctx = ZSTD_createCCtx();
	if (!to || !p->ctx)
		return RN_E_NOMEM;
	if (dict.ready)
		n = ZSTD_compress_usingCDict(p->ctx, to, room, bytes, len, dict.ready);
	else
		n = ZSTD_compress_usingDict(
			p->ctx, to, room, bytes, len, dict.bytes, dict.len,
			is_dense(bytes, len) ? 1 : at_most(p->level, level_for(len)));
	if (ZSTD_isError(n)) /* the output has enough room, so memory is short */
		return RN_E_NOMEM;
	out->len = n;
	return RN_OK;
}

void rn_packer_free(struct rn_packer *p)
{
	ZSTD_freeCCtx(p->ctx);
	p->ctx = NULL;
}

bool rn_pack_possible(uint64_t size, uint64_t len)
{
	return size / BLOCK <= len / 4;
}

uint64_t rn_packed_size(const void *frame, size_t len)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame, len);

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
	    !rn_pack_possible(size, len))
		return 0;
	return ZSTD_findFrameCompressedSize(frame, len) == len ? size : 0;
}

int rn_unpack(struct rn_pack_dict dict, const void *frame, size_t len, void *raw, size_t size)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	size_t got;

	if (!ctx)
		return RN_E_NOMEM;
	got = ZSTD_decompress_usingDict(ctx, raw, size, frame, len, dict.bytes, dict.len);
	ZSTD_freeDCtx(ctx);
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
		return RN_E_NOMEM;
	return got == size ? RN_OK : RN_E_DATA;
}
