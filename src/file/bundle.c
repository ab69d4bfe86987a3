/*
 * bundle.c - see bundle.h. As bytes: the tally, then part, comms, times, the
 * times of single calls, values, events and programs, each after its length.
 */
#include "file/bundle.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "encode/raw.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "file/metadata.h"
#include "file/part.h"
#include "file/part_times.h"
#include "file/section.h"
#include "file/sites.h"
#include "file/value_list.h"
#include "file/writer.h"
#include "grammar/grammar.h"
#include "identity/comms.h"
#include "merge/markers.h"
#include "merge/merged.h"
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- bytes ---- */

static void put_piece(struct rn_buf *out, const struct rn_buf *piece)
{
	rn_buf_u64(out, piece->len);
	rn_buf_add(out, piece->data, piece->len);
}

static int put_pieces(const struct rn_bundle *b, struct rn_buf *out, struct rn_buf *piece)
{
	int rc = rn_part_encode(&b->part, piece);

	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	rc = rn_comms_encode(b->comms, piece);
	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	if (b->times)
		rc = rn_times_save(b->times, piece);
	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	if (b->moments.stream.n)
		rc = rn_moment_list_encode(&b->moments, b->part.first, piece);
	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	rc = rn_values_encode(&b->values, b->part.first, piece);
	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	if (b->order.stream.n)
		rc = rn_order_list_encode(&b->order, b->part.first, piece);
	if (rc < 0)
		return rc;
	put_piece(out, piece);
	rn_buf_clear(piece);
	rn_programs_encode(&b->programs, piece);
	put_piece(out, piece);
	return rn_buf_status(out);
}

int rn_bundle_encode(const struct rn_bundle *b, struct rn_buf *out)
{
	struct rn_buf piece = { 0 };
	int rc;

	rn_buf_u64(out, b->tally.lost);
	rn_buf_u64(out, b->tally.wall_ns);
	rn_buf_u64(out, b->tally.tracer_ns);
	rn_buf_u64(out, b->tally.memory);
	rc = put_pieces(b, out, &piece);
	rn_buf_free(&piece);
	return rc;
}

struct piece {
	const unsigned char *bytes;
	size_t len;
};

static struct piece get_piece(struct rn_reader *in)
{
	uint64_t n = rn_get_u64(in);
	const unsigned char *p = rn_get_bytes(in, n);

	return (struct piece){ p, p ? (size_t)n : 0 };
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_tally(struct rn_tally *a, const struct rn_tally *b)
{
	a->lost += b->lost;
	a->wall_ns = most(a->wall_ns, b->wall_ns);
	a->tracer_ns = most(a->tracer_ns, b->tracer_ns);
	a->memory = most(a->memory, b->memory);
}

static int merge_times(struct rn_bundle *b, const struct rn_stream_set *part, struct piece p,
		       struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_times theirs;
	int rc = rn_part_times_load(scratch, p.bytes, p.len, part->sigs, &theirs, err);

	return rc == RN_OK ? rn_part_times_add(b->times, b->part.sigs, &theirs, part->sigs, scratch)
			   : rc;
}

/* Of the streams that the part has, behind those that are in the list. */
static int get_moments(struct rn_moment_list *l, const struct rn_stream_set *part, struct piece p,
		       struct rn_err *err)
{
	uint64_t streams = part->last - part->first + 1;

	return p.len ? rn_moment_list_decode(l, p.bytes, p.len, part->first, streams, err) : RN_OK;
}

static int check_moments(const struct rn_stream_set *part, struct piece p, struct rn_arena *scratch,
			 struct rn_err *err)
{
	struct rn_moment_list l;

	rn_moment_list_init(&l, scratch);
	return get_moments(&l, part, p, err);
}

/* Lists refer to their bytes, so those stay. False when there is no memory. */
static bool keep_bytes(struct rn_bundle *b, struct piece *p)
{
	unsigned char *bytes = rn_new(b->mem, unsigned char, p->len);

	if (bytes && p->len)
		memcpy(bytes, p->bytes, p->len);
	p->bytes = bytes;
	return bytes != NULL;
}

static int take_moments(struct rn_bundle *b, const struct rn_stream_set *part, struct piece p,
			struct rn_err *err)
{
	return keep_bytes(b, &p) ? get_moments(&b->moments, part, p, err) : RN_E_NOMEM;
}

static int get_order(struct rn_order_list *l, const struct rn_stream_set *part, struct piece p,
		     struct rn_err *err)
{
	uint64_t streams = part->last - part->first + 1;

	return p.len ? rn_order_list_decode(l, p.bytes, p.len, part->first, streams, err) : RN_OK;
}

static int check_order(const struct rn_stream_set *part, struct piece p, struct rn_arena *scratch,
		       struct rn_err *err)
{
	struct rn_order_list l;
	int rc = rn_order_list_init(&l, scratch, false);

