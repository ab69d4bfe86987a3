/* outline.c - see outline.h: from rules to trees. */
#include "analyse/outline.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/outline_join.h"
#include "base/arena.h"
#include "base/seg.h"
#include "base/varint.h"
#include "encode/sigs.h"
#include "merge/fold.h"
#include "merge/markers.h"
#include "merge/merged.h"
#include "rules/rules.h"
#include "series/units.h"

#define BLOCK         256u
#define LITERAL_SHOWN 64u
#define NESTED_SHOWN  16u                 /* calls inside calls, in one round */
#define ALL_PARTS     ((uint32_t)1 << 20) /* of all trees together */
#define ALL_RUNS      ((uint64_t)1 << 27) /* executions of parts in them: a few seconds */

struct build {
	const struct rn_folded *f;
	const struct rn_streams *s; /* the same, opened */
	const struct rn_outline_sig *sig;
	struct rn_arena *mem, *scratch;
	uint32_t sigs;
	bool *holds;                /* by rule: a loop is in there */
	struct rn_weight *rule;     /* by rule, for those without loops */
	struct rn_weight *cut;      /* by literal: what is not shown of it */
	struct rn_weight *whole;    /* by literal */
	struct rn_stretch *stretch; /* NULL until it is wanted */
	struct rn_units **units;    /* by series */
	uint32_t left, all_left;    /* parts that may still be made, for this tree and in all */
	uint64_t runs_left;         /* executions that may still be gone through */
	/* The tree being made: where the next part of each level goes. */
	struct rn_piece **tail[RN_OUTLINE_DEPTH + 1];
	struct rn_piece *last[RN_OUTLINE_DEPTH + 1];
};

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t n;

	return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void rn_weight_add(struct rn_weight *sum, const struct rn_weight *w, uint64_t n)
{
	sum->calls = plus(sum->calls, times(w->calls, n));
	sum->bytes = plus(sum->bytes, times(w->bytes, n));
	sum->unsized = plus(sum->unsized, times(w->unsized, n));
	sum->ns += w->ns * (double)n;
}

/* ---- what rules weigh ---- */

static struct rn_weight weigh_run(const struct build *b, const uint32_t *symbol, uint64_t n)
{
	struct rn_weight w = { 0 };

	for (uint64_t i = 0; i < n; i++)
		rn_weight_add(&w, &b->sig[symbol[i]].one, 1);
	return w;
}

static int weigh_literals(struct build *b)
{
	const struct rn_rules *r = b->f->streams.rules;
	uint32_t n = rn_rules_literals(r);

	b->whole = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);
	b->cut = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);
	if (!b->whole || !b->cut)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t len;
		const uint32_t *run = rn_rules_literal(r, i, &len);

		b->whole[i] = weigh_run(b, run, len);
		if (len > LITERAL_SHOWN)
			b->cut[i] = weigh_run(b, run + LITERAL_SHOWN, len - LITERAL_SHOWN);
	}
	return RN_OK;
}

/* Every rule; in one with loops these (of which `holds` is told) weigh nothing. */
static struct rn_weight *weigh_rules(struct build *b, bool *holds)
{
	const struct rn_rules *r = b->f->streams.rules;
	uint32_t n = rn_rules_count(r);
	struct rn_weight *w = rn_new(b->scratch, struct rn_weight, (size_t)n + 1);

	for (uint32_t i = 0; w && i < n; i++) {
		struct rn_body body = rn_rules_body(r, i);

		for (uint32_t k = 0; k < body.n; k++) {
			const struct rn_item *it = &body.item[k];
			struct rn_weight one = { 0 };

			if (it->kind == RN_KIND_RULE) {
				one = w[it->id];
				holds[i] |= holds[it->id];
			} else if (it->kind == RN_KIND_TERMINAL && it->id < b->sigs) {
				one = b->sig[it->id].one;
			} else if (it->kind == RN_KIND_TERMINAL) {
				holds[i] = true;
			} else {
				one = b->whole[it->id];
			}
			rn_weight_add(&w[i], &one, it->count);
		}
	}
	return w;
}

/* ---- parts ---- */

