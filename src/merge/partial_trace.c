/*
 * partial_trace.c - see partial_trace.h. Encoded form: for each row of the table the length and the
 * bytes.
 */
#include "merge/partial_trace.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/call_words.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "merge/process_trace.h"
#include "merge/stream_set_codec.h"
#include "merge/trace_finish.h"
#include "model/elastic_values_codec.h"
#include "model/merged_streams.h"
#include "model/metadata.h"
#include "model/section_kinds.h"
#include "rules/rules.h"

#include <inttypes.h>
#include <string.h>

/* State while a trace is created from a bundle. */
struct finish {
	const struct rn_meta *meta;
	struct rn_trace *t;
	struct rn_site_tables sites;
	const uint32_t *map; /* id in the trace, by signature; UINT32_MAX: unused */
	struct rn_arena scratch;
	struct rn_err *err;
};

/* State while a bundle is added to another one. */
struct merging {
	struct rn_arena *scratch;
	uint32_t *map; /* by signature of the added bundle: id in the other one */
};

/* Kinds of data. A function that a kind does not need is NULL. */
struct kind {
	int (*encode)(const struct rn_bundle *b, struct rn_buf *out);
	/* Decodes into an empty bundle. b->part.first is set. decode_part sets the other fields of
	 * b->part, so only later rows may use them. */
	int (*decode)(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err);
	/* Adds another bundle. */
	int (*merge)(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m);
	int (*finish)(const struct rn_bundle *b, struct finish *f);
};

/* ---- tally ---- */

static int encode_tally(const struct rn_bundle *b, struct rn_buf *out)
{
	rn_buf_u64(out, b->tally.lost);
	rn_buf_u64(out, b->tally.wall_ns);
	rn_buf_u64(out, b->tally.tracer_ns);
	rn_buf_u64(out, b->tally.memory);
	return RN_OK;
}

static int decode_tally(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	(void)err;
	b->tally.lost = rn_get_u64(in);
	b->tally.wall_ns = rn_get_u64(in);
	b->tally.tracer_ns = rn_get_u64(in);
	b->tally.memory = rn_get_u64(in);
	return RN_OK;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int merge_tally(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	struct rn_tally *a = &b->tally;

	(void)m;
	a->lost += from->tally.lost;
	a->wall_ns = most(a->wall_ns, from->tally.wall_ns);
	a->tracer_ns = most(a->tracer_ns, from->tally.tracer_ns);
	a->memory = most(a->memory, from->tally.memory);
	return RN_OK;
}

/* ---- streams ---- */

static int encode_part(const struct rn_bundle *b, struct rn_buf *out)
{
	return rn_part_encode(&b->part, out);
}

static int decode_part(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	struct rn_part_place place = { b->part.first, RN_RANKS_MAX };

	return rn_part_decode(b->mem, in, place, b->vocab, &b->part, err);
}

static int merge_part(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	uint32_t n = rn_sigs_count(from->part.sigs);
	int rc = RN_OK;

	m->map = rn_new(m->scratch, uint32_t, (size_t)n + 1);
	if (!m->map)
		return RN_E_NOMEM;
	if (b->part.ranks == 0 && from->part.mem == b->mem)
		b->part = from->part;
	else
		rc = rn_part_merge(&b->part, &from->part, m->scratch);
	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_sigs_copy(b->part.sigs, from->part.sigs, i, &m->map[i]);
	return rc;
}

static int finish_part(const struct rn_bundle *b, struct finish *f)
{
	uint32_t n = rn_sigs_count(b->part.sigs),
		 *map = rn_new(&f->scratch, uint32_t, (size_t)n + 1);
	struct rn_streams s;
	struct rn_meta meta;
	int rc = map ? rn_part_finish(&b->part, &f->t->mem, &f->scratch, &s) : RN_E_NOMEM;

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *sig = rn_sigs_get(b->part.sigs, i, &len);

		if (!rn_sigs_find(s.sigs, sig, len, &map[i]))
			map[i] = UINT32_MAX;
	}
	f->map = map;
	rc = rn_site_tables_take(&f->sites, &f->t->mem, s.sigs, b->vocab, &s.sigs);
	if (rc == RN_OK)
		rc = rn_programs_meta(&b->programs, f->meta, &meta);
	return rc == RN_OK ? rn_finish_streams(f->t, &s, b->vocab, &meta, f->err) : rc;
}

/* ---- programs ---- */

