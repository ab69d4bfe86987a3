/*
 * buf.h - a growable byte buffer, for tool code and for writers of sections.
 *
 * A failed growth sets `failed` and makes every later write a no-op, so that an encoder writes on
 * and looks once at the end (rn_buf_status). Uses malloc: never on a tracer's hot path, but for one
 * over memory that is there already (rn_buf_over).
 * Growth is charged to the budget of the process (budget.h).
 */
#ifndef RN_BASE_BUF_H
#define RN_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that belong to somebody else. */
struct rn_chunk {
	const unsigned char *bytes;
	size_t len;
};

struct rn_buf {
	unsigned char *data;
	size_t len, cap;
	bool failed;
	bool fixed; /* the memory is the caller's: it does not grow, and is not freed */
};

/* One that is over n bytes of the caller's. */
static inline struct rn_buf rn_buf_over(void *p, size_t n)
{
	return (struct rn_buf){ .data = p, .cap = n, .fixed = true };
}

/* Room for n more bytes at data + len (never NULL then, even for n = 0), or NULL. */
unsigned char *rn_buf_reserve(struct rn_buf *b, size_t n);
void rn_buf_add(struct rn_buf *b, const void *bytes, size_t n);
void rn_buf_piece(struct rn_buf *b, const void *bytes, size_t n); /* length as a varint first */
void rn_buf_byte(struct rn_buf *b, unsigned char byte);
void rn_buf_u64(struct rn_buf *b, uint64_t v);  /* varint */
void rn_buf_i64(struct rn_buf *b, int64_t v);   /* zigzag varint */
void rn_buf_le32(struct rn_buf *b, uint32_t v); /* fixed width, little endian */
void rn_buf_le64(struct rn_buf *b, uint64_t v);
int rn_buf_status(const struct rn_buf *b); /* RN_OK or RN_E_NOMEM */
void rn_buf_clear(struct rn_buf *b);       /* empty, but keeps the memory; forgets a failure */
void rn_buf_free(struct rn_buf *b);

/* A buffer as an array: the number of its elements, and element i. */
#define RN_BUF_COUNT(b, type) ((b)->len / sizeof(type))
#define RN_BUF_AT(b, type, i) (&((type *)(void *)(b)->data)[i])

/* For tests: the n-th growth from now fails; 0 turns it off. */
void rn_buf_fail_at(uint64_t n);

#endif
