/* elastic_values_codec.c - see elastic_values_codec.h. */
#include "model/elastic_values_codec.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/signature.h"
#include "model/elastic_values.h"
#include "series/series.h"
#include "series/units.h"

static uint32_t holes_of(const struct rn_sigs *sigs, uint32_t i)
{
	size_t len;
	const void *sig = rn_sigs_get(sigs, i, &len);

	return rn_call_elastics(sig, len, NULL);
}

/* ---- encoding ---- */

static uint64_t first_stream(const struct rn_value_use *u)
{
	return *RN_SEG_AT(&u->stream, uint64_t, 0);
}

static int by_place(const void *x, const void *y)
{
	const struct rn_value_use *a = x, *b = y;

	if (a->place.sig != b->place.sig)
		return a->place.sig < b->place.sig ? -1 : 1;
	if (a->place.hole != b->place.hole)
		return a->place.hole < b->place.hole ? -1 : 1;
	return (first_stream(a) > first_stream(b)) - (first_stream(a) < first_stream(b));
}

/* Assigns an index to each elastic slot and returns how many there are. */
static uint32_t number_places(const struct rn_sigs *sigs, uint32_t *place)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		place[i] = n;
		n += holes_of(sigs, i);
	}
	place[rn_sigs_count(sigs)] = n;
	return n;
}

/* Initializes the list with the elastic slots of these signatures, without shares. */
static int begin_list(struct rn_value_list *l, struct rn_arena *mem, const struct rn_sigs *sigs)
{
	*l = (struct rn_value_list){ 0 };
	l->place = rn_new(mem, uint32_t, (size_t)rn_sigs_count(sigs) + 1);
	if (!l->place)
		return RN_E_NOMEM;
	l->places = number_places(sigs, l->place);
	l->share_of = rn_new(mem, uint32_t, (size_t)l->places + 1);
	return l->share_of ? RN_OK : RN_E_NOMEM;
}

/* Seals the numbers, minus `less`, as a series. */
static int seal_numbers(const struct rn_seg *all, bool sorted, uint64_t less, struct rn_arena *mem,
			struct rn_arena *scratch, const struct rn_units **out)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_series *s = sorted ? rn_series_new_sorted(scratch) : rn_series_new(scratch);
	struct rn_units *u = NULL;
	int rc = s ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < all->n && rc == RN_OK; i++)
		rc = rn_series_append(s, (int64_t)(*RN_SEG_AT(all, const uint64_t, i) - less));
	if (rc == RN_OK)
		rc = rn_units_seal(mem, s, &u);
	*out = u;
	rn_arena_rewind(scratch, mark);
	return rc;
}

static int make_share(const struct rn_value_use *u, uint64_t first, struct rn_arena *mem,
		      struct rn_arena *scratch, struct rn_value_share *out)
{
	int rc;

	*out = (struct rn_value_share){ .number = u->series };
	rc = seal_numbers(&u->stream, true, first, mem, scratch, &out->streams);
	return rc == RN_OK ? seal_numbers(&u->begin, false, 0, mem, scratch, &out->begin) : rc;
}

/* Copies the uses, sorted by slot and by first stream, and returns how many there are. */
static uint32_t sort_uses(const struct rn_values *v, const uint32_t *map, struct rn_value_use *use)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->use.n; i++) {
		use[n] = *RN_SEG_AT(&v->use, struct rn_value_use, i);
		if (map)
			use[n].place.sig = map[use[n].place.sig];
		n += use[n].place.sig != UINT32_MAX;
	}
	qsort(use, n, sizeof(*use), by_place);
	return n;
}

static int make_shares(const struct rn_value_use *use, uint32_t n, uint64_t first,
		       struct rn_arena *mem, struct rn_arena *scratch, struct rn_value_list *out)
{
	int rc = RN_OK;

	out->share = n ? rn_new(mem, struct rn_value_share, n) : NULL;
	if (n && !out->share)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		struct rn_value_place at = use[i].place;

		if (at.hole >= out->place[at.sig + 1] - out->place[at.sig])
			return RN_E_ARG;
		out->share_of[out->place[at.sig] + at.hole + 1] = i + 1;
		rc = make_share(&use[i], first, mem, scratch, &out->share[i]);
	}
	return rc;
}

