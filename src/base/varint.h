/*
 * varint.h - LEB128 integers, the only number format inside sections.
 *
 * Unsigned: seven bits per byte, low-order group first, at most 10 bytes. The reader rejects longer
 * and overlong forms, so that a value has exactly one encoding. Signed: zigzag, then unsigned.
 */
#ifndef RN_BASE_VARINT_H
#define RN_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_VARINT_MAX 10

/* Writes v at p, which must have room for RN_VARINT_MAX bytes; returns the byte after it. */
static inline unsigned char *rn_varint_put(unsigned char *p, uint64_t v)
{
	while (v > 127) {
		*p++ = (unsigned char)(v | 128);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

static inline size_t rn_varint_size(uint64_t v)
{
	return v ? (size_t)(70 - __builtin_clzll(v)) / 7 : 1;
}

static inline uint64_t rn_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t rn_unzigzag(uint64_t v)
{
	return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

/* A reader for untrusted bytes. Beyond the end, or at an invalid varint, `bad` is set and remains
 * set, and every read returns 0. Decoders therefore check `bad` once, at the end. */
struct rn_reader {
	const unsigned char *p, *end;
	bool bad;
};

static inline struct rn_reader rn_reader(const void *bytes, size_t len)
{
	/* An empty buffer may be NULL, and NULL + 0 is undefined. */
	const unsigned char *p = len ? bytes : (const void *)"";

	return (struct rn_reader){ p, p + len, false };
}

static inline size_t rn_left(const struct rn_reader *r)
{
	return (size_t)(r->end - r->p);
}

static inline uint64_t rn_fail(struct rn_reader *r)
{
	r->bad = true;
	r->p = r->end;
	return 0;
}

static inline uint64_t rn_get_u64(struct rn_reader *r)
{
	uint64_t v = 0;
	unsigned shift;

	for (shift = 0; shift < 64; shift += 7) {
		unsigned char b;

		if (r->p == r->end)
			return rn_fail(r);
		b = *r->p++;
		if ((b == 0 && shift) || (shift == 63 && b > 1))
			return rn_fail(r);
		v |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			return v;
	}
	return rn_fail(r);
}

static inline int64_t rn_get_i64(struct rn_reader *r)
{
	return rn_unzigzag(rn_get_u64(r));
}

static inline int32_t rn_get_i32(struct rn_reader *r)
{
	int64_t v = rn_get_i64(r);

	return v < INT32_MIN || v > INT32_MAX ? (int32_t)rn_fail(r) : (int32_t)v;
}

/* Reads an unsigned value that must not exceed max. */
static inline uint64_t rn_get_max(struct rn_reader *r, uint64_t max)
{
	uint64_t v = rn_get_u64(r);

	return v <= max ? v : rn_fail(r);
}

/* Reads the number of elements that follow. Each needs at least `min_bytes` of the remaining input,
 * so a forged count cannot cause a larger allocation than the input justifies. */
static inline uint64_t rn_get_count(struct rn_reader *r, size_t min_bytes)
{
	uint64_t n = rn_get_u64(r);

	return n <= rn_left(r) / (min_bytes ? min_bytes : 1) ? n : rn_fail(r);
}

/* Returns the address of the next n bytes in the input, or NULL with `bad` set. */
static inline const unsigned char *rn_get_bytes(struct rn_reader *r, uint64_t n)
{
	const unsigned char *p = r->p;

	if (n > rn_left(r)) {
		rn_fail(r);
		return NULL;
	}
	r->p += n;
	return p;
}

#endif
