/* hash.h - the one hash: XXH3 and XXH64 from libxxhash, inlined where the length is known. */
#ifndef RN_BASE_HASH_H
#define RN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t rn_hash(const void *bytes, size_t len)
{
	return XXH3_64bits(bytes, len);
}

/* Another one for each seed. */
static inline uint64_t rn_hash_seeded(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

/* Hash of one 64-bit word; for keys that are numbers. */
static inline uint64_t rn_hash_u64(uint64_t v)
{
	return XXH3_64bits(&v, sizeof(v));
}

#endif
