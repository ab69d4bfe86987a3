/*
 * grammar_snapshot.c - a grammar as flat bytes, and back.
 *
 * Holds nodes, rules, wide counts, pending work, the cursor and literals, in the machine's own
 * byte order (a snapshot is read where it was written); the digram table is built anew. Layout:
 * struct head, then the arrays in the order of SEGMENTS, then the cursor's frames.
 */
#include "base/buf.h"
#include "base/varint.h"
#include "grammar/builder.h"

#include <stddef.h>
#include <string.h>

#define SNAPSHOT_MAGIC 0x316d7267u /* "grm1" */

struct head {
	uint32_t magic;
	uint32_t expect, depth, taken, credit;
	uint32_t free_node, free_nodes, free_rule;
	uint32_t literal_limit, judged, nodes_then, match, stop, pad;
	uint64_t literal_left, literal_span;
	uint32_t n[6]; /* elements of each of SEGMENTS */
};

/* What is not the grammar's own memory, and is passed on. */
_Static_assert(sizeof(struct head) <= RN_BUF_SHORT, "the head is a short piece");

/* What a snapshot holds of the growable arrays, in order. */
static const size_t SEGMENTS[] = {
	offsetof(struct rn_grammar, nodes), offsetof(struct rn_grammar, rules),
	offsetof(struct rn_grammar, wide),  offsetof(struct rn_grammar, work),
	offsetof(struct rn_grammar, runs),  offsetof(struct rn_grammar, literals),
};
#define NSEGMENTS (sizeof(SEGMENTS) / sizeof(SEGMENTS[0]))

static struct rn_seg *segment(const struct rn_grammar *g, size_t i)
{
	return (struct rn_seg *)(void *)((char *)(uintptr_t)g + SEGMENTS[i]);
}

static void put_segment(const struct rn_seg *s, struct rn_buf *out)
{
	for (uint32_t at = 0; at < s->n; at += RN_SEG_CHUNK) {
		uint32_t n = s->n - at < RN_SEG_CHUNK ? s->n - at : RN_SEG_CHUNK;

		rn_buf_add(out, s->dir[at >> RN_SEG_SHIFT], (size_t)n * s->size);
	}
}

/* Frames that a snapshot has: one that says nothing if there are none. */
static size_t frames(const struct rn_grammar *g)
{
	return g->expect == NIL && g->match == NIL ? 1 : (size_t)g->depth + 1;
}

size_t rn_grammar_snapshot_size(const struct rn_grammar *g)
{
	size_t bytes = sizeof(struct head) + frames(g) * sizeof(*g->frame);

	for (size_t i = 0; i < NSEGMENTS; i++)
		bytes += (size_t)segment(g, i)->n * segment(g, i)->size;
	return bytes;
}

int rn_grammar_snapshot(const struct rn_grammar *g, struct rn_buf *out)
{
	struct head h = {
		.magic = SNAPSHOT_MAGIC,
		.expect = g->expect,
		.depth = g->depth,
		.taken = g->taken,
		.credit = g->credit,
		.free_node = g->free_node,
		.free_nodes = g->free_nodes,
		.free_rule = g->free_rule,
		.literal_limit = g->opts.literal_limit,
		.judged = g->judged,
		.nodes_then = g->nodes_then,
		.match = g->match,
		.stop = g->match == NIL ? NIL : g->stop,
		.literal_left = g->literal_left,
		.literal_span = g->literal_span,
	};

	for (size_t i = 0; i < NSEGMENTS; i++)
		h.n[i] = segment(g, i)->n;
	rn_buf_add(out, &h, sizeof(h));
	for (size_t i = 0; i < NSEGMENTS; i++)
		put_segment(segment(g, i), out);
	if (g->expect == NIL && g->match == NIL)
		rn_buf_add(out, &(struct frame){ 0 }, sizeof(struct frame));
	else
		rn_buf_add(out, g->frame, frames(g) * sizeof(*g->frame));
	return rn_buf_status(out);
}

static int get_segment(struct rn_seg *s, struct rn_arena *mem, uint32_t n, struct rn_reader *in)
{
	if (n > rn_left(in) / s->size)
		return RN_E_DATA;
	s->n = 0;
	if (!rn_seg_reserve(s, mem, n))
		return RN_E_NOMEM;
	for (uint32_t at = 0; at < n; at += RN_SEG_CHUNK) {
		size_t bytes = (size_t)(n - at < RN_SEG_CHUNK ? n - at : RN_SEG_CHUNK) * s->size;

		memcpy(s->dir[at >> RN_SEG_SHIFT], rn_get_bytes(in, bytes), bytes);
	}
	s->n = n;
	return RN_OK;
}

static int get_frames(struct rn_grammar *g, uint32_t depth, struct rn_reader *in)
{
	uint64_t n = (uint64_t)depth + 1;

	if (n != rn_left(in) / sizeof(*g->frame) || rn_left(in) % sizeof(*g->frame))
		return RN_E_DATA;
	if (n > g->frame_cap) {
		g->frame = rn_new(g->mem, struct frame, n);
		if (!g->frame)
			return RN_E_NOMEM;
		g->frame_cap = (uint32_t)n;
	}
	memcpy(g->frame, in->p, n * sizeof(*g->frame));
	g->depth = depth;
	return RN_OK;
}

static int fill(struct rn_grammar *g, const struct head *h, struct rn_reader *in)
{
	int rc = RN_OK;

	g->expect = h->expect;
	g->taken = h->taken;
	g->credit = h->credit;
	g->free_node = h->free_node;
	g->free_nodes = h->free_nodes;
	g->free_rule = h->free_rule;
	g->judged = h->judged;
	g->nodes_then = h->nodes_then;
	g->match = h->match;
	g->stop = h->stop;
	g->literal_left = h->literal_left;
	g->literal_span = h->literal_span;
	for (size_t i = 0; i < NSEGMENTS && rc == RN_OK; i++)
		rc = get_segment(segment(g, i), g->mem, h->n[i], in);
	if (rc == RN_OK)
		rc = get_frames(g, h->depth, in);
	/* A round that is under way may end in a wide count. */
	if (rc == RN_OK && !rn_seg_reserve(&g->wide, g->mem, 1))
		rc = RN_E_NOMEM;
	if (rc == RN_OK)
		rc = rn_grammar_sound(g);
	return rc == RN_OK ? rn_grammar_rebuild(g) : rc;
}

int rn_grammar_restore(struct rn_arena *mem, const void *bytes, size_t len, struct rn_grammar **out,
		       struct rn_err *err)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_grammar *g;
	struct head h;
	int rc = RN_E_DATA;

	if (len < sizeof(h))
		return rn_err_set(err, RN_E_DATA, "grammar snapshot cut off at byte %zu", len);
	memcpy(&h, rn_get_bytes(&in, sizeof(h)), sizeof(h));
	if (h.magic != SNAPSHOT_MAGIC || h.taken > 1)
		return rn_err_set(err, RN_E_DATA, "not a grammar snapshot");
	g = rn_grammar_new(mem, &(struct rn_grammar_opts){ h.literal_limit });
	if (!g)
		return rn_err_nomem(err);
	rc = fill(g, &h, &in);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0)
		return rn_err_set(err, rc, "grammar snapshot damaged");
	*out = g;
	return RN_OK;
}