	return rc == RN_OK ? get_order(&l, part, p, err) : rc;
}

static int take_order(struct rn_bundle *b, const struct rn_stream_set *part, struct piece p,
		      struct rn_err *err)
{
	return keep_bytes(b, &p) ? get_order(&b->order, part, p, err) : RN_E_NOMEM;
}

/* Its signatures are in the bundle's part by now. */
static int merge_values(struct rn_bundle *b, const struct rn_stream_set *part,
			const struct rn_values *values, struct rn_arena *scratch)
{
	uint32_t n = rn_sigs_count(part->sigs), *map = rn_new(scratch, uint32_t, (size_t)n + 1);
	int rc = map ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_sigs_copy(b->part.sigs, part->sigs, i, &map[i]);
	return rc == RN_OK ? rn_values_merge(&b->values, values, map) : rc;
}

static int absorb(struct rn_bundle *b, struct rn_reader *in, struct rn_arena *scratch,
		  struct rn_err *err)
{
	struct rn_tally tally = { .lost = rn_get_u64(in) };
	struct piece part_bytes, comms_bytes, times_bytes, moments, values_bytes, order, programs;
	struct rn_values values;
	bool first = b->part.ranks == 0;
	struct rn_part_place place = { first ? 0 : b->part.last + 1, RN_RANKS_MAX };
	struct rn_stream_set part;
	struct rn_comms *comms;
	int rc;

