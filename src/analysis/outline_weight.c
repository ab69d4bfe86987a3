/* outline_weight.c - see outline_weight.h. */
#include "analysis/outline_weight.h"

#include <assert.h>

#include "base/arena.h"
#include "base/saturate.h"
#include "model/merged_streams.h"
#include "rules/rules.h"
#include "series/units.h"

void rn_weight_add(struct rn_weight *sum, const struct rn_weight *w, uint64_t n)
{
	rn_sat_add(&sum->calls, rn_sat_mul(w->calls, n));
	rn_sat_add(&sum->bytes, rn_sat_mul(w->bytes, n));
	rn_sat_add(&sum->unsized, rn_sat_mul(w->unsized, n));
	sum->ns += w->ns * (double)n;
}

/* ---- weights of rules ---- */

static struct rn_weight weigh_run(const struct rn_outline_build *b, const uint32_t *symbol,
				  uint64_t n)
{
	struct rn_weight w = { 0 };

	for (uint64_t i = 0; i < n; i++)
		rn_weight_add(&w, &b->sig[symbol[i]].one, 1);
	return w;
}

static int weigh_literals(struct rn_outline_build *b)
{
	const struct rn_rules *r = b->s->rules;
	uint32_t n = rn_rules_literals(r);

	b->whole = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);
	b->cut = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);
	if (!b->whole || !b->cut)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t len;
		const uint32_t *run = rn_rules_literal(r, i, &len);

		b->whole[i] = weigh_run(b, run, len);
		if (len > RN_OUTLINE_LITERAL)
			b->cut[i] =
				weigh_run(b, run + RN_OUTLINE_LITERAL, len - RN_OUTLINE_LITERAL);
	}
	return RN_OK;
}

struct total {
	const struct rn_outline_build *b;
	struct rn_weight weight;
};

/* Adds an item that is not a loop with an elastic count. */
static void weigh_fixed(void *arg, const struct rn_item *it, uint64_t n)
{
	struct total *t = arg;
	const struct rn_outline_build *b = t->b;
	const struct rn_weight *one = it->kind == RN_KIND_RULE       ? &b->rule[it->id]
				      : it->kind == RN_KIND_TERMINAL ? &b->sig[it->id].one
								     : &b->whole[it->id];

	rn_weight_add(&t->weight, one, rn_sat_mul(n, it->count));
}

/* Loops with elastic counts have weight 0 here. */
int rn_outline_weigh_rules(struct rn_outline_build *b)
{
	uint32_t n = rn_rules_count(b->s->rules);

	b->rule = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);
	if (!b->rule || weigh_literals(b) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct rn_body body = rn_rules_body(b->s->rules, i);
		struct total total = { .b = b };

		for (uint32_t k = 0; k < body.n; k++)
			if (body.item[k].kind != RN_KIND_TERMINAL || body.item[k].id < b->sigs)
				weigh_fixed(&total, &body.item[k], 1);
		b->rule[i] = total.weight;
	}
	return RN_OK;
}

int rn_outline_weigh_stream(struct rn_outline_build *b, uint32_t group, struct rn_weight *out)
{
	struct rn_flow flow = rn_streams_flow(b->s, group);
	struct total total = { .b = b };

	if (b->s->loops && !b->stretch)
		b->stretch = rn_stretch_new(b->scratch, b->s->loops->set, UINT64_MAX);
	if (b->s->loops && !b->stretch)
		return RN_E_NOMEM;
	rn_flow_each(b->stretch, &flow, weigh_fixed, &total);
	*out = total.weight;
	return RN_OK;
}

/* ---- counts ---- */

int rn_count_variants_add(struct rn_arena *mem, struct rn_count_variants **first,
			  struct rn_count_variants **last, uint32_t group)
{
	struct rn_count_variants *f = rn_new(mem, struct rn_count_variants, 1);

	if (!f)
		return RN_E_NOMEM;
	f->group = group;
	if (*first)
		(*last)->next = f;
	else
		*first = f;
	*last = f;
	return RN_OK;
}

/* The next count of a loop. Opened streams have one count per execution. */
static uint64_t next_count(struct rn_outline_counts *c)
{
	if (c->i == c->n) {
		c->n = (uint32_t)rn_units_read(c->units, c->at, c->value, RN_OUTLINE_BLOCK);
		c->at += c->n;
		c->i = 0;
	}
	assert(c->i < c->n && c->value[c->i] >= 0);
	return (uint64_t)c->value[c->i++];
}

static void add_rounds(struct rn_rounds *sum, const struct rn_rounds *r)
{
	sum->min = sum->visits == 0 || r->min < sum->min ? r->min : sum->min;
	sum->max = r->max > sum->max ? r->max : sum->max;
	rn_sat_add(&sum->visits, r->visits);
	rn_sat_add(&sum->rounds, r->rounds);
}

/* Records one execution of a node in each stream of the stream group. */
static void record(const struct rn_outline_build *b, struct rn_piece *p, uint64_t rounds)
{
	add_rounds(&p->one, &(struct rn_rounds){ b->streams, rn_sat_mul(rounds, b->streams), rounds,
						 rounds });
}

/* The result includes nodes with an elastic count and nodes that contain one. */
struct rn_piece *rn_outline_find_counted(struct rn_piece *list)
{
	struct rn_piece *first = NULL, **at = &first;