static int encode_programs(const struct rn_bundle *b, struct rn_buf *out)
{
	rn_programs_encode(&b->programs, out);
	return RN_OK;
}

static int decode_programs(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	return rn_programs_decode(&b->programs, in, err);
}

static int merge_programs(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	(void)m;
	return rn_programs_merge(&b->programs, &from->programs);
}

/* ---- communicators ---- */

static int encode_comms(const struct rn_bundle *b, struct rn_buf *out)
{
	return rn_comms_encode(b->comms, out);
}

static int decode_comms(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	size_t len = rn_left(in);

	return rn_comms_decode(b->mem, rn_get_bytes(in, len), len, &b->comms, err);
}

static int merge_comms(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	(void)m;
	return rn_comms_merge(b->comms, from->comms);
}

static int finish_comms(const struct rn_bundle *b, struct finish *f)
{
	f->t->comms = rn_comms_count(b->comms) ? b->comms : NULL;
	return f->t->comms ? rn_comms_tidy(b->comms) : RN_OK;
}

/* ---- time statistics ---- */

static int encode_times(const struct rn_bundle *b, struct rn_buf *out)
{
	return b->times ? rn_times_save(b->times, out) : RN_OK;
}

static int decode_times(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	size_t len = rn_left(in);
	const unsigned char *bytes = rn_get_bytes(in, len);
	int rc;

	if (!b->times || len == 0)
		return RN_OK;
	rc = rn_times_load(b->mem, bytes, len, RN_TIME_SCALE_ONE, b->times, err);
	if (rc == RN_OK && b->times->sig.n > rn_sigs_count(b->part.sigs))
		rc = rn_err_set(err, RN_E_DATA, "times of signatures that do not exist");
	return rc;
}

static int merge_times(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	return b->times && from->times ? rn_times_merge(b->times, from->times, m->map) : RN_OK;
}

static int finish_times(const struct rn_bundle *b, struct finish *f)
{
	uint32_t n = b->times ? b->times->sig.n : 0,
		 *to = rn_new(&f->scratch, uint32_t, (size_t)n + 1);

	if (!b->times)
		return RN_OK;
	f->t->times = rn_new(&f->t->mem, struct rn_times, 1);
	if (!f->t->times || !to)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) /* those of unused signatures follow all others */
		to[i] = f->map[i] < UINT32_MAX ? f->map[i] : rn_sigs_count(f->t->streams.sigs);
	rn_times_init(f->t->times, &f->t->mem, RN_TIME_SCALE_ONE);
	return rn_times_merge(f->t->times, b->times, to);
}

/* ---- call times ---- */

static int encode_moments(const struct rn_bundle *b, struct rn_buf *out)
{
	return rn_chunk_list_encode(&b->moments, b->part.first, out);
}

static uint64_t streams_of(const struct rn_bundle *b)
{
	return b->part.last - b->part.first + 1;
}

static int decode_moments(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	return rn_chunk_list_decode(&b->moments, in, b->part.first, streams_of(b), err);
}

static int merge_moments(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	(void)m;
	return rn_chunk_list_merge(&b->moments, &from->moments);
}

static int finish_moments(const struct rn_bundle *b, struct finish *f)
{
	f->t->moments = b->moments.stream.n ? &b->moments : NULL;
	return RN_OK;
}

/* ---- elastic values ---- */

static int encode_values(const struct rn_bundle *b, struct rn_buf *out)
{
	struct rn_value_list l;
	struct rn_arena mem;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_value_list_make(&b->values, NULL, b->part.sigs, b->part.first, &mem, &l);
	if (rc == RN_OK)
		rc = rn_value_list_encode(&l, out);
	rn_arena_free(&mem);
	return rc;
}

static int decode_values(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	return rn_left(in) ? rn_value_list_decode(b->mem, in, b->part.sigs, streams_of(b),
						  &b->value_list, err)
			   : RN_OK;
}

static int merge_values(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	struct rn_value_list l = from->value_list;
	int rc = RN_OK;

	if (from->values.use.n)
		rc = rn_value_list_make(&from->values, NULL, from->part.sigs, from->part.first,
					from->mem, &l);
	return rc == RN_OK ? rn_value_list_merge(&l, m->map, rn_sigs_count(from->part.sigs),
						 from->part.first, &b->values)
			   : rc;
}

