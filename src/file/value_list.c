/* value_list.c - see value_list.h. */
#include "file/value_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/varint.h"
#include "encode/call.h"
#include "encode/sigs.h"
#include "merge/blur.h"
#include "merge/merged.h"
#include "merge/values.h"
#include "series/series.h"
#include "series/units.h"

static uint32_t holes_of(const struct rn_sigs *sigs, uint32_t i)
{
	size_t len;
	const void *sig = rn_sigs_get(sigs, i, &len);

	return rn_call_elastics(sig, len, NULL);
}

/* ---- writing ---- */

static uint64_t first_stream(const struct rn_value_use *u)
{
	return *RN_SEG_AT(&u->stream, uint64_t, 0);
}

static int by_place(const void *x, const void *y)
{
	const struct rn_value_use *a = *(const struct rn_value_use *const *)x,
				  *b = *(const struct rn_value_use *const *)y;

	if (a->place.sig != b->place.sig)
		return a->place.sig < b->place.sig ? -1 : 1;
	if (a->place.hole != b->place.hole)
		return a->place.hole < b->place.hole ? -1 : 1;
	return (first_stream(a) > first_stream(b)) - (first_stream(a) < first_stream(b));
}

/* Numbers of signatures that are used by no stream any more are UINT32_MAX. */
static int renumber(struct rn_values *to, const struct rn_values *v, const struct rn_sigs *sigs,
		    const struct rn_sigs *final, struct rn_arena *scratch)
{
	uint32_t n = rn_sigs_count(sigs), *map = rn_new(scratch, uint32_t, (size_t)n + 1);
	int rc = rn_values_init(to, scratch);

	if (!map || rc < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		if (!rn_sigs_find(final, sig, len, &map[i]))
			map[i] = UINT32_MAX;
	}
	return rn_values_merge(to, v, map);
}

/* Of series that are made ready for the file. */
struct kept {
	struct rn_sigs *series;
	struct rn_arena mem, scratch;
	uint64_t blurred;
};

/* On the way here they were encoded quickly. */
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

/* Which stack a call was made from is no argument of it. */
static bool is_argument(const struct rn_sigs *sigs, struct rn_value_place at)
{
	size_t len;
	const void *sig = rn_sigs_get(sigs, at.sig, &len);
	uint32_t stack;

	rn_call_elastics(sig, len, &stack);
	return stack != at.hole;
}

#define SERIES_ROOM ((size_t)256 << 10) /* most are made in that */

/* Series are numbered as they come. */
static int number_series(const struct rn_values *v, const struct rn_sigs *sigs,
			 struct rn_value_use *const *use, uint64_t blurred, struct rn_arena *mem,
			 struct rn_sigs **series, uint32_t *number)
{
	uint32_t n = rn_sigs_count(v->series);
	uint32_t *known = rn_new(mem, uint32_t, 2 * (size_t)n + 1); /* blurred, and not */
	struct kept k = { .series = rn_sigs_new(mem) };
	int rc = RN_OK;

	if (!k.series || !known)
		return RN_E_NOMEM;
	memset(known, 0xff, 2 * (size_t)n * sizeof(*known));
	rn_arena_init(&k.mem, SIZE_MAX);
	rn_arena_init(&k.scratch, SIZE_MAX);
	rn_arena_reserve(&k.mem, SERIES_ROOM);
	rn_arena_reserve(&k.scratch, SERIES_ROOM);
	for (uint32_t i = 0; i < v->use.n && rc == RN_OK; i++) {
		bool exact = !blurred || !is_argument(sigs, use[i]->place);
		uint32_t *known_as = &known[2 * use[i]->series + exact];

		k.blurred = exact ? 0 : blurred;
		if (*known_as == UINT32_MAX)
			rc = keep_series(&k, v->series, use[i]->series, known_as);
		number[i] = *known_as;
	}
	rn_arena_free(&k.mem);
	rn_arena_free(&k.scratch);
	*series = k.series;
	return rc;
}

