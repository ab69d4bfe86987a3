/*
 * by_stream.h - what some streams have and others do not: an array (base/seg.h) whose elements
 * begin with the number of their stream, a uint64_t, ascending.
 */
#ifndef RN_FILE_BY_STREAM_H
#define RN_FILE_BY_STREAM_H

#include <stdint.h>

#include "base/seg.h"

/* A copy of the element, behind all others. RN_OK, RN_E_NOMEM, or RN_E_ARG: it is not behind. */
int rn_by_stream_add(struct rn_seg *s, struct rn_arena *mem, const void *element);

/* That of a stream, or NULL. */
const void *rn_by_stream_find(const struct rn_seg *s, uint64_t stream);

#endif