	tally.wall_ns = rn_get_u64(in);
	tally.tracer_ns = rn_get_u64(in);
	tally.memory = rn_get_u64(in);
	part_bytes = get_piece(in);
	comms_bytes = get_piece(in);
	times_bytes = get_piece(in);
	moments = get_piece(in);
	values_bytes = get_piece(in);
	order = get_piece(in);
	programs = get_piece(in);
	if (in->bad || rn_left(in))
		return rn_err_set(err, RN_E_DATA, "a bundle of ranks is damaged");
	rc = rn_part_decode(first ? b->mem : scratch, part_bytes.bytes, part_bytes.len, place,
			    b->vocab, &part, err);
	if (rc == RN_OK)
		rc = rn_comms_decode(scratch, comms_bytes.bytes, comms_bytes.len, &comms, err);
	if (rc == RN_OK)
		rc = check_moments(&part, moments, scratch, err);
	if (rc == RN_OK)
		rc = check_order(&part, order, scratch, err);
	if (rc == RN_OK)
		rc = rn_values_init(&values, scratch);
	if (rc == RN_OK)
		rc = rn_values_decode(&values, values_bytes.bytes, values_bytes.len,
				      rn_sigs_count(part.sigs), part.first, part.last, err);
	if (rc == RN_OK)
		rc = rn_programs_absorb(&b->programs, rn_reader(programs.bytes, programs.len), err);
	if (rc == RN_OK && first)
		b->part = part;
	else if (rc == RN_OK)
		rc = rn_part_merge(&b->part, &part, scratch);
	if (rc == RN_OK)
		rc = rn_comms_merge(b->comms, comms);
	if (rc == RN_OK && b->times && times_bytes.len)
		rc = merge_times(b, &part, times_bytes, scratch, err);
	if (rc == RN_OK)
		rc = take_moments(b, &part, moments, err);
	if (rc == RN_OK)
		rc = take_order(b, &part, order, err);
	if (rc == RN_OK && values.use.n)
		rc = merge_values(b, &part, &values, scratch);
	add_tally(&b->tally, &tally);
	return rc;
}

int rn_bundle_absorb(struct rn_bundle *b, const void *bytes, size_t len, struct rn_arena *scratch,
		     struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_reader in = rn_reader(bytes, len);
	int rc = absorb(b, &in, scratch, err);

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

/* ---- without ranks, and without calls ---- */

int rn_bundle_init(struct rn_bundle *b, struct rn_arena *mem, bool times)
{
	*b = (struct rn_bundle){ .mem = mem, .vocab = &rn_mpi_vocab, .comms = rn_comms_new(mem) };
	if (times)
		b->times = rn_new(mem, struct rn_times, 1);
	rn_moment_list_init(&b->moments, mem);
	rn_programs_init(&b->programs, mem);
	if (rn_values_init(&b->values, mem) < 0 || rn_order_list_init(&b->order, mem, false) < 0)
		return RN_E_NOMEM;
	if (!b->comms || (times && !b->times))
		return RN_E_NOMEM;
	if (times)
		rn_times_init(b->times, mem, RN_TIME_SCALE_ONE);
	return RN_OK;
}

int rn_bundle_silent(struct rn_bundle *b, struct rn_arena *mem, uint64_t streams)
{
	struct rn_sigs *sigs = rn_sigs_new(mem);
	struct rn_grammar *g = rn_grammar_new(mem, NULL);
	int rc = rn_bundle_init(b, mem, false);

	if (rc == RN_OK)
		rc = sigs && g ? rn_part_leaf(&b->part, mem, 0, sigs, g) : RN_E_NOMEM;
	if (rc == RN_OK) {
		b->part.group[0].ranks.run[0] = (struct rn_run){ 0, streams > 1, streams };
		b->part.ranks = streams;
		b->part.last = streams - 1;
	}
	return rc;
}

/* ---- the file ---- */

/* Writes the call sites of calls and events, which share one table, and the events. */
static int finish_sites(const struct rn_bundle *b, const struct rn_meta *meta,
			const struct rn_sigs **sigs, struct rn_arena *mem, struct rn_buf *sites,
			struct rn_buf *order, struct rn_err *err)
{
	struct rn_site_tables tables;
	struct rn_order_list l;
	int rc = rn_site_tables_init(&tables, mem);

	if (rc == RN_OK)
		rc = rn_site_tables_take(&tables, mem, *sigs, b->vocab, sigs);
	if (rc == RN_OK && b->order.stream.n) {
		rc = rn_order_list_finish(&b->order, rn_meta_order(meta), rn_meta_threads(meta),
					  &tables, mem, &l, err);
		if (rc == RN_OK)
			rc = rn_order_list_encode(&l, 0, order);
	}
	return rc == RN_OK ? rn_site_tables_encode(&tables, sites) : rc;
}

static int put_all(const struct rn_bundle *b, const struct rn_streams *s,
		   const struct rn_meta *meta, struct rn_arena *mem, struct rn_container_writer *w,
		   struct rn_err *err)
{
	struct rn_buf piece = { 0 }, sites = { 0 }, order = { 0 };
	struct rn_streams numbered = *s;
	int rc = finish_sites(b, meta, &numbered.sigs, mem, &sites, &order, err);

	if (rc == RN_OK)
		rc = rn_trace_sections(w, &numbered, b->vocab, meta, err);
	if (rc == RN_OK && b->moments.stream.n) {
		rc = rn_moment_list_encode(&b->moments, 0, &piece);
		if (rc == RN_OK)
			rc = rn_container_add(w, RN_SECTION_TIME, piece.data, piece.len, err);
		rn_buf_clear(&piece);
	}
	if (rc == RN_OK && rn_comms_count(b->comms)) {
		rc = rn_comms_tidy(b->comms);
		if (rc == RN_OK)
			rc = rn_comms_encode(b->comms, &piece);
		if (rc == RN_OK)
			rc = rn_container_add(w, RN_SECTION_COMMS, piece.data, piece.len, err);
	}
	if (rc == RN_OK && b->times) {
		rn_buf_clear(&piece);
		rc = rn_part_times_finish(b->times, b->part.sigs, s, mem, &piece);
		if (rc == RN_OK)
			rc = rn_container_add(w, RN_SECTION_TIMES, piece.data, piece.len, err);
	}
	if (rc == RN_OK && sites.len)
		rc = rn_container_add(w, RN_SECTION_SITES, sites.data, sites.len, err);
	if (rc == RN_OK) {
		rn_buf_clear(&piece);
		rc = rn_value_list_write(&b->values, b->part.sigs, s, rn_meta_lossy(meta).params,
					 mem, &piece);
	}
	if (rc == RN_OK && piece.len)
		rc = rn_container_add(w, RN_SECTION_VALUES, piece.data, piece.len, err);
	if (rc == RN_OK && order.len)
		rc = rn_container_add(w, RN_SECTION_ORDER, order.data, order.len, err);
	rn_buf_free(&order);
	rn_buf_free(&sites);
	rn_buf_free(&piece);
	return rc;
}

/* Whether an existing file is kept, because the trace has no call. A trace of
 * events (--only=order) never has calls, and replaces the file. */
static bool is_to_keep(const struct rn_bundle_file *f, const struct rn_meta *meta, const char *path)
{
	struct stat st;

	return f->calls == 0 && !rn_meta_value(meta, RN_META_ONLY) && lstat(path, &st) == 0;
}

int rn_bundle_write(const struct rn_bundle *b, const struct rn_meta *meta, const char *path,
		    struct rn_bundle_file *out, struct rn_err *err)
{
	const struct rn_markers markers = rn_markers_of(b->vocab);
	struct rn_container_writer w = { 0 };
	struct rn_arena mem, scratch;
	struct rn_streams streams;
	struct rn_meta all;
	const void *bytes;
	size_t len;
	int rc;

	*out = (struct rn_bundle_file){ 0 };
	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_part_finish(&b->part, &mem, &scratch, &streams);
	if (rc == RN_OK)
		rc = rn_markers_calls(&markers, &streams, &scratch, &out->calls);
	if (rc == RN_OK)
		rc = rn_programs_meta(&b->programs, meta, &all);
	if (rc == RN_OK)
		rc = put_all(b, &streams, &all, &mem, &w, err);
	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, err);
	if (rc == RN_OK) {
		out->bytes = len;
		out->order = rn_order_list_count(&b->order);
		out->unchanged = is_to_keep(out, meta, path);
		if (!out->unchanged)
			rc = rn_container_write(&w, path, err);
	}
	rn_container_writer_free(&w);
	rn_arena_free(&scratch);
	rn_arena_free(&mem);
	return rc;
}
