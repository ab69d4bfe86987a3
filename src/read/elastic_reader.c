/* elastic_reader.c - see elastic_reader.h. */
#include "read/elastic_reader.h"

#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "read/trace.h"
#include "rules/rules.h"
#include "rules/symbol_counts.h"
#include "series/units.h"

#define BLOCK 32

/* An elastic slot of the stream, and a block of its values. */
struct hole {
	struct rn_value_source source;
	bool asked; /* the source was looked up */
	uint64_t from;
	size_t n;
	int64_t block[BLOCK];
};

struct rn_value_view {
	const struct rn_trace *t;
	uint32_t sigs, holes;
	uint64_t stream;
	uint64_t *calls, *times, *rounds; /* by signature, rule and loop */
	struct hole *hole;                /* by elastic slot */
	int64_t *number;                  /* values of one call */
};

struct rn_value_view *rn_value_view_new(struct rn_arena *mem, const struct rn_trace *t)
{
	struct rn_value_view *v = rn_new(mem, struct rn_value_view, 1);

	if (!v)
		return NULL;
	v->t = t;
	v->sigs = rn_sigs_count(t->streams.sigs);
	v->holes = t->values.share ? t->values.place[v->sigs] : 0;
	if (!v->holes)
		return v;
	v->calls = rn_new(mem, uint64_t, v->sigs);
	v->times = rn_new(mem, uint64_t, (size_t)rn_rules_count(t->streams.rules) + 1);
	v->rounds =
		rn_new(mem, uint64_t, (size_t)rn_loopset_count(rn_streams_loops(&t->streams)) + 1);
	v->hole = rn_new(mem, struct hole, v->holes);
	v->number = rn_new(mem, int64_t, v->holes);
	return v->calls && v->times && v->rounds && v->hole && v->number ? v : NULL;
}

void rn_value_view_begin(struct rn_value_view *v, uint64_t stream)
{
	v->stream = stream;
	if (!v->holes)
		return;
	memset(v->calls, 0, v->sigs * sizeof(*v->calls));
	for (uint32_t i = 0; i < v->holes; i++)
		v->hole[i].asked = false;
}

void rn_value_view_seek(struct rn_value_view *v, const struct rn_walk *w)
{
	uint32_t n = rn_rules_count(v->t->streams.rules);

	if (!v->holes)
		return;
	memset(v->calls, 0, v->sigs * sizeof(*v->calls));
	memset(v->times, 0, n * sizeof(*v->times));
	rn_walk_counts(w, v->times, v->rounds, v->calls);
}

static bool number_of(struct rn_value_view *v, uint32_t sig, uint32_t hole, int64_t *number)
{
	struct hole *h = &v->hole[v->t->values.place[sig] + hole];
	uint64_t at = v->calls[sig];

	if (!h->asked) {
		h->source = rn_value_list_find(&v->t->values, sig, hole, v->stream);
		h->asked = true;
		h->n = 0;
	}
	if (at < h->from || at - h->from >= h->n) {
		h->from = at;
		h->n = h->source.series ? rn_units_read(h->source.series, at, h->block, BLOCK) : 0;
	}
	if (h->n == 0)
		return false;
	*number = (int64_t)((uint64_t)h->block[at - h->from] + (uint64_t)h->source.begin);
	return true;
}

const int64_t *rn_value_view_next(struct rn_value_view *v, uint32_t sig)
{
	uint32_t n = rn_value_list_holes(&v->t->values, sig);

	for (uint32_t k = 0; k < n; k++)
		if (!number_of(v, sig, k, &v->number[k]))
			return NULL;
	if (!n)
		return NULL;
	v->calls[sig]++;
	return v->number;
}
