/*
 * reuse.c - makes the fuzzing targets reuse memory for the next input, and pack fast.
 *
 * The targets link this file with -Wl,--wrap=FUNCTION for each function below. An input takes less
 * than a millisecond. Without this file the kernel takes most of it, to map and unmap the blocks
 * of arenas and the tables of zstd.
 *
 * A block that is unmapped becomes the next block of its size. It is poisoned in between, so
 * AddressSanitizer finds uses after munmap. Contexts of zstd are reset before they are reused.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_getCParams */
#include <zstd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#endif
#endif
#ifndef HIDE
#define HIDE(p, n) ((void)0)
#define SHOW(p, n) ((void)0)
#endif

#define PAGE      4096u
#define PAGES_MAX 64u /* pages of a stored mapping: the largest usual block of an arena */
#define STORED    32u /* mappings of each size */

/* ---- mappings ---- */

static struct {
	void *at[STORED];
	unsigned n;
} cache[PAGES_MAX + 1];

void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t len);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);

static size_t pages_of(size_t len)
{
	return len % PAGE == 0 && len / PAGE <= PAGES_MAX ? len / PAGE : 0;
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	size_t pages = pages_of(len);
	void *p;

	if (at || fd >= 0 || prot != (PROT_READ | PROT_WRITE) || !pages || !cache[pages].n)
		return __real_mmap(at, len, prot, flags, fd, offset);
	p = cache[pages].at[--cache[pages].n];
	SHOW(p, len);
	return memset(p, 0, len);
}

/* Only arenas unmap memory in the targets, so a mapping of a file is never stored here. */
int __wrap_munmap(void *at, size_t len)
{
	size_t pages = pages_of(len);

	if (!pages || cache[pages].n == STORED)
		return __real_munmap(at, len);
	HIDE(at, len);
	cache[pages].at[cache[pages].n++] = at;
	return 0;
}

/* ---- zstd ---- */

#define CONTEXTS 4u

static ZSTD_CCtx *packer[CONTEXTS];
static ZSTD_DCtx *unpacker[CONTEXTS];
static unsigned packers, unpackers;

ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
size_t __real_ZSTD_freeCCtx(ZSTD_CCtx *c);
size_t __real_ZSTD_freeDCtx(ZSTD_DCtx *c);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *c);
size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *c);

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
	if (!packers)
		return __real_ZSTD_createCCtx();
	ZSTD_CCtx_reset(packer[--packers], ZSTD_reset_session_and_parameters);
	return packer[packers];
}

size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *c)
{
	if (!c || packers == CONTEXTS)
		return __real_ZSTD_freeCCtx(c);
	packer[packers++] = c;
	return 0;
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
	if (!unpackers)
		return __real_ZSTD_createDCtx();
	ZSTD_DCtx_reset(unpacker[--unpackers], ZSTD_reset_session_and_parameters);
	return unpacker[unpackers];
}

size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *c)
{
	if (!c || unpackers == CONTEXTS)
		return __real_ZSTD_freeDCtx(c);
	unpacker[unpackers++] = c;
	return 0;
}

/* The level is the fastest of zstd. Readers do not depend on it. */
#define LEVEL 1

ZSTD_compressionParameters __real_ZSTD_getCParams(int level, unsigned long long size, size_t dict);
size_t __real_ZSTD_compress_usingDict(ZSTD_CCtx *c, void *to, size_t room, const void *from,
				      size_t len, const void *dict, size_t dict_len, int level);
ZSTD_compressionParameters __wrap_ZSTD_getCParams(int level, unsigned long long size, size_t dict);
size_t __wrap_ZSTD_compress_usingDict(ZSTD_CCtx *c, void *to, size_t room, const void *from,
				      size_t len, const void *dict, size_t dict_len, int level);

ZSTD_compressionParameters __wrap_ZSTD_getCParams(int level, unsigned long long size, size_t dict)
{
	(void)level;
	return __real_ZSTD_getCParams(LEVEL, size, dict);
}

size_t __wrap_ZSTD_compress_usingDict(ZSTD_CCtx *c, void *to, size_t room, const void *from,
				      size_t len, const void *dict, size_t dict_len, int level)
{
	(void)level;
	return __real_ZSTD_compress_usingDict(c, to, room, from, len, dict, dict_len, LEVEL);
}

/* ---- malloc ---- */

const char *__asan_default_options(void);

/* Blocks that were freed are reused after 8 MiB of others instead of 256 MiB. */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}
