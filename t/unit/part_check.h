/* part_check.h - checks the invariants of merge/stream_set.h, for tests. */
#ifndef RN_T_PART_CHECK_H
#define RN_T_PART_CHECK_H

#include "base/intern.h"
#include "merge/stream_set.h"
#include "rules/rules.h"

static inline bool are_ranks_sound(const struct rn_ranks *l, uint64_t *n)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct rn_run *r = &l->run[i];

		if (r->n == 0 || (r->n > 1 && r->step == 0))
			return false;
		if (i &&
		    l->run[i - 1].first + l->run[i - 1].step * (l->run[i - 1].n - 1) >= r->first)
			return false;
		*n += r->n;
	}
	return l->n > 0;
}

static inline bool is_part_sound(const struct rn_stream_set *p)
{
	uint64_t ranks = 0;

	if (!rn_sigs_check(p->sigs) || !rn_rules_check(p->rules) || p->groups == 0)
		return false;
	for (uint32_t i = 0; i < p->groups; i++) {
		const struct rn_group *g = &p->group[i];

		if (g->root >= rn_rules_count(p->rules) || p->group_of[g->root] != i + 1)
			return false;
		if (!are_ranks_sound(&g->ranks, &ranks))
			return false;
		if (i && p->group[i - 1].ranks.run[0].first >= g->ranks.run[0].first)
			return false;
	}
	return ranks == p->ranks && p->group[0].ranks.run[0].first == p->first;
}

#endif
