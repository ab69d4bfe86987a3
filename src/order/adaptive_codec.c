/* adaptive_codec.c - see adaptive_codec.h. The same functions encode and decode, as in
 * range_coder.h. */
#include "order/adaptive_codec.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "order/row_model.h"

/* Prediction of whole rows. A past position is found by the hash of the CONTEXT rows before it. */
#define CONTEXT       4u
#define PAST_BITS_MAX 16u
#define LENGTHS       12u
/* Minimum probability of a repetition for which it is coded, in units of 1/65536. */
#define WORTH 58000u

struct past {
	uint32_t row, done; /* both counted from 1 */
};

struct model {
	struct rn_pieces *p;
	struct rn_guess *g;
	bool writes;
	/* All rows and completions; those before `r` and `d` are known. Decoding writes others. */
	struct rn_order_row *row;
	struct rn_order_done *done;
	size_t rows, dones, r, d;
	struct past *past, as; /* as: the position whose row is predicted to repeat, or 0 */
	unsigned past_bits;
	uint32_t hash[CONTEXT]; /* hashes of the last rows, the latest first */
	uint32_t alike;         /* number of consecutive rows that were predicted correctly */
	uint32_t chance[LENGTHS];
};

static uint32_t things(const struct model *m, const struct rn_order_row *row)
{
	return rn_pieces_things(m->p, row);
}

/* --- rows coded field by field --- */

static struct rn_order_row code_head(struct model *m, struct rn_order_row row)
{
	row.site = rn_pieces_site(m->p, row.site);
	if (rn_guess_bad(m->g))
		return row;
	row.fails = rn_pieces_fails(m->p, row.site, row.fails);
	row.done = rn_pieces_done(m->p, row.site, row.fails, row.done);
	if (things(m, &row) > m->dones - m->d)
		rn_guess_refuse(m->g);
	return row;
}

static void code_row(struct model *m)
{
	const struct rn_order_row empty = { 0 };
	const struct rn_order_done none = { 0 };
	struct rn_order_row row = code_head(m, m->writes ? m->row[m->r] : empty);

	assert(m->r < m->rows);
	if (rn_guess_bad(m->g))
		return;
	rn_pieces_begin_row(m->p, &row);
	for (uint32_t k = 0, n = things(m, &row); k < n && !rn_guess_bad(m->g); k++) {
		struct rn_order_done *at = &m->done[m->d + k];
		struct rn_order_done d =
			rn_pieces_one(m->p, row.site, k, n - k - 1, m->writes ? *at : none);

		if (!m->writes)
			*at = d;
	}
	if (!m->writes)
		m->row[m->r] = row;
	rn_pieces_end_row(m->p, &row);
}

/* --- predicted rows --- */

/* Updates the predictions as if the row had been coded field by field. */
static void learn_row(struct model *m, const struct rn_order_row *row)
{
	rn_pieces_learn_site(m->p, row->site);
	rn_pieces_begin_row(m->p, row);
	for (uint32_t k = 0; k < things(m, row); k++)
		rn_pieces_learn_done(m->p, row->site, &m->done[m->d + k]);
	rn_pieces_end_row(m->p, row);
}

/* Compares two completions. Source and tag count only with RN_ORDER_MATCHED. */
static bool same_done(const struct rn_order_done *a, const struct rn_order_done *b)
{
	return a->index == b->index && a->late == b->late && a->flags == b->flags &&
	       (!(a->flags & RN_ORDER_MATCHED) || (a->source == b->source && a->tag == b->tag));
}

static bool is_repeat(const struct model *m)
{
	const struct rn_order_row *a = &m->row[m->as.row - 1], *b = &m->row[m->r];
	const struct rn_order_done *da = &m->done[m->as.done - 1], *db = &m->done[m->d];
	bool same = a->site == b->site && a->fails == b->fails && a->done == b->done;

	assert(m->as.row > 0 && m->as.row - 1 < m->r);
	for (uint32_t k = 0; same && k < things(m, a); k++)
		same = same_done(&da[k], &db[k]);
	return same;
}

