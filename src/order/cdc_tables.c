/* cdc_tables.c - see cdc_tables.h. */
#include "order/cdc_tables.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/err.h"

/* --- chunks --- */

bool rn_order_chunk_begin(struct rn_arena *mem, struct rn_order_chunk *c)
{
	c->at = rn_new(mem, uint32_t, (size_t)c->rows + 1);
	c->first = rn_new(mem, uint32_t, c->sites);
	c->next = rn_new(mem, uint32_t, c->rows);
	if (!c->at || !c->first || !c->next)
		return false;
	for (size_t s = 0; s < c->sites; s++)
		c->first[s] = RN_TABLES_NONE;
	for (uint32_t r = c->rows; r-- > 0;) {
		uint32_t *first = &c->first[c->row[r].site];

		c->next[r] = *first;
		*first = r;
	}
	return true;
}

void rn_order_chunk_count(struct rn_order_chunk *c)
{
	uint32_t at = 0;

	for (uint32_t r = 0; r < c->rows; r++) {
		const struct rn_order_row *row = &c->row[r];

		c->at[r] = at;
		at += rn_order_has_numbers(&c->site[row->site]) ? 0 : row->done;
	}
	c->at[c->rows] = at;
}

/* --- receives --- */

bool rn_order_matched_tables_room(struct rn_arena *mem, struct rn_order_matched_tables *t)
{
	t->epoch = rn_new(mem, struct rn_order_epoch, t->epochs);
	t->moved_at = rn_new(mem, uint32_t, t->moved);
	t->delay = rn_new(mem, int32_t, t->moved);
	return t->epoch && t->moved_at && t->delay;
}

struct receive {
	uint64_t clock;
	int32_t source;
	uint32_t nth; /* position in observed order */
};