static struct rn_piece *add_part(struct build *b, uint32_t level, enum rn_piece_kind kind)
{
	struct rn_piece *p = rn_new(b->mem, struct rn_piece, 1);

	if (!p)
		return NULL;
	p->kind = kind;
	p->count = 1;
	*b->tail[level] = b->last[level] = p;
	b->tail[level] = &p->next;
	b->left -= b->left > 0;
	return p;
}

/* What is not shown, added to what already is not, if that is just before. */
static int add_rest(struct build *b, uint32_t level, const struct rn_weight *w, uint64_t n)
{
	struct rn_piece *p = b->last[level];

	if (!p || p->kind != RN_PIECE_REST)
		p = add_part(b, level, RN_PIECE_REST);
	if (!p)
		return RN_E_NOMEM;
	rn_weight_add(&p->rest, w, n);
	return RN_OK;
}

static int add_call_part(struct build *b, uint32_t level, uint32_t sig, uint64_t count,
			 uint32_t loop)
{
	struct rn_piece *p;

	if (b->left == 0 && !loop)
		return add_rest(b, level, &b->sig[sig].one, count);
	if (b->left == 0)
		return RN_E_RANGE;
	p = add_part(b, level, RN_PIECE_CALL);
	if (!p)
		return RN_E_NOMEM;
	p->variant = rn_new(b->mem, struct rn_variant, 1);
	if (!p->variant)
		return RN_E_NOMEM;
	p->variant->sig = sig;
	p->variant->manner = b->sig[sig].manner;
	p->function = b->sig[sig].function;
	p->marker = b->sig[sig].marker;
	p->count = count;
	p->loop = loop;
	return RN_OK;
}

/* Each `enter` is by itself: it has its own `leave`. */
static int add_call(struct build *b, uint32_t level, uint32_t sig, uint64_t count, uint32_t loop)
{
	int rc = RN_OK;

	if (b->sig[sig].marker != RN_MARKER_ENTER || count > NESTED_SHOWN)
		return add_call_part(b, level, sig, count, loop);
	for (uint64_t i = 0; i < count && rc == RN_OK; i++)
		rc = add_call_part(b, level, sig, 1, loop);
	return rc;
}

/* A loop, whose parts go to the next level. */
static int open_loop(struct build *b, uint32_t level, uint64_t count, uint32_t loop)
{
	struct rn_piece *p = add_part(b, level, RN_PIECE_LOOP);

	if (!p)
		return RN_E_NOMEM;
	p->count = count;
	p->loop = loop;
	b->tail[level + 1] = &p->child;
	b->last[level + 1] = NULL;
	return RN_OK;
}

static bool is_full(const struct build *b, uint32_t level)
{
	return b->left == 0 || level + 1 >= RN_OUTLINE_DEPTH;
}

static int add_run(struct build *b, uint32_t level, uint32_t lit, uint64_t count)
{
	uint64_t n;
	const uint32_t *run = rn_rules_literal(b->f->streams.rules, lit, &n);
	int rc = RN_OK;

	if (is_full(b, level))
		return add_rest(b, level, &b->whole[lit], count);
	if (count > 1) {
		rc = open_loop(b, level, count, 0);
		level++;
	}
	for (uint64_t i = 0; i < n && i < LITERAL_SHOWN && rc == RN_OK; i++)
		rc = add_call(b, level, run[i], 1, 0);
	if (rc == RN_OK && n > LITERAL_SHOWN)
		rc = add_rest(b, level, &b->cut[lit], 1);
	return rc;
}

/* ---- a tree ---- */

/* A rule that is being gone through. */
struct frame {
	uint32_t rule, item, level;
};

static int push(struct rn_seg *stack, struct rn_arena *mem, uint32_t rule, uint32_t level)
{
	if (!rn_seg_reserve(stack, mem, 1))
		return RN_E_NOMEM;
	*RN_SEG_AT(stack, struct frame, stack->n) = (struct frame){ rule, 0, level };
	stack->n++;
	return RN_OK;
}

