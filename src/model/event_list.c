/* event_list.c - see event_list.h. */
#include "model/event_list.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/callsite.h"
#include "encode/signature.h"

int rn_order_list_init(struct rn_order_list *l, struct rn_arena *mem, bool final)
{
	*l = (struct rn_order_list){ .mem = mem, .final = final, .site = rn_sigs_new(mem) };
	rn_chunk_list_init(&l->chunks, mem);
	return l->site ? RN_OK : RN_E_NOMEM;
}

/* ---- event sites ---- */

static void put_site(const struct rn_order_place *p, bool final, struct rn_buf *out)
{
	rn_buf_u64(out, p->kind);
	rn_buf_piece(out, p->function, p->function_len);
	rn_buf_piece(out, p->comm, p->comm_len);
	if (final)
		rn_buf_u64(out, p->node);
	else
		rn_buf_piece(out, p->stack, p->stack_len);
}

static const char *get_text(struct rn_reader *in, size_t *len)
{
	*len = rn_get_count(in, 1);
	return (const char *)rn_get_bytes(in, *len);
}

static struct rn_order_place get_site(struct rn_reader *in, bool final)
{
	struct rn_order_place p = { .kind = (uint32_t)rn_get_max(in, RN_ORDER_KINDS - 1) };
	struct rn_callsite s;

	p.function = get_text(in, &p.function_len);
	p.comm = get_text(in, &p.comm_len);
	if (final)
		p.node = (uint32_t)rn_get_max(in, UINT32_MAX);
	else
		p.stack = get_text(in, &p.stack_len);
	if (!in->bad && ((rn_order_kinds[p.kind].call ? !rn_name_valid(p.function, p.function_len)
						      : p.function_len != 0) ||
			 (p.comm_len && !rn_name_valid(p.comm, p.comm_len)) ||
			 (p.stack_len && !rn_callsite_read(p.stack, p.stack_len, &s))))
		rn_fail(in);
	return p;
}

int rn_order_list_intern(struct rn_order_list *l, const struct rn_order_place *p, uint32_t *id)
{
	struct rn_buf b = { 0 };
	int rc;

	put_site(p, l->final, &b);
	rc = rn_buf_status(&b);
	if (rc == RN_OK)
		rc = rn_sigs_intern(l->site, b.data, b.len, id);
	rn_buf_free(&b);
	return rc;
}

uint32_t rn_order_list_sites(const struct rn_order_list *l)
{
	return rn_sigs_count(l->site);
}

struct rn_order_place rn_order_list_site(const struct rn_order_list *l, uint32_t i)
{
	size_t len;
	const void *bytes = rn_sigs_get(l->site, i, &len);
	struct rn_reader in = rn_reader(bytes, len);

	return get_site(&in, l->final);
}

/* ---- streams ---- */

int rn_order_list_copy(struct rn_order_list *l, const struct rn_order_list *from,
		       const uint32_t *map)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < from->chunks.stream.n && rc == RN_OK; i++) {
		struct rn_chunk_stream s = *rn_chunk_list_at(&from->chunks, i);
		uint64_t *head = rn_new(l->mem, uint64_t, s.heads);

		for (uint32_t k = 0; k < s.heads && head; k++)
			head[k] = map[s.head[k]];
		s.head = head;
		rc = head ? rn_chunk_list_copy(&l->chunks, &s) : RN_E_NOMEM;
	}
	return rc;
}

int rn_order_list_merge(struct rn_order_list *l, const struct rn_order_list *from)
{
	uint32_t n = rn_sigs_count(from->site), *map = rn_new(l->mem, uint32_t, n);
	int rc = map ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_sigs_copy(l->site, from->site, i, &map[i]);
	return rc == RN_OK ? rn_order_list_copy(l, from, map) : rc;
}

int rn_order_list_encode(const struct rn_order_list *l, uint64_t first, struct rn_buf *out)
{
	uint32_t sites = rn_sigs_count(l->site);

	rn_buf_u64(out, sites);
	for (uint32_t i = 0; i < sites; i++) {
		size_t len;
		const void *bytes = rn_sigs_get(l->site, i, &len);

		rn_buf_add(out, bytes, len);
	}
	return rn_chunk_list_encode(&l->chunks, first, out);
}

