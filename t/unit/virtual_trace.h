/*
 * virtual_trace.h - merges virtual ranks, and compares the stream of a rank with its generator, for
 * tests.
 */
#ifndef RN_T_VIRTUAL_TRACE_H
#define RN_T_VIRTUAL_TRACE_H

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "bench/rank_merge.h"
#include "bench/virtual.h"
#include "file/container.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "model/merged_streams.h"
#include "model/payload.h"
#include "rules/rules.h"

/* The table and grammar of a rank, reused for every rank. */
struct feeder {
	struct rn_sigs *sigs;
	struct rn_grammar *g;
};

static inline struct feeder new_feeder(struct rn_arena *mem)
{
	return (struct feeder){ rn_sigs_new(mem), rn_grammar_new(mem, NULL) };
}

/* Merges all ranks of a run through a link. The result is in mem. */
static inline int merge_run(const struct virtual_run *v, struct rank_merge *link,
			    struct rn_arena *mem, struct rn_streams *out)
{
	struct feeder f = new_feeder(mem);
	uint64_t calls = 0;
	int rc = RN_OK;

	for (uint64_t r = 0; r < v->ranks && rc == RN_OK; r++) {
		rc = virtual_feed(v, r, f.sigs, f.g, &calls);
		if (rc == RN_OK)
			rc = rank_merge_add(link, f.sigs, f.g);
	}
	return rc == RN_OK ? rank_merge_finish(link, mem, out) : rc;
}

/* State of a walk through a rank's stream in parallel with the generator. */
struct compare {
	const struct rn_streams *s;
	struct rn_walk walk;
};

static inline int compare_call(void *arg, const unsigned char *sig, size_t len)
{
	struct compare *c = arg;
	uint32_t t;
	size_t n;
	const void *bytes;

	if (rn_walk_next(&c->walk, &t) != 1)
		return RN_E_DATA;
	bytes = rn_sigs_get(c->s->sigs, t, &n);
	return n == len && memcmp(bytes, sig, n) == 0 ? RN_OK : RN_E_DATA;
}

/* Returns whether the merged trace has exactly this rank's calls. */
static inline bool rank_is_right(const struct virtual_run *v, const struct rn_streams *s,
				 uint64_t rank, struct rn_arena *mem)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	struct compare c = { .s = s };
	struct rn_flow flow;
	uint32_t group, t;
	bool good = rn_streams_find(s, rank, &group) == RN_OK;

	if (good)
		flow = rn_streams_flow(s, group);
	good = good && rn_walk_flow(&c.walk, &flow, mem) == RN_OK &&
	       virtual_calls(v, rank, compare_call, &c) == RN_OK && rn_walk_next(&c.walk, &t) == 0;
	rn_arena_rewind(mem, mark);
	return good;
}

/* Appends the whole file of a merged trace to out. */
static inline int file_bytes(const struct virtual_run *v, const struct rn_streams *s,
			     struct rn_buf *out)
{
	const struct rn_meta_entry entry = { "program", v->pattern->name };
	const struct rn_meta meta = { &entry, 1 };
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;
	int rc = rank_merge_sections(&w, s, &virtual_vocab, &meta, NULL);

	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, NULL);
	if (rc == RN_OK) {
		rn_buf_add(out, bytes, len);
		rc = rn_buf_status(out);
	}
	rn_container_writer_free(&w);
	return rc;
}

#endif