static int add_rule(struct build *b, struct rn_seg *stack, uint32_t level, uint32_t rule,
		    uint64_t count)
{
	int rc = RN_OK;

	if (is_full(b, level) && !b->holds[rule])
		return add_rest(b, level, &b->rule[rule], count);
	if (is_full(b, level))
		return RN_E_RANGE;
	if (count > 1)
		rc = open_loop(b, level, count, 0);
	return rc < 0 ? rc : push(stack, b->scratch, rule, count > 1 ? level + 1 : level);
}

/* A loop with a series. Where several of its executions follow each other, there is a loop around
 * it. */
static int add_loop(struct build *b, struct rn_seg *stack, uint32_t level, uint32_t k,
		    uint64_t count)
{
	struct rn_loop l = b->f->loop[k];
	int rc = RN_OK;

	if (is_full(b, level + 1))
		return RN_E_RANGE;
	if (count > 1)
		rc = open_loop(b, level++, count, 0);
	if (rc < 0)
		return rc;
	if (l.kind == RN_KIND_TERMINAL)
		return add_call(b, level, l.id, 1, k + 1);
	rc = open_loop(b, level, 1, k + 1);
	return rc < 0 ? rc : push(stack, b->scratch, l.id, level + 1);
}

static int add_item(struct build *b, struct rn_seg *stack, uint32_t level, const struct rn_item *it)
{
	if (it->kind == RN_KIND_RULE)
		return add_rule(b, stack, level, it->id, it->count);
	if (it->kind == RN_KIND_LITERAL)
		return add_run(b, level, it->id, it->count);
	if (it->id < b->sigs)
		return add_call(b, level, it->id, it->count, 0);
	return add_loop(b, stack, level, it->id - b->sigs, it->count);
}

/* Depths of rules are the input's: they are on a stack of our own. Those of trees are bounded. */
static int expand(struct build *b, uint32_t root, struct rn_piece **list)
{
	struct rn_seg stack;
	int rc;

	rn_seg_init(&stack, sizeof(struct frame));
	b->tail[0] = list;
	b->last[0] = NULL;
	rc = push(&stack, b->scratch, root, 0);
	while (rc == RN_OK && stack.n) {
		struct frame *f = RN_SEG_AT(&stack, struct frame, stack.n - 1);
		struct rn_body body = rn_rules_body(b->f->streams.rules, f->rule);

		if (f->item == body.n)
			stack.n--;
		else
			rc = add_item(b, &stack, f->level, &body.item[f->item++]);
	}
	return rc;
}

struct total {
	const struct build *b;
	struct rn_weight weight;
};

static void weigh_fixed(void *arg, const struct rn_item *it, uint64_t n)
{
	struct total *t = arg;
	const struct build *b = t->b;
	const struct rn_weight *one = it->kind == RN_KIND_RULE       ? &b->rule[it->id]
				      : it->kind == RN_KIND_TERMINAL ? &b->sig[it->id].one
								     : &b->whole[it->id];

	rn_weight_add(&t->weight, one, times(n, it->count));
}

/* Streams whose structure is too much for a tree: one rest. */
static int sum_up(struct build *b, uint32_t group, struct rn_piece **list)
{
	struct rn_flow flow = rn_streams_flow(b->s, group);
	struct total total = { .b = b };

	if (b->s->loops && !b->stretch)
		b->stretch = rn_stretch_new(b->scratch, b->s->loops->set, UINT64_MAX);
	if (b->s->loops && !b->stretch)
		return RN_E_NOMEM;
	rn_flow_each(b->stretch, &flow, weigh_fixed, &total);
	*list = NULL;
	b->tail[0] = list;
	b->last[0] = NULL;
	return add_rest(b, 0, &total.weight, 1);
}

/* ---- calls inside calls ---- */

static bool is_once(const struct rn_piece *p)
{
	return p->count == 1 && !p->loop;
}

/* The call that a `leave` belongs to: by itself, if it was made several times in a row. */
static struct rn_piece *split_first(struct build *b, struct rn_piece *call)
{
	struct rn_piece *rest;

	if (call->count == 1)
		return call;
	rest = rn_new(b->mem, struct rn_piece, 1);
	if (!rest)
		return NULL;
	*rest = *call;
	rest->count--;
	rest->variant = rn_new(b->mem, struct rn_variant, 1);
	if (!rest->variant)
		return NULL;
	*rest->variant = *call->variant;
	call->count = 1;
	call->next = rest;
	return call;
}

