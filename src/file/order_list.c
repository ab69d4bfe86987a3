/* order_list.c - see order_list.h. */
#include "file/order_list.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "encode/call.h"
#include "encode/callsite.h"
#include "encode/raw.h"
#include "encode/sigs.h"
#include "file/by_stream.h"
#include "file/sites.h"
#include "merge/canonicalize.h"
#include "order/lamport.h"

#include <inttypes.h>
#include <string.h>

#define SITE_BYTES (5 * RN_VARINT_MAX + 2 * (size_t)256 + RN_CALLSITE_BYTES)

int rn_order_list_init(struct rn_order_list *l, struct rn_arena *mem, bool final)
{
	*l = (struct rn_order_list){ .mem = mem, .final = final, .site = rn_sigs_new(mem) };
	rn_seg_init(&l->stream, sizeof(struct rn_order_stream));
	return l->site ? RN_OK : RN_E_NOMEM;
}

static struct rn_order_stream *stream_at(const struct rn_order_list *l, uint32_t i)
{
	return RN_SEG_AT(&l->stream, struct rn_order_stream, i);
}

/* ---- sites ---- */

static void put_text(struct rn_buf *out, const void *s, size_t n)
{
	rn_buf_u64(out, n);
	rn_buf_add(out, s, n);
}

