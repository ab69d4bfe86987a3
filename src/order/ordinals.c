/* ordinals.c - see ordinals.h. */
#include "order/ordinals.h"

#include <string.h>

#include "base/arena.h"

#define GAPS 128u

struct gap {
	uint64_t from, n;
};

struct rn_ordinals_block {
	struct rn_ordinals_block *next;
	uint64_t open; /* numbers in its gaps */
	uint32_t gaps; /* at least one */
	struct gap gap[GAPS];
};

static struct rn_ordinals_block *take_block(struct rn_ordinals *o, struct rn_arena *mem)
{
	struct rn_ordinals_block *b = o->unused;

	if (b)
		o->unused = b->next;
	else
		b = rn_new(mem, struct rn_ordinals_block, 1);
	if (b) {
		b->next = NULL;
		b->open = 0;
		b->gaps = 0;
	}
	return b;
}

/* The upper half of a full block goes into one behind it. */
static bool split(struct rn_ordinals *o, struct rn_arena *mem, struct rn_ordinals_block *b)
{
	struct rn_ordinals_block *upper = take_block(o, mem);

	if (!upper)
		return false;
	upper->next = b->next;
	b->next = upper;
	upper->gaps = GAPS / 2;
	b->gaps = GAPS - GAPS / 2;
	memcpy(upper->gap, b->gap + b->gaps, upper->gaps * sizeof(*b->gap));
	for (uint32_t i = 0; i < upper->gaps; i++)
		upper->open += upper->gap[i].n;
	b->open -= upper->open;
	return true;
}

/* All numbers from `next` to below n are a gap now. */
static bool add_gap(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n)
{
	struct rn_ordinals_block **at = &o->blocks;

	while (*at && (*at)->next)
		at = &(*at)->next;
	if (*at && (*at)->gaps == GAPS)
		at = &(*at)->next;
	if (!*at && !(*at = take_block(o, mem)))
		return false;
	(*at)->gap[(*at)->gaps++] = (struct gap){ o->next, n - o->next };
	(*at)->open += n - o->next;
	o->open += n - o->next;
	return true;
}

static void drop_block(struct rn_ordinals *o, struct rn_ordinals_block **at)
{
	struct rn_ordinals_block *b = *at;

	*at = b->next;
	b->next = o->unused;
	o->unused = b;
}

/* Number n leaves gap i of a block that has room for one more. */
static void leave_gap(struct rn_ordinals_block *b, uint32_t i, uint64_t n)
{
	struct gap *g = &b->gap[i];
	const struct gap above = { n + 1, g->from + g->n - n - 1 };

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

static bool is_below(const struct rn_ordinals_block *b, uint64_t n)
{
	const struct gap *last = &b->gap[b->gaps - 1];

	return last->from + last->n <= n;
}

static bool fill(struct rn_ordinals *o, struct rn_arena *mem, uint64_t n, uint64_t *late)
{
	struct rn_ordinals_block **at = &o->blocks;
	uint32_t i = 0;

	*late = 0;
	for (; is_below(*at, n); at = &(*at)->next)
		*late += (*at)->open;
	if ((*at)->gaps == GAPS) {
		if (!split(o, mem, *at))
			return false;
		if (is_below(*at, n)) {
			*late += (*at)->open;
			at = &(*at)->next;
		}
	}
	for (; (*at)->gap[i].from + (*at)->gap[i].n <= n; i++)
		*late += (*at)->gap[i].n;
	*late += n - (*at)->gap[i].from;
	leave_gap(*at, i, n);
	o->open--;
	if ((*at)->gaps == 0)
		drop_block(o, at);
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
	const struct rn_ordinals_block *b = o->blocks;
	uint32_t i = 0;

	if (late >= o->open)
		return o->next + (late - o->open);
	for (; late >= b->open; b = b->next)
		late -= b->open;
	for (; late >= b->gap[i].n; i++)
		late -= b->gap[i].n;
	return b->gap[i].from + late;
}