/* From `enter` at *from to `leave`, whose call gets what is between as its own. */
static int put_inside(struct build *b, struct rn_piece **from, struct rn_piece **leave)
{
	struct rn_piece *call = split_first(b, (*leave)->next), *inner = (*from)->next;

	if (!call)
		return RN_E_NOMEM;
	if (inner != *leave) {
		*leave = NULL;
		call->child = inner;
	}
	*from = call;
	return RN_OK;
}

static bool ends_call(const struct rn_piece *leave)
{
	const struct rn_piece *call = leave->next;

	return leave->marker == RN_MARKER_LEAVE && is_once(leave) && call &&
	       call->kind == RN_PIECE_CALL && call->marker == RN_MARKER_NONE && !call->loop &&
	       !call->child;
}

/* Markers whose other half is not in the same round are dropped with the others. */
static int nest_calls(struct build *b, struct rn_piece **list)
{
	struct rn_piece **open[NESTED_SHOWN], **at = list;
	uint32_t depth = 0;

	while (*at) {
		struct rn_piece *p = *at;

		if (p->marker == RN_MARKER_ENTER && is_once(p) && depth < NESTED_SHOWN)
			open[depth++] = at;
		if (depth && ends_call(p)) {
			at = open[--depth];
			for (struct rn_piece **l = at; *l; l = &(*l)->next)
				if (*l == p) {
					int rc = put_inside(b, at, l);

					if (rc < 0)
						return rc;
					break;
				}
		}
		at = &(*at)->next;
	}
	return RN_OK;
}

/* A loop around one call that is made once is that call, several times. */
static void simplify(struct rn_piece *p)
{
	struct rn_piece *c = p->child;

	if (p->kind != RN_PIECE_LOOP || !c || c->next || c->kind != RN_PIECE_CALL || c->child ||
	    !is_once(c))
		return;
	p->kind = RN_PIECE_CALL;
	p->function = c->function;
	p->variant = c->variant;
	p->child = NULL;
}

