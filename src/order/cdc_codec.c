/* cdc_codec.c - see cdc_codec.h. The same functions encode and decode, as in range_coder.h. */
#include "order/cdc_codec.h"

#include <assert.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/varint.h"
#include "order/cdc_tables.h"
#include "order/context_mix.h"
#include "order/row_model.h"

/* Decision kinds, in addition to those of row_model.h. */
enum { SIZE = RN_PIECES_KINDS, AT, FAILS, DELAY, EPOCH, ALONE };

struct delta {
	struct rn_arena *scratch;
	struct rn_pieces *p;
	struct rn_guess *g;
	bool writes;
	struct rn_order_chunk c;
	size_t dones; /* completions that are not decoded yet */
};

/* Context of the next value of a table: the preceding values. */
struct last {
	unsigned kind;
	uint32_t salt, v[2];
};

static uint32_t code_next(struct delta *x, struct last *l, uint32_t v, uint32_t max)
{
	uint32_t a = l->v[0] < 48 ? l->v[0] : 48 + rn_pieces_bucket(l->v[0]);

	struct rn_guess_on on = { l->kind, l->salt, rn_guess_mix(l->salt, 256 + a) };

	l->v[1] = l->v[0];
	return l->v[0] = rn_guess_number(x->g, &on, v, max);
}

static struct last table(unsigned kind, uint32_t site, uint32_t which)
{
	return (struct last){ .kind = kind, .salt = rn_guess_mix(site, 1000 + which) };
}

/* Codes the size of a table, at most `max`. */
static uint32_t code_size(struct delta *x, uint32_t site, uint32_t which, uint32_t v, uint32_t max)
{
	struct last l = table(SIZE, site, which);

	assert(!x->writes || v <= max);
	return code_next(x, &l, v, max);
}

/* An ascending list of indices of rows or completions. */
struct list {
	struct last last;
	uint32_t left; /* decoding: number of elements not read yet */
	uint32_t next; /* latest element; UINT32_MAX: none */
};

static struct list list(uint32_t site, uint32_t which, uint32_t n)
{
	return (struct list){ table(AT, site, which), n, UINT32_MAX };
}

/* Returns whether the list contains `at`. Called with ascending indices. */
static bool code_member(struct delta *x, struct list *l, uint32_t at, bool is)
{
	uint32_t base = l->next + 1;

	if (x->writes ? is : l->left && base <= at) {
		l->next = base + code_next(x, &l->last, at - base, UINT32_MAX - 1 - base);
		l->left--;
	}
	return l->next == at && !rn_guess_bad(x->g);
}

/* Decoding: verifies that all elements of the list have been read and are below `visited`. */
static void end_list(struct delta *x, const struct list *l, uint32_t visited)
{
	bool is_beyond = l->next != UINT32_MAX && l->next >= visited;

	if (!x->writes && (l->left || is_beyond))
		rn_guess_refuse(x->g);
}

/* --- rows --- */

static void code_sites(struct delta *x)
{
	for (uint32_t r = 0; r < x->c.rows && !rn_guess_bad(x->g); r++) {
		uint32_t site = rn_pieces_site(x->p, x->writes ? x->c.row[r].site : 0);

		if (!x->writes)
			x->c.row[r].site = site;
	}
}

/* Numbers of rows and completions of an event site. */
struct sizes {
	uint32_t fulls;      /* rows with completions */
	uint32_t withs;      /* completions that have a later completion in the same row */
	uint32_t unmatcheds; /* rows with completions and failed tests */
};

/* Codes which rows have no completion. Usually these are the rows before a row of another site. */
static struct sizes code_alones(struct delta *x, uint32_t site)
{
	struct rn_order_chunk *c = &x->c;
	struct sizes n = { 0 };
	uint32_t last = 0;

	for (uint32_t r = c->first[site]; r != RN_TABLES_NONE; r = c->next[r]) {
		bool ends = c->next[r] != r + 1, alone = x->writes && c->row[r].done == 0;
		struct rn_guess_on on = { ALONE, rn_guess_mix(site, 8 + ends),
					  rn_guess_mix(site, 64 + ends * 16u + (last & 15)) };

		alone = rn_guess_bit(x->g, &on, alone);
		if (ends)
			last = last << 1 | alone;
		if (!x->writes)
			c->row[r] = (struct rn_order_row){ .site = site, .done = !alone };
		n.fulls += !alone;
		n.withs += alone ? 0 : c->row[r].done - 1;
		n.unmatcheds += !alone && c->row[r].fails;
	}
	return n;
}

/* Codes the table sizes of a site. They are consistent: each row has no completion, or exactly one
 * that is the last of its row. */
static struct sizes code_row_sizes(struct delta *x, uint32_t site)
{
	struct sizes n = code_alones(x, site);

