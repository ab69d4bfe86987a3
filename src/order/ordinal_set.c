/* ordinal_set.c - see ordinal_set.h. */
#include "order/ordinal_set.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"

#define GAPS 128u

struct gap {
	uint64_t from, n;
};

struct rn_ordinals_block {
	struct rn_ordinals_block *below, *above;
	uint64_t open; /* number of open ordinals in its gaps */
	uint32_t gaps; /* number of gaps; at least 1 while the block is in the list */
	struct gap gap[GAPS];
};

static struct rn_ordinals_block *take_block(struct rn_ordinals *o, struct rn_arena *mem)
{
	struct rn_ordinals_block *b = o->unused;

	if (b)
		o->unused = b->above;
	else
		b = rn_new(mem, struct rn_ordinals_block, 1);
	if (b) {
		b->below = b->above = NULL;
		b->open = 0;
		b->gaps = 0;
	}
	return b;
}

static void put_above(struct rn_ordinals *o, struct rn_ordinals_block *b,
		      struct rn_ordinals_block *upper)
{
	upper->below = b;
	upper->above = b ? b->above : NULL;
	if (upper->above)
		upper->above->below = upper;
	else
		o->last = upper;
	if (b)
		b->above = upper;
}

/* Moves the upper half of a full block to a new block. */
static bool split(struct rn_ordinals *o, struct rn_arena *mem, struct rn_ordinals_block *b)
{
	struct rn_ordinals_block *upper = take_block(o, mem);

	assert(b->gaps == GAPS);
	if (!upper)
		return false;
	put_above(o, b, upper);
	upper->gaps = GAPS / 2;
	b->gaps = GAPS - GAPS / 2;
	memcpy(upper->gap, b->gap + b->gaps, upper->gaps * sizeof(*b->gap));
	for (uint32_t i = 0; i < upper->gaps; i++)
		upper->open += upper->gap[i].n;
	b->open -= upper->open;
	return true;
}

/* Adds the gap from `next` to n - 1. */
static bool add_gap(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n)
{
	struct rn_ordinals_block *b = o->last;

	assert(n > o->next);
	if (!b || b->gaps == GAPS) {
		if (!(b = take_block(o, mem)))
			return false;
		put_above(o, o->last, b);
	}
	b->gap[b->gaps++] = (struct gap){ o->next, n - o->next };
	b->open += n - o->next;
	o->open += n - o->next;
	return true;
}

static void drop_block(struct rn_ordinals *o, struct rn_ordinals_block *b)
{
	assert(b->gaps == 0 && b->open == 0);
	if (b->below)
		b->below->above = b->above;
	if (b->above)
		b->above->below = b->below;
	else
		o->last = b->below;
	b->above = o->unused;
	o->unused = b;
}

/* Removes n from gap i of a block with room for one more gap. */
static void leave_gap(struct rn_ordinals_block *b, uint32_t i, uint64_t n)
{
	struct gap *g = &b->gap[i];
	const struct gap above = { n + 1, g->from + g->n - n - 1 };

	assert(i < b->gaps && b->gaps < GAPS);
	assert(n >= g->from && n - g->from < g->n);
	g->n = n - g->from;
	b->open--;
	if (g->n && above.n) {
		memmove(g + 2, g + 1, (b->gaps - i - 1) * sizeof(*g));
		g[1] = above;
		b->gaps++;
	} else if (above.n) {
		*g = above;
	} else if (!g->n) {
		memmove(g, g + 1, (b->gaps - i - 1) * sizeof(*g));
		b->gaps--;
	}
}

/* Returns the block that can contain n, or NULL. *above becomes the number of open ordinals in
 * higher blocks. */
static struct rn_ordinals_block *find(const struct rn_ordinals *o, uint64_t n, uint64_t *above)
{
	struct rn_ordinals_block *b = o->last;

	for (*above = 0; b && b->gap[0].from > n; b = b->below)
		*above += b->open;
	return b;
}

static bool fill(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late)
{
	uint64_t above;
	struct rn_ordinals_block *b = find(o, n, &above);
	uint32_t i;

	if (b && b->gaps == GAPS) {
		if (!split(o, mem, b))
			return false;
		b = find(o, n, &above);
	}
	if (!b)
		return false;
	for (i = b->gaps - 1; b->gap[i].from > n; i--)
		above += b->gap[i].n;
	if (n - b->gap[i].from >= b->gap[i].n)
		return false;
	above += b->gap[i].from + b->gap[i].n - 1 - n;
	assert(above < o->open);
	*late = o->open - 1 - above;
	leave_gap(b, i, n);
	o->open--;
	if (b->gaps == 0)
		drop_block(o, b);
	return true;
}

bool rn_ordinals_done(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late)
{
	if (n < o->next)
		return fill(o, mem, n, late);
	*late = o->open + (n - o->next);
	if (n > o->next && !add_gap(o, mem, n))
		return false;
	o->next = n + 1;
	return true;
}

uint64_t rn_ordinals_number(const struct rn_ordinals *o, uint64_t late)
{
	const struct rn_ordinals_block *b = o->last;
	uint64_t above;
	uint32_t i;

	if (late >= o->open)
		return o->next + (late - o->open);
	for (above = o->open - 1 - late; above >= b->open; b = b->below) {
		assert(b->below); /* the blocks contain o->open ordinals */
		above -= b->open;
	}
	for (i = b->gaps - 1; above >= b->gap[i].n; i--)
		above -= b->gap[i].n;
	return b->gap[i].from + b->gap[i].n - 1 - above;
}
