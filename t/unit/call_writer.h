/*
 * call_writer.h - writes a signature into memory of fixed size.
 *
 * The values are appended with the functions of encode/signature.h.
 */
#ifndef RN_UNIT_CALL_WRITER_H
#define RN_UNIT_CALL_WRITER_H

#include "base/buf.h"
#include "encode/signature.h"

#define CALL_BUFFER 4096 /* sufficient for most signatures */

static inline void call_begin(struct rn_buf *w, void *bytes, size_t cap, uint32_t func)
{
	*w = rn_buf_over(bytes, cap);
	rn_buf_u64(w, func);
}

/* Ends a signature. Returns RN_OK and sets *len, or RN_E_RANGE if it does not fit. */
static inline int call_done(const struct rn_buf *w, size_t *len)
{
	*len = w->len;
	return w->failed || w->len > RN_CALL_BYTES_MAX ? RN_E_RANGE : RN_OK;
}

/* Appends the return value and ends the signature. */
static inline int call_end(struct rn_buf *w, int64_t ret, size_t *len)
{
	rn_call_num(w, RN_V_INT, ret);
	return call_done(w, len);
}

#endif