static int finish_values(const struct rn_bundle *b, struct finish *f)
{
	return rn_finish_values(f->t, &b->values, f->map, &f->scratch);
}

/* ---- order events ---- */

static int encode_order(const struct rn_bundle *b, struct rn_buf *out)
{
	return rn_order_list_encode(&b->order, b->part.first, out);
}

static int decode_order(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	return rn_order_list_decode(&b->order, in, b->part.first, streams_of(b), err);
}

/* Adds an event site, converted from the call words and ids of the process to names. */
static int resolve_site(struct rn_order_list *l, const struct rn_order_site *s,
			const struct rn_process_table *process, uint32_t *id)
{
	const struct rn_func *f = rn_vocab_func(&rn_mpi_vocab, s->function);
	struct rn_order_place p = { .kind = s->kind };

	if (s->kind >= RN_ORDER_KINDS || (rn_order_kinds[s->kind].call && !f))
		return RN_E_ARG;
	p.function = rn_order_kinds[s->kind].call ? f->name : NULL;
	p.function_len = p.function ? strlen(p.function) : 0;
	p.comm = s->comm ? rn_process_comm(process, s->comm).name : NULL;
	p.comm_len = p.comm ? strlen(p.comm) : 0;
	if (p.comm_len && !rn_name_valid(p.comm, p.comm_len))
		p.comm_len = 0;
	p.stack = s->place ? rn_process_site(process, s->place, &p.stack_len) : NULL;
	if (!p.stack)
		p.stack_len = 0;
	return rn_order_list_intern(l, &p, id);
}

static int add_order(struct rn_bundle *b, const struct rn_recorded_stream *s)
{
	const struct rn_order_part *p = &s->order;
	uint64_t *site = rn_new(b->mem, uint64_t, p->sites);
	int rc = site ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < p->sites && rc == RN_OK; i++) {
		uint32_t id = 0;

		rc = resolve_site(&b->order, &p->site[i], s->calls.process, &id);
		site[i] = id;
	}
	return rc == RN_OK
		       ? rn_chunk_list_add(&b->order.chunks,
					   &(struct rn_chunk_stream){ b->part.first, site, p->chunk,
								      p->sites, p->chunks })
		       : rc;
}

static int merge_order(struct rn_bundle *b, const struct rn_bundle *from, struct merging *m)
{
	(void)m;
	return rn_order_list_merge(&b->order, &from->order);
}

/* Calls and events share the table of call sites. */
static int finish_order(const struct rn_bundle *b, struct finish *f)
{
	int rc = rn_finish_order(f->t, &b->order, &f->sites, f->err);

	return rc == RN_OK ? rn_site_tables_finish(&f->sites, &f->t->mem, &f->t->sites) : rc;
}

/* ---- the table ---- */

