/* stream_set.c - see stream_set.h: initialization and merge. The last pass is stream_set_finish.c.
 */
#include "merge/stream_set.h"

#include <assert.h>

#include "base/arena.h"
#include "base/intern.h"
#include "rules/rules.h"

static uint64_t run_last(const struct rn_run *r)
{
	return r->first + r->step * (r->n - 1);
}

/* Appends run q to run p if the steps are compatible. q follows p. */
static bool run_extend(struct rn_run *p, const struct rn_run *q)
{
	uint64_t gap = q->first - run_last(p);

	if (p->n > 1 && p->step != gap)
		return false;
	if (q->n > 1 && q->step != gap)
		return false;
	p->step = gap;
	p->n += q->n;
	return true;
}

/* Appends a run. Capacity for it must have been reserved. */
static void ranks_push(struct rn_ranks *l, const struct rn_run *q)
{
	assert(l->n == 0 || q->first > run_last(&l->run[l->n - 1]));
	if (l->n && run_extend(&l->run[l->n - 1], q))
		return;
	assert(l->n < l->cap);
	l->run[l->n++] = *q;
}

static bool reserve_runs(struct rn_ranks *l, struct rn_arena *mem, uint64_t more)
{
	return RN_GROW(mem, l->run, l->n + more, l->cap);
}

static void ranks_join(struct rn_ranks *to, const struct rn_ranks *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		ranks_push(to, &from->run[i]);
}

/* Reserves capacity for `more` groups, and for their roots, which may be any rule of the pool. */
static bool reserve_groups(struct rn_stream_set *p, uint32_t more)
{
	return RN_GROW(p->mem, p->group, (uint64_t)p->groups + more, p->group_cap) &&
	       RN_GROW(p->mem, p->group_of, rn_rules_count(p->rules), p->group_of_cap);
}

static void add_group(struct rn_stream_set *p, uint32_t root, struct rn_ranks ranks)
{
	assert(p->groups < p->group_cap && p->group_of[root] == 0);
	p->group[p->groups++] = (struct rn_group){ root, ranks };
	p->group_of[root] = p->groups;
}

/* Copies the signatures; map[i] becomes the new id of signature i. */
static int copy_sigs(struct rn_sigs *to, const struct rn_sigs *from, uint32_t *map)
{
	for (uint32_t i = 0; i < rn_sigs_count(from); i++)
		if (rn_sigs_copy(to, from, i, &map[i]) < 0)
			return RN_E_NOMEM;
	return RN_OK;
}

int rn_part_empty(struct rn_stream_set *p, struct rn_arena *mem)
{
	*p = (struct rn_stream_set){ .mem = mem,
				     .sigs = rn_sigs_new(mem),
				     .rules = rn_rules_new(mem) };
	return p->sigs && p->rules ? RN_OK : RN_E_NOMEM;
}

int rn_part_streams(struct rn_stream_set *p, uint32_t root, uint64_t first, uint64_t n)
{
	struct rn_run run = { first, n > 1, n };
	struct rn_ranks ranks = { 0 };

	if (!reserve_runs(&ranks, p->mem, 1) || !reserve_groups(p, 1))
		return RN_E_NOMEM;
	ranks_push(&ranks, &run);
	add_group(p, root, ranks);
	p->ranks = n;
	p->first = first;
	p->last = first + n - 1;
	return RN_OK;
}

/* The destination of a group of b: its root in a, and capacity for its ranks if the group is new in
 * a. */
struct plan {
	uint32_t root;
	struct rn_ranks ranks;
};

static struct rn_group *group_with_root(const struct rn_stream_set *p, uint32_t root)
{
	uint32_t k = root < p->group_of_cap ? p->group_of[root] : 0;

	return k ? &p->group[k - 1] : NULL;
}

/* Performs every step that can fail, without a visible effect. */
static int prepare(struct rn_stream_set *a, const struct rn_stream_set *b, struct rn_arena *scratch,
		   struct plan *plan)
{
	uint32_t *map = rn_new(scratch, uint32_t, (size_t)rn_sigs_count(b->sigs) + 1);
	uint32_t *memo = rn_new_map(scratch, rn_rules_count(b->rules));
	uint32_t fresh = 0;

	if (!map || !memo || copy_sigs(a->sigs, b->sigs, map) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < b->groups; i++) {
		struct rn_group *old;
		int rc = rn_rules_import(a->rules, b->rules, b->group[i].root, map, memo,
					 &plan[i].root);

		if (rc < 0)
			return rc;
		old = group_with_root(a, plan[i].root);
		fresh += !old;
		if (!reserve_runs(old ? &old->ranks : &plan[i].ranks, a->mem, b->group[i].ranks.n))
			return RN_E_NOMEM;
	}
	return reserve_groups(a, fresh) ? RN_OK : RN_E_NOMEM;
}

static void commit(struct rn_stream_set *a, const struct rn_stream_set *b, struct plan *plan)
{
	for (uint32_t i = 0; i < b->groups; i++) {
		struct rn_group *old = group_with_root(a, plan[i].root);

		ranks_join(old ? &old->ranks : &plan[i].ranks, &b->group[i].ranks);
		if (!old)
			add_group(a, plan[i].root, plan[i].ranks);
	}
	a->first = a->ranks ? a->first : b->first;
	a->ranks += b->ranks;
	a->last = b->last;
}

int rn_part_merge(struct rn_stream_set *a, const struct rn_stream_set *b, struct rn_arena *scratch)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct plan *plan;
	int rc;

	if (a->ranks && b->first <= a->last)
		return RN_E_ARG;
	plan = rn_new(scratch, struct plan, b->groups);
	rc = plan ? prepare(a, b, scratch, plan) : RN_E_NOMEM;
	if (rc == RN_OK)
		commit(a, b, plan);
	rn_arena_rewind(scratch, mark);
	return rc;
}
