/* hash.h - hash functions: XXH3 and XXH64 of libxxhash, inlined where the length is known. */
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

/* Returns a different hash for each seed. */
static inline uint64_t rn_hash_seeded(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

/* Computes rn_hash_seeded of bytes that are added in pieces. */
struct rn_hasher {
	XXH3_state_t state;
};

static inline void rn_hasher_begin(struct rn_hasher *h, uint64_t seed)
{
	XXH3_INITSTATE(&h->state); /* the reset reads the state */
	XXH3_64bits_reset_withSeed(&h->state, seed);
}

static inline void rn_hasher_add(struct rn_hasher *h, const void *bytes, size_t len)
{
	XXH3_64bits_update(&h->state, bytes, len);
}

static inline uint64_t rn_hasher_end(const struct rn_hasher *h)
{
	return XXH3_64bits_digest(&h->state);
}

/* Returns the hash of one 64-bit word, for keys that are integers. */
static inline uint64_t rn_hash_u64(uint64_t v)
{
	return XXH3_64bits(&v, sizeof(v));
}

#endif
