/* chunk_list.c - see chunk_list.h. */
#include "model/chunk_list.h"

#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"

void rn_chunk_list_init(struct rn_chunk_list *l, struct rn_arena *mem)
{
	l->mem = mem;
	rn_seg_init(&l->stream, sizeof(struct rn_chunk_stream));
}

struct rn_chunk_stream *rn_chunk_list_at(const struct rn_chunk_list *l, uint32_t i)
{
	return RN_SEG_AT(&l->stream, struct rn_chunk_stream, i);
}

const struct rn_chunk_stream *rn_chunk_list_find(const struct rn_chunk_list *l, uint64_t stream)
{
	struct rn_bisect b = { 0, l->stream.n, 0 };
	const struct rn_chunk_stream *s;

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, rn_chunk_list_at(l, (uint32_t)b.mid)->stream < stream);
	s = b.lo < l->stream.n ? rn_chunk_list_at(l, (uint32_t)b.lo) : NULL;
	return s && s->stream == stream ? s : NULL;
}

int rn_chunk_list_add(struct rn_chunk_list *l, const struct rn_chunk_stream *s)
{
	uint32_t n = l->stream.n;

	if (n && rn_chunk_list_at(l, n - 1)->stream >= s->stream)
		return RN_E_ARG;
	return RN_SEG_PUSH(&l->stream, l->mem, struct rn_chunk_stream, *s) ? RN_OK : RN_E_NOMEM;
}

int rn_chunk_list_copy(struct rn_chunk_list *l, const struct rn_chunk_stream *s)
{
	struct rn_chunk_stream copy = *s;
	struct rn_chunk *chunk = rn_new(l->mem, struct rn_chunk, s->chunks);
	uint64_t *head = rn_new(l->mem, uint64_t, s->heads);

	if (!chunk || !head)
		return RN_E_NOMEM;
	if (s->heads)
		memcpy(head, s->head, s->heads * sizeof(*head));
	for (uint32_t i = 0; i < s->chunks; i++) {
		unsigned char *bytes = rn_new(l->mem, unsigned char, s->chunk[i].len);

		if (!bytes)
			return RN_E_NOMEM;
		if (s->chunk[i].len)
			memcpy(bytes, s->chunk[i].bytes, s->chunk[i].len);
		chunk[i] = (struct rn_chunk){ bytes, s->chunk[i].len };
	}
	copy.head = head;
	copy.chunk = chunk;
	return rn_chunk_list_add(l, &copy);
}

int rn_chunk_list_merge(struct rn_chunk_list *l, const struct rn_chunk_list *from)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < from->stream.n && rc == RN_OK; i++)
		rc = rn_chunk_list_copy(l, rn_chunk_list_at(from, i));
	return rc;
}

int rn_chunk_list_encode(const struct rn_chunk_list *l, uint64_t first, struct rn_buf *out)
{
	rn_buf_u64(out, l->stream.n);
	for (uint32_t i = 0; i < l->stream.n; i++) {
		const struct rn_chunk_stream *s = rn_chunk_list_at(l, i);

		rn_buf_u64(out, s->stream - first);
		first = s->stream + 1;
		rn_buf_u64(out, s->heads);
		for (uint32_t k = 0; k < s->heads; k++)
			rn_buf_u64(out, s->head[k]);
		rn_buf_u64(out, s->chunks);
		for (uint32_t k = 0; k < s->chunks; k++)
			rn_buf_piece(out, s->chunk[k].bytes, s->chunk[k].len);
	}
	return rn_buf_status(out);
}

/* Returns RN_OK or RN_E_NOMEM. Malformed input sets in->bad. */
static int get_stream(struct rn_chunk_list *l, struct rn_reader *in, struct rn_chunk_stream *s)
{
	struct rn_chunk *chunk;
	uint64_t *head;

	s->heads = (uint32_t)rn_get_count(in, 1);
	s->head = head = rn_new(l->mem, uint64_t, s->heads);
	for (uint32_t i = 0; i < s->heads && head; i++)
		head[i] = rn_get_u64(in);
	s->chunks = (uint32_t)rn_get_count(in, 4);
	s->chunk = chunk = rn_new(l->mem, struct rn_chunk, s->chunks);
	for (uint32_t i = 0; i < s->chunks && chunk; i++) {
		chunk[i].len = rn_get_count(in, 1);
		chunk[i].bytes = rn_get_bytes(in, chunk[i].len);
	}
	return head && chunk ? RN_OK : RN_E_NOMEM;
}

int rn_chunk_list_decode(struct rn_chunk_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err)
{
	uint64_t streams = rn_get_count(in, 3), at = 0;

	for (uint64_t i = 0; i < streams && !in->bad; i++) {
		struct rn_chunk_stream s = { 0 };
		int rc;

		at += rn_get_max(in, n);
		s.stream = first + at;
		rc = get_stream(l, in, &s);
		if (rc == RN_OK)
			rc = in->bad || at++ >= n ? RN_E_DATA : rn_chunk_list_add(l, &s);
		if (rc == RN_E_NOMEM)
			return rn_err_nomem(err);
		if (rc < 0)
			rn_fail(in);
	}
	return in->bad ? rn_err_set(err, RN_E_DATA, "the list of streams is malformed") : RN_OK;
}
