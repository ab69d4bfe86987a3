/* recorded.c - see recorded.h. */
#include "file/recorded.h"

#include "base/arena.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "file/bundle.h"
#include "grammar/grammar.h"
#include "identity/comms.h"
#include "merge/merge.h"

int rn_recorded_slots(const struct rn_recorded *r, struct rn_peers *p)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < r->streams && rc == RN_OK; i++)
		rc = rn_canonical_collect(&r->stream[i].calls, p);
	return rc;
}

/* What is made of one stream. */
struct leaf {
	const struct rn_recorded_stream *s; /* NULL: a thread that this rank does not have */
	struct rn_stream_set part;
	struct rn_sigs *sigs;
	struct rn_values values;
	uint32_t calls, *map;
};

static int make_leaf(struct leaf *l, struct rn_bundle *b, const struct rn_choices *choices,
		     uint64_t number, struct rn_arena *scratch)
{
	const struct rn_rules *rules = l->s ? l->s->rules : NULL;
	const struct rn_grammar *g = l->s ? l->s->grammar : rn_grammar_new(scratch, NULL);
	struct rn_canonical_out out = {
		.tables = b->comms, .values = &l->values, .stream = number, .lost = &b->tally.lost
	};
	int rc = rn_values_init(&l->values, scratch);

	l->calls = l->s ? rn_sigs_count(l->s->calls.words) : 0;
	l->sigs = rn_sigs_new(scratch);
	l->map = rn_new(scratch, uint32_t, (size_t)l->calls + 1);
	if (!l->sigs || !l->map || (!g && !rules) || rc < 0)
		return RN_E_NOMEM;
	out.sigs = l->sigs;
	out.map = l->map;
	if (l->s)
		rc = rn_canonical_write(&l->s->calls, choices, &out);
	if (rc == RN_OK && rules)
		return rn_part_leaf_rules(&l->part, b->mem, number, l->sigs, l->map, rules,
					  l->s->root, scratch);
	return rc == RN_OK
		       ? rn_part_leaf_mapped(&l->part, b->mem, number, l->sigs, l->map, g, scratch)
		       : rc;
}

/* The stream's statistics, under the numbers that its calls have in the bundle. */
static int add_times(struct rn_bundle *b, const struct leaf *l, struct rn_arena *scratch)
{
	uint32_t *to = rn_new(scratch, uint32_t, (size_t)l->calls + 1);

	if (!to)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < l->calls; i++)
		if (rn_sigs_copy(b->part.sigs, l->sigs, l->map[i], &to[i]) < 0)
			return RN_E_NOMEM;
	return rn_times_merge(b->times, l->s->calls.times, to);
}

static int add_values(struct rn_bundle *b, const struct leaf *l, struct rn_arena *scratch)
{
	uint32_t n = rn_sigs_count(l->sigs), *to = rn_new(scratch, uint32_t, (size_t)n + 1);

	if (!to)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (rn_sigs_copy(b->part.sigs, l->sigs, i, &to[i]) < 0)
			return RN_E_NOMEM;
	return rn_values_merge(&b->values, &l->values, to);
}

static int add_stream(struct rn_bundle *b, struct leaf *l, bool first, struct rn_arena *scratch)
{
	int rc = RN_OK;

	if (l->s && l->s->moments.chunks)
		rc = rn_moment_list_add(&b->moments, l->part.first, &l->s->moments);
	if (rc == RN_OK && l->s && l->s->order.chunks)
		rc = rn_order_list_add(&b->order, l->part.first, &l->s->order, l->s->calls.who);
	if (rc < 0)
		return rc;

	if (first)
		b->part = l->part;
	else
		rc = rn_part_merge(&b->part, &l->part, scratch);
	if (rc == RN_OK && l->s && b->times)
		rc = add_times(b, l, scratch);
	if (rc == RN_OK && l->values.use.n)
		rc = add_values(b, l, scratch);
	if (l->s)
		b->tally.lost += l->s->lost;
	return rc;
}

int rn_recorded_bundle(const struct rn_recorded *r, const struct rn_choices *choices,
		       uint32_t threads, struct rn_arena *mem, struct rn_arena *scratch,
		       struct rn_bundle *out)
{
	uint64_t number = (uint64_t)r->who.rank * threads;
	int rc = rn_bundle_init(out, mem, r->times);

	for (uint32_t k = 0; k < threads && rc == RN_OK; k++) {
		struct leaf l = { .s = k < r->streams ? &r->stream[k] : NULL };

		rc = make_leaf(&l, out, choices, number + k, scratch);
		if (rc == RN_OK)
			rc = add_stream(out, &l, k == 0, scratch);
	}
	if (out->times && r->scale)
		rn_times_settle(out->times, r->scale);
	if (rc == RN_OK && out->times)
		rc = rn_times_clock(out->times, (uint64_t)r->who.rank, r->offset, r->drift);
	return rc == RN_OK ? r->entries(r->who.arg, out->comms) : rc;
}
