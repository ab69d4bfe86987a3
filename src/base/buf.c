/* buf.c - see buf.h. */
#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

static uint64_t fail_at;

void rn_buf_fail_at(uint64_t n)
{
	fail_at = n;
}

static bool grow(struct rn_buf *b, size_t need)
{
	size_t cap = b->cap ? b->cap : 256;
	unsigned char *p;

	if (need > SIZE_MAX / 4 || b->fixed)
		return false;
	while (cap < need)
		cap *= 2;
	if (fail_at && --fail_at == 0)
		return false;
	if (!rn_budget_charge(cap))
		return false;
	p = realloc(b->data, cap);
	rn_budget_release(p ? b->cap : cap);
	if (!p)
		return false;
	b->data = p;
	b->cap = cap;
	return true;
}

unsigned char *rn_buf_reserve_slow(struct rn_buf *b, size_t n)
{
	if (b->failed)
		return NULL;
	if ((!b->data || b->cap - b->len < n) && (n > SIZE_MAX / 4 || !grow(b, b->len + n))) {
		b->failed = true;
		return NULL;
	}
	return b->data + b->len;
}

void rn_buf_add(struct rn_buf *b, const void *bytes, size_t n)
{
	unsigned char *p = rn_buf_reserve(b, n);

	if (p && n) {
		memcpy(p, bytes, n);
		b->len += n;
	}
}

void rn_buf_piece(struct rn_buf *b, const void *bytes, size_t n)
{
	rn_buf_u64(b, n);
	rn_buf_add(b, bytes, n);
}

void rn_buf_i64(struct rn_buf *b, int64_t v)
{
	rn_buf_u64(b, rn_zigzag(v));
}

void rn_buf_le32(struct rn_buf *b, uint32_t v)
{
	unsigned char p[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
			       (unsigned char)(v >> 24) };

	rn_buf_add(b, p, sizeof(p));
}

void rn_buf_le64(struct rn_buf *b, uint64_t v)
{
	rn_buf_le32(b, (uint32_t)v);
	rn_buf_le32(b, (uint32_t)(v >> 32));
}

int rn_buf_status(const struct rn_buf *b)
{
	return b->failed ? RN_E_NOMEM : RN_OK;
}

void rn_buf_clear(struct rn_buf *b)
{
	b->len = 0;
	b->failed = false;
}

void rn_buf_free(struct rn_buf *b)
{
	free(b->data);
	rn_budget_release(b->cap);
	*b = (struct rn_buf){ 0 };
}