	n.withs = code_size(x, site, 1, n.withs, n.fulls ? UINT32_MAX - n.fulls : 0);
	n.unmatcheds = code_size(x, site, 2, n.unmatcheds, n.fulls);
	if (n.fulls + n.withs > x->dones)
		rn_guess_refuse(x->g);
	return n;
}

/* Codes the number of completions of each row. */
static void code_withs(struct delta *x, uint32_t site, uint32_t n)
{
	struct list with = list(site, 0, n);
	uint32_t thing = 0;

	for (uint32_t r = x->c.first[site]; r != RN_TABLES_NONE; r = x->c.next[r]) {
		struct rn_order_row *row = &x->c.row[r];
		uint32_t done = 1;

		if (row->done == 0)
			continue;
		while (code_member(x, &with, thing++, done < row->done))
			done++;
		if (!x->writes)
			row->done = done;
	}
	end_list(x, &with, thing);
}

/* Codes which rows with completions have failed tests. */
static void code_unmatcheds(struct delta *x, uint32_t site, uint32_t n)
{
	struct list unmatched = list(site, 2, n);
	uint32_t full = 0;

	for (uint32_t r = x->c.first[site]; r != RN_TABLES_NONE; r = x->c.next[r]) {
		struct rn_order_row *row = &x->c.row[r];

		if (row->done && code_member(x, &unmatched, full++, row->fails) && !x->writes)
			row->fails = 1;
	}
	end_list(x, &unmatched, full);
}

/* Codes the number of failed tests of the rows: with completions (at least 1), or without. */
static void code_fails(struct delta *x, uint32_t site, bool full)
{
	struct last l = table(FAILS, site, 1u + full);

	for (uint32_t r = x->c.first[site]; r != RN_TABLES_NONE; r = x->c.next[r]) {
		struct rn_order_row *row = &x->c.row[r];
		uint32_t fails;

		if ((row->done > 0) != full || (full && !row->fails))
			continue;
		fails = code_next(x, &l, row->fails - full, UINT32_MAX - full) + full;
		if (!x->writes)
			row->fails = fails;
	}
}

/* Codes rows with numbers. Such rows have no receives to match. */
static void code_value_rows(struct delta *x, uint32_t site)
{
	for (uint32_t r = x->c.first[site]; r != RN_TABLES_NONE; r = x->c.next[r]) {
		struct rn_order_row row =
			x->writes ? x->c.row[r] : (struct rn_order_row){ .site = site };

		row.fails = rn_pieces_fails(x->p, site, row.fails);
		row.done = rn_pieces_done(x->p, site, row.fails, row.done);
		rn_pieces_end_row(x->p, &row);
		if (!x->writes)
			x->c.row[r] = row;
	}
}

static int code_site_rows(struct delta *x, uint32_t site)
{
	struct sizes n = code_row_sizes(x, site);

	if (rn_guess_bad(x->g))
		return RN_E_DATA;
	code_withs(x, site, n.withs);
	code_fails(x, site, false);
	code_unmatcheds(x, site, n.unmatcheds);
	code_fails(x, site, true);
	if (rn_guess_bad(x->g))
		return RN_E_DATA;
	x->dones -= n.fulls + n.withs;
	return RN_OK;
}

/* --- completions of the rows --- */

static void code_epochs(struct delta *x, uint32_t site, struct rn_order_matched_tables *t)
{
	struct last who = table(EPOCH, site, 0), high = table(EPOCH, site, 1),
		    low = table(EPOCH, site, 2);
	uint64_t clock = 0;

	for (uint32_t i = 0; i < t->epochs && !rn_guess_bad(x->g); i++) {
		struct rn_order_epoch *e = &t->epoch[i], was = *e;
		uint64_t step = rn_zigzag((int64_t)(was.clock - clock));

		was.source = (int32_t)code_next(x, &who, (uint32_t)was.source, UINT32_MAX);
		step = (uint64_t)code_next(x, &high, (uint32_t)(step >> 32), UINT32_MAX) << 32 |
		       code_next(x, &low, (uint32_t)step, UINT32_MAX);
		clock += (uint64_t)rn_unzigzag(step);
		if (!x->writes)
			*e = (struct rn_order_epoch){ was.source, clock };
	}
}

/* Codes the receives that are out of order. They occur in groups: position and delay of the next
 * one depend on those of the previous one. */
