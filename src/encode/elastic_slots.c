/* elastic_slots.c - see elastic_slots.h. */
#include "encode/elastic_slots.h"

#include <assert.h>

#include "base/arena.h"
#include "base/varint.h"
#include "encode/call_words_visit.h"
#include "series/series.h"
#include "series/units.h"

struct possible {
	const uint64_t *words;
	struct rn_possible *at;
	uint32_t n;
};

/* One elastic slot is reserved for the stack. */
static void add_possible(struct possible *p, const uint64_t *w, enum rn_param_kind kind)
{
	if ((int64_t)*w >= 0 && p->n < RN_HOLES_MAX - 1)
		p->at[p->n++] = (struct rn_possible){
			.at = (uint16_t)(w - p->words),
			.plain = rn_raw_is_number(kind) && kind != RN_K_rank,
			.partner = kind == RN_K_rank || kind == RN_K_int,
		};
}

/* Returns whether all constants of this kind are negative. */
static bool is_free(enum rn_param_kind k)
{
	return k == RN_K_int || k == RN_K_rank || k == RN_K_tag || k == RN_K_vary ||
	       k == RN_K_index;
}

static void see(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	if (part == RN_RAW_NUMBER && is_free(kind))
		add_possible(arg, w, kind);
	else if (part == RN_RAW_PLACE && !rn_raw_is_absent(w[0]) &&
		 (w[0] & 255) != RN_RAW_CLASS_CONST)
		add_possible(arg, w + 1, kind);
}

static bool has_mark(const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] == RN_RAW_HOLE || RN_RAW_IS_SAME(words[i]))
			return true;
	return false;
}

/* A number equal to the mark of an elastic slot would be mistaken for one. */
bool rn_holes_can(const uint64_t *words, size_t n)
{
	return n <= RN_HOLES_WORDS && !has_mark(words, n);
}

uint32_t rn_holes_possible(const uint64_t *words, size_t n, struct rn_possible at[RN_HOLES_MAX])
{
	struct possible p = { .words = words, .at = at };
	/* The visitor does not change the words. */
	bool fits = rn_holes_can(words, n) &&
		    rn_raw_visit((uint64_t *)(uintptr_t)words, n, see, &p, NULL);

	return fits ? p.n : 0;
}

struct marks {
	size_t holes, ties;
	bool wrong; /* an RN_RAW_SAME refers to a slot that does not precede it */
};

static void add_mark(struct marks *m, uint64_t word)
{
	if (word == RN_RAW_HOLE) {
		m->holes++;
	} else if (RN_RAW_IS_SAME(word)) {
		m->ties++;
		m->wrong |= RN_RAW_SAME_AS(word) >= m->holes;
	}
}

static void see_mark(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	if ((part == RN_RAW_NUMBER && is_free(kind)) || (part == RN_RAW_STACK && *w == RN_RAW_HOLE))
		add_mark(arg, *w);
	else if (part == RN_RAW_PLACE && w[1] == RN_RAW_HOLE && !rn_raw_is_absent(w[0]) &&
		 (w[0] & 255) != RN_RAW_CLASS_CONST)
		add_mark(arg, w[1]);
}

bool rn_holes_valid(const uint64_t *words, size_t n)
{
	struct marks all = { 0 }, seen = { 0 };

	for (size_t i = 0; i < n; i++)
		add_mark(&all, words[i]);
	/* The visitor does not change the words. */
	return n <= RN_HOLES_WORDS && all.holes <= RN_HOLES_MAX && !all.wrong &&
	       rn_raw_visit((uint64_t *)(uintptr_t)words, n, see_mark, &seen, NULL) &&
	       seen.holes == all.holes && seen.ties == all.ties;
}

static bool add_hole(struct rn_holes *h, struct rn_arena *mem, size_t at)
{
	assert(h->n < RN_HOLES_MAX && at < RN_HOLES_WORDS);
	h->at[h->n] = (uint16_t)at;
	h->series[h->n] = rn_series_new(mem);
	return h->series[h->n++] != NULL;
}

