/*
 * buf.h - a growable byte buffer, for commands and for encoders.
 *
 * If the buffer cannot grow, `failed` is set, and every later write has no effect. An encoder
 * therefore checks for errors once, at the end (rn_buf_status). The buffer uses malloc and must not
 * be used on the tracer's hot path, except over existing memory (rn_buf_over). Growth is charged to
 * the budget of the process (budget.h).
 */
#ifndef RN_BASE_BUF_H
#define RN_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/varint.h"

/* Bytes that are owned by another object. */
struct rn_chunk {
	const unsigned char *bytes;
	size_t len;
};

struct rn_buf {
	unsigned char *data;
	size_t len, cap;
	bool failed;
	bool fixed; /* the caller owns the memory: it is neither extended nor freed */
};

/* Creates a buffer over n bytes that the caller owns. */
static inline struct rn_buf rn_buf_over(void *p, size_t n)
{
	return (struct rn_buf){ .data = p, .cap = n, .fixed = true };
}

/* Extends the buffer if necessary; for rn_buf_reserve. */
unsigned char *rn_buf_reserve_slow(struct rn_buf *b, size_t n);

/* Reserves n bytes at data + len. Returns their address (not NULL, even for n = 0), or NULL if
 * memory is short. */
static inline unsigned char *rn_buf_reserve(struct rn_buf *b, size_t n)
{
	bool has_room = b->data && b->cap - b->len >= n && !b->failed;

	return __builtin_expect(has_room, 1) ? b->data + b->len : rn_buf_reserve_slow(b, n);
}

static inline void rn_buf_byte(struct rn_buf *b, unsigned char byte)
{
	unsigned char *p = rn_buf_reserve(b, 1);

	if (p) {
		*p = byte;
		b->len++;
	}
}

/* Appends a varint. */
static inline void rn_buf_u64(struct rn_buf *b, uint64_t v)
{
	unsigned char *p = rn_buf_reserve(b, RN_VARINT_MAX);

	if (p)
		b->len += (size_t)(rn_varint_put(p, v) - p);
}

void rn_buf_add(struct rn_buf *b, const void *bytes, size_t n);
void rn_buf_piece(struct rn_buf *b, const void *bytes, size_t n); /* length, then bytes */
void rn_buf_i64(struct rn_buf *b, int64_t v);                     /* zigzag varint */
void rn_buf_le32(struct rn_buf *b, uint32_t v);                   /* fixed width, little endian */
void rn_buf_le64(struct rn_buf *b, uint64_t v);
int rn_buf_status(const struct rn_buf *b); /* RN_OK or RN_E_NOMEM */
void rn_buf_clear(struct rn_buf *b);       /* empties it, retains its memory, resets `failed` */
void rn_buf_free(struct rn_buf *b);

/* Access to a buffer as an array: the number of elements, and element i. */
#define RN_BUF_COUNT(b, type) ((b)->len / sizeof(type))
#define RN_BUF_AT(b, type, i) (&((type *)(void *)(b)->data)[i])

/* For tests: makes the n-th growth from now fail; 0: none fails. */
void rn_buf_fail_at(uint64_t n);

#endif