static int by_clock(const void *a, const void *b)
{
	const struct receive *x = a, *y = b;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static int by_source(const void *a, const void *b)
{
	const struct receive *x = a, *y = b;

	return x->source < y->source ? -1 : x->source > y->source;
}

bool rn_order_receives(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
		       struct rn_order_matched_tables *t)
{
	uint32_t things = 0;

	for (uint32_t r = c->first[site]; r != RN_TABLES_NONE; r = c->next[r])
		things += c->at[r + 1] - c->at[r];
	*t = (struct rn_order_matched_tables){ .thing = rn_new(mem, uint32_t, things) };
	for (uint32_t r = c->first[site]; r != RN_TABLES_NONE && t->thing; r = c->next[r])
		for (uint32_t i = c->at[r]; i < c->at[r + 1]; i++)
			if (c->done[i].flags & RN_ORDER_MATCHED)
				t->thing[t->matched++] = i;
	return t->thing != NULL;
}

/* Computes the epoch of each source, ascending by source. `by` is sorted by source. */
static void fill_epochs(struct rn_order_matched_tables *t, const struct receive *by)
{
	t->epochs = 0;
	for (uint32_t i = 0; i < t->matched; i++) {
		struct rn_order_epoch *e = &t->epoch[t->epochs];

		if (i == 0 || by[i].source != by[i - 1].source) {
			*e = (struct rn_order_epoch){ by[i].source, by[i].clock };
			t->epochs++;
		} else if (e[-1].clock < by[i].clock) {
			e[-1].clock = by[i].clock;
		}
	}
}

/*
 * Returns the length of the longest ascending subsequence that v can extend.
 *
 * The smallest set of receives that have to be moved is the complement of a longest ascending
 * subsequence of their positions in the reference order. last[k] is the last element of the best
 * subsequence of k + 1 elements. The search starts at the end and doubles its steps. Its cost
 * depends on how far the receive is out of order, so the total is linear if few receives are.
 */
static uint32_t place_of(const uint32_t *last, uint32_t n, uint32_t v)
{
	struct rn_bisect b = { 0, n, 0 };
	uint32_t step = 1;

	for (; step <= n && last[n - step] > v; step *= 2)
		b.hi = n - step;
	b.lo = step <= n ? n - step + 1 : 0;
	while (rn_bisect_next(&b))
		rn_bisect_go(&b, last[b.mid] < v);
	return (uint32_t)b.lo;
}

/* Sets stays[j] for each j-th observed receive that is not moved. Returns false without memory. */
static bool find_moved(struct rn_arena *scratch, const uint32_t *place, uint32_t n, bool *stays)
{
	uint32_t *last = rn_new(scratch, uint32_t, n), *who = rn_new(scratch, uint32_t, n);
	uint32_t *before = rn_new(scratch, uint32_t, n), length = 0;

	if (!last || !who || !before)
		return false;
	for (uint32_t j = 0; j < n; j++) {
		uint32_t k = place_of(last, length, place[j]);

		last[k] = place[j];
		who[k] = j;
		before[j] = k ? who[k - 1] : RN_TABLES_NONE;
		length += k == length;
	}
	for (uint32_t j = length ? who[length - 1] : RN_TABLES_NONE; j != RN_TABLES_NONE;
	     j = before[j])
		stays[j] = true;
	return true;
}

/* Computes the moved receives. `sorted` has the receives in the reference order. */
static bool fill_moved(struct rn_arena *mem, struct rn_order_matched_tables *t,
		       const struct receive *sorted)
{
	uint32_t *place = rn_new(mem, uint32_t, t->matched);
	bool *stays = rn_new(mem, bool, t->matched);

	if (!place || !stays)
		return false;
	for (uint32_t i = 0; i < t->matched; i++)
		place[sorted[i].nth] = i;
	if (!find_moved(mem, place, t->matched, stays))
		return false;
	t->moved = 0;
	for (uint32_t i = 0; i < t->matched; i++)
		if (!stays[sorted[i].nth]) {
			t->moved_at[t->moved] = i;
			t->delay[t->moved++] = (int32_t)(sorted[i].nth - i);
		}
	return true;
}

bool rn_order_matched_tables(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
			     struct rn_order_matched_tables *t)
{
	struct receive *by;

	if (!rn_order_receives(mem, c, site, t))
		return false;
	t->epochs = t->moved = t->matched;
	by = rn_new(mem, struct receive, t->matched);
	if (!by || !rn_order_matched_tables_room(mem, t))
		return false;
	for (uint32_t j = 0; j < t->matched; j++) {
		uint32_t i = t->thing[j];

		by[j] = (struct receive){ c->clock ? c->clock[i] : j, c->done[i].source, j };
	}
	qsort(by, t->matched, sizeof(*by), by_source);
	fill_epochs(t, by);
	qsort(by, t->matched, sizeof(*by), by_clock);
	return fill_moved(mem, t, by);
}

/* Computes place[j], the position of the j-th observed receive in the reference order. Returns
 * false if the tables are invalid. */
static bool fill_places(const struct rn_order_matched_tables *t, uint32_t *place, bool *moved)
{
	uint32_t i = 0;

	for (uint32_t j = 0; j < t->matched; j++)
		place[j] = RN_TABLES_NONE;
	for (uint32_t k = 0; k < t->moved; k++) {
		int64_t to = (int64_t)t->moved_at[k] + t->delay[k];

		if (t->moved_at[k] >= t->matched || moved[t->moved_at[k]] || to < 0 ||
		    to >= t->matched || place[to] != RN_TABLES_NONE)
			return false;
		moved[t->moved_at[k]] = true;
		place[to] = t->moved_at[k];
	}
	for (uint32_t j = 0; j < t->matched; j++) {
		if (place[j] != RN_TABLES_NONE)
			continue;
		while (moved[i])
			i++;
		place[j] = i++;
	}
	return true;
}

int rn_order_apply_matched(struct rn_arena *scratch, const struct rn_order_chunk *c,
			   const struct rn_order_matched_tables *t)
{
	uint32_t *place = rn_new(scratch, uint32_t, t->matched);
	bool *moved = rn_new(scratch, bool, t->matched);

	if (!place || !moved)
		return RN_E_NOMEM;
	if (!fill_places(t, place, moved))
		return RN_E_DATA;
	for (uint32_t j = 0; j < t->matched; j++)
		c->clock[t->thing[j]] = c->before + place[j];
	return RN_OK;
}
