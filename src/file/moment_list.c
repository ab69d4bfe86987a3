/* moment_list.c - see moment_list.h. */
#include "file/moment_list.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "file/by_stream.h"

void rn_moment_list_init(struct rn_moment_list *l, struct rn_arena *mem)
{
	l->mem = mem;
	rn_seg_init(&l->stream, sizeof(struct rn_moment_stream));
}

static struct rn_moment_stream *stream_at(const struct rn_moment_list *l, uint32_t i)
{
	return RN_SEG_AT(&l->stream, struct rn_moment_stream, i);
}

int rn_moment_list_add(struct rn_moment_list *l, uint64_t stream, const struct rn_moments *m)
{
	size_t room = (size_t)2 * RN_VARINT_MAX;
	struct rn_buf b;

	for (uint32_t i = 0; i < m->chunks; i++)
		room += m->chunk[i].len + RN_VARINT_MAX;
	b = rn_buf_over(rn_new(l->mem, unsigned char, room), room);
	if (!b.data)
		return RN_E_NOMEM;
	rn_buf_u64(&b, m->scale);
	rn_buf_u64(&b, m->zero);
	for (uint32_t i = 0; i < m->chunks; i++) {
		rn_buf_u64(&b, m->chunk[i].len);
		rn_buf_add(&b, m->chunk[i].bytes, m->chunk[i].len);
	}
	return rn_by_stream_add(&l->stream, l->mem,
				&(struct rn_moment_stream){ stream, { b.data, b.len } });
}

int rn_moment_list_encode(const struct rn_moment_list *l, uint64_t first, struct rn_buf *out)
{
	rn_buf_u64(out, l->stream.n);
	for (uint32_t i = 0; i < l->stream.n; i++) {
		const struct rn_moment_stream *s = stream_at(l, i);

		rn_buf_u64(out, s->stream - first);
		first = s->stream + 1;
		rn_buf_u64(out, s->bytes.len);
		rn_buf_add(out, s->bytes.bytes, s->bytes.len);
	}
	return rn_buf_status(out);
}

int rn_moment_list_decode(struct rn_moment_list *l, const void *bytes, size_t len, uint64_t first,
			  uint64_t n, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	uint64_t streams = rn_get_count(&in, 2), at = 0;

	for (uint64_t i = 0; i < streams && !in.bad; i++) {
		struct rn_moment_stream s;
		int rc;

		at += rn_get_max(&in, n);
		s.bytes.len = rn_get_count(&in, 1);
		s.bytes.bytes = rn_get_bytes(&in, s.bytes.len);
		s.stream = first + at;
		rc = in.bad || at++ >= n ? RN_E_DATA : rn_by_stream_add(&l->stream, l->mem, &s);
		if (rc == RN_E_NOMEM)
			return rn_err_nomem(err);
		if (rc < 0)
			rn_fail(&in);
	}
	return in.bad || rn_left(&in)
		       ? rn_err_set(err, RN_E_DATA, "the list of streams is malformed")
		       : RN_OK;
}

/* Counts the chunks, and with `chunk` also says where they are. */
static uint32_t get_chunks(struct rn_reader *in, struct rn_moment_bytes *chunk)
{
	uint32_t n = 0;

	for (; rn_left(in) && !in->bad; n++) {
		size_t len = rn_get_count(in, 1);
		const unsigned char *bytes = rn_get_bytes(in, len);

		if (chunk && bytes)
			chunk[n] = (struct rn_moment_bytes){ bytes, len };
	}
	return n;
}

int rn_moment_list_get(const struct rn_moment_list *l, uint64_t stream, struct rn_arena *mem,
		       struct rn_moments *out, struct rn_err *err)
{
	const struct rn_moment_stream *s = rn_by_stream_find(&l->stream, stream);
	struct rn_moment_bytes *chunk;
	struct rn_reader in, again;

	*out = (struct rn_moments){ 0 };
	if (!s)
		return RN_OK;
	in = rn_reader(s->bytes.bytes, s->bytes.len);
	out->scale = rn_get_u64(&in);
	out->zero = rn_get_max(&in, INT64_MAX);
	again = in;
	out->chunks = get_chunks(&in, NULL);
	if (in.bad || !out->scale)
		return rn_err_set(err, RN_E_DATA, "stream %" PRIu64 " is malformed", stream);
	out->chunk = chunk = rn_new(mem, struct rn_moment_bytes, out->chunks);
	if (!chunk)
		return rn_err_nomem(err);
	get_chunks(&again, chunk);
	return RN_OK;
}
