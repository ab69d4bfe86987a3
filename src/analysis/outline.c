/* outline.c - see outline.h: builds the trees of all streams. */
#include "analysis/outline.h"

#include <stdlib.h>

#include "analysis/outline_build.h"
#include "analysis/outline_merge.h"
#include "base/arena.h"
#include "base/intern.h"
#include "model/merged_streams.h"
#include "rules/rules.h"
#include "series/units.h"

#define ALL_PARTS ((uint32_t)1 << 20) /* limit on the nodes of all trees */
#define ALL_RUNS  ((uint64_t)1 << 27) /* limit on the executions that are read: a few seconds */

/* Removes nodes without iterations. Replaces a loop by its child if it has only one and never
 * executes more than one iteration. */
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

/* ---- stream groups ---- */

static uint64_t streams_of(const struct rn_outline_build *b, uint32_t group)
{
	return rn_units_length(b->s->group[group].ranks);
}

/* Sets the members of each node. They are its doers if it has any, and otherwise those of its
 * parent. */
static int spread_members(struct rn_outline_build *b, const struct rn_count_variants *family,
			  uint64_t streams, struct rn_piece *list)
{
	int rc = RN_OK;

	for (struct rn_piece *p = list; p && rc == RN_OK; p = p->next) {
		p->streams = p->doers ? p->doing : streams;
		p->members = p->last_member = rn_new(b->mem, struct rn_members, 1);
		if (!p->members)
			return RN_E_NOMEM;
		p->members->family = p->doers ? p->doers : family;
		rc = spread_members(b, p->members->family, p->streams, p->child);
	}
	return rc;
}

static int make_tree(struct rn_outline_build *b, struct rn_piece *t)
{
	struct rn_piece *held;
	int rc;

	b->left = b->all_left < RN_OUTLINE_PARTS ? b->all_left : RN_OUTLINE_PARTS;
	b->all_left -= b->left;
	rc = rn_outline_expand(b, b->s->group[t->doers->group].root, &t->child);
	b->all_left += b->left;
	if (rc == RN_OK)
		rc = rn_outline_nest(b, &t->child);
	if (rc < 0)
		return rc;
	held = rn_outline_find_counted(t->child);
	for (const struct rn_count_variants *f = t->doers; held && f && rc == RN_OK; f = f->next)
		rc = rn_outline_count(b, f->group, held);
	return rc;
}

static int finish_tree(struct rn_outline_build *b, struct rn_piece *t)
{
	struct rn_weight sum = { 0 };

	t->kind = RN_PIECE_LOOP;
	t->count = 1;
	rn_outline_weigh(b, t, t->doing, &sum);
	collapse(&t->child);
	return spread_members(b, NULL, 0, t);
}

/* Assigns stream groups with the same start rule to one tree. They differ only in elastic
 * counts. */
static int find_families(struct rn_outline_build *b, struct rn_piece *tree, uint32_t *trees)
{
	const struct rn_streams *s = b->s;
	uint32_t *family = rn_new(b->scratch, uint32_t, (size_t)rn_rules_count(s->rules) + 1);
	int rc = family ? RN_OK : RN_E_NOMEM;

	*trees = 0;
	for (uint32_t g = 0; g < s->groups && rc == RN_OK; g++) {
		uint32_t *f = &family[s->group[g].root]; /* index of the tree + 1; 0: none */
		struct rn_piece *t;

		if (rn_streams_length(s, g) == 0)
			continue;
		if (!*f)
			*f = ++*trees;
		t = &tree[*f - 1];
		t->doing += streams_of(b, g);
		rc = rn_count_variants_add(b->mem, &t->doers, &t->last_doer, g);
	}
	return rc;
}

/* Sums up a stream group whose structure exceeds the limits of a tree: one rest. */
static int sum_up_tree(struct rn_outline_build *b, struct rn_piece *t)
{
	struct rn_weight w;
	int rc = rn_outline_weigh_stream(b, t->doers->group, &w);

	if (rc == RN_OK)
		rc = rn_outline_rest(b, &w, &t->child);
	return rc == RN_OK ? finish_tree(b, t) : rc;
}

/* Creates a separate summed-up tree for each stream group of tree t, because their lengths
 * differ. */
static int sum_up_family(struct rn_outline_build *b, struct rn_piece *tree, uint32_t t,
			 uint32_t *trees)
{
	struct rn_count_variants *f = tree[t].doers->next;
	int rc = RN_OK;

	tree[t].doers->next = NULL;
	for (struct rn_count_variants *next; f && rc == RN_OK; f = next) {
		struct rn_piece *own = &tree[(*trees)++];

		next = f->next;
		f->next = NULL;
		own->doers = f;
		own->doing = streams_of(b, f->group);
		tree[t].doing -= own->doing;
		rc = sum_up_tree(b, own);
	}
	return rc == RN_OK ? sum_up_tree(b, &tree[t]) : rc;
}

static int make_trees(struct rn_outline_build *b, struct rn_piece *tree, uint32_t *trees)
{
	int rc = find_families(b, tree, trees);

	for (uint32_t i = 0, n = *trees; i < n && rc == RN_OK; i++) {
		rc = make_tree(b, &tree[i]);
		if (rc == RN_E_RANGE)
			rc = sum_up_family(b, tree, i, trees);
		else if (rc == RN_OK)
			rc = finish_tree(b, &tree[i]);
	}
	return rc;
}

/* Removes trees without nodes: their streams have no calls. */
static void drop_empty(struct rn_outline *o)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < o->trees; i++)
		if (o->tree[i].child)
			o->tree[kept++] = o->tree[i];
	o->trees = kept;
}

static int by_streams(const void *a, const void *b)
{
	const struct rn_piece *x = a, *y = b;

	if (x->streams != y->streams)
		return x->streams < y->streams ? 1 : -1;
	return x->doers->group < y->doers->group ? -1 : 1;
}

/* ---- */

int rn_outline(const struct rn_streams *s, const struct rn_outline_sig *sig, struct rn_arena *mem,
	       struct rn_arena *scratch, struct rn_outline *out)
{
	uint32_t loops = rn_loopset_count(rn_streams_loops(s));
	struct rn_outline_build b = { .s = s,
				      .sig = sig,
				      .mem = mem,
				      .scratch = scratch,
				      .sigs = rn_sigs_count(s->sigs),
				      .all_left = ALL_PARTS,
				      .runs_left = ALL_RUNS };
	int rc;

	b.counts = rn_new(scratch, struct rn_outline_counts, (size_t)loops + 1);
	*out = (struct rn_outline){ .tree = rn_new(mem, struct rn_piece, (size_t)s->groups + 1) };
	if (!b.counts || !out->tree || rn_outline_weigh_rules(&b) < 0)
		return RN_E_NOMEM;
	rc = make_trees(&b, out->tree, &out->trees);
	drop_empty(out);
	if (rc == RN_OK)
		rc = rn_trees_join(out->tree, &out->trees, mem, scratch);
	if (rc == RN_OK)
		qsort(out->tree, out->trees, sizeof(*out->tree), by_streams);
	return rc;
}
