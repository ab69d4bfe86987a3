/* loop_fold_search.c - see loop_fold_search.h. */
#include "merge/loop_fold_search.h"

#include "base/arena.h"
#include "base/saturate.h"
#include "rules/rules.h"

#define MANY   (UINT32_MAX - 1)
#define OUTER  (UINT32_MAX - 2) /* start or end of a stream, or a literal run */
#define RARELY 4u               /* a terminal with fewer occurrences is not an option */
#define SELDOM 64u              /* nor is one in less than 1/SELDOM of the iterations */

static void meet(struct rn_fold_neighbours *n, uint32_t a, uint32_t b)
{
	if (a < OUTER)
		n->of[a].behind =
			n->of[a].behind == RN_FOLD_NONE || n->of[a].behind == b ? b : MANY;
	if (b < OUTER)
		n->of[b].before =
			n->of[b].before == RN_FOLD_NONE || n->of[b].before == a ? a : MANY;
}

static uint32_t end_of(const struct rn_item *it, const uint32_t *ends)
{
	if (it->kind == RN_KIND_TERMINAL)
		return it->id;
	return it->kind == RN_KIND_RULE ? ends[it->id] : OUTER;
}

static void meet_in(struct rn_fold_neighbours *n, uint32_t rule)
{
	struct rn_body body = rn_rules_body(n->s->rules, rule);

	n->first[rule] = n->last[rule] = OUTER;
	for (uint32_t i = 0; i < body.n; i++) {
		const struct rn_item *it = &body.item[i];

		if (it->kind == RN_KIND_RULE && it->count > 1)
			meet(n, n->last[it->id], n->first[it->id]);
		if (i)
			meet(n, end_of(it - 1, n->last), end_of(it, n->first));
	}
	if (body.n) {
		n->first[rule] = end_of(&body.item[0], n->first);
		n->last[rule] = end_of(&body.item[body.n - 1], n->last);
	}
}

static void weigh(struct rn_fold_neighbours *n)
{
	for (uint32_t g = 0; g < n->s->groups; g++) {
		n->weight[n->s->root[g]]++;
		meet(n, OUTER, n->first[n->s->root[g]]);
		meet(n, n->last[n->s->root[g]], OUTER);
	}
	for (uint32_t r = rn_rules_count(n->s->rules); r-- > 0;) {
		struct rn_body body = rn_rules_body(n->s->rules, r);

		for (uint32_t i = 0; i < body.n; i++) {
			const struct rn_item *it = &body.item[i];
			uint64_t *to = it->kind == RN_KIND_RULE       ? &n->weight[it->id]
				       : it->kind == RN_KIND_TERMINAL ? &n->of[it->id].occurs
								      : NULL;

			if (to)
				rn_sat_add(to, rn_sat_mul(n->weight[r], it->count));
		}
	}
}

bool rn_fold_find_neighbours(struct rn_fold_neighbours *n, const struct rn_fold_state *s,
			     struct rn_arena *scratch)
{
	size_t rules = (size_t)rn_rules_count(s->rules) + 1, terminals = s->sigs + s->loops;

	n->s = s;
	n->of = rn_new(scratch, struct rn_fold_around, terminals + 1);
	n->first = rn_new(scratch, uint32_t, rules);
	n->last = rn_new(scratch, uint32_t, rules);
	n->weight = rn_new(scratch, uint64_t, rules);
	if (!n->of || !n->first || !n->last || !n->weight)
		return false;
	for (size_t t = 0; t < terminals; t++)
		n->of[t].before = n->of[t].behind = RN_FOLD_NONE;
	for (uint32_t r = 0; r + 1 < rules; r++)
		meet_in(n, r);
	weigh(n);
	return true;
}

/* True if the terminal is an untried option with this anchor. */
static bool is_option(const struct rn_fold_neighbours *n, uint32_t t, uint32_t anchor, bool behind)
{
	uint64_t occurs = n->of[t].occurs;

	return anchor < OUTER && anchor != t && anchor != n->s->tried[2 * (size_t)t + behind] &&
	       occurs >= RARELY && n->of[anchor].occurs > occurs &&
	       n->of[anchor].occurs / SELDOM <= occurs;
}

#define CHEAP (RN_FOLD_WASTE / 64)

struct rn_fold_option rn_fold_next_option(const struct rn_fold_neighbours *n)
{
	struct rn_fold_option best = { RN_FOLD_NONE, RN_FOLD_NONE, false };
	uint64_t least = UINT64_MAX;

	for (uint32_t t = 0; t < n->s->sigs + n->s->loops; t++) {
		const struct rn_fold_around *a = &n->of[t];
		bool behind = is_option(n, t, a->before, true);
		uint32_t anchor = behind ? a->before : a->behind;
		uint64_t both;

		if (!behind && !is_option(n, t, anchor, false))
			continue;
		both = n->of[anchor].occurs;
		rn_sat_add(&both, a->occurs);
		both = both < CHEAP ? 0 : both;
		if (both < least) {
			least = both;
			best = (struct rn_fold_option){ t, anchor, behind };
		}
	}
	return best;
}