static void put_site(const struct rn_order_place *p, bool final, struct rn_buf *out)
{
	rn_buf_u64(out, p->kind);
	put_text(out, p->function, p->function_len);
	put_text(out, p->comm, p->comm_len);
	if (final)
		rn_buf_u64(out, p->node);
	else
		put_text(out, p->stack, p->stack_len);
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

static int intern(struct rn_order_list *l, const struct rn_order_place *p, uint32_t *id)
{
	struct rn_arena_mark mark = rn_arena_mark(l->mem);
	struct rn_buf b = rn_buf_over(rn_new(l->mem, unsigned char, SITE_BYTES), SITE_BYTES);
	unsigned char copy[1024];
	int rc;

	if (!b.data)
		return RN_E_NOMEM;
	put_site(p, l->final, &b);
	if (rn_buf_status(&b) < 0)
		return RN_E_ARG;
	/* As a rule they are short; what is kept comes behind the mark. */
	if (b.len > sizeof(copy))
		return rn_sigs_intern(l->site, b.data, b.len, id);
	memcpy(copy, b.data, b.len);
	rn_arena_rewind(l->mem, mark);
	rc = rn_sigs_intern(l->site, copy, b.len, id);
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

/* ---- adding ---- */

/* What the process's words and numbers mean. */
static int resolve(struct rn_order_list *l, const struct rn_order_site *s,
		   const struct rn_caller *who, uint32_t *id)
{
	const struct rn_func *f = rn_vocab_func(&rn_mpi_vocab, s->function);
	struct rn_order_place p = { .kind = s->kind };

	if (s->kind >= RN_ORDER_KINDS || (rn_order_kinds[s->kind].call && !f))
		return RN_E_ARG;
	p.function = rn_order_kinds[s->kind].call ? f->name : NULL;
	p.function_len = p.function ? strlen(p.function) : 0;
	p.comm = s->comm ? who->comm(who->arg, s->comm).name : NULL;
	p.comm_len = p.comm ? strlen(p.comm) : 0;
	if (p.comm_len && !rn_name_valid(p.comm, p.comm_len))
		p.comm_len = 0;
	p.stack = s->place ? who->site(who->arg, s->place, &p.stack_len) : NULL;
	if (!p.stack)
		p.stack_len = 0;
	return intern(l, &p, id);
}

static const struct rn_order_bytes *copy_chunks(struct rn_arena *mem,
						const struct rn_order_bytes *from, uint32_t n)
{
	struct rn_order_bytes *to = rn_new(mem, struct rn_order_bytes, n);

	for (uint32_t i = 0; i < n && to; i++) {
		unsigned char *p = rn_new(mem, unsigned char, from[i].len);

		if (!p)
			return NULL;
		memcpy(p, from[i].bytes, from[i].len);
		to[i] = (struct rn_order_bytes){ p, from[i].len };
	}
	return to;
}

int rn_order_list_add(struct rn_order_list *l, uint64_t stream, const struct rn_order_part *p,
		      const struct rn_caller *who)
{
	struct rn_order_stream s = { stream, NULL, NULL, p->sites, p->chunks };
	uint32_t *site = rn_new(l->mem, uint32_t, p->sites);
	int rc = site ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < p->sites && rc == RN_OK; i++)
		rc = resolve(l, &p->site[i], who, &site[i]);
	if (rc < 0)
		return rc;
	s.site = site;
	s.chunk = copy_chunks(l->mem, p->chunk, p->chunks);
	return s.chunk ? rn_by_stream_add(&l->stream, l->mem, &s) : RN_E_NOMEM;
}

/* ---- bytes ---- */

static void put_stream(const struct rn_order_stream *s, struct rn_buf *out)
{
	rn_buf_u64(out, s->sites);
	for (uint32_t i = 0; i < s->sites; i++)
		rn_buf_u64(out, s->site[i]);
	rn_buf_u64(out, s->chunks);
	for (uint32_t i = 0; i < s->chunks; i++)
		put_text(out, s->chunk[i].bytes, s->chunk[i].len);
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
	rn_buf_u64(out, l->stream.n);
	for (uint32_t i = 0; i < l->stream.n; i++) {
		const struct rn_order_stream *s = stream_at(l, i);

		rn_buf_u64(out, s->stream - first);
		first = s->stream + 1;
		put_stream(s, out);
	}
	return rn_buf_status(out);
}

/* The table, and where each is in the list's own. NULL when there is no memory. */
static uint32_t *get_sites(struct rn_order_list *l, struct rn_reader *in, uint32_t *n)
{
	uint64_t sites = rn_get_count(in, 4);
	uint32_t *map = rn_new(l->mem, uint32_t, sites);

	for (uint64_t i = 0; i < sites && map && !in->bad; i++) {
		struct rn_order_place p = get_site(in, l->final);
		int rc = in->bad ? RN_OK : intern(l, &p, &map[i]);

		if (rc == RN_E_NOMEM)
			return NULL;
		if (rc < 0)
			rn_fail(in);
	}
	*n = (uint32_t)sites;
	return map;
}

/* RN_OK, also for what is malformed, or RN_E_NOMEM. */
static int get_stream(struct rn_order_list *l, struct rn_reader *in, const uint32_t *map,
		      uint32_t sites, struct rn_order_stream *s)
{
	struct rn_order_count n;
	struct rn_order_bytes *chunk;
	uint32_t *site;

	s->sites = (uint32_t)rn_get_count(in, 1);
	site = rn_new(l->mem, uint32_t, s->sites);
	for (uint32_t i = 0; i < s->sites && site; i++) {
		uint64_t k = rn_get_u64(in);

		site[i] = k < sites ? map[k] : (uint32_t)rn_fail(in);
	}
	s->chunks = (uint32_t)rn_get_count(in, 5);
	chunk = rn_new(l->mem, struct rn_order_bytes, s->chunks);
	for (uint32_t i = 0; i < s->chunks && chunk; i++) {
		chunk[i].len = rn_get_count(in, 1);
		chunk[i].bytes = rn_get_bytes(in, chunk[i].len);
		if (in->bad || !rn_order_chunk_head(chunk[i], &n))
			rn_fail(in);
	}
	s->site = site;
	s->chunk = chunk;
	return site && chunk ? RN_OK : RN_E_NOMEM;
}

int rn_order_list_decode(struct rn_order_list *l, const void *bytes, size_t len, uint64_t first,
			 uint64_t n, struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	uint32_t sites = 0, *map = get_sites(l, &in, &sites);
	uint64_t streams = rn_get_count(&in, 3), at = 0;

	if (!map)
		return rn_err_nomem(err);
	for (uint64_t i = 0; i < streams && !in.bad; i++) {
		struct rn_order_stream s = { 0 };
		int rc;

		at += rn_get_max(&in, n);
		s.stream = first + at;
		rc = get_stream(l, &in, map, sites, &s);
		if (rc == RN_OK)
			rc = in.bad || at++ >= n ? RN_E_DATA
						 : rn_by_stream_add(&l->stream, l->mem, &s);
		if (rc == RN_E_NOMEM)
			return rn_err_nomem(err);
		if (rc < 0)
			rn_fail(&in);
	}
	return in.bad || rn_left(&in)
		       ? rn_err_set(err, RN_E_DATA, "the list of events is malformed")
		       : RN_OK;
}

/* ---- reading ---- */

const struct rn_order_stream *rn_order_list_find(const struct rn_order_list *l, uint64_t stream)
{
	return rn_by_stream_find(&l->stream, stream);
}

struct rn_order_count rn_order_list_count(const struct rn_order_list *l)
{
	struct rn_order_count all = { 0 }, n;

	for (uint32_t i = 0; i < l->stream.n; i++) {
		const struct rn_order_stream *s = stream_at(l, i);

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

int rn_order_list_get(const struct rn_order_list *l, const struct rn_order_stream *s,
		      const uint32_t *comm, struct rn_arena *mem, struct rn_order *out,
		      struct rn_err *err)
{
	struct rn_order_site *site = rn_new(mem, struct rn_order_site, s->sites);
	struct rn_order_send *send;
	int rc;

	if (!site)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < s->sites; i++)
		site[i] = (struct rn_order_site){ .kind = rn_order_list_site(l, s->site[i]).kind,
						  .comm = comm[s->site[i]] };
	*out = (struct rn_order){ .site = site, .sites = s->sites };
	rc = rn_order_chunks_read(s->chunk, s->chunks, mem, out, err);
	send = (struct rn_order_send *)(uintptr_t)out->send; /* just made */
	for (size_t i = 0; i < out->sends && rc == RN_OK; i++)
		send[i].comm = site[send[i].comm].comm;
	return rc;
}

/* ---- for the trace ---- */

/* The table with nodes; where each site is there. */
static int take_stacks(const struct rn_order_list *l, struct rn_site_tables *tables,
		       struct rn_order_list *out, uint32_t *map)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < rn_sigs_count(l->site) && rc == RN_OK; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);

		if (p.stack_len)
			rc = rn_site_tables_add(tables, p.stack, p.stack_len, &p.node);
		if (rc == RN_OK)
			rc = intern(out, &p, &map[i]);
	}
	return rc;
}