/* Returns false if the slot that the word refers to does not precede it. */
static bool add_tie(struct rn_holes *h, size_t at, uint32_t of)
{
	h->tie[h->ties++] = (struct rn_tie){ (uint16_t)at, (uint16_t)of };
	return of < h->n;
}

static bool fill_holes(struct rn_holes *h, struct rn_arena *mem, const uint64_t *words, size_t n)
{
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		h->mask[i] = 0;
		if (words[i] == RN_RAW_HOLE)
			good = add_hole(h, mem, i);
		else if (RN_RAW_IS_SAME(words[i]))
			good = add_tie(h, i, RN_RAW_SAME_AS(words[i]));
		else
			h->mask[i] = UINT64_MAX;
	}
	return good;
}

struct rn_holes *rn_holes_new(struct rn_arena *mem, const uint64_t *words, size_t n)
{
	struct rn_holes *h = rn_new(mem, struct rn_holes, 1);
	size_t holes = 0, ties = 0;

	for (size_t i = 0; i < n; i++) {
		holes += words[i] == RN_RAW_HOLE;
		ties += RN_RAW_IS_SAME(words[i]);
	}
	if (!h || holes > RN_HOLES_MAX || n > RN_HOLES_WORDS)
		return NULL;
	h->at = rn_new(mem, uint16_t, holes + 1);
	h->series = rn_new(mem, struct rn_series *, holes + 1);
	h->tie = rn_new(mem, struct rn_tie, ties + 1);
	h->mask = rn_new(mem, uint64_t, n + 1);
	rn_seg_init(&h->done, sizeof(struct rn_done_series));
	if (!h->at || !h->series || !h->tie || !h->mask || !fill_holes(h, mem, words, n))
		return NULL;
	assert(h->n == holes && h->ties == ties);
	return h;
}

bool rn_holes_put(struct rn_seg *all, struct rn_arena *mem, uint32_t i, struct rn_holes *h)
{
	while (all->n <= i)
		if (!RN_SEG_PUSH(all, mem, struct rn_holes *, NULL))
			return false;
	assert(i < all->n);
	*RN_SEG_AT(all, struct rn_holes *, i) = h;
	return true;
}

int rn_holes_append(struct rn_holes *h, const uint64_t *words)
{
	for (uint32_t k = 0; k < h->n; k++) {
		if (rn_series_append(h->series[k], (int64_t)words[h->at[k]]) < 0) {
			h->closed = true;
			return RN_E_NOMEM;
		}
	}
	return RN_OK;
}

int rn_holes_append_numbers(struct rn_holes *h, const int64_t *number)
{
	for (uint32_t k = 0; k < h->n; k++)
		if (rn_series_append(h->series[k], number[k]) < 0)
			return RN_E_NOMEM;
	return RN_OK;
}

/* Appends at most *left values of u to s. */
static int join_units(struct rn_series *s, const struct rn_units *u, uint64_t *left)
{
	int64_t block[256];
	uint64_t at = 0;
	size_t n = 0;
	int rc = RN_OK;

	while (rc == RN_OK && *left && (n = rn_units_read(u, at, block, 256)) > 0) {
		n = n < *left ? n : (size_t)*left;
		assert(n <= sizeof(block) / sizeof(*block));
		for (size_t i = 0; i < n && rc == RN_OK; i++)
			rc = rn_series_append(s, block[i]);
		at += n;
		*left -= n;
	}
	return rc;
}

static int join_series(struct rn_series *s, const struct rn_series *other, uint64_t *left,
		       struct rn_arena *scratch)
{
	struct rn_units *u;
	struct rn_arena mem;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_units_seal_quickly(&mem, scratch, other, &u);
	if (rc == RN_OK)
		rc = join_units(s, u, left);
	rn_arena_free(&mem);
	return rc;
}