	for (struct rn_piece *p = list; p; p = p->next) {
		p->held = rn_outline_find_counted(p->child);
		p->open = p->kind == RN_PIECE_LOOP;
		for (const struct rn_piece *c = p->child; c; c = c->next)
			p->open &= c->loop > 0;
		if (p->loop || p->held) {
			*at = p;
			at = &p->held_behind;
		}
	}
	return first;
}

static int run_part(struct rn_outline_build *b, struct rn_piece *p, uint64_t *rounds);

/* Executes the linked nodes of a list in program order. */
static int run_parts(struct rn_outline_build *b, struct rn_piece *first)
{
	int rc = RN_OK;

	for (struct rn_piece *p = first; p && rc == RN_OK; p = p->held_behind) {
		uint64_t rounds = 0;

		rc = run_part(b, p, &rounds);
		if (p->loop || p->open)
			record(b, p, rounds);
	}
	return rc;
}

/* Ends the current joined iteration: records the iterations of each child. */
static void end_round(const struct rn_outline_build *b, struct rn_piece *list)
{
	for (struct rn_piece *p = list; p; p = p->next) {
		record(b, p, p->now);
		p->now = 0;
	}
}

/* Executes an open loop. Any child may have 0 iterations, so folding can split an iteration. An
 * iteration that begins with the child that ended the previous one continues it. *rounds is the
 * number of joined iterations. */
static int run_open(struct rn_outline_build *b, struct rn_piece *list, uint64_t raw,
		    uint64_t *rounds)
{
	const struct rn_piece *last = NULL; /* last child with iterations */
	int rc = RN_OK;

	*rounds = 0;
	for (uint64_t i = 0; i < raw && rc == RN_OK; i++) {
		bool begun = false;

		for (struct rn_piece *p = list; p && rc == RN_OK; p = p->next) {
			uint64_t n = 0;

			rc = run_part(b, p, &n);
			if (n == 0)
				continue;
			if (!begun && last && last != p)
				end_round(b, list);
			*rounds += !begun && last != p;
			begun = true;
			rn_sat_add(&p->now, n);
			last = p;
		}
	}
	if (last)
		end_round(b, list);
	return rc;
}

/* Executes a node once. *rounds is its number of iterations. */
static int run_part(struct rn_outline_build *b, struct rn_piece *p, uint64_t *rounds)
{
	uint64_t raw = p->count;
	int rc = RN_OK;

	if (b->runs_left == 0)
		return RN_E_RANGE;
	b->runs_left--;
	if (p->loop)
		raw = next_count(&b->counts[p->loop - 1]);
	if (p->open)
		return run_open(b, p->child, raw, rounds);
	for (uint64_t i = 0; p->held && i < raw && rc == RN_OK; i++)
		rc = run_parts(b, p->held);
	*rounds = raw;
	return rc;
}

/* Adds the counts of a stream group to the totals. A stream group whose count of a node is always 0
 * is not among its doers, so the node belongs to the other stream groups only. A node that no
 * stream group iterates is removed later. */
static int end_group(struct rn_outline_build *b, struct rn_piece *first, uint32_t group)
{
	int rc = RN_OK;

	for (struct rn_piece *p = first; p && rc == RN_OK; p = p->held_behind) {
		bool counted = p->loop || p->open, gone_round = p->one.rounds > 0;

		if (counted && gone_round) {
			add_rounds(&p->total, &p->one);
			p->doing += b->streams;
			rc = rn_count_variants_add(b->mem, &p->doers, &p->last_doer, group);
		}
		p->one = (struct rn_rounds){ 0 };
		if (rc == RN_OK && (gone_round || !counted))
			rc = end_group(b, p->held, group);
	}
	return rc;
}

int rn_outline_count(struct rn_outline_build *b, uint32_t group, struct rn_piece *first)
{
	struct rn_flow flow = rn_streams_flow(b->s, group);
	uint32_t loops = rn_loopset_count(flow.loops);
	int rc;

	b->streams = rn_units_length(b->s->group[group].ranks);
	for (uint32_t k = 0; k < loops; k++) {
		b->counts[k].units = flow.series[k];
		b->counts[k].at = b->counts[k].i = b->counts[k].n = 0;
	}
	rc = run_parts(b, first);
	return rc == RN_OK ? end_group(b, first, group) : rc;
}

/* Sets the weights of all nodes of a list. Nodes with elastic counts already have their totals. */
void rn_outline_weigh(const struct rn_outline_build *b, struct rn_piece *list, uint64_t visits,
		      struct rn_weight *sum)
{
	for (struct rn_piece *p = list; p; p = p->next) {
		if (!p->loop && !p->open) {
			p->total.visits = visits;
			p->total.rounds = rn_sat_mul(visits, p->count);
			p->total.min = p->total.max = p->count;
		}
		p->weight = (struct rn_weight){ 0 };
		rn_outline_weigh(b, p->child, p->total.rounds, &p->weight);
		if (p->kind == RN_PIECE_CALL) {
			p->weight.ns = 0; /* the time of a call includes that of its nested calls */
			p->variant->calls = p->total.rounds;
			rn_weight_add(&p->weight, &b->sig[p->variant->sig].one, p->total.rounds);
		}
		if (p->kind == RN_PIECE_REST)
			rn_weight_add(&p->weight, &p->rest, p->total.rounds);
		rn_weight_add(sum, &p->weight, 1);
	}
}
