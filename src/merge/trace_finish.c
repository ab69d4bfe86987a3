/* trace_finish.c - see trace_finish.h. */
#include "merge/trace_finish.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "merge/loop_fold.h"
#include "model/elastic_values.h"
#include "model/lossy.h"
#include "model/metadata.h"
#include "model/section_kinds.h"
#include "order/lamport.h"
#include "series/units.h"

/* ---- streams ---- */

#define FOLD_MEMORY ((size_t)256 << 20)

/* Folds loops. If folding fails or a reader would refuse the result, the streams are unchanged. */
static void fold(struct rn_trace *t, const struct rn_streams *s)
{
	struct rn_arena scratch;

	rn_arena_init(&scratch, FOLD_MEMORY);
	rn_fold(s, &t->mem, &scratch, &t->folded);
	rn_arena_free(&scratch);
	if (rn_meta_lossy(&t->meta).counts)
		rn_blur(&t->folded, &t->mem, &scratch);
	if (t->folded.loops &&
	    rn_folded_open(&t->folded, &t->mem, &scratch, &t->streams, NULL) < 0) {
		t->folded = (struct rn_folded){ .streams = *s };
		t->streams = *s;
	}
	rn_arena_free(&scratch);
}

int rn_finish_streams(struct rn_trace *t, const struct rn_streams *s, const struct rn_vocab *vocab,
		      const struct rn_meta *meta, struct rn_err *err)
{
	int rc = rn_meta_check(meta, err);

	if (rc < 0)
		return rc;
	t->meta = *meta;
	t->streams = t->folded.streams = *s;
	rc = rn_vocab_used(&t->mem, vocab, s->sigs, &t->vocab);
	if (rc < 0)
		return rn_err_set(err, rc,
				  rc == RN_E_ARG ? "a signature is not valid" : "out of memory");
	if (rn_meta_elastic(meta))
		fold(t, s);
	return RN_OK;
}

/* ---- elastic values ---- */

/* Collects the series of the trace. */
struct kept {
	struct rn_sigs *series;
	struct rn_arena mem, scratch;
	uint64_t blurred;
};

/* Encodes a series in its smallest form. During the merge it had a form that is fast to encode. */
static int shrink_series(struct kept *k, const void *bytes, size_t len, struct rn_buf *out)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_units *quick, *small;
	int rc = rn_units_decode(&k->mem, &in, &quick, NULL);

	if (rc == RN_OK)
		rc = rn_units_shrink(&k->mem, &k->scratch, quick, &small);
	return rc == RN_OK ? rn_units_encode(small, out) : rc;
}

static int keep_series(struct kept *k, const struct rn_sigs *from, uint32_t i, uint32_t *number)
{
	struct rn_arena_mark mark = rn_arena_mark(&k->mem);
	struct rn_buf b = { 0 }, blurred = { 0 }, *out = k->blurred ? &blurred : &b;
	size_t len;
	const void *bytes = rn_sigs_get(from, i, &len);
	int rc = shrink_series(k, bytes, len, &b);

	if (rc == RN_OK && k->blurred)
		rc = rn_blur_values(b.data, b.len, k->blurred, &k->mem, &blurred);
	if (rc == RN_OK)
		rc = rn_buf_status(out);
	if (rc == RN_OK)
		rc = rn_sigs_intern(k->series, out->data, out->len, number);
	rn_buf_free(&b);
	rn_buf_free(&blurred);
	rn_arena_rewind(&k->mem, mark);
	return rc;
}

/* True if an elastic slot is an argument. The call stack is not an argument. */
static bool is_argument(const struct rn_sigs *sigs, struct rn_value_place at)
{
	size_t len;
	const void *sig = rn_sigs_get(sigs, at.sig, &len);
	uint32_t stack;

	rn_call_elastics(sig, len, &stack);
	return stack != at.hole;
}

#define SERIES_ROOM ((size_t)256 << 10) /* bytes; sufficient for most series */

/* Numbers the series of the list in the order of their use. */
static int number_series(struct rn_value_list *l, const struct rn_sigs *sigs, struct kept *k,
			 uint64_t blurred, uint32_t *known)
{
	int rc = RN_OK;

	for (uint32_t sig = 0; sig < rn_sigs_count(sigs); sig++)
		for (uint32_t p = l->place[sig]; p < l->place[sig + 1]; p++) {
			bool exact =
				!blurred || !is_argument(sigs, (struct rn_value_place){
								       sig, p - l->place[sig] });

			k->blurred = exact ? 0 : blurred;
			for (uint32_t i = l->share_of[p]; i < l->share_of[p + 1]; i++) {
				uint32_t *as = &known[2 * l->share[i].number + exact];

				if (*as == UINT32_MAX && rc == RN_OK)
					rc = keep_series(k, l->series, l->share[i].number, as);
				l->share[i].number = *as;
			}
		}
	return rc;
}