/* Everything that there is, to be written in another codec. */
struct all {
	struct rn_order *order; /* by stream of the list */
	const uint64_t **clock;
};

static int read_all(const struct rn_order_list *l, enum rn_order_codec codec, uint64_t threads,
		    struct rn_arena *mem, struct all *a, struct rn_err *err)
{
	uint32_t n = l->stream.n;
	int32_t *rank = rn_new(mem, int32_t, n);
	const uint32_t *comm;
	struct rn_sigs *names;
	int rc = rn_order_list_comms(l, mem, &names, &comm);

	a->order = rn_new(mem, struct rn_order, n);
	a->clock = rn_new(mem, const uint64_t *, n);
	if (!rank || !a->order || !a->clock)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		rank[i] = (int32_t)(stream_at(l, i)->stream / threads);
		rc = rn_order_list_get(l, stream_at(l, i), comm, mem, &a->order[i], err);
	}
	if (rc == RN_OK && codec == RN_ORDER_CLOCK)
		rc = rn_order_clocks(mem, a->order, rank, n, a->clock);
	return rc;
}

/* The chunks as one. What was sent has done what it was for: `clock` keeps the reference order. */
static int recode(const struct all *a, uint32_t i, enum rn_order_codec codec, struct rn_arena *mem,
		  struct rn_arena *scratch, struct rn_order_stream *to)
{
	struct rn_order o = a->order[i];
	struct rn_buf b = { 0 };
	int rc;

	o.sends = 0;
	rc = rn_order_chunk_write(codec, &o, a->clock[i], scratch, &b);
	if (rc == RN_OK) {
		struct rn_order_bytes c = { b.data, b.len };

		to->chunk = copy_chunks(mem, &c, 1);
		to->chunks = 1;
		rc = to->chunk ? RN_OK : RN_E_NOMEM;
	}
	rn_buf_free(&b);
	return rc;
}

static int recode_all(struct rn_order_list *out, const struct rn_order_list *l,
		      enum rn_order_codec codec, uint64_t threads, struct rn_err *err)
{
	struct rn_arena scratch;
	struct all a;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	rc = read_all(l, codec, threads, &scratch, &a, err);
	for (uint32_t i = 0; i < l->stream.n && rc == RN_OK; i++)
		rc = recode(&a, i, codec, out->mem, &scratch, stream_at(out, i));
	rn_arena_free(&scratch);
	return rc;
}

int rn_order_list_finish(const struct rn_order_list *l, enum rn_order_codec codec, uint64_t threads,
			 struct rn_site_tables *tables, struct rn_arena *mem,
			 struct rn_order_list *out, struct rn_err *err)
{
	uint32_t *map = rn_new(mem, uint32_t, rn_sigs_count(l->site));
	int rc = rn_order_list_init(out, mem, true);

	if (!map || rc < 0)
		return RN_E_NOMEM;
	rc = take_stacks(l, tables, out, map);
	for (uint32_t i = 0; i < l->stream.n && rc == RN_OK; i++) {
		struct rn_order_stream s = *stream_at(l, i);
		uint32_t *site = rn_new(mem, uint32_t, s.sites);

		if (!site)
			return RN_E_NOMEM;
		for (uint32_t k = 0; k < s.sites; k++)
			site[k] = map[s.site[k]];
		s.site = site;
		rc = rn_by_stream_add(&out->stream, out->mem, &s);
	}
	return rc == RN_OK && codec != RN_ORDER_MODEL ? recode_all(out, l, codec, threads, err)
						      : rc;
}
