/* merged_streams.c - see merged_streams.h. */
#include "model/merged_streams.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/intern.h"
#include "base/saturate.h"
#include "rules/rules.h"
#include "rules/symbol_counts.h"
#include "series/units.h"

static int index_group(struct rn_streams *s, uint32_t k, struct rn_err *err)
{
	struct rn_stream_group *g = &s->group[k];
	uint64_t n = rn_units_length(g->ranks);
	int64_t first, last;

	if (g->root >= rn_rules_count(s->rules))
		return rn_err_set(err, RN_E_DATA, "group %u: no rule %u", k, g->root);
	if (n == 0 || n > s->ranks || !rn_units_monotone(g->ranks))
		return rn_err_set(err, RN_E_DATA, "group %u: not a ranklist", k);
	first = rn_units_at(g->ranks, 0);
	last = rn_units_at(g->ranks, n - 1);
	if (first < 0 || (uint64_t)last >= s->ranks)
		return rn_err_set(err, RN_E_DATA, "group %u: ranks %" PRId64 " to %" PRId64, k,
				  first, last);
	g->first = (uint64_t)first;
	g->last = (uint64_t)last;
	g->reach = k && s->group[k - 1].reach > g->last ? s->group[k - 1].reach : g->last;
	if (k && s->group[k - 1].first >= g->first)
		return rn_err_set(err, RN_E_DATA, "group %u: out of order", k);
	return RN_OK;
}

int rn_streams_index(struct rn_streams *s, struct rn_err *err)
{
	uint64_t n = 0;

	if (s->ranks == 0 || s->ranks > RN_RANKS_MAX)
		return rn_err_set(err, RN_E_DATA, "%" PRIu64 " ranks", s->ranks);
	for (uint32_t k = 0; k < s->groups; k++) {
		int rc = index_group(s, k, err);

		if (rc < 0)
			return rc;
		n += rn_units_length(s->group[k].ranks); /* no overflow: at most 2^32 times 2^31 */
	}
	if (n != s->ranks)
		return rn_err_set(err, RN_E_DATA, "groups hold %" PRIu64 " ranks of %" PRIu64, n,
				  s->ranks);
	return RN_OK;
}

/* Returns the number of groups that begin at or before the rank. */
static uint32_t groups_from(const struct rn_streams *s, uint64_t rank)
{
	struct rn_bisect b = { 0, s->groups, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, s->group[b.mid].first <= rank);
	return (uint32_t)b.lo;
}

static bool holds(const struct rn_stream_group *g, uint64_t rank)
{
	uint64_t i;

	if (rank > g->last || rn_units_find(g->ranks, (int64_t)rank, &i) < 0)
		return false;
	return (uint64_t)rn_units_at(g->ranks, i) == rank;
}

int rn_streams_find(const struct rn_streams *s, uint64_t rank, uint32_t *group)
{
	for (uint32_t k = groups_from(s, rank); k-- > 0 && s->group[k].reach >= rank;) {
		if (holds(&s->group[k], rank)) {
			*group = k;
			return RN_OK;
		}
	}
	return RN_E_RANGE;
}

struct rn_flow rn_streams_flow(const struct rn_streams *s, uint32_t group)
{
	const struct rn_stream_loops *l = s->loops;
	struct rn_flow f = { .rules = s->rules, .root = s->group[group].root };

	f.length = rn_streams_length(s, group);
	if (l) {
		f.loops = l->set;
		f.series = l->series + (size_t)group * rn_loopset_count(l->set);
	}
	return f;
}

uint64_t rn_streams_length(const struct rn_streams *s, uint32_t group)
{
	return s->loops ? s->loops->length[group] : rn_rules_length(s->rules, s->group[group].root);
}

const struct rn_loopset *rn_streams_loops(const struct rn_streams *s)
{
	return s->loops ? s->loops->set : NULL;
}

const uint64_t *rn_streams_rounds(const struct rn_streams *s, uint32_t group)
{
	const struct rn_stream_loops *l = s->loops;

	return l ? l->rounds + (size_t)group * rn_loopset_count(l->set) : NULL;
}

uint64_t rn_streams_calls(const struct rn_streams *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->groups; k++)
		rn_sat_add(&sum,
			   rn_sat_mul(rn_units_length(s->group[k].ranks), rn_streams_length(s, k)));
	return sum;
}