static int put_numbers(const struct rn_seg *all, bool sorted, struct rn_arena *scratch,
		       struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_series *s = sorted ? rn_series_new_sorted(scratch) : rn_series_new(scratch);
	struct rn_units *u;
	int rc = s ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < all->n && rc == RN_OK; i++)
		rc = rn_series_append(s, *RN_SEG_AT(all, int64_t, i));
	if (rc == RN_OK)
		rc = rn_units_seal(scratch, s, &u);
	if (rc == RN_OK)
		rc = rn_units_encode(u, out);
	rn_arena_rewind(scratch, mark);
	return rc;
}

static int put_share(const struct rn_value_use *u, uint32_t series, struct rn_arena *scratch,
		     struct rn_buf *out)
{
	int rc;

	rn_buf_u64(out, series);
	rc = put_numbers(&u->stream, true, scratch, out);
	return rc == RN_OK ? put_numbers(&u->begin, false, scratch, out) : rc;
}

/* The shares of one place, of those that are left. */
static int put_place(const struct rn_value_use *const *use, const uint32_t *number, uint32_t left,
		     struct rn_value_place at, uint32_t *n, struct rn_arena *scratch,
		     struct rn_buf *out)
{
	int rc = RN_OK;

	*n = 0;
	while (*n < left && use[*n]->place.sig == at.sig && use[*n]->place.hole == at.hole)
		++*n;
	rn_buf_u64(out, *n);
	for (uint32_t i = 0; i < *n && rc == RN_OK; i++)
		rc = put_share(use[i], number[i], scratch, out);
	return rc;
}

static int put_places(const struct rn_sigs *sigs, const struct rn_value_use *const *use,
		      const uint32_t *number, uint32_t uses, struct rn_arena *scratch,
		      struct rn_buf *out)
{
	uint32_t done = 0, n;
	int rc = RN_OK;

	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		uint32_t holes = holes_of(sigs, i);

		for (uint32_t k = 0; k < holes && rc == RN_OK; k++) {
			rc = put_place(use + done, number + done, uses - done,
				       (struct rn_value_place){ i, k }, &n, scratch, out);
			done += n;
		}
	}
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

int rn_value_list_write(const struct rn_values *v, const struct rn_sigs *sigs,
			const struct rn_streams *s, uint64_t blurred, struct rn_arena *scratch,
			struct rn_buf *out)
{
	struct rn_values final;
	struct rn_value_use **use;
	struct rn_sigs *series;
	uint32_t *number;
	int rc;

	if (v->use.n == 0)
		return RN_OK;
	rc = renumber(&final, v, sigs, s->sigs, scratch);
	if (rc < 0 || final.use.n == 0)
		return rc;
	use = rn_new(scratch, struct rn_value_use *, final.use.n);
	number = rn_new(scratch, uint32_t, final.use.n);
	if (!use || !number)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < final.use.n; i++)
		use[i] = RN_SEG_AT(&final.use, struct rn_value_use, i);
	qsort(use, final.use.n, sizeof(*use), by_place);
	rc = number_series(&final, s->sigs, use, blurred, scratch, &series, number);
	if (rc < 0)
		return rc;
	rn_sigs_put(series, out);
	return put_places(s->sigs, (const struct rn_value_use *const *)use, number, final.use.n,
			  scratch, out);
}

/* ---- reading ---- */

struct reading {
	struct rn_arena *mem;
	struct rn_reader in;
	struct rn_units **series;
	uint32_t nseries;
	uint64_t streams;
	struct rn_seg share; /* struct rn_value_share */
};