int rn_value_list_make(const struct rn_values *v, const uint32_t *map, const struct rn_sigs *sigs,
		       uint64_t first, struct rn_arena *mem, struct rn_value_list *out)
{
	struct rn_arena scratch;
	struct rn_value_use *use;
	int rc = begin_list(out, mem, sigs);

	if (rc < 0 || v->use.n == 0)
		return rc;
	out->series = v->series;
	rn_arena_init(&scratch, SIZE_MAX);
	use = rn_new(&scratch, struct rn_value_use, v->use.n);
	rc = use ? make_shares(use, sort_uses(v, map, use), first, mem, &scratch, out) : RN_E_NOMEM;
	rn_arena_free(&scratch);
	for (uint32_t i = 0; i < out->places; i++)
		if (out->share_of[i + 1] < out->share_of[i])
			out->share_of[i + 1] = out->share_of[i];
	return rc;
}

int rn_value_list_encode(const struct rn_value_list *l, struct rn_buf *out)
{
	int rc = RN_OK;

	if (!l->share)
		return RN_OK;
	rn_sigs_put(l->series, out);
	for (uint32_t p = 0; p < l->places; p++) {
		rn_buf_u64(out, l->share_of[p + 1] - l->share_of[p]);
		for (uint32_t i = l->share_of[p]; i < l->share_of[p + 1] && rc == RN_OK; i++) {
			rn_buf_u64(out, l->share[i].number);
			rc = rn_units_encode(l->share[i].streams, out);
			if (rc == RN_OK)
				rc = rn_units_encode(l->share[i].begin, out);
		}
	}
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

/* ---- merging ---- */

static int merge_share(const struct rn_value_list *l, const struct rn_value_share *s,
		       struct rn_value_place at, uint64_t first, struct rn_values *v)
{
	int64_t stream[256], begin[256];
	struct rn_value_use *use;
	uint32_t series;
	size_t n = 0;
	int rc = rn_sigs_copy(v->series, l->series, s->number, &series);

	use = rc == RN_OK ? rn_values_use(v, at, series) : NULL;
	if (!use)
		return RN_E_NOMEM;
	for (uint64_t done = 0; (n = rn_units_read(s->streams, done, stream, 256)) > 0; done += n) {
		rn_units_read(s->begin, done, begin, n);
		for (size_t i = 0; i < n && rc == RN_OK; i++)
			rc = rn_values_add_stream(v, use, first + (uint64_t)stream[i], begin[i]);
	}
	return rc;
}

int rn_value_list_merge(const struct rn_value_list *l, const uint32_t *map, uint32_t sigs,
			uint64_t first, struct rn_values *v)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < sigs && l->share && rc == RN_OK; i++)
		for (uint32_t p = l->place[i]; p < l->place[i + 1] && map[i] != UINT32_MAX; p++)
			for (uint32_t k = l->share_of[p]; k < l->share_of[p + 1] && rc == RN_OK;
			     k++)
				rc = merge_share(l, &l->share[k],
						 (struct rn_value_place){ map[i], p - l->place[i] },
						 first, v);
	return rc;
}

/* ---- decoding ---- */

struct reading {
	struct rn_arena *mem;
	struct rn_reader *in;
	uint32_t series; /* number of series */
	uint64_t streams;
	struct rn_value_share *share;
	uint32_t shares, cap;
};

/* Validates a share and sets its first, last and reach. `before` is the previous share of the slot,
 * or NULL. */
static bool is_share(const struct reading *r, struct rn_value_share *s,
		     const struct rn_value_share *before)
{
	uint64_t n = rn_units_length(s->streams);
	int64_t first, last;

	if (n == 0 || n > r->streams || n != rn_units_length(s->begin) ||
	    !rn_units_monotone(s->streams))
		return false;
	first = rn_units_at(s->streams, 0);
	last = rn_units_at(s->streams, n - 1);
	if (first < 0 || (uint64_t)last >= r->streams)
		return false;
	s->first = (uint64_t)first;
	s->last = (uint64_t)last;
	s->reach = before && before->reach > s->last ? before->reach : s->last;
	return !before || before->first < s->first;
}

