/* unfold.c - see fold.h: from loops to plain rules. Trusts no number. */
#include "merge/fold.h"

#include "base/seg.h"
#include "base/varint.h"
#include "encode/sigs.h"
#include "rules/rules.h"
#include "rules/visit.h"
#include "series/units.h"

#include <string.h>

#define BLOCK 256u

/* Where a loop's series is read. */
struct counts {
	const struct rn_units *units;
	uint64_t at; /* of the next block */
	int64_t value[BLOCK];
	uint32_t i, n;
};

struct unfold {
	const struct rn_folded *f;
	struct rn_arena *scratch;
	struct rn_rules *to;
	uint32_t sigs;
	bool *holds;              /* by rule: a loop is in there */
	uint32_t *memo, *literal; /* rules and literal runs in `to` */
	uint64_t left;            /* steps */
	struct rn_units **units;  /* by series */
	struct counts *counts;    /* by loop, of this group */
	struct rn_seg items;      /* struct rn_item: the stream so far */
};

/* ---- what a round may be ---- */

/* Loops in a rule, by the highest number + 1 of those in it; 0: none. */
static void rank_rules(const struct unfold *u, uint32_t *highest)
{
	const struct rn_rules *rules = u->f->streams.rules;

	for (uint32_t r = 0; r < rn_rules_count(rules); r++) {
		struct rn_body body = rn_rules_body(rules, r);

		for (uint32_t i = 0; i < body.n; i++) {
			const struct rn_item *it = &body.item[i];
			uint32_t h = 0;

			if (it->kind == RN_KIND_TERMINAL && it->id >= u->sigs)
				h = it->id - u->sigs + 1;
			else if (it->kind == RN_KIND_RULE)
				h = highest[it->id];
			if (h > highest[r])
				highest[r] = h;
		}
		u->holds[r] = highest[r] > 0;
	}
}

/* A round has only loops with lower numbers inside, so that unfolding ends. */
static bool loops_ascend(const struct unfold *u, const uint32_t *highest)
{
	for (uint32_t k = 0; k < u->f->loops; k++) {
		struct rn_loop l = u->f->loop[k];

		if (l.kind == RN_KIND_RULE
			    ? l.id >= rn_rules_count(u->f->streams.rules) || highest[l.id] > k
			    : l.kind != RN_KIND_TERMINAL || l.id >= u->sigs)
			return false;
	}
	return true;
}

/* A literal run has no loops. */
static bool literals_plain(const struct unfold *u)
{
	const struct rn_rules *rules = u->f->streams.rules;

	for (uint32_t l = 0; l < rn_rules_literals(rules); l++) {
		uint64_t n;
		const uint32_t *t = rn_rules_literal(rules, l, &n);

		for (uint64_t i = 0; i < n; i++)
			if (t[i] >= u->sigs)
				return false;
	}
	return true;
}

/* ---- counts ---- */

static bool next_count(struct counts *c, uint64_t *count)
{
	if (c->i == c->n) {
		c->n = c->units ? (uint32_t)rn_units_read(c->units, c->at, c->value, BLOCK) : 0;
		c->at += c->n;
		c->i = 0;
	}
	if (c->i == c->n || c->value[c->i] < 0)
		return false;
	*count = (uint64_t)c->value[c->i++];
	return true;
}

static bool is_used_up(const struct counts *c)
{
	return !c->units || c->at - (c->n - c->i) == rn_units_length(c->units);
}

/* ---- a stream ---- */

static int put_item(struct unfold *u, struct rn_item it, uint64_t count)
{
	int rc = RN_OK;
	uint64_t n;

	if (count == 0)
		return RN_OK;
	if (!rn_seg_reserve(&u->items, u->scratch, 1))
		return RN_E_NOMEM;
	it.count = count;
	if (it.kind == RN_KIND_RULE) {
		rc = rn_rules_import(u->to, u->f->streams.rules, it.id, NULL, u->memo, &it.id);
	} else if (it.kind == RN_KIND_LITERAL) {
		uint32_t *to = &u->literal[it.id];
		const uint32_t *run = rn_rules_literal(u->f->streams.rules, it.id, &n);

		if (*to == UINT32_MAX)
			rc = rn_rules_add_literal(u->to, run, n, to);
		it.id = *to;
	}
	*RN_SEG_AT(&u->items, struct rn_item, u->items.n) = it;
	u->items.n++;
	return rc;
}

/* One execution of a loop: of a signature or a plain rule it is an item; otherwise its rounds are
 * gone through. */
static int unfold_loop(struct unfold *u, uint32_t k, struct rn_descent *into)
{
	struct rn_loop l = u->f->loop[k];
	struct rn_item it = { .kind = l.kind, .id = l.id };
	uint64_t count;

	if (!next_count(&u->counts[k], &count))
		return RN_E_DATA;
	if (l.kind == RN_KIND_RULE && u->holds[l.id]) {
		*into = (struct rn_descent){ l.id, count };
		return RN_VISIT_INTO;
	}
	return put_item(u, it, count);
}