int rn_streams_counts(const struct rn_streams *s, struct rn_arena *scratch, uint64_t *count)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	const struct rn_loopset *loops = rn_streams_loops(s);
	uint32_t n = rn_loopset_count(loops);
	uint64_t *times = rn_new(scratch, uint64_t, (size_t)rn_rules_count(s->rules) + 1);
	uint64_t *rounds = rn_new(scratch, uint64_t, (size_t)n + 1);

	if (!times || !rounds)
		return RN_E_NOMEM;
	memset(count, 0, rn_sigs_count(s->sigs) * sizeof(*count));
	for (uint32_t k = 0; k < s->groups; k++) {
		uint64_t ranks = rn_units_length(s->group[k].ranks);

		times[s->group[k].root] += ranks;
		for (uint32_t i = 0; i < n; i++)
			rn_sat_add(&rounds[i], rn_sat_mul(ranks, rn_streams_rounds(s, k)[i]));
	}
	rn_rules_counts(s->rules, loops, rounds, times, count);
	rn_arena_rewind(scratch, mark);
	return RN_OK;
}

/* Restores the heap order below heap[i]. The smallest rank is at the top. */
static void sift_down(struct rn_rank_next *heap, uint32_t n, uint32_t i)
{
	struct rn_rank_next x = heap[i];
	uint64_t child;

	while ((child = 2 * (uint64_t)i + 1) < n) {
		if (child + 1 < n && heap[child + 1].rank < heap[child].rank)
			child++;
		if (heap[child].rank >= x.rank)
			break;
		heap[i] = heap[child];
		i = (uint32_t)child;
	}
	heap[i] = x;
}

/* Returns the index of the first rank of the group at or after `from`; the number of ranks if there
 * is no such rank. */
static uint64_t index_from(const struct rn_stream_group *g, uint64_t from)
{
	uint64_t i;

	if (from <= g->first)
		return 0;
	if (rn_units_find(g->ranks, (int64_t)from - 1, &i) < 0)
		return 0;
	return i + 1;
}

int rn_rank_iter_init(struct rn_rank_iter *it, const struct rn_streams *s, uint64_t from,
		      struct rn_arena *mem)
{
	*it = (struct rn_rank_iter){ .s = s };
	it->heap = rn_new(mem, struct rn_rank_next, (size_t)s->groups + 1);
	if (!it->heap)
		return RN_E_NOMEM;
	if (from > s->ranks)
		from = s->ranks;
	for (uint32_t k = 0; k < s->groups; k++) {
		const struct rn_units *u = s->group[k].ranks;
		uint64_t i = index_from(&s->group[k], from);

		if (i < rn_units_length(u))
			it->heap[it->n++] =
				(struct rn_rank_next){ (uint64_t)rn_units_at(u, i), i, k };
	}
	for (uint32_t i = it->n / 2; i-- > 0;)
		sift_down(it->heap, it->n, i);
	return RN_OK;
}

bool rn_rank_iter_next(struct rn_rank_iter *it, uint64_t *rank, uint32_t *group)
{
	struct rn_rank_next *top = it->heap;
	const struct rn_units *u;

	if (it->n == 0)
		return false;
	*rank = top->rank;
	*group = top->group;
	u = it->s->group[top->group].ranks;
	if (++top->index < rn_units_length(u))
		top->rank = (uint64_t)rn_units_at(u, top->index);
	else
		*top = it->heap[--it->n];
	if (it->n)
		sift_down(it->heap, it->n, 0);
	return true;
}

static int check_ranks(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_rank_iter it;
	uint64_t rank, next = 0;
	uint32_t group;

	if (rn_rank_iter_init(&it, s, 0, scratch) < 0)
		return rn_err_nomem(err);
	for (; rn_rank_iter_next(&it, &rank, &group); next++) {
		if (rank < next)
			return rn_err_set(err, RN_E_DATA, "rank %" PRIu64 " is there twice", rank);
		if (rank > next)
			return rn_err_set(err, RN_E_DATA, "rank %" PRIu64 " is in no group", next);
	}
	if (next != s->ranks)
		return rn_err_set(err, RN_E_DATA, "rank %" PRIu64 " is in no group", next);
	return RN_OK;
}

/* Flags of the items that are reachable from the groups, one byte each. */
struct used {
	unsigned char *rule, *sig, *literal, *loop;
};

static bool mark_sig(const struct rn_streams *s, struct used *u, uint32_t t)
{
	if (t >= rn_sigs_count(s->sigs))
		return false;
	u->sig[t] = 1;
	return true;
}