/* Returns RN_OK or RN_E_NOMEM. Malformed input sets in->bad. */
static int get_sites(struct rn_order_list *l, struct rn_reader *in)
{
	uint64_t sites = rn_get_count(in, 4);

	for (uint64_t i = 0; i < sites && !in->bad; i++) {
		const unsigned char *begin = in->p;
		uint32_t id = 0;

		get_site(in, l->final);
		if (!in->bad && rn_sigs_intern(l->site, begin, (size_t)(in->p - begin), &id) < 0)
			return RN_E_NOMEM;
		if (id != i)
			rn_fail(in);
	}
	return RN_OK;
}

/* True if all event sites exist and all chunks have a valid header. */
static bool is_valid(const struct rn_order_list *l, const struct rn_chunk_stream *s)
{
	struct rn_order_count n;

	for (uint32_t i = 0; i < s->heads; i++)
		if (s->head[i] >= rn_sigs_count(l->site))
			return false;
	for (uint32_t i = 0; i < s->chunks; i++)
		if (!rn_order_chunk_head(s->chunk[i], &n))
			return false;
	return true;
}

int rn_order_list_decode(struct rn_order_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err)
{
	int rc = get_sites(l, in);

	if (rc == RN_OK)
		rc = rn_chunk_list_decode(&l->chunks, in, first, n, err);
	for (uint32_t i = 0; i < l->chunks.stream.n && rc == RN_OK; i++)
		if (!is_valid(l, rn_chunk_list_at(&l->chunks, i)))
			rc = RN_E_DATA;
	if (rc == RN_E_DATA)
		return rn_err_set(err, RN_E_DATA, "the list of events is malformed");
	return rc < 0 ? rn_err_nomem(err) : RN_OK;
}

/* ---- reading ---- */

struct rn_order_count rn_order_list_count(const struct rn_order_list *l)
{
	struct rn_order_count all = { 0 }, n;

	for (uint32_t i = 0; i < l->chunks.stream.n; i++) {
		const struct rn_chunk_stream *s = rn_chunk_list_at(&l->chunks, i);

		for (uint32_t k = 0; k < s->chunks; k++) {
			rn_order_chunk_head(s->chunk[k], &n);
			all.events += n.events;
			all.failed += n.failed;
			all.received += n.received;
			all.loose += n.loose;
		}
	}
	return all;
}

int rn_order_list_comms(const struct rn_order_list *l, struct rn_arena *mem, struct rn_sigs **names,
			const uint32_t **comm)
{
	uint32_t n = rn_sigs_count(l->site), *of = rn_new(mem, uint32_t, n), id;

	*names = rn_sigs_new(mem);
	*comm = of;
	if (!*names || !of)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);

		if (!p.comm_len)
			continue;
		if (rn_sigs_intern(*names, p.comm, p.comm_len, &id) < 0)
			return RN_E_NOMEM;
		of[i] = id + 1;
	}
	return RN_OK;
}

int rn_order_list_get(const struct rn_order_list *l, const struct rn_chunk_stream *s,
		      const uint32_t *comm, struct rn_arena *mem, struct rn_order *out,
		      struct rn_err *err)
{
	struct rn_order_site *site = rn_new(mem, struct rn_order_site, s->heads);
	int rc;

	if (!site)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < s->heads; i++)
		site[i] = (struct rn_order_site){
			.kind = rn_order_list_site(l, (uint32_t)s->head[i]).kind,
			.comm = comm[s->head[i]]
		};
	*out = (struct rn_order){ .site = site, .sites = s->heads };
	rc = rn_order_chunks_read(s->chunk, s->chunks, mem, out, err);
	for (size_t i = 0; i < out->sends && rc == RN_OK; i++)
		out->send[i].comm = site[out->send[i].comm].comm;
	return rc;
}