static int tidy(struct build *b, struct rn_piece **list)
{
	int rc = nest_calls(b, list);

	for (struct rn_piece **at = list; *at && rc == RN_OK;) {
		rc = tidy(b, &(*at)->child);
		simplify(*at);
		if ((*at)->marker != RN_MARKER_NONE ||
		    ((*at)->kind == RN_PIECE_LOOP && !(*at)->child))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
	return rc;
}

/* ---- counts ---- */

/* A group more, behind those that are there. */
static int add_family(struct build *b, struct rn_family **first, struct rn_family **last,
		      uint32_t group)
{
	struct rn_family *f = rn_new(b->mem, struct rn_family, 1);

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

/* Where a loop's series is read. */
struct counts {
	const struct rn_units *units;
	uint64_t at;
	int64_t value[BLOCK];
	uint32_t i, n;
};

struct run {
	struct counts *counts; /* by loop */
	uint64_t streams;
	uint64_t *left; /* executions that may still be looked at */
};

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

static void add_rounds(struct rn_rounds *sum, const struct rn_rounds *r)
{
	sum->min = sum->visits == 0 || r->min < sum->min ? r->min : sum->min;
	sum->max = r->max > sum->max ? r->max : sum->max;
	sum->visits = plus(sum->visits, r->visits);
	sum->rounds = plus(sum->rounds, r->rounds);
}

/* One execution of what has counts of its own. */
static void record(const struct run *r, struct rn_piece *p, uint64_t rounds)
{
	add_rounds(&p->one,
		   &(struct rn_rounds){ r->streams, times(rounds, r->streams), rounds, rounds });
}

/* Finds what has a series, or has something in it that has; returns the first in the list. */
static struct rn_piece *find_held(struct rn_piece *list)
{
	struct rn_piece *first = NULL, **at = &first;

	for (struct rn_piece *p = list; p; p = p->next) {
		p->held = find_held(p->child);
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

static int run_part(struct run *r, struct rn_piece *p, uint64_t *rounds);

/* Goes through what has series, in the order of the program. */
static int run_parts(struct run *r, struct rn_piece *first)
{
	int rc = RN_OK;

	for (struct rn_piece *p = first; p && rc == RN_OK; p = p->held_behind) {
		uint64_t rounds = 0;

		rc = run_part(r, p, &rounds);
		if (p->loop || p->open)
			record(r, p, rounds);
	}
	return rc;
}

/* The present round is over. */
static void end_round(const struct run *r, struct rn_piece *list)
{
	for (struct rn_piece *p = list; p; p = p->next) {
		record(r, p, p->now);
		p->now = 0;
	}
}

/* Rounds in which each part may be missing: one that begins with what the one before ended with
 * goes on with that one. *rounds: as many as there are then. */
static int run_open(struct run *r, struct rn_piece *list, uint64_t raw, uint64_t *rounds)
{
	const struct rn_piece *last = NULL; /* what came last */
	int rc = RN_OK;

	*rounds = 0;
	for (uint64_t i = 0; i < raw && rc == RN_OK; i++) {
		bool begun = false;

		for (struct rn_piece *p = list; p && rc == RN_OK; p = p->next) {
			uint64_t n = 0;

			rc = run_part(r, p, &n);
			if (n == 0)
				continue;
			if (!begun && last && last != p)
				end_round(r, list);
			*rounds += !begun && last != p;
			begun = true;
			p->now = plus(p->now, n);
			last = p;
		}
	}
	if (last)
		end_round(r, list);
	return rc;
}

/* One execution. */
static int run_part(struct run *r, struct rn_piece *p, uint64_t *rounds)
{
	uint64_t raw = p->count;
	int rc = RN_OK;

	if (*r->left == 0)
		return RN_E_RANGE;
	--*r->left;
	if (p->loop && !next_count(&r->counts[p->loop - 1], &raw))
		return RN_E_DATA;
	if (p->open)
		return run_open(r, p->child, raw, rounds);
	for (uint64_t i = 0; p->held && i < raw && rc == RN_OK; i++)
		rc = run_parts(r, p->held);
	*rounds = raw;
	return rc;
}

/* A group that comes somewhere and never goes round does not do what is there; unless nobody does,
 * that is then the business of the others. */
static int end_group(struct build *b, struct rn_piece *first, uint32_t group, uint64_t streams)
{
	int rc = RN_OK;

	for (struct rn_piece *p = first; p && rc == RN_OK; p = p->held_behind) {
		bool counted = p->loop || p->open, gone_round = p->one.rounds > 0;

		if (counted && gone_round) {
			add_rounds(&p->total, &p->one);
			p->doing += streams;
			rc = add_family(b, &p->doers, &p->last_doer, group);
		}
		p->one = (struct rn_rounds){ 0 };
		if (rc == RN_OK && (gone_round || !counted))
			rc = end_group(b, p->held, group, streams);
	}
	return rc;
}

static int run_group(struct build *b, struct counts *counts, uint32_t group, struct rn_piece *first)
{
	uint32_t loops = b->f->loops;
	struct run r = { counts, rn_units_length(b->f->streams.group[group].ranks), &b->runs_left };
	int rc;

	for (uint32_t k = 0; k < loops; k++) {
		uint32_t ref = b->f->ref[(size_t)group * loops + k];

		counts[k].units = ref ? b->units[ref - 1] : NULL;
		counts[k].at = counts[k].i = counts[k].n = 0;
	}
	rc = run_parts(&r, first);
	return rc == RN_OK ? end_group(b, first, group, r.streams) : rc;
}

/* What follows from the rounds of loops, for everything in a list that was come to so often. */
static void settle(const struct build *b, struct rn_piece *list, uint64_t visits,
		   struct rn_weight *sum)
{
	for (struct rn_piece *p = list; p; p = p->next) {
		if (!p->loop && !p->open) {
			p->total.visits = visits;
			p->total.rounds = times(visits, p->count);
			p->total.min = p->total.max = p->count;
		}
		p->weight = (struct rn_weight){ 0 };
		settle(b, p->child, p->total.rounds, &p->weight);
		if (p->kind == RN_PIECE_CALL) {
			p->weight.ns = 0; /* a call's time has in it what was called inside */
			p->variant->calls = p->total.rounds;
			rn_weight_add(&p->weight, &b->sig[p->variant->sig].one, p->total.rounds);
		}
		if (p->kind == RN_PIECE_REST)
			rn_weight_add(&p->weight, &p->rest, p->total.rounds);
		rn_weight_add(sum, &p->weight, 1);
	}
}

/* What nobody does is not shown. What is there once or not at all, and is only there to hold one
 * other part, is that part. */
static void collapse(struct rn_piece **list)
{
	for (struct rn_piece **at = list; *at;) {
		struct rn_piece *p = *at, *c;

		if (p->total.rounds == 0) {
			*at = p->next;
			continue;
		}
		collapse(&p->child);
		c = p->child;
		if (p->kind == RN_PIECE_LOOP && p->total.max == 1 && c && !c->next) {
			c->total.min = p->total.min ? c->total.min : 0;
			c->total.visits = p->total.visits;
			c->doers = p->doers;
			c->doing = p->doing;
			c->next = p->next;
			*at = c;
		}
		at = &(*at)->next;
	}
}

/* ---- groups ---- */

static int add_group(struct build *b, struct rn_tree *t, struct rn_family **last, uint32_t group)
{
	t->streams += rn_units_length(b->f->streams.group[group].ranks);
	return add_family(b, &t->family, last, group);
}

static struct rn_members *new_members(struct build *b, const struct rn_family *f)
{
	struct rn_members *m = rn_new(b->mem, struct rn_members, 1);

	if (m)
		m->family = f;
	return m;
}

/* A part is the business of those who do what is around it, or of some of them. */
static int spread_members(struct build *b, const struct rn_family *family, uint64_t streams,
			  struct rn_piece *list)
{
	int rc = RN_OK;

	for (struct rn_piece *p = list; p && rc == RN_OK; p = p->next) {
		p->streams = p->doers ? p->doing : streams;
		p->members = p->last_member = new_members(b, p->doers ? p->doers : family);
		if (!p->members)
			return RN_E_NOMEM;
		rc = spread_members(b, p->members->family, p->streams, p->child);
	}
	return rc;
}

static int make_tree(struct build *b, struct counts *counts, struct rn_tree *t)
{
	struct rn_piece *held;
	int rc;

	b->left = b->all_left < RN_OUTLINE_PARTS ? b->all_left : RN_OUTLINE_PARTS;
	b->all_left -= b->left;
	rc = expand(b, b->f->streams.group[t->family->group].root, &t->part);
	b->all_left += b->left;
	if (rc == RN_OK)
		rc = tidy(b, &t->part);
	if (rc < 0)
		return rc;
	held = find_held(t->part);
	for (const struct rn_family *f = t->family; held && f && rc == RN_OK; f = f->next)
		rc = run_group(b, counts, f->group, held);
	return rc;
}

static int finish_tree(struct build *b, struct rn_tree *t)
{
	settle(b, t->part, t->streams, &t->weight);
	collapse(&t->part);
	t->members = t->last_member = new_members(b, t->family);
	if (!t->members)
		return RN_E_NOMEM;
	return spread_members(b, t->family, t->streams, t->part);
}

/* Groups with the same root differ in counts alone, and are a family. */
static int find_families(struct build *b, struct rn_tree *tree, uint32_t *trees)
{
	const struct rn_streams *s = &b->f->streams;
	uint32_t *family = rn_new(b->scratch, uint32_t, (size_t)rn_rules_count(s->rules) + 1);
	struct rn_family **last = rn_new(b->scratch, struct rn_family *, (size_t)s->groups + 1);
	int rc = family && last ? RN_OK : RN_E_NOMEM;

	*trees = 0;
	for (uint32_t g = 0; g < s->groups && rc == RN_OK; g++) {
		uint32_t *f = &family[s->group[g].root]; /* its number + 1 */

		if (rn_streams_length(b->s, g) == 0)
			continue;
		if (!*f)
			*f = ++*trees;
		rc = add_group(b, &tree[*f - 1], &last[*f - 1], g);
	}
	return rc;
}

static int sum_up_tree(struct build *b, struct rn_tree *t)
{
	int rc = sum_up(b, t->family->group, &t->part);

	return rc == RN_OK ? finish_tree(b, t) : rc;
}

/* Its groups are of different lengths, so each is one by itself. */
static int sum_up_family(struct build *b, struct rn_tree *tree, uint32_t t, uint32_t *trees)
{
	struct rn_family *f = tree[t].family->next;
	int rc = RN_OK;

	tree[t].family->next = NULL;
	for (struct rn_family *next; f && rc == RN_OK; f = next) {
		struct rn_tree *own = &tree[(*trees)++];

		next = f->next;
		f->next = NULL;
		own->family = f;
		own->streams = rn_units_length(b->f->streams.group[f->group].ranks);
		tree[t].streams -= own->streams;
		rc = sum_up_tree(b, own);
	}
	return rc == RN_OK ? sum_up_tree(b, &tree[t]) : rc;
}

static int make_trees(struct build *b, struct rn_tree *tree, uint32_t *trees)
{
	struct counts *counts = rn_new(b->scratch, struct counts, (size_t)b->f->loops + 1);
	int rc = counts ? find_families(b, tree, trees) : RN_E_NOMEM;

	for (uint32_t i = 0, n = *trees; i < n && rc == RN_OK; i++) {
		rc = make_tree(b, counts, &tree[i]);
		if (rc == RN_E_RANGE)
			rc = sum_up_family(b, tree, i, trees);
		else if (rc == RN_OK)
			rc = finish_tree(b, &tree[i]);
	}
	return rc;
}

/* Streams that have no call are none that there is anything to say about. */
static void drop_empty(struct rn_outline *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->trees; i++)
		if (o->tree[i].part)
			o->tree[kept++] = o->tree[i];
	o->trees = kept;
}

static int by_streams(const void *a, const void *b)
{
	const struct rn_tree *x = a, *y = b;

	if (x->streams != y->streams)
		return x->streams < y->streams ? 1 : -1;
	return x->family->group < y->family->group ? -1 : 1;
}

/* ---- */

static int read_series(struct build *b)
{
	uint32_t n = b->f->loops ? rn_sigs_count(b->f->series) : 0;
	struct rn_err err;

	b->units = rn_new(b->scratch, struct rn_units *, (size_t)n + 1);
	if (!b->units)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *bytes = rn_sigs_get(b->f->series, i, &len);
		struct rn_reader in = rn_reader(bytes, len);
		int rc = rn_units_decode(b->scratch, &in, &b->units[i], &err);

		if (rc < 0)
			return rc;
	}
	return RN_OK;
}

static int prepare(struct build *b)
{
	const struct rn_rules *r = b->f->streams.rules;
	int rc = read_series(b);

	b->sigs = rn_sigs_count(b->f->streams.sigs);
	b->all_left = ALL_PARTS;
	b->runs_left = ALL_RUNS;
	b->holds = rn_new(b->scratch, bool, (size_t)rn_rules_count(r) + 1);
	if (!b->holds)
		return RN_E_NOMEM;
	if (rc == RN_OK)
		rc = weigh_literals(b);
	if (rc < 0)
		return rc;
	b->rule = weigh_rules(b, b->holds);
	return b->rule ? RN_OK : RN_E_NOMEM;
}

int rn_outline(const struct rn_folded *f, const struct rn_streams *s,
	       const struct rn_outline_sig *sig, struct rn_arena *mem, struct rn_arena *scratch,
	       struct rn_outline *out)
{
	struct build b = { .f = f, .s = s, .sig = sig, .mem = mem, .scratch = scratch };
	int rc = prepare(&b);

	*out = (struct rn_outline){ 0 };
	if (rc < 0)
		return rc;
	out->tree = rn_new(mem, struct rn_tree, (size_t)f->streams.groups + 1);
	if (!out->tree)
		return RN_E_NOMEM;
	rc = make_trees(&b, out->tree, &out->trees);
	drop_empty(out);
	if (rc == RN_OK)
		rc = rn_trees_join(out->tree, &out->trees, mem, scratch);
	if (rc == RN_OK)
		qsort(out->tree, out->trees, sizeof(*out->tree), by_streams);
	return rc;
}