static uint32_t row_hash(const struct model *m, const struct rn_order_row *row)
{
	uint32_t h = rn_guess_mix(rn_guess_mix(row->site, row->fails), row->done);

	for (uint32_t k = 0; k < things(m, row); k++) {
		const struct rn_order_done *d = &m->done[m->d + k];

		h = rn_guess_mix(h ^ d->index, d->late * 4 + d->flags);
		if (d->flags & RN_ORDER_MATCHED)
			h = rn_guess_mix(h ^ (uint32_t)d->source, (uint32_t)d->tag);
	}
	return h;
}

static struct past *past_place(struct model *m)
{
	uint32_t h = 0;

	for (unsigned i = 0; i < CONTEXT; i++)
		h = rn_guess_mix(h, m->hash[i]);
	return &m->past[h >> (32 - m->past_bits)];
}

static uint32_t *chance_now(struct model *m)
{
	uint32_t n = m->alike ? 32u - (uint32_t)__builtin_clz(m->alike) : 0;

	return &m->chance[n < LENGTHS ? n : LENGTHS - 1];
}

static bool can_repeat(const struct model *m)
{
	return m->as.row && things(m, &m->row[m->as.row - 1]) <= m->dones - m->d;
}

static void repeat(struct model *m)
{
	const struct rn_order_row *from = &m->row[m->as.row - 1];

	assert(m->as.row > 0 && m->as.done > 0 && m->as.done - 1 <= m->d);
	if (m->writes)
		return;
	m->row[m->r] = *from;
	memmove(&m->done[m->d], &m->done[m->as.done - 1], things(m, from) * sizeof(*m->done));
}

/* Codes whether the row is the predicted one. If it is, stores it when decoding, and returns true.
 */
static bool code_repeat(struct model *m)
{
	uint32_t chance = *chance_now(m);
	bool same = m->writes && is_repeat(m);

	assert(chance > 0 && chance < 65536);
	if (chance < WORTH)
		return false;
	same = rn_guess_weighed(m->g, chance, same);
	if (same)
		repeat(m);
	return same;
}

/* Updates the prediction after the row at r is known, and moves to the next row. `expected`: a row
 * was predicted. */
static void follow(struct model *m, bool expected)
{
	const struct rn_order_row *row = &m->row[m->r];
	uint32_t things_here = things(m, row), *chance = chance_now(m);
	bool same = expected && is_repeat(m);
	struct past *p;

	if (expected)
		*chance = same ? *chance + (65536 - 24 - *chance) / 12 : *chance - *chance / 6;
	memmove(m->hash + 1, m->hash, (CONTEXT - 1) * sizeof(m->hash[0]));
	m->hash[0] = row_hash(m, row);
	m->r++;
	m->d += things_here;
	assert(m->r <= m->rows && m->d <= m->dones);
	p = past_place(m);
	m->alike = same ? m->alike + 1 : 0;
	m->as = same ? (struct past){ m->as.row + 1, m->as.done + things_here } : *p;
	*p = (struct past){ (uint32_t)m->r + 1, (uint32_t)m->d + 1 };
}

static void code_rows(struct model *m)
{
	while (m->r < m->rows && !rn_guess_bad(m->g)) {
		bool expected = can_repeat(m);

		if (expected && code_repeat(m))
			learn_row(m, &m->row[m->r]);
		else
			code_row(m);
		if (!rn_guess_bad(m->g))
			follow(m, expected);
	}
}

static bool make(struct model *m, struct rn_arena *mem, const struct rn_order *o)
{
	m->past_bits = 6;
	while (m->past_bits < PAST_BITS_MAX && (size_t)1 << m->past_bits < o->rows)
		m->past_bits++;
	for (unsigned i = 0; i < LENGTHS; i++)
		m->chance[i] = i < 4 ? 32768 : 60000;
	m->past = rn_new(mem, struct past, (size_t)1 << m->past_bits);
	m->p = rn_pieces_new(mem, o, m->g);
	return m->past && m->p;
}

int rn_order_model_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o)
{
	struct model m = { .g = g,
			   .writes = rn_guess_writes(g),
			   .row = o->row,
			   .done = o->done,
			   .rows = o->rows,
			   .dones = o->dones };

	if (!make(&m, scratch, o))
		return RN_E_NOMEM;
	code_rows(&m);
	return m.d == m.dones ? RN_OK : RN_E_DATA;
}