/* Appends the first `left` values of a slot to a series. */
static int join_hole(struct rn_series *s, const struct rn_holes *h, uint32_t hole, uint64_t left,
		     struct rn_arena *scratch)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < h->done.n && rc == RN_OK; i++) {
		const struct rn_done_series *d = RN_SEG_AT(&h->done, struct rn_done_series, i);

		if (d->hole == hole)
			rc = d->units ? join_units(s, d->units, &left)
				      : join_series(s, d->series, &left, scratch);
	}
	return rc == RN_OK ? join_series(s, h->series[hole], &left, scratch) : rc;
}

/* Returns the number of values that come from a journal, in which a few bytes can represent any
 * number of values. */
static uint64_t loaded(const struct rn_holes *h, uint32_t hole)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < h->done.n; i++) {
		const struct rn_done_series *d = RN_SEG_AT(&h->done, struct rn_done_series, i);

		if (d->hole == hole && d->units)
			n += rn_units_length(d->units);
	}
	return n;
}

/* Concatenates all sections of a slot; each retains its own patterns. */
static int concat_hole(const struct rn_holes *h, uint32_t hole, struct rn_arena *mem,
		       struct rn_arena *scratch, struct rn_units **out)
{
	const struct rn_units **list = rn_new(mem, const struct rn_units *, (size_t)h->done.n + 1);
	struct rn_units *u = NULL;
	uint32_t n = 0;
	int rc = list ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < h->done.n && rc == RN_OK; i++) {
		const struct rn_done_series *d = RN_SEG_AT(&h->done, struct rn_done_series, i);

		if (d->hole != hole)
			continue;
		if (!d->units)
			rc = rn_units_seal_quickly(mem, scratch, d->series, &u);
		list[n++] = d->units ? d->units : u;
	}
	if (rc == RN_OK)
		rc = rn_units_seal_quickly(mem, scratch, h->series[hole], &u);
	if (rc < 0)
		return rc;
	list[n++] = u;
	return rn_units_concat(mem, list, n, out);
}

/* Maximum number of values that are appended to one series, in which patterns continue across
 * sections: about a second. */
#define JOINED_MAX ((uint64_t)1 << 26)

int rn_holes_units(const struct rn_holes *h, uint32_t hole, struct rn_arena *mem,
		   struct rn_arena *scratch, struct rn_units **out)
{
	struct rn_series *all;
	int rc;

	assert(hole < h->n);
	if (h->done.n == 0)
		return rn_units_seal_quickly(mem, scratch, h->series[hole], out);
	if (loaded(h, hole) > JOINED_MAX)
		return concat_hole(h, hole, mem, scratch, out);
	all = rn_series_new(mem);
	rc = all ? join_hole(all, h, hole, UINT64_MAX, scratch) : RN_E_NOMEM;
	return rc == RN_OK ? rn_units_seal_quickly(mem, scratch, all, out) : rc;
}

static bool add_done(struct rn_holes *h, struct rn_arena *mem, struct rn_done_series d)
{
	assert(d.hole < h->n && !d.series == !!d.units);
	return RN_SEG_PUSH(&h->done, mem, struct rn_done_series, d);
}

bool rn_holes_cut(struct rn_holes *h, struct rn_arena *mem, uint32_t hole)
{
	struct rn_series *next = rn_series_new(mem);

	assert(hole < h->n);
	if (!next || !add_done(h, mem, (struct rn_done_series){ hole, h->series[hole], NULL }))
		return false;
	h->series[hole] = next;
	return true;
}

int rn_holes_load(struct rn_holes *h, struct rn_arena *mem, uint32_t hole, struct rn_reader *in)
{
	struct rn_units *u;
	int rc = hole < h->n ? rn_units_decode(mem, in, &u, NULL) : RN_E_DATA;

	if (rc < 0 || rn_units_length(u) == 0)
		return rc;
	return add_done(h, mem, (struct rn_done_series){ hole, NULL, u }) ? RN_OK : RN_E_NOMEM;
}

int rn_holes_join(struct rn_holes *h, const struct rn_holes *other, uint64_t calls,
		  struct rn_arena *scratch)
{
	int rc = RN_OK;

	for (uint32_t k = 0; k < h->n && k < other->n && rc == RN_OK; k++)
		rc = join_hole(h->series[k], other, k, calls, scratch);
	return rc;
}
