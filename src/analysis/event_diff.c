/* event_diff.c - see event_diff.h. */
#include "analysis/event_diff.h"

/* A walk through the completions of one run. */
struct walk {
	const struct rn_order *o;
	const uint32_t *site;
	struct rn_order_spot at;
	uint32_t nth;    /* index of the completion in its row */
	uint64_t failed; /* failed polls since the last completion */
	uint64_t failed_before;
	uint64_t done;
};

/* Advances to the next row with completions. */
static void find_row(struct walk *w)
{
	for (; w->at.row < w->o->rows; w->at.row++) {
		const struct rn_order_row *r = &w->o->row[w->at.row];

		if (rn_order_has_numbers(&w->o->site[r->site])) {
			w->at.value += r->done;
			w->at.seq += (uint64_t)r->fails + (r->done > 0);
			continue;
		}
		if (w->o->site[r->site].kind != RN_ORDER_LOOSE)
			w->failed += r->fails;
		w->at.seq += r->fails;
		if (r->done)
			return;
	}
}

static bool is_there(const struct walk *w)
{
	return w->at.row < w->o->rows;
}

static void step(struct walk *w)
{
	const struct rn_order_row *r = &w->o->row[w->at.row];

	w->done++;
	if (++w->nth < r->done)
		return;
	w->nth = 0;
	w->at.done += r->done;
	w->at.seq++;
	w->at.row++;
	w->failed_before += w->failed;
	w->failed = 0;
	find_row(w);
}

static bool is_same(const struct walk *a, const struct walk *b)
{
	const struct rn_order_done *x = &a->o->done[a->at.done + a->nth],
				   *y = &b->o->done[b->at.done + b->nth];

	return a->site[a->o->row[a->at.row].site] == b->site[b->o->row[b->at.row].site] &&
	       (a->nth == 0) == (b->nth == 0) && x->index == y->index && x->late == y->late &&
	       x->source == y->source && x->tag == y->tag && x->flags == y->flags;
}

/* Whether both walks are at the first completion of a call and the numbers of failed polls before
 * it differ. */
static bool is_retried(const struct walk *a, const struct walk *b)
{
	return a->nth == 0 && b->nth == 0 && a->failed != b->failed;
}

static void note(struct rn_order_diff *d, const struct walk *w)
{
	if (d->different++ == 0) {
		d->first[0] = w[0].at;
		d->first[1] = w[1].at;
	}
}

struct rn_order_diff rn_order_diff(const struct rn_order_run run[2], bool strict)
{
	struct walk w[2] = { { .o = run[0].order, .site = run[0].site },
			     { .o = run[1].order, .site = run[1].site } };
	struct rn_order_diff d = { 0 };

	find_row(&w[0]);
	find_row(&w[1]);
	while (is_there(&w[0]) || is_there(&w[1])) {
		bool both = is_there(&w[0]) && is_there(&w[1]), retried;

		retried = both && is_retried(&w[0], &w[1]);
		d.retried += retried;
		if (!both || !is_same(&w[0], &w[1]) || (strict && retried))
			note(&d, w);
		for (int i = 0; i < 2; i++)
			if (is_there(&w[i]))
				step(&w[i]);
	}
	/* Failed polls after the last completion. */
	if (w[0].failed != w[1].failed) {
		d.retried++;
		if (strict)
			note(&d, w);
	}
	for (int i = 0; i < 2; i++) {
		d.done[i] = w[i].done;
		d.failed[i] = w[i].failed_before + w[i].failed;
	}
	return d;
}