static int finish_series(struct rn_trace *t, struct rn_arena *scratch)
{
	struct rn_value_list *l = &t->values;
	uint32_t n = rn_sigs_count(l->series);
	uint32_t *known = rn_new_map(scratch, 2 * (size_t)n); /* lossy and exact ids */
	struct kept k = { .series = rn_sigs_new(&t->mem) };
	int rc;

	if (!k.series || !known)
		return RN_E_NOMEM;
	rn_arena_init(&k.mem, SIZE_MAX);
	rn_arena_init(&k.scratch, SIZE_MAX);
	rn_arena_reserve(&k.mem, SERIES_ROOM);
	rn_arena_reserve(&k.scratch, SERIES_ROOM);
	rc = number_series(l, t->streams.sigs, &k, rn_meta_lossy(&t->meta).params, known);
	rn_arena_free(&k.mem);
	rn_arena_free(&k.scratch);
	l->series = k.series;
	return rc;
}

int rn_finish_values(struct rn_trace *t, const struct rn_values *v, const uint32_t *map,
		     struct rn_arena *scratch)
{
	int rc = v->use.n ? rn_value_list_make(v, map, t->streams.sigs, 0, &t->mem, &t->values)
			  : RN_OK;

	return rc == RN_OK && t->values.share ? finish_series(t, scratch) : rc;
}

/* ---- order events ---- */

/* Copies the event sites, with nodes instead of stacks. map[i] becomes the new id of event site i.
 */
static int take_stacks(const struct rn_order_list *l, struct rn_site_tables *tables,
		       struct rn_order_list *out, uint32_t *map)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < rn_sigs_count(l->site) && rc == RN_OK; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);

		if (p.stack_len)
			rc = rn_site_tables_add(tables, p.stack, p.stack_len, &p.node);
		if (rc == RN_OK)
			rc = rn_order_list_intern(out, &p, &map[i]);
	}
	return rc;
}

/* Decodes all events, by stream of the list, to encode them with another codec. */
static int read_all(const struct rn_order_list *l, uint64_t threads, struct rn_arena *mem,
		    struct rn_order **all, struct rn_err *err)
{
	uint32_t n = l->chunks.stream.n;
	int32_t *rank = rn_new(mem, int32_t, n);
	struct rn_order *order = *all = rn_new(mem, struct rn_order, n);
	const uint32_t *comm;
	struct rn_sigs *names;
	int rc = rn_order_list_comms(l, mem, &names, &comm);

	if (!rank || !order)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		rank[i] = (int32_t)(rn_chunk_list_at(&l->chunks, i)->stream / threads);
		rc = rn_order_list_get(l, rn_chunk_list_at(&l->chunks, i), comm, mem, &order[i],
				       err);
	}
	return rc == RN_OK ? rn_order_clocks(mem, order, rank, n) : rc;
}

/* Adds a stream, with its chunks joined to one. Sends are omitted, because `clock` has the
 * reference order. */
static int recode(struct rn_order o, enum rn_order_codec codec, struct rn_chunk_stream s,
		  struct rn_chunk_list *to, struct rn_arena *scratch)
{
	struct rn_buf b = { 0 };
	int rc;

	o.sends = 0;
	rc = rn_order_chunk_write(codec, &o, scratch, &b);
	s.chunk = &(struct rn_chunk){ b.data, b.len };
	s.chunks = 1;
	if (rc == RN_OK)
		rc = rn_chunk_list_copy(to, &s);
	rn_buf_free(&b);
	return rc;
}

static int recode_all(struct rn_order_list *out, const struct rn_order_list *l,
		      const struct rn_meta *meta, struct rn_err *err)
{
	enum rn_order_codec codec = rn_meta_order(meta);
	struct rn_chunk_list from = out->chunks;
	struct rn_arena scratch;
	struct rn_order *order;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	rn_chunk_list_init(&out->chunks, out->mem);
	rc = read_all(l, rn_meta_threads(meta), &scratch, &order, err);
	for (uint32_t i = 0; i < from.stream.n && rc == RN_OK; i++)
		rc = recode(order[i], codec, *rn_chunk_list_at(&from, i), &out->chunks, &scratch);
	rn_arena_free(&scratch);
	return rc;
}

int rn_finish_order(struct rn_trace *t, const struct rn_order_list *l,
		    struct rn_site_tables *tables, struct rn_err *err)
{
	uint32_t *map = rn_new(&t->mem, uint32_t, rn_sigs_count(l->site));
	struct rn_order_list *out = rn_new(&t->mem, struct rn_order_list, 1);
	int rc;

	if (l->chunks.stream.n == 0)
		return RN_OK;
	if (!map || !out || rn_order_list_init(out, &t->mem, true) < 0)
		return RN_E_NOMEM;
	t->events = out;
	rc = take_stacks(l, tables, out, map);
	if (rc == RN_OK)
		rc = rn_order_list_copy(out, l, map);
	return rc == RN_OK && rn_meta_order(&t->meta) != RN_ORDER_MODEL
		       ? recode_all(out, l, &t->meta, err)
		       : rc;
}