/* The order matters: each kind may use the data of earlier kinds. */
static const struct kind kinds[] = {
	{ encode_programs, decode_programs, merge_programs, NULL },
	{ encode_part, decode_part, merge_part, finish_part },
	{ encode_tally, decode_tally, merge_tally, NULL },
	{ encode_comms, decode_comms, merge_comms, finish_comms },
	{ encode_times, decode_times, merge_times, finish_times },
	{ encode_moments, decode_moments, merge_moments, finish_moments },
	{ encode_values, decode_values, merge_values, finish_values },
	{ encode_order, decode_order, merge_order, finish_order },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

int rn_bundle_encode(const struct rn_bundle *b, struct rn_buf *out)
{
	struct rn_buf piece = { 0 };
	int rc = RN_OK;

	for (unsigned i = 0; i < KINDS && rc == RN_OK; i++) {
		rn_buf_clear(&piece);
		rc = kinds[i].encode(b, &piece);
		if (rc == RN_OK)
			rc = rn_buf_status(&piece);
		rn_buf_piece(out, piece.data, piece.len);
	}
	rn_buf_free(&piece);
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

int rn_bundle_add(struct rn_bundle *b, const struct rn_recorded_stream *s, const uint32_t *map)
{
	const struct rn_moments *m = &s->moments;
	int rc = b->times ? rn_times_merge(b->times, s->calls.times, map) : RN_OK;

	b->tally.lost += s->lost;
	if (rc == RN_OK && m->chunks)
		rc = rn_chunk_list_add(&b->moments,
				       &(struct rn_chunk_stream){ b->part.first, m->head, m->chunk,
								  2, m->chunks });
	return rc == RN_OK && s->order.chunks ? add_order(b, s) : rc;
}

int rn_bundle_merge(struct rn_bundle *b, const struct rn_bundle *from, struct rn_arena *scratch)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct merging m = { .scratch = scratch };
	int rc = RN_OK;

	for (unsigned i = 0; i < KINDS && rc == RN_OK; i++)
		rc = kinds[i].merge(b, from, &m);
	rn_arena_rewind(scratch, mark);
	return rc;
}

static int decode(struct rn_bundle *b, struct rn_reader *in, struct rn_err *err)
{
	int rc = RN_OK;

	for (unsigned i = 0; i < KINDS && rc == RN_OK && !in->bad; i++) {
		size_t n = rn_get_count(in, 1);
		struct rn_reader piece = rn_reader(rn_get_bytes(in, n), n);

		rc = kinds[i].decode(b, &piece, err);
		if (rc == RN_OK)
			rc = rn_err_end(&piece, err);
	}
	return rc == RN_OK ? rn_err_end(in, err) : rc;
}

int rn_bundle_absorb(struct rn_bundle *b, const void *bytes, size_t len, struct rn_arena *scratch,
		     struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_bundle from;
	int rc = rn_bundle_init(&from, scratch, b->times != NULL);

	from.vocab = b->vocab;
	from.part.first = b->part.ranks ? b->part.last + 1 : 0;
	if (rc == RN_OK)
		rc = decode(&from, &in, err);
	if (rc == RN_OK)
		rc = rn_bundle_merge(b, &from, scratch);
	rn_arena_rewind(scratch, mark);
	return rc;
}

/* ---- metadata ---- */

void rn_bundle_facts(const struct rn_bundle *b, const struct rn_bundle_end *end, struct rn_facts *f)
{
	const struct rn_tally *y = &b->tally;

	if (end->threads > 1)
		rn_fact(f, RN_META_THREADS, "%" PRIu64, end->threads);
	rn_fact(f, RN_META_COMPLETE, "%s", end->incomplete || y->lost ? "no" : "yes");
	if (y->lost)
		rn_fact(f, RN_META_LOST, "%" PRIu64, y->lost);
	if (!end->timed)
		return;
	rn_fact(f, RN_META_WALL_S, "%.3f", (double)y->wall_ns / 1e9);
	rn_fact(f, RN_META_TRACER_S, "%.4f", (double)y->tracer_ns / 1e9);
	rn_fact(f, RN_META_MEMORY, "%" PRIu64, y->memory);
}

/* ---- bundles without ranks, and without calls ---- */

int rn_bundle_init(struct rn_bundle *b, struct rn_arena *mem, bool times)
{
	*b = (struct rn_bundle){ .mem = mem, .vocab = &rn_mpi_vocab, .comms = rn_comms_new(mem) };
	if (times)
		b->times = rn_new(mem, struct rn_times, 1);
	rn_chunk_list_init(&b->moments, mem);
	rn_programs_init(&b->programs, mem);
	if (rn_part_empty(&b->part, mem) < 0 || rn_values_init(&b->values, mem) < 0 ||
	    rn_order_list_init(&b->order, mem, false) < 0)
		return RN_E_NOMEM;
	if (!b->comms || (times && !b->times))
		return RN_E_NOMEM;
	if (times)
		rn_times_init(b->times, mem, RN_TIME_SCALE_ONE);
	return RN_OK;
}

int rn_bundle_silent(struct rn_bundle *b, struct rn_arena *mem, uint64_t first, uint64_t n)
{
	uint32_t root;
	int rc = rn_bundle_init(b, mem, false);

	if (rc == RN_OK)
		rc = rn_rules_add(b->part.rules, NULL, 0, &root);
	return rc == RN_OK ? rn_part_streams(&b->part, root, first, n) : rc;
}

/* ---- the trace ---- */

int rn_bundle_finish(const struct rn_bundle *b, const struct rn_meta *meta, struct rn_trace *t,
		     struct rn_err *err)
{
	struct finish f = { .meta = meta, .t = t, .err = err };
	int rc;

	rn_arena_init(&f.scratch, SIZE_MAX);
	rc = rn_site_tables_init(&f.sites, &t->mem);
	for (unsigned i = 0; i < KINDS && rc == RN_OK; i++)
		if (kinds[i].finish)
			rc = kinds[i].finish(b, &f);
	rn_arena_free(&f.scratch);
	return rc;
}
