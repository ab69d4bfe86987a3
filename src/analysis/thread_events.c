/* thread_events.c - see thread_events.h. */
#include "analysis/thread_events.h"

#include <stdlib.h>

#include "base/arena.h"

/* Maximum distance of an ordinal beyond the receives whose completion the thread itself
 * observed. */
#define AHEAD_MAX ((uint64_t)1 << 24)

/* A receive whose completion another thread observed. */
struct other {
	uint32_t stream;
	uint64_t number;
	struct rn_plan_match match;
};

struct work {
	struct rn_arena *mem;
	struct rn_plan_part *part;
	uint32_t parts;
	struct rn_plan_turn *turn;
	struct other *other;
	size_t turns, others;
};

static bool is_run(const struct rn_order_site *s)
{
	return s->kind == RN_ORDER_RECEIVE_RUN || s->kind == RN_ORDER_SEND_RUN;
}

/* The number of values of runs and adoptions. */
static uint64_t count(const struct rn_order *o)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->rows; i++)
		if (is_run(&o->site[o->row[i].site]) ||
		    o->site[o->row[i].site].kind == RN_ORDER_ADOPTION)
			n += o->row[i].done;
	return n;
}

/* The first plan thread with that lineage, which is the one that a replay uses. */
static uint32_t stream_of(const struct work *w, int64_t birth)
{
	uint32_t i = 0;

	while (i < w->parts && w->part[i].birth != birth)
		i++;
	return i;
}

/* ---- reading the events ---- */

/* The position of a plan thread in its values. */
struct reading {
	uint32_t stream, own; /* the plan thread, and the first one with its lineage */
	uint64_t *begins;     /* by site: start of the latest run */
	uint32_t whose;       /* plan thread whose receives follow; `parts`: none */
	unsigned nth;         /* next value: 0 lineage or ordinal, 1 source, 2 tag */
};

static void take_turn(struct work *w, struct reading *r, uint32_t site, int64_t v)
{
	const struct rn_order *o = &w->part[r->stream].order;

	r->begins[site] += (uint64_t)v;
	w->turn[w->turns++] = (struct rn_plan_turn){ .begins = r->begins[site],
						     .comm = o->site[site].comm,
						     .of = o->site[site].kind == RN_ORDER_SEND_RUN
								   ? RN_PLAN_SENDS
								   : RN_PLAN_RECEIVES,
						     .stream = r->own };
}

static void take_end(struct work *w, struct reading *r, int64_t v)
{
	struct other *x = &w->other[w->others];

	if (r->nth == 0 && v < 0) {
		r->whose = stream_of(w, -1 - v);
	} else if (r->nth == 0) {
		*x = (struct other){ .stream = r->whose, .number = (uint64_t)v };
		r->nth = 1;
	} else if (r->nth == 1) {
		x->match.source = (int32_t)v;
		x->match.state = v < 0 ? RN_PLAN_CANCELLED : RN_PLAN_MATCHED;
		r->nth = 2;
	} else {
		x->match.tag = (int32_t)v;
		w->others += x->stream < w->parts;
		r->nth = 0;
	}
}

static int read_part(struct work *w, uint32_t stream)
{
	const struct rn_order *o = &w->part[stream].order;
	struct reading r = { .stream = stream,
			     .own = stream_of(w, w->part[stream].birth),
			     .begins = rn_new(w->mem, uint64_t, o->sites),
			     .whose = w->parts };
	const int64_t *v = o->value;

	if (!r.begins)
		return RN_E_NOMEM;
	for (size_t i = 0; i < o->rows; i++) {
		const struct rn_order_site *s = &o->site[o->row[i].site];
		uint32_t n = rn_order_has_numbers(s) ? o->row[i].done : 0;

		for (; n > 0; n--, v++) {
			if (s->kind == RN_ORDER_ADOPTION)
				take_end(w, &r, *v);
			else if (is_run(s))
				take_turn(w, &r, o->row[i].site, *v);
		}
	}
	return RN_OK;
}

/* ---- matches and turns ---- */

static int by_stream(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	return (x->stream > y->stream) - (x->stream < y->stream);
}

/* Adds n matches of one plan thread that other threads observed. */
static int add_matches(struct work *w, const struct other *x, size_t n)
{
	struct rn_plan_part *p = &w->part[x->stream];
	struct rn_plan_match *own, *all;
	size_t owns;
	uint64_t end;
	int rc = rn_plan_matches(w->mem, &p->order, &own, &owns);

	end = owns;
	for (size_t i = 0; i < n && rc == RN_OK; i++) {
		if (x[i].number > owns + AHEAD_MAX)
			rc = RN_E_DATA;
		end = x[i].number >= end ? x[i].number + 1 : end;
	}
	if (rc < 0 || !(all = rn_new(w->mem, struct rn_plan_match, end)))
		return rc < 0 ? rc : RN_E_NOMEM;
	for (uint64_t i = 0; i < end; i++)
		all[i] = i < owns ? own[i] : (struct rn_plan_match){ .state = RN_PLAN_UNSEEN };
	for (size_t i = 0; i < n; i++)
		if (all[x[i].number].state == RN_PLAN_UNSEEN)
			all[x[i].number] = x[i].match;
	p->match = all;
	p->matches = end;
	return RN_OK;
}

static int match_others(struct work *w)
{
	int rc = RN_OK;

	if (w->others)
		qsort(w->other, w->others, sizeof(*w->other), by_stream);
	for (size_t i = 0, n; i < w->others && rc == RN_OK; i += n) {
		for (n = 1; i + n < w->others && w->other[i + n].stream == w->other[i].stream;)
			n++;
		rc = add_matches(w, &w->other[i], n);
	}
	return rc;
}

static int by_order(const void *a, const void *b)
{
	const struct rn_plan_turn *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->begins > y->begins) - (x->begins < y->begins);
}

/* Sorts the turns, and adds the first run of the initial thread, which is implied. */
static int put_turns(struct work *w, const struct rn_plan_turn **turn, size_t *turns)
{
	struct rn_plan_turn *all = rn_new(w->mem, struct rn_plan_turn, 2 * w->turns);
	size_t n = 0;

	if (!all)
		return RN_E_NOMEM;
	if (w->turns)
		qsort(w->turn, w->turns, sizeof(*w->turn), by_order);
	for (size_t i = 0; i < w->turns; i++) {
		struct rn_plan_turn t = w->turn[i];

		if (t.begins && (!n || all[n - 1].comm != t.comm || all[n - 1].of != t.of))
			all[n++] = (struct rn_plan_turn){ .comm = t.comm, .of = t.of };
		all[n++] = t;
	}
	*turn = all;
	*turns = n;
	return RN_OK;
}

int rn_turns_take(struct rn_arena *mem, struct rn_plan_part *part, uint32_t parts,
		  const struct rn_plan_turn **turn, size_t *turns)
{
	struct work w = { .mem = mem, .part = part, .parts = parts };
	uint64_t n = 0;
	int rc = RN_OK;

	for (uint32_t i = 0; i < parts; i++)
		n += count(&part[i].order);
	w.turn = rn_new(mem, struct rn_plan_turn, n);
	w.other = rn_new(mem, struct other, n + 1);
	if (!w.turn || !w.other)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < parts && rc == RN_OK; i++)
		if (count(&part[i].order))
			rc = read_part(&w, i);
	if (rc == RN_OK)
		rc = match_others(&w);
	return rc == RN_OK ? put_turns(&w, turn, turns) : rc;
}