static int get_series(struct reading *r, struct rn_err *err)
{
	struct rn_sigs *bytes = rn_sigs_new(r->mem);
	int rc = bytes ? rn_sigs_take(bytes, &r->in) : RN_E_NOMEM;

	if (rc < 0)
		return rc;
	r->nseries = rn_sigs_count(bytes);
	r->series = rn_new(r->mem, struct rn_units *, (size_t)r->nseries + 1);
	if (!r->series)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < r->nseries && rc == RN_OK; i++) {
		size_t len;
		const void *p = rn_sigs_get(bytes, i, &len);
		struct rn_reader in = rn_reader(p, len);

		rc = rn_units_decode(r->mem, &in, &r->series[i], err);
		if (rc == RN_OK && rn_left(&in))
			rc = RN_E_DATA;
	}
	return rc;
}

/* `before` is the one before it at the place, or NULL. */
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
	uint32_t series = (uint32_t)rn_get_max(&r->in, UINT32_MAX);
	struct rn_value_share s = { 0 };
	struct rn_units *u;
	int rc;

	if (r->in.bad || series >= r->nseries)
		return RN_E_DATA;
	s.series = r->series[series];
	rc = rn_units_decode(r->mem, &r->in, &u, err);
	if (rc < 0)
		return rc;
	s.streams = u;
	rc = rn_units_decode(r->mem, &r->in, &u, err);
	if (rc < 0)
		return rc;
	s.begin = u;
	if (!is_share(r, &s,
		      first ? NULL : RN_SEG_AT(&r->share, struct rn_value_share, r->share.n - 1)))
		return RN_E_DATA;
	if (!rn_seg_reserve(&r->share, r->mem, 1))
		return RN_E_NOMEM;
	*RN_SEG_AT(&r->share, struct rn_value_share, r->share.n) = s;
	r->share.n++;
	return RN_OK;
}

static int get_place(struct reading *r, struct rn_err *err)
{
	uint64_t n = rn_get_count(&r->in, 3);
	int rc = r->in.bad ? RN_E_DATA : RN_OK;

	for (uint64_t i = 0; i < n && rc == RN_OK; i++)
		rc = get_share(r, i == 0, err);
	return rc;
}

/* Numbers the places, and returns how many there are. */
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

static int get_places(struct reading *r, uint32_t places, struct rn_value_list *out,
		      struct rn_err *err)
{
	struct rn_value_share *share;
	int rc = RN_OK;

	for (uint32_t i = 0; i < places && rc == RN_OK; i++) {
		out->share_of[i] = r->share.n;
		rc = get_place(r, err);
	}
	if (rc == RN_OK && rn_left(&r->in))
		rc = RN_E_DATA;
	out->share_of[places] = r->share.n;
	share = rn_new(r->mem, struct rn_value_share, (size_t)r->share.n + 1);
	if (rc == RN_OK && !share)
		return RN_E_NOMEM;
	for (uint32_t i = 0; rc == RN_OK && i < r->share.n; i++)
		share[i] = *RN_SEG_AT(&r->share, struct rn_value_share, i);
	out->share = share;
	return rc;
}

int rn_value_list_decode(struct rn_arena *mem, const void *bytes, size_t len,
			 const struct rn_sigs *sigs, uint64_t streams, struct rn_value_list *out,
			 struct rn_err *err)
{
	struct reading r = { .mem = mem, .in = rn_reader(bytes, len), .streams = streams };
	uint32_t places;
	int rc;

	rn_err_set(err, RN_E_DATA, "cut off, or not what the signatures have holes for");
	rn_seg_init(&r.share, sizeof(struct rn_value_share));
	out->place = rn_new(mem, uint32_t, (size_t)rn_sigs_count(sigs) + 1);
	if (!out->place)
		return rn_err_nomem(err);
	places = number_places(sigs, out->place);
	out->share_of = rn_new(mem, uint32_t, (size_t)places + 1);
	if (!out->share_of)
		return rn_err_nomem(err);
	rc = get_series(&r, err);
	if (rc == RN_OK)
		rc = get_places(&r, places, out, err);
	return rc == RN_E_NOMEM ? rn_err_nomem(err) : rc;
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

/* Sums of a forged trace are beyond all bounds, so these are not exact. */
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
