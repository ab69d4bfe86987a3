/* process_trace.c - see process_trace.h. */
#include "merge/process_trace.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "merge/partial_trace.h"
#include "merge/stream_set.h"
#include "rules/rules.h"

int rn_recorded_slots(const struct rn_recorded *r, struct rn_peers *p)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < r->streams && rc == RN_OK; i++)
		rc = rn_canonical_collect(&r->stream[i].calls, p);
	return rc;
}

/* Adds the rules of a stream. map[i] is the signature of its call i. */
static int add_rules(struct rn_rules *rules, const struct rn_recorded_stream *s,
		     const uint32_t *map, struct rn_arena *scratch, uint32_t *root)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_rules *own = rn_rules_new(scratch);
	const struct rn_rules *from = s->rules ? s->rules : own;
	uint32_t rule = s->root, *memo = NULL;
	int rc = own && !s->rules ? rn_rules_seal(own, s->grammar, &rule) : RN_OK;

	if (own && rc == RN_OK)
		memo = rn_new_map(scratch, rn_rules_count(from));
	if (rc == RN_OK)
		rc = memo ? rn_rules_import(rules, from, rule, map, memo, root) : RN_E_NOMEM;
	rn_arena_rewind(scratch, mark);
	return rc;
}

/* Converts the calls of a stream to signatures, and adds its data to the bundle of the stream. */
static int convert(struct rn_bundle *leaf, const struct rn_recorded_stream *s,
		   const struct rn_choices *choices, uint64_t number, struct rn_bundle *to,
		   struct rn_arena *scratch)
{
	uint32_t *map = rn_new(scratch, uint32_t, (size_t)rn_sigs_count(s->calls.words) + 1);
	struct rn_canonical_out out = { .tables = to->comms,
					.map = map,
					.values = &leaf->values,
					.stream = number,
					.lost = &leaf->tally.lost };
	uint32_t root;
	int rc = rn_bundle_init(leaf, scratch, to->times != NULL);

	if (rc == RN_OK)
		rc = rn_part_empty(&leaf->part, to->mem);
	out.sigs = leaf->part.sigs;
	if (rc == RN_OK)
		rc = map ? rn_canonical_write(&s->calls, choices, &out) : RN_E_NOMEM;
	if (rc == RN_OK)
		rc = add_rules(leaf->part.rules, s, map, scratch, &root);
	if (rc == RN_OK)
		rc = rn_part_streams(&leaf->part, root, number, 1);
	return rc == RN_OK ? rn_bundle_add(leaf, s, map) : rc;
}

int rn_recorded_bundle(const struct rn_recorded *r, const struct rn_choices *choices,
		       uint32_t threads, struct rn_arena *mem, struct rn_arena *scratch,
		       struct rn_bundle *out)
{
	uint64_t number = (uint64_t)r->process.rank * threads;
	int rc = rn_bundle_init(out, mem, r->times);

	for (uint32_t k = 0; k < threads && rc == RN_OK; k++) {
		struct rn_bundle leaf;

		if (k < r->streams)
			rc = convert(&leaf, &r->stream[k], choices, number + k, out, scratch);
		else /* a stream that this rank does not have */
			rc = rn_bundle_silent(&leaf, scratch, number + k, 1);
		if (rc == RN_OK)
			rc = rn_bundle_merge(out, &leaf, scratch);
	}
	if (out->times && r->scale)
		rn_times_settle(out->times, r->scale);
	if (rc == RN_OK && out->times)
		rc = rn_times_clock(out->times, (uint64_t)r->process.rank, r->offset, r->drift);
	return rc == RN_OK ? rn_process_add_comms(&r->process, out->comms) : rc;
}
