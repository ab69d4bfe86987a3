/* by_stream.c - see by_stream.h. */
#include "file/by_stream.h"

#include <string.h>

#include "base/bisect.h"
#include "base/err.h"

static unsigned char *element_at(const struct rn_seg *s, uint32_t i)
{
	return s->dir[i >> RN_SEG_SHIFT] + (size_t)(i & RN_SEG_MASK) * s->size;
}

static uint64_t stream_of(const void *element)
{
	uint64_t stream;

	memcpy(&stream, element, sizeof(stream));
	return stream;
}

int rn_by_stream_add(struct rn_seg *s, struct rn_arena *mem, const void *element)
{
	if (s->n && stream_of(element_at(s, s->n - 1)) >= stream_of(element))
		return RN_E_ARG;
	if (!rn_seg_reserve(s, mem, 1))
		return RN_E_NOMEM;
	memcpy(element_at(s, s->n++), element, s->size);
	return RN_OK;
}

const void *rn_by_stream_find(const struct rn_seg *s, uint64_t stream)
{
	struct rn_bisect b = { 0, s->n, 0 };
	const void *e;

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, stream_of(element_at(s, (uint32_t)b.mid)) < stream);
	e = b.lo < s->n ? element_at(s, (uint32_t)b.lo) : NULL;
	return e && stream_of(e) == stream ? e : NULL;
}
