/*
 * grammar_repeat.c - appends all iterations of a loop at once.
 *
 * Suppose that the cursor follows an iteration without a miss, and that its position afterward
 * differs from that before in the repeat count of only one level. Then every further iteration
 * changes only that count, and the remaining iterations are added to it at once. On level 0 of a
 * loop, the count is that of the loop itself and can grow without limit. On other levels it is
 * limited by the repeat count in the rule.
 */
#include "grammar/grammar_impl.h"

#include <string.h>

/* Maximum number of symbols that can be appended by iterations. No program can append as many
 * symbols again one by one, so the stream is shorter than COUNT_MAX without a check on the fast
 * path. */
#define REPEAT_MAX (COUNT_MAX / 2)

#define DEPTH 16 /* deeper cursors are not saved; their iterations are appended one by one */

/* The position of the cursor before an iteration. */
struct round {
	uint64_t misses, top;
	uint32_t depth, credit, match;
	struct frame frame[DEPTH];
};

static uint64_t top_count(const struct rn_grammar *g)
{
	return g->match == NIL ? count_of(g, node_at(g, g->frame[0].node)) : 0;
}

static bool mark(const struct rn_grammar *g, struct round *r)
{
	if (g->expect == NIL || g->depth >= DEPTH)
		return false;
	r->misses = g->misses;
	r->top = top_count(g);
	r->depth = g->depth;
	r->credit = g->credit;
	r->match = g->match;
	memcpy(r->frame, g->frame, (g->depth + 1) * sizeof(r->frame[0]));
	return true;
}

/* Returns the only level whose count the iteration changed, or UINT32_MAX. */
static uint32_t moved_level(const struct rn_grammar *g, const struct round *r)
{
	uint32_t moved = UINT32_MAX;

	if (g->misses != r->misses || g->expect == NIL || g->depth != r->depth ||
	    g->match != r->match)
		return UINT32_MAX;
	for (uint32_t i = 0; i <= g->depth; i++) {
		if (g->frame[i].node != r->frame[i].node)
			return UINT32_MAX;
		if (g->frame[i].iter == r->frame[i].iter && (i || top_count(g) == r->top))
			continue;
		if (moved != UINT32_MAX)
			return UINT32_MAX;
		moved = i;
	}
	return moved;
}

/* Adds up to `rounds` further iterations, equal to the one since `from`. Returns their number. */
static uint64_t skip_rounds(struct rn_grammar *g, const struct round *from, uint64_t rounds)
{
	uint32_t level = moved_level(g, from);
	struct frame *f = &g->frame[level];

	if (level == UINT32_MAX)
		return 0;
	if (level == 0 && g->match == NIL) {
		uint64_t now = top_count(g);

		if (!rn_seg_reserve(&g->wide, g->mem, 1))
			return 0;
		rn_grammar_set_count(g, node_at(g, f->node), now + (now - from->top) * rounds);
		rn_gcursor_earn(g, (rounds < CREDIT_MAX ? rounds : CREDIT_MAX) *
					   (g->credit - from->credit));
	} else {
		uint64_t step = f->iter - from->frame[level].iter, fit;

		assert(f->iter > from->frame[level].iter);
		fit = (count_of(g, node_at(g, f->node)) - 1 - f->iter) / step;
		rounds = rounds < fit ? rounds : fit;
		f->iter += rounds * step;
	}
	return rounds;
}

static int one_round(struct rn_grammar *g, const uint32_t *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int rc = rn_grammar_append(g, t[i]);

		if (rc < 0)
			return rc;
	}
	return RN_OK;
}

static int append_rounds(struct rn_grammar *g, const uint32_t *t, size_t n, uint64_t times,
			 uint64_t *done)
{
	while (*done < times) {
		struct round from;
		bool marked = mark(g, &from);
		int rc = one_round(g, t, n);

		if (rc < 0)
			return rc;
		++*done;
		if (marked)
			*done += skip_rounds(g, &from, times - *done);
	}
	return RN_OK;
}

int rn_grammar_append_repeat(struct rn_grammar *g, const uint32_t *t, size_t n, uint64_t times,
			     uint64_t *done)
{
	uint64_t rounds = n ? 0 : times;
	int rc = RN_OK;

	if (n && (g->in_bulk > REPEAT_MAX || times > (REPEAT_MAX - g->in_bulk) / n))
		rc = RN_E_RANGE;
	else if (n)
		rc = append_rounds(g, t, n, times, &rounds);
	if (n)
		g->in_bulk += rounds * n;
	if (done)
		*done = rounds;
	return rc;
}
