/* stream_set_codec.c - see stream_set_codec.h. */
#include "merge/stream_set_codec.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "merge/stream_set.h"
#include "model/merged_streams.h"
#include "model/payload.h"
#include "rules/rules.h"

/* ---- encoding ---- */

static void put_runs(const struct rn_ranks *l, uint64_t first, struct rn_buf *out)
{
	uint64_t next = first; /* lowest possible start of the next run */

	rn_buf_u64(out, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct rn_run *r = &l->run[i];

		rn_buf_u64(out, r->first - next);
		rn_buf_u64(out, r->n - 1);
		if (r->n > 1)
			rn_buf_u64(out, r->step - 1);
		next = r->first + r->step * (r->n - 1) + 1;
	}
}

static void put_groups(const struct rn_stream_set *p, struct rn_buf *out)
{
	rn_buf_u64(out, p->groups);
	for (uint32_t k = 0; k < p->groups; k++) {
		rn_buf_u64(out, p->group[k].root);
		put_runs(&p->group[k].ranks, p->first, out);
	}
}

int rn_part_encode(const struct rn_stream_set *p, struct rn_buf *out)
{
	int rc;

	rn_sigs_encode(p->sigs, out);
	rc = rn_rules_encode(p->rules, out);
	put_groups(p, out);
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

/* ---- decoding ---- */

struct source {
	struct rn_reader *in;
	struct rn_part_place place;
	struct rn_stream_set *p;
	struct rn_err *err;
};

/* Decodes a run with streams numbered from 0. *next is its lowest possible start. */
static void get_run(struct source *s, uint64_t *next, struct rn_run *r)
{
	uint64_t most = s->place.most;

	r->first = *next + rn_get_max(s->in, most);
	if (r->first >= most)
		rn_fail(s->in);
	r->n = rn_get_max(s->in, most) + 1;
	r->step = r->n > 1 ? rn_get_max(s->in, most) + 1 : 0;
	if (s->in->bad || (r->n > 1 && r->n - 1 > (most - 1 - r->first) / r->step)) {
		rn_fail(s->in);
		*r = (struct rn_run){ 0, 0, 1 };
	}
	*next = r->first + r->step * (r->n - 1) + 1;
}

static int get_ranks(struct source *s, struct rn_ranks *l)
{
	uint64_t n = rn_get_count(s->in, 2), next = 0;

	if (n == 0 || n > UINT32_MAX)
		return rn_err_set(s->err, RN_E_DATA, "a group has no streams");
	l->run = rn_new(s->p->mem, struct rn_run, n);
	if (!l->run)
		return rn_err_nomem(s->err);
	l->n = l->cap = (uint32_t)n;
	for (uint32_t i = 0; i < l->n; i++) {
		get_run(s, &next, &l->run[i]);
		s->p->ranks += l->run[i].n;
		if (s->in->bad || s->p->ranks > s->place.most)
			return rn_err_set(s->err, RN_E_DATA,
					  "not a list of streams that can be here");
	}
	if (s->p->last < next - 1)
		s->p->last = next - 1;
	return RN_OK;
}

static int get_group(struct source *s, uint32_t k)
{
	struct rn_stream_set *p = s->p;
	struct rn_group *g = &p->group[k];
	int rc;

	g->root = (uint32_t)rn_get_max(s->in, UINT32_MAX);
	if (s->in->bad || g->root >= p->group_of_cap || p->group_of[g->root])
		return rn_err_set(s->err, RN_E_DATA, "no such rule, or that of another group");
	p->group_of[g->root] = k + 1;
	rc = get_ranks(s, &g->ranks);
	if (rc < 0)
		return rc;
	if (k ? p->group[k - 1].ranks.run[0].first >= g->ranks.run[0].first
	      : g->ranks.run[0].first != 0)
		return rn_err_set(s->err, RN_E_DATA, "out of order");
	return RN_OK;
}

static int get_groups(struct source *s)
{
	struct rn_stream_set *p = s->p;
	uint64_t n = rn_get_count(s->in, 4);

	p->group_of_cap = rn_rules_count(p->rules);
	if (s->in->bad || n == 0 || n > p->group_of_cap)
		return rn_err_set(s->err, RN_E_DATA, "not a number of groups");
	p->groups = p->group_cap = (uint32_t)n;
	p->group = rn_new(p->mem, struct rn_group, n);
	p->group_of = rn_new(p->mem, uint32_t, p->group_of_cap);
	if (!p->group || !p->group_of)
		return rn_err_nomem(s->err);
	for (uint32_t k = 0; k < p->groups; k++) {
		int rc = get_group(s, k);

		if (rc == RN_E_DATA)
			rn_err_prefix(s->err, "group %u", k);
		if (rc < 0)
			return rc;
	}
	return RN_OK;
}

/* Groups in ascending order may still interleave. Detects duplicate streams with one bit per
 * stream. */
static int check_apart(struct source *s)
{
	const struct rn_stream_set *p = s->p;
	struct rn_arena_mark mark = rn_arena_mark(p->mem);
	uint64_t *seen = rn_new(p->mem, uint64_t, p->last / 64 + 1), twice = 0;

	if (!seen)
		return rn_err_nomem(s->err);
	for (uint32_t k = 0; k < p->groups; k++)
		for (uint32_t i = 0; i < p->group[k].ranks.n; i++) {
			const struct rn_run *r = &p->group[k].ranks.run[i];

			for (uint64_t j = 0, at = r->first; j < r->n; j++, at += r->step) {
				twice |= seen[at / 64] & (uint64_t)1 << at % 64;
				seen[at / 64] |= (uint64_t)1 << at % 64;
			}
		}
	rn_arena_rewind(p->mem, mark);
	return twice ? rn_err_set(s->err, RN_E_DATA, "a stream is there twice") : RN_OK;
}

static void move_streams(struct rn_stream_set *p, uint64_t by)
{
	p->first += by;
	p->last += by;
	for (uint32_t k = 0; k < p->groups; k++)
		for (uint32_t i = 0; i < p->group[k].ranks.n; i++)
			p->group[k].ranks.run[i].first += by;
}

static int decode(struct source *s, const struct rn_vocab *vocab)
{
	struct rn_stream_set *p = s->p;
	int rc = rn_sigs_decode(p->mem, s->in, vocab, &p->sigs, s->err);

	if (rc == RN_OK)
		rc = rn_rules_decode(p->mem, s->in, rn_sigs_count(p->sigs), &p->rules, s->err);
	if (rc == RN_OK)
		rc = get_groups(s);
	if (rc == RN_OK)
		rc = check_apart(s);
	if (rc == RN_OK)
		move_streams(p, s->place.first);
	return rc;
}

int rn_part_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_part_place place,
		   const struct rn_vocab *vocab, struct rn_stream_set *out, struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct source s = { in, place, out, err };
	int rc;

	assert(place.most <= RN_RANKS_MAX);
	*out = (struct rn_stream_set){ .mem = mem };
	rc = decode(&s, vocab);
	if (rc < 0)
		rn_arena_rewind(mem, mark);
	return rc;
}
