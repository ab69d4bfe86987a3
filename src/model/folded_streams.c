/* folded_streams.c - see folded_streams.h. All ids and counts are untrusted. */
#include "model/folded_streams.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "rules/rules.h"
#include "series/units.h"

#define PARTS_MOST ((uint64_t)1 << 24) /* loops and rules with loops, over all groups */

static uint64_t rounds_of(const void *series, uint64_t n)
{
	rn_i128 sum;

	if (n > rn_units_length(series))
		return UINT64_MAX;
	sum = rn_units_sum(series, n);
	return sum > (rn_i128)1 << 62 ? UINT64_MAX : (uint64_t)sum;
}

static int deal_series(const struct rn_folded *f, struct rn_arena *mem, struct rn_stream_loops *l,
		       struct rn_err *err)
{
	const struct rn_units **units;
	int rc = rn_units_decode_all(mem, f->series, &units, err);

	for (size_t i = 0; i < (size_t)f->loops * f->streams.groups && rc == RN_OK; i++) {
		if (f->ref[i] > rn_sigs_count(f->series))
			return rn_err_set(err, RN_E_DATA, "no series %u", f->ref[i]);
		l->series[i] = f->ref[i] ? units[f->ref[i] - 1] : NULL;
		if (f->ref[i] && !rn_units_nonneg(units[f->ref[i] - 1]))
			return rn_err_set(err, RN_E_DATA, "series %u: a count is negative",
					  f->ref[i] - 1);
	}
	return rc;
}

/* Measures the streams of a group. False unless each of its series is consumed completely. */
static bool open_group(const struct rn_streams *s, uint32_t group, struct rn_stretch *stretch,
		       uint64_t *executions)
{
	const struct rn_stream_loops *l = s->loops;
	uint32_t loops = rn_loopset_count(l->set);
	struct rn_flow flow = rn_streams_flow(s, group);

	if (!rn_flow_measure(stretch, &flow, executions))
		return false;
	l->length[group] = flow.length;
	for (uint32_t k = 0; k < loops; k++) {
		const struct rn_units *u = flow.series[k];

		if (executions[k] != (u ? rn_units_length(u) : 0))
			return false;
		l->rounds[(size_t)group * loops + k] = u ? rounds_of(u, executions[k]) : 0;
	}
	return true;
}

static int open_groups(const struct rn_streams *s, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_loopset *set = s->loops->set;
	struct rn_stretch *stretch = rn_stretch_new(scratch, set, PARTS_MOST);
	uint64_t *executions = rn_new(scratch, uint64_t, rn_loopset_count(set));

	if (!stretch || !executions)
		return rn_err_nomem(err);
	for (uint32_t g = 0; g < s->groups; g++) {
		if (s->group[g].root >= rn_rules_count(s->rules))
			return rn_err_set(err, RN_E_DATA, "group %u has no rule", g);
		if (!open_group(s, g, stretch, executions))
			return rn_err_set(err, RN_E_DATA, "group %u: counts do not fit", g);
	}
	return RN_OK;
}

static struct rn_stream_loops *new_loops(const struct rn_folded *f, struct rn_arena *mem)
{
	struct rn_stream_loops *l = rn_new(mem, struct rn_stream_loops, 1);
	size_t all = (size_t)f->loops * f->streams.groups;

	if (!l)
		return NULL;
	l->series = rn_new(mem, const void *, all + 1);
	l->rounds = rn_new(mem, uint64_t, all + 1);
	l->length = rn_new(mem, uint64_t, (size_t)f->streams.groups + 1);
	return l->series && l->rounds && l->length ? l : NULL;
}

int rn_folded_open(const struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch,
		   struct rn_streams *out, struct rn_err *err)
{
	struct rn_stream_loops *l = new_loops(f, mem);
	struct rn_loopset *set;
	int rc;

	if (!l)
		return rn_err_nomem(err);
	rc = rn_loopset_new(mem, f->streams.rules, rn_sigs_count(f->streams.sigs), f->loop,
			    f->loops, rounds_of, &set);
	if (rc < 0)
		return rc == RN_E_NOMEM
			       ? rn_err_nomem(err)
			       : rn_err_set(err, rc, "a loop is inside itself, or in too much");
	l->set = set;
	rc = deal_series(f, mem, l, err);
	if (rc < 0)
		return rc;
	*out = f->streams;
	out->loops = l;
	return open_groups(out, scratch, err);
}

/* ---- the section ---- */

void rn_loops_encode(const struct rn_folded *f, struct rn_buf *out)
{
	rn_buf_u64(out, f->loops);
	for (uint32_t k = 0; k < f->loops; k++)
		rn_buf_u64(out, (uint64_t)f->loop[k].id << 1 | (f->loop[k].kind == RN_KIND_RULE));
	rn_sigs_put(f->series, out);
	for (size_t i = 0; i < f->refs; i++)
		rn_buf_u64(out, f->ref[i]);
}

static int get_loops(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->loops = (uint32_t)rn_get_max(in, RN_LOOPS_MOST);
	if (f->loops == 0 || f->loops > rn_left(in))
		rn_fail(in);
	f->loop = in->bad ? NULL : rn_new(mem, struct rn_loop, f->loops);
	if (!f->loop)
		return in->bad ? RN_E_DATA : RN_E_NOMEM;
	for (uint32_t k = 0; k < f->loops; k++) {
		uint64_t v = rn_get_max(in, UINT32_MAX);

		f->loop[k].kind = v & 1 ? RN_KIND_RULE : RN_KIND_TERMINAL;
		f->loop[k].id = (uint32_t)(v >> 1);
	}
	return in->bad ? RN_E_DATA : RN_OK;
}

static int get_series(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->series = rn_sigs_new(mem);
	return f->series ? rn_sigs_take(f->series, in) : RN_E_NOMEM;
}

/* Decodes the rest of the section. Each reference needs at least one byte. */
static int get_refs(struct rn_reader *in, struct rn_arena *mem, struct rn_folded *f)
{
	f->ref = rn_new(mem, uint32_t, rn_left(in) + 1);
	if (!f->ref)
		return RN_E_NOMEM;
	for (f->refs = 0; rn_left(in) && !in->bad; f->refs++)
		f->ref[f->refs] = (uint32_t)rn_get_max(in, UINT32_MAX);
	return in->bad ? RN_E_DATA : RN_OK;
}

int rn_loops_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_folded *f,
		    struct rn_err *err)
{
	int rc = get_loops(in, mem, f);

	if (rc == RN_OK)
		rc = get_series(in, mem, f);
	if (rc == RN_OK)
		rc = get_refs(in, mem, f);
	if (rc == RN_E_DATA)
		return rn_err_set(err, RN_E_DATA, "cut off, or more than there should be");
	return rc < 0 ? rn_err_nomem(err) : RN_OK;
}