static int get_share(struct reading *r, bool first, struct rn_err *err)
{
	struct rn_value_share s = { .number = (uint32_t)rn_get_max(r->in, UINT32_MAX) };
	struct rn_units *u = NULL;
	int rc;

	if (r->in->bad || s.number >= r->series)
		return RN_E_DATA;
	rc = rn_units_decode(r->mem, r->in, &u, err);
	if (rc < 0)
		return rc;
	s.streams = u;
	rc = rn_units_decode(r->mem, r->in, &u, err);
	if (rc < 0)
		return rc;
	s.begin = u;
	if (!is_share(r, &s, first ? NULL : &r->share[r->shares - 1]))
		return RN_E_DATA;
	if (!RN_GROW(r->mem, r->share, (uint64_t)r->shares + 1, r->cap))
		return RN_E_NOMEM;
	r->share[r->shares++] = s;
	return RN_OK;
}

static int get_place(struct reading *r, struct rn_err *err)
{
	uint64_t n = rn_get_count(r->in, 3);
	int rc = r->in->bad ? RN_E_DATA : RN_OK;

	for (uint64_t i = 0; i < n && rc == RN_OK; i++)
		rc = get_share(r, i == 0, err);
	return rc;
}

static int get_places(struct reading *r, struct rn_value_list *out, struct rn_err *err)
{
	int rc = RN_GROW(r->mem, r->share, 1, r->cap) ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < out->places && rc == RN_OK; i++) {
		out->share_of[i] = r->shares;
		rc = get_place(r, err);
	}
	out->share_of[out->places] = r->shares;
	out->share = r->share;
	return rc;
}

int rn_value_list_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_sigs *sigs,
			 uint64_t streams, struct rn_value_list *out, struct rn_err *err)
{
	struct reading r = { .mem = mem, .in = in, .streams = streams };
	int rc = begin_list(out, mem, sigs);

	rn_err_set(err, RN_E_DATA, "cut off, or not what the signatures have holes for");
	out->series = rn_sigs_new(mem);
	if (rc < 0 || !out->series)
		return rn_err_nomem(err);
	rc = rn_sigs_take(out->series, in);
	r.series = rn_sigs_count(out->series);
	if (rc == RN_OK)
		rc = get_places(&r, out, err);
	return rc == RN_E_NOMEM ? rn_err_nomem(err) : rc;
}

/* ---- lookup ---- */

int rn_value_list_open(struct rn_value_list *l, struct rn_arena *mem, struct rn_err *err)
{
	const struct rn_units **units;
	int rc = rn_units_decode_all(mem, l->series, &units, err);

	for (uint32_t i = 0; i < l->share_of[l->places] && rc == RN_OK; i++)
		l->share[i].series = units[l->share[i].number];
	return rc;
}

struct rn_value_source rn_value_list_find(const struct rn_value_list *l, uint32_t sig,
					  uint32_t hole, uint64_t stream)
{
	struct rn_bisect b;
	uint32_t place, from, lo;
	uint64_t i;

	if (hole >= rn_value_list_holes(l, sig))
		return (struct rn_value_source){ NULL, 0 };
	place = l->place[sig] + hole;
	from = l->share_of[place];
	b = (struct rn_bisect){ from, l->share_of[place + 1], 0 };
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, l->share[b.mid].first <= stream);
	lo = (uint32_t)b.lo;
	while (lo-- > from && l->share[lo].reach >= stream) {
		const struct rn_value_share *s = &l->share[lo];

		if (rn_units_find(s->streams, (int64_t)stream, &i) == RN_OK &&
		    (uint64_t)rn_units_at(s->streams, i) == stream)
			return (struct rn_value_source){ s->series, rn_units_at(s->begin, i) };
	}
	return (struct rn_value_source){ NULL, 0 };
}

/* The sums of a malicious trace may exceed every integer type, so the computation is not exact. */
int64_t rn_value_list_mean(const struct rn_value_list *l, uint32_t sig, uint32_t hole)
{
	uint32_t place = l->place[sig] + hole;
	long double sum = 0, n = 0, most = (long double)INT64_MAX / 2;

	for (uint32_t i = l->share_of[place]; i < l->share_of[place + 1]; i++) {
		const struct rn_value_share *s = &l->share[i];
		uint64_t calls = rn_units_length(s->series), streams = rn_units_length(s->streams);

		sum += (long double)rn_units_sum(s->series, calls) * (long double)streams +
		       (long double)rn_units_sum(s->begin, streams) * (long double)calls;
		n += (long double)calls * (long double)streams;
	}
	if (n > 0)
		sum /= n;
	return (int64_t)(sum > most ? most : sum < -most ? -most : sum);
}