static void code_moved(struct delta *x, uint32_t site, struct rn_order_matched_tables *t)
{
	struct last at = table(AT, site, 3), delay = table(DELAY, site, 0);
	uint32_t base = 0;

	for (uint32_t i = 0; i < t->moved && !rn_guess_bad(x->g); i++) {
		uint32_t step, z = x->writes ? (uint32_t)rn_zigzag(t->delay[i]) : 0;

		at.v[1] = delay.v[0];
		step = code_next(x, &at, t->moved_at[i] - base, UINT32_MAX - 1 - base);
		delay.v[1] = step;
		z = code_next(x, &delay, z, UINT32_MAX);
		if (!x->writes) {
			t->moved_at[i] = base + step;
			t->delay[i] = (int32_t)rn_unzigzag(z);
		}
		base = t->moved_at[i] + 1;
	}
}

static int code_matched(struct delta *x, uint32_t site)
{
	struct rn_order_matched_tables t;

	if (!(x->writes ? rn_order_matched_tables : rn_order_receives)(x->scratch, &x->c, site, &t))
		return RN_E_NOMEM;
	if (!t.matched)
		return RN_OK;
	t.epochs = code_size(x, site, 3, t.epochs, t.matched);
	t.moved = code_size(x, site, 4, t.moved, t.matched);
	if (!x->writes && !rn_order_matched_tables_room(x->scratch, &t))
		return RN_E_NOMEM;
	code_epochs(x, site, &t);
	code_moved(x, site, &t);
	if (rn_guess_bad(x->g))
		return RN_E_DATA;
	return x->writes ? RN_OK : rn_order_apply_matched(x->scratch, &x->c, &t);
}

static int code_site_done(struct delta *x, uint32_t site)
{
	struct rn_order_chunk *c = &x->c;

	for (uint32_t r = c->first[site]; r != RN_TABLES_NONE; r = c->next[r]) {
		uint32_t n = c->at[r + 1] - c->at[r];

		rn_pieces_begin_row(x->p, &c->row[r]);
		for (uint32_t k = 0; k < n && !rn_guess_bad(x->g); k++) {
			struct rn_order_done *d = &c->done[c->at[r] + k], was = *d;

			was = rn_pieces_one(x->p, site, k, n - k - 1, was);
			if (!x->writes)
				*d = was;
		}
	}
	return rn_guess_bad(x->g) ? RN_E_DATA : code_matched(x, site);
}

/* --- chunks --- */

static bool of_values(const struct delta *x, uint32_t site)
{
	return rn_order_has_numbers(&x->c.site[site]);
}

/* Calls the function for each event site of the chunk. */
static int each_site(struct delta *x, int (*code)(struct delta *x, uint32_t site))
{
	int rc = RN_OK;

	for (uint32_t s = 0; s < x->c.sites && !rc; s++) {
		struct rn_arena_mark mark = rn_arena_mark(x->scratch);

		if (x->c.first[s] != RN_TABLES_NONE)
			rc = code(x, s);
		rn_arena_rewind(x->scratch, mark);
	}
	return !rc && rn_guess_bad(x->g) ? RN_E_DATA : rc;
}

static int site_rows(struct delta *x, uint32_t site)
{
	if (!of_values(x, site))
		return code_site_rows(x, site);
	code_value_rows(x, site);
	return RN_OK;
}

static int site_done(struct delta *x, uint32_t site)
{
	return of_values(x, site) ? RN_OK : code_site_done(x, site);
}

static int code_chunk(struct delta *x)
{
	struct rn_arena_mark mark = rn_arena_mark(x->scratch);
	int rc;

	code_sites(x);
	if (rn_guess_bad(x->g))
		return RN_E_DATA;
	rc = rn_order_chunk_begin(x->scratch, &x->c) ? RN_OK : RN_E_NOMEM;
	if (!rc)
		rc = each_site(x, site_rows);
	if (!rc) {
		rn_order_chunk_count(&x->c);
		rc = each_site(x, site_done);
	}
	if (!rc) {
		uint32_t things = x->c.at[x->c.rows];

		x->c.row += x->c.rows;
		x->c.done += things;
		x->c.clock = x->c.clock ? x->c.clock + things : NULL;
		x->c.before += things;
	}
	rn_arena_rewind(x->scratch, mark);
	return rc;
}

int rn_order_clock_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o)
{
	struct delta x = { .scratch = scratch,
			   .p = rn_pieces_new(scratch, o, g),
			   .g = g,
			   .writes = rn_guess_writes(g),
			   .c = { .site = o->site,
				  .sites = o->sites,
				  .row = o->row,
				  .done = o->done,
				  .clock = o->clock },
			   .dones = o->dones };
	size_t left = o->rows;
	int rc = x.p ? RN_OK : RN_E_NOMEM;

	for (; left && !rc; left -= x.c.rows) {
		x.c.rows = left < RN_CLOCK_DELTA_ROWS ? (uint32_t)left : RN_CLOCK_DELTA_ROWS;
		rc = code_chunk(&x);
	}
	return !rc && x.dones ? RN_E_DATA : rc;
}
