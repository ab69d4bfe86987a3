/* segment_join.c - see segment_join.h. */
#include "recover/segment_join.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/elastic_slots.h"
#include "encode/time_stats.h"
#include "merge/process_trace.h"
#include "rules/rules.h"
#include "rules/symbol_counts.h"

#include <string.h>

/* A stream whose segments are being joined. */
struct whole {
	const struct rn_segment_list *of;
	struct rn_segment *all;
	uint32_t *shape; /* by creator: its creator in the joined stream */
};

struct join {
	struct rn_arena *mem, scratch;
	struct whole *whole;
	uint32_t streams, self; /* `self`: index of the stream that is being joined */
};

static const struct rn_segment *segment_of(const struct whole *w, uint32_t i)
{
	return *RN_SEG_AT(&w->of->segment, struct rn_segment *, i);
}

struct rn_segment *rn_segment_new(struct rn_arena *mem)
{
	struct rn_segment *s = rn_new(mem, struct rn_segment, 1);

	if (!s)
		return NULL;
	s->tables = (struct rn_tables){ rn_sigs_new(mem), rn_sigs_new(mem), rn_sigs_new(mem) };
	rn_seg_init(&s->holes, sizeof(struct rn_holes *));
	rn_seg_init(&s->piece, sizeof(struct value_piece));
	rn_times_init(&s->times, mem, RN_TIME_SCALE_ONE);
	return s->tables.words && s->tables.blobs && s->tables.texts ? s : NULL;
}

void rn_segment_give(const struct rn_segment *s, struct rn_recorded_stream *out)
{
	out->calls.words = s->tables.words;
	out->calls.blobs = s->tables.blobs;
	out->calls.texts = s->tables.texts;
	out->calls.times = &s->times;
	out->calls.holes = &s->holes;
	out->rules = s->rules;
	out->root = s->root;
}

/* ---- requests ---- */

static uint64_t request(void *arg, uint64_t word)
{
	const struct join *j = arg;
	uint32_t stream = RN_RAW_STREAM(word), shape = RN_RAW_SHAPE(word);
	const struct whole *w = stream == 0               ? &j->whole[j->self]
				: stream - 1 < j->streams ? &j->whole[stream - 1]
							  : NULL;

	if (!w || shape >= w->of->shape.n)
		return word;
	return RN_RAW_REQUEST(stream, w->shape[shape], RN_RAW_SLOT(word)) | (word & RN_RAW_GONE);
}

/* Interns the creators of requests first, so that their ids in the table are their numbers as
 * creators. (Their words contain no requests themselves.) */
static int find_shapes(struct join *j, struct whole *w)
{
	uint32_t n = w->of->shape.n;

	w->shape = rn_new(j->mem, uint32_t, (size_t)n + 1);
	if (!w->shape)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct rn_shape *s = RN_SEG_AT(&w->of->shape, struct rn_shape, i);
		struct rn_carrier c = { .to = w->all->tables, .scratch = &j->scratch };

		if (s->segment >= w->of->segment.n)
			continue; /* no remaining call refers to it */
		c.from = segment_of(w, s->segment)->tables;
		if (s->call < rn_sigs_count(c.from.words) &&
		    rn_carry_call(&c, s->call, &w->shape[i]) < 0)
			return RN_E_NOMEM;
	}
	return RN_OK;
}

/* ---- segments ---- */

static int map_calls(struct join *j, const struct rn_segment *s, uint32_t *map)
{
	struct rn_carrier c = { .from = s->tables,
				.to = j->whole[j->self].all->tables,
				.request = request,
				.arg = j,
				.scratch = &j->scratch };
	int rc = RN_OK;

	for (uint32_t i = 0; i < rn_sigs_count(s->tables.words) && rc == RN_OK; i++)
		rc = rn_carry_call(&c, i, &map[i]);
	return rc;
}

/* Adds the elastic values of call i, which occurs `calls` times in the segment and has the id `to`
 * in the joined stream. */