static bool mark_literal(const struct rn_streams *s, struct used *u, uint32_t lit)
{
	uint64_t n;
	const uint32_t *t = rn_rules_literal(s->rules, lit, &n);

	u->literal[lit] = 1;
	for (uint64_t i = 0; i < n; i++)
		if (!mark_sig(s, u, t[i]))
			return false;
	return true;
}

static bool mark_item(const struct rn_streams *s, struct used *u, const struct rn_item *it)
{
	uint32_t symbols = rn_loopset_symbols(rn_streams_loops(s));

	if (it->kind == RN_KIND_TERMINAL && it->id >= symbols) {
		u->loop[it->id - symbols] = 1;
		return true;
	}
	if (it->kind == RN_KIND_TERMINAL)
		return mark_sig(s, u, it->id);
	if (it->kind == RN_KIND_LITERAL)
		return mark_literal(s, u, it->id);
	u->rule[it->id] = 1;
	return true;
}

static uint32_t first_unused(const unsigned char *used, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && used[i])
		i++;
	return i;
}

static int mark_rule(const struct rn_streams *s, struct used *u, uint32_t r, struct rn_err *err)
{
	struct rn_body b = rn_rules_body(s->rules, r);

	if (!u->rule[r])
		return rn_err_set(err, RN_E_DATA, "rule %u is not used", r);
	for (uint32_t i = 0; i < b.n; i++)
		if (!mark_item(s, u, &b.item[i]))
			return rn_err_set(err, RN_E_DATA, "rule %u: no such signature", r);
	return RN_OK;
}

static int mark_loop(const struct rn_streams *s, struct used *u, uint32_t k, struct rn_err *err)
{
	struct rn_item round = rn_loopset_round(s->loops->set, k);

	if (!u->loop[k])
		return rn_err_set(err, RN_E_DATA, "loop %u is not used", k);
	mark_item(s, u, &round);
	return RN_OK;
}

/* Marks in one pass from the top, which visits users before the items that they use. */
static int mark_all(const struct rn_streams *s, struct used *u, struct rn_err *err)
{
	const struct rn_loopset *loops = rn_streams_loops(s);
	uint32_t rules = rn_rules_count(s->rules);
	int rc = RN_OK;

	for (uint32_t k = 0; k < s->groups; k++) {
		if (!loops && u->rule[s->group[k].root] == 2)
			return rn_err_set(err, RN_E_DATA, "rule %u is the stream of two groups",
					  s->group[k].root);
		u->rule[s->group[k].root] = 2;
	}
	for (uint32_t i = rules + rn_loopset_count(loops); i-- > 0 && rc == RN_OK;) {
		uint32_t id = rn_loopset_order(loops, i);

		rc = id < rules ? mark_rule(s, u, id, err) : mark_loop(s, u, id - rules, err);
	}
	return rc;
}

static int check_used(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err)
{
	uint32_t sigs = rn_sigs_count(s->sigs), lits = rn_rules_literals(s->rules), i;
	uint32_t loops = rn_loopset_count(rn_streams_loops(s));
	struct used u = {
		.rule = rn_new(scratch, unsigned char, (size_t)rn_rules_count(s->rules) + 1),
		.sig = rn_new(scratch, unsigned char, (size_t)sigs + 1),
		.literal = rn_new(scratch, unsigned char, (size_t)lits + 1),
		.loop = rn_new(scratch, unsigned char, (size_t)loops + 1),
	};
	int rc;

	if (!u.rule || !u.sig || !u.literal || !u.loop)
		return rn_err_nomem(err);
	rc = mark_all(s, &u, err);
	if (rc < 0)
		return rc;
	i = first_unused(u.sig, sigs);
	if (i < sigs)
		return rn_err_set(err, RN_E_DATA, "signature %u is not used", i);
	i = first_unused(u.literal, lits);
	if (i < lits)
		return rn_err_set(err, RN_E_DATA, "literal run %u is not used", i);
	return RN_OK;
}

static int check_tables(const struct rn_streams *s, struct rn_err *err)
{
	if (!rn_sigs_check(s->sigs))
		return rn_err_set(err, RN_E_DATA, "the signature table is inconsistent");
	if (!rn_rules_check(s->rules))
		return rn_err_set(err, RN_E_DATA, "the rules are inconsistent");
	return RN_OK;
}

int rn_streams_check(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	int rc = check_tables(s, err);

	if (rc == RN_OK)
		rc = check_used(s, scratch, err);
	if (rc == RN_OK)
		rc = check_ranks(s, scratch, err);
	rn_arena_rewind(scratch, mark);
	return rc;
}
