/* rank_merge.c - see rank_merge.h. */
#include "bench/rank_merge.h"

#include "base/intern.h"
#include "base/io.h"
#include "file/container.h"
#include "file/trace_writer.h"
#include "merge/partial_trace.h"
#include "merge/trace_finish.h"
#include "rules/rules.h"

void rank_merge_init(struct rank_merge *m)
{
	m->next = 0;
	rn_arena_init(&m->mem, SIZE_MAX);
	rn_arena_init(&m->leaf, SIZE_MAX);
	rn_arena_init(&m->scratch, SIZE_MAX);
}

static void rewind_all(struct rn_arena *a)
{
	rn_arena_rewind(a, (struct rn_arena_mark){ 0 });
}

int rank_merge_leaf(struct rn_stream_set *p, struct rn_arena *mem, uint64_t rank,
		    const struct rn_sigs *sigs, const struct rn_grammar *g)
{
	uint32_t root, id;
	int rc = rn_part_empty(p, mem);

	for (uint32_t i = 0; i < rn_sigs_count(sigs) && rc == RN_OK; i++)
		rc = rn_sigs_copy(p->sigs, sigs, i, &id);
	if (rc == RN_OK)
		rc = rn_rules_seal(p->rules, g, &root);
	return rc == RN_OK ? rn_part_streams(p, root, rank, 1) : rc;
}

static int add_first(struct rank_merge *m, const struct rn_sigs *sigs, const struct rn_grammar *g)
{
	int rc = rank_merge_leaf(&m->part, &m->mem, 0, sigs, g);

	if (rc < 0)
		rewind_all(&m->mem);
	return rc;
}

static int add_more(struct rank_merge *m, const struct rn_sigs *sigs, const struct rn_grammar *g)
{
	struct rn_stream_set leaf;
	int rc = rank_merge_leaf(&leaf, &m->leaf, m->next, sigs, g);

	if (rc == RN_OK)
		rc = rn_part_merge(&m->part, &leaf, &m->scratch);
	rewind_all(&m->leaf);
	return rc;
}

int rank_merge_add(struct rank_merge *m, const struct rn_sigs *sigs, const struct rn_grammar *g)
{
	int rc = (m->next ? add_more : add_first)(m, sigs, g);

	m->next += rc == RN_OK;
	return rc;
}

int rank_merge_finish(struct rank_merge *m, struct rn_arena *mem, struct rn_streams *out)
{
	return m->next ? rn_part_finish(&m->part, mem, &m->scratch, out) : RN_E_ARG;
}

void rank_merge_free(struct rank_merge *m)
{
	rn_arena_free(&m->mem);
	rn_arena_free(&m->leaf);
	rn_arena_free(&m->scratch);
}

int rank_merge_sections(struct rn_container_writer *w, const struct rn_streams *s,
			const struct rn_vocab *vocab, const struct rn_meta *meta,
			struct rn_err *err)
{
	struct rn_trace t;
	int rc;

	rn_trace_init(&t);
	rc = rn_finish_streams(&t, s, vocab, meta, err);
	if (rc == RN_OK)
		rc = rn_trace_sections(&t, w, err);
	rn_trace_close(&t);
	return rc;
}

int rank_merge_bundle(const struct rn_bundle *b, const struct rn_meta *meta, const char *path,
		      struct rn_written *out, struct rn_err *err)
{
	struct rn_trace t;
	int rc;

	rn_trace_init(&t);
	rc = rn_bundle_finish(b, meta, &t, err);
	if (rc == RN_OK)
		rc = rn_trace_write(&t, path, out, err);
	rn_trace_close(&t);
	return rc;
}

int rank_merge_write(const char *path, const struct rn_streams *s, const struct rn_vocab *vocab,
		     const struct rn_meta *meta, struct rn_err *err)
{
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;
	int rc = rank_merge_sections(&w, s, vocab, meta, err);

	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, err);
	if (rc == RN_OK)
		rc = rn_io_replace(path, bytes, len, err);
	rn_container_writer_free(&w);
	return rc;
}