static int add_holes(struct join *j, const struct rn_segment *s, uint32_t i, uint64_t calls,
		     uint32_t to)
{
	struct rn_segment *whole = j->whole[j->self].all;
	const struct rn_holes *h = rn_holes_of(&s->holes, i);
	struct rn_holes *all = rn_holes_of(&whole->holes, to);

	if (!h)
		return RN_OK;
	if (!all) {
		size_t len;
		const uint64_t *words = rn_sigs_get(whole->tables.words, to, &len);

		all = rn_holes_new(j->mem, words, len / sizeof(*words));
		if (!all || !rn_holes_put(&whole->holes, j->mem, to, all))
			return RN_E_NOMEM;
	}
	return rn_holes_join(all, h, calls, &j->scratch);
}

static int add_values(struct join *j, const struct rn_segment *s, const uint32_t *map)
{
	uint64_t *times = rn_new(&j->scratch, uint64_t, (size_t)rn_rules_count(s->rules) + 1);
	uint64_t *calls = rn_new(&j->scratch, uint64_t, (size_t)rn_sigs_count(s->tables.words) + 1);
	int rc = times && calls ? RN_OK : RN_E_NOMEM;

	if (rc < 0 || s->holes.n == 0)
		return rc;
	times[s->root] = 1;
	rn_rules_counts(s->rules, NULL, NULL, times, calls);
	for (uint32_t i = 0; i < s->holes.n && rc == RN_OK; i++)
		rc = add_holes(j, s, i, calls[i], map[i]);
	return rc;
}

static int add_rules(struct join *j, const struct rn_segment *s, const uint32_t *map,
		     uint32_t *root)
{
	uint32_t *memo = rn_new_map(&j->scratch, rn_rules_count(s->rules));
	int rc = memo ? add_values(j, s, map) : RN_E_NOMEM;

	if (rc < 0)
		return rc;
	return rn_rules_import(j->whole[j->self].all->rules, s->rules, s->root, map, memo, root);
}

static int add_segment(struct join *j, const struct rn_segment *s, uint32_t *root)
{
	struct rn_arena_mark mark = rn_arena_mark(&j->scratch);
	uint32_t *map = rn_new(&j->scratch, uint32_t, (size_t)rn_sigs_count(s->tables.words) + 1);
	int rc = map ? map_calls(j, s, map) : RN_E_NOMEM;

	if (rc == RN_OK)
		rc = rn_times_merge(&j->whole[j->self].all->times, &s->times, map);
	if (rc == RN_OK)
		rc = add_rules(j, s, map, root);
	rn_arena_rewind(&j->scratch, mark);
	return rc;
}

/* ---- a stream ---- */

static int join_stream(struct join *j, struct rn_recorded_stream *out)
{
	struct whole *w = &j->whole[j->self];
	uint32_t n = w->of->segment.n, items = 0, root;
	struct rn_rules *rules = w->all->rules = rn_rules_new(j->mem);
	struct rn_item *item = rn_new(j->mem, struct rn_item, (size_t)n + 1);
	int rc = rules && item ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		if (segment_of(w, i)->lost)
			continue;
		rc = add_segment(j, segment_of(w, i), &root);
		if (rc == RN_OK && rn_rules_length(rules, root))
			item[items++] = (struct rn_item){ root, RN_KIND_RULE, 1 };
	}
	if (rc == RN_OK)
		rc = rn_rules_add(rules, item, items, &w->all->root);
	rn_segment_give(w->all, out);
	return rc;
}

static int begin(struct join *j, struct whole *w, const struct rn_segment_list *of)
{
	w->of = of;
	w->all = rn_segment_new(j->mem);
	return w->all ? find_shapes(j, w) : RN_E_NOMEM;
}

int rn_join(struct rn_arena *mem, const struct rn_segment_list *of, uint32_t streams,
	    struct rn_recorded_stream *out)
{
	struct join j = { .mem = mem, .streams = streams };
	int rc;

	j.whole = rn_new(mem, struct whole, (size_t)streams + 1);
	rn_arena_init(&j.scratch, SIZE_MAX);
	rc = j.whole ? RN_OK : RN_E_NOMEM;
	for (uint32_t i = 0; i < streams && rc == RN_OK; i++)
		rc = begin(&j, &j.whole[i], &of[i]);
	for (; j.self < streams && rc == RN_OK; j.self++)
		rc = join_stream(&j, &out[j.self]);
	rn_arena_free(&j.scratch);
	return rc;
}