static int unfold_item(void *arg, const struct rn_item *it, uint64_t time, struct rn_descent *into)
{
	struct unfold *u = arg;
	int rc;

	if (it->kind == RN_KIND_RULE && u->holds[it->id]) {
		*into = (struct rn_descent){ it->id, it->count };
		return RN_VISIT_INTO;
	}
	if (it->kind != RN_KIND_TERMINAL || it->id < u->sigs)
		return put_item(u, *it, it->count);
	rc = unfold_loop(u, it->id - u->sigs, into);
	return rc < 0 || time + 1 == it->count ? rc : rc | RN_VISIT_AGAIN;
}

static int add_stream(struct unfold *u, uint32_t *root)
{
	struct rn_arena_mark mark = rn_arena_mark(u->scratch);
	struct rn_item *items = rn_new(u->scratch, struct rn_item, (size_t)u->items.n + 1);
	int rc;

	if (!items)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < u->items.n; i++)
		items[i] = *RN_SEG_AT(&u->items, struct rn_item, i);
	rc = rn_rules_add(u->to, items, u->items.n, root);
	rn_arena_rewind(u->scratch, mark);
	return rc;
}

static int unfold_stream(struct unfold *u, uint32_t group, uint32_t *root)
{
	uint32_t loops = u->f->loops;
	int rc;

	for (uint32_t k = 0; k < loops; k++) {
		uint32_t ref = u->f->ref[(size_t)group * loops + k];

		u->counts[k].units = ref ? u->units[ref - 1] : NULL;
		u->counts[k].at = u->counts[k].i = u->counts[k].n = 0;
	}
	u->items.n = 0;
	rc = rn_rules_visit(u->f->streams.rules, u->f->streams.group[group].root, &u->left,
			    unfold_item, u);
	for (uint32_t k = 0; k < loops && rc == RN_OK; k++)
		if (!is_used_up(&u->counts[k]))
			rc = RN_E_DATA;
	return rc == RN_OK ? add_stream(u, root) : rc;
}

/* ---- */

static int read_series(struct unfold *u, struct rn_err *err)
{
	uint32_t n = rn_sigs_count(u->f->series);

	u->units = rn_new(u->scratch, struct rn_units *, (size_t)n + 1);
	if (!u->units)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *bytes = rn_sigs_get(u->f->series, i, &len);
		struct rn_reader in = rn_reader(bytes, len);
		int rc = rn_units_decode(u->scratch, &in, &u->units[i], err);

		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < (size_t)u->f->loops * u->f->streams.groups; i++)
		if (u->f->ref[i] > n)
			return rn_err_set(err, RN_E_DATA, "no series %u", u->f->ref[i]);
	return RN_OK;
}

static int begin(struct unfold *u, struct rn_arena *mem, struct rn_err *err)
{
	uint32_t rules = rn_rules_count(u->f->streams.rules);
	uint32_t literals = rn_rules_literals(u->f->streams.rules);
	uint32_t *highest = rn_new(u->scratch, uint32_t, (size_t)rules + 1);

	u->sigs = rn_sigs_count(u->f->streams.sigs);
	u->to = rn_rules_new(mem);
	u->holds = rn_new(u->scratch, bool, (size_t)rules + 1);
	u->memo = rn_new(u->scratch, uint32_t, (size_t)rules + 1);
	u->literal = rn_new(u->scratch, uint32_t, (size_t)literals + 1);
	u->counts = rn_new(u->scratch, struct counts, (size_t)u->f->loops + 1);
	if (!highest || !u->to || !u->holds || !u->memo || !u->literal || !u->counts)
		return rn_err_nomem(err);
	memset(u->memo, 0xff, ((size_t)rules + 1) * sizeof(*u->memo));
	memset(u->literal, 0xff, ((size_t)literals + 1) * sizeof(*u->literal));
	rn_seg_init(&u->items, sizeof(struct rn_item));
	rank_rules(u, highest);
	if (!loops_ascend(u, highest) || !literals_plain(u))
		return rn_err_set(err, RN_E_DATA, "a loop is inside itself");
	return read_series(u, err);
}

int rn_unfold(const struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch,
	      struct rn_streams *out, struct rn_err *err)
{
	struct unfold u = { .f = f, .scratch = scratch, .left = RN_FOLD_MOST };
	int rc = begin(&u, mem, err);

	for (uint32_t g = 0; g < f->streams.groups && rc == RN_OK; g++) {
		if (f->streams.group[g].root >= rn_rules_count(f->streams.rules))
			return rn_err_set(err, RN_E_DATA, "group %u has no rule", g);
		rc = unfold_stream(&u, g, &out->group[g].root);
		if (rc < 0)
			rn_err_set(err, rc == RN_E_NOMEM ? rc : RN_E_DATA,
				   rc == RN_E_NOMEM   ? "out of memory"
				   : rc == RN_E_RANGE ? "group %u: its loops are too long"
						      : "group %u: counts do not fit",
				   g);
		if (rc == RN_E_RANGE)
			rc = RN_E_DATA;
	}
	if (rc == RN_OK)
		out->rules = u.to;
	return rc;
}
