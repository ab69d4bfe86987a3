/* wait_graph.c - see wait_graph.h. */
#include "analysis/wait_graph.h"

#include "base/arena.h"

#include <string.h>

struct judge {
	const struct rn_waiter *waiter;
	uint64_t n;
	bool *goes;    /* by rank: it can continue */
	uint64_t *at;  /* by rank: mark of the walk + step in it; 0: not visited */
	uint64_t *way; /* ranks of the current walk */
	uint64_t *best, best_n;
};

/* ---- ranks that can continue ---- */

static bool set_goes(const struct judge *j, const struct rn_wait_set *s)
{
	for (uint64_t i = 0; i < s->n; i++) {
		bool goes = s->rank[i] >= j->n || j->goes[s->rank[i]];

		if (goes != s->all)
			return goes;
	}
	return s->all || s->n == 0;
}

/* Makes one pass over the ranks. Returns whether a rank changed. Consecutive ranks usually share a
 * set, which is then evaluated once. */
static bool spread(struct judge *j, bool down)
{
	const struct rn_wait_set *last = NULL;
	bool changed = false, answer = false;

	for (uint64_t i = 0; i < j->n; i++) {
		uint64_t r = down ? j->n - 1 - i : i;
		const struct rn_waiter *w = &j->waiter[r];

		if (j->goes[r] || w->gone || !w->set)
			continue;
		if (w->set != last || changed)
			answer = set_goes(j, w->set);
		last = w->set;
		changed |= answer;
		j->goes[r] = answer;
	}
	return changed;
}

static void find_who_goes(struct judge *j)
{
	bool down = false;

	for (uint64_t r = 0; r < j->n; r++)
		j->goes[r] = !j->waiter[r].gone && !j->waiter[r].set;
	while (spread(j, down))
		down = !down;
}

/* ---- cycles ---- */

/* A stuck rank that r waits for; n: none. Prefers a rank whose own set has one member, because a
 * cycle through it is certain. */
static uint64_t step(const struct judge *j, uint64_t r)
{
	const struct rn_wait_set *s = j->waiter[r].set;
	uint64_t found = j->n;

	for (uint64_t i = 0; s && i < s->n; i++) {
		uint64_t to = s->rank[i];

		if (to >= j->n || j->goes[to] || j->waiter[to].gone)
			continue;
		if (j->waiter[to].set->n == 1)
			return to;
		if (found == j->n || found == r)
			found = to;
	}
	return found;
}

static void keep_circle(struct judge *j, const uint64_t *circle, uint64_t n)
{
	uint64_t lowest = 0;

	if (j->best_n && j->best_n <= n)
		return;
	for (uint64_t i = 1; i < n; i++)
		if (circle[i] < circle[lowest])
			lowest = i;
	for (uint64_t i = 0; i < n; i++)
		j->best[i] = circle[(lowest + i) % n];
	j->best_n = n;
}

/* Visits every rank once. Marks distinguish the current walk from earlier ones. */
static void find_circle(struct judge *j)
{
	uint64_t mark = 1;

	for (uint64_t r = 0; r < j->n; r++) {
		uint64_t at = r, n = 0;

		if (j->goes[r] || j->waiter[r].gone || j->at[r])
			continue;
		while (at < j->n && !j->at[at]) {
			j->at[at] = mark + n;
			j->way[n++] = at;
			at = step(j, at);
		}
		if (at < j->n && j->at[at] >= mark)
			keep_circle(j, j->way + (j->at[at] - mark), n - (j->at[at] - mark));
		mark += n;
	}
}

/* ---- */

static void list_roots(const struct judge *j, bool *wanted, struct rn_verdict *out, uint64_t *root)
{
	const struct rn_wait_set *last = NULL;

	for (uint64_t r = 0; r < j->n; r++) {
		const struct rn_wait_set *s = j->waiter[r].gone ? NULL : j->waiter[r].set;

		out->waiting += s != NULL;
		if (!s || s == last)
			continue;
		for (uint64_t i = 0; i < s->n; i++)
			if (s->rank[i] < j->n)
				wanted[s->rank[i]] = true;
		last = s;
	}
	for (uint64_t r = 0; r < j->n; r++)
		if (wanted[r] && (j->waiter[r].gone || !j->waiter[r].set))
			root[out->root_n++] = r;
	out->root = root;
}

static void list_stuck(const struct judge *j, struct rn_verdict *out, uint64_t *stuck)
{
	for (uint64_t r = 0; r < j->n; r++)
		if (!j->goes[r] && !j->waiter[r].gone)
			stuck[out->stuck_n++] = r;
	out->stuck = stuck;
}

int rn_waits_judge(const struct rn_waiter *waiter, uint64_t n, struct rn_arena *mem,
		   struct rn_verdict *out)
{
	struct judge j = { .waiter = waiter, .n = n };
	uint64_t *root = rn_new(mem, uint64_t, n + 1), *stuck = rn_new(mem, uint64_t, n + 1);
	bool *wanted = rn_new(mem, bool, n + 1);

	*out = (struct rn_verdict){ 0 };
	j.goes = rn_new(mem, bool, n + 1);
	j.at = rn_new(mem, uint64_t, n + 1);
	j.way = rn_new(mem, uint64_t, n + 1);
	j.best = rn_new(mem, uint64_t, n + 1);
	if (!root || !stuck || !wanted || !j.goes || !j.at || !j.way || !j.best)
		return RN_E_NOMEM;
	find_who_goes(&j);
	find_circle(&j);
	list_roots(&j, wanted, out, root);
	list_stuck(&j, out, stuck);
	out->circle = j.best;
	out->circle_n = j.best_n;
	return RN_OK;
}
