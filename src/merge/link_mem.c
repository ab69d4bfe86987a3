/* link_mem.c - see link_mem.h. */
#include "merge/link_mem.h"

#include <assert.h>

#include "merge/merged.h"

void rn_link_init(struct rn_link *l, size_t limit)
{
	l->parts = 0;
	l->next = 0;
	rn_arena_init(&l->scratch, limit);
	for (unsigned i = 0; i < RN_LINK_PARTS; i++)
		rn_arena_init(&l->slot[i].mem, limit);
}

static void rewind_all(struct rn_arena *a)
{
	rn_arena_rewind(a, (struct rn_arena_mark){ 0 });
}

/* The last part goes into the one before it; its arena is free again. */
static int merge_top(struct rn_link *l)
{
	struct rn_link_slot *b = &l->slot[l->parts - 1], *a = b - 1;
	int rc = rn_part_merge(&a->part, &b->part, &l->scratch);

	if (rc < 0)
		return rc;
	rewind_all(&b->mem);
	a->height = (a->height > b->height ? a->height : b->height) + 1;
	l->parts--;
	return RN_OK;
}

static int carry(struct rn_link *l)
{
	while (l->parts > 1 && l->slot[l->parts - 2].height == l->slot[l->parts - 1].height) {
		int rc = merge_top(l);

		if (rc < 0)
			return rc;
	}
	return RN_OK;
}

int rn_link_push(struct rn_link *l, const struct rn_sigs *sigs, const struct rn_grammar *g)
{
	struct rn_link_slot *s;
	int rc = carry(l); /* only if the last push could not finish its own */

	if (rc < 0)
		return rc;
	assert(l->parts < RN_LINK_PARTS - 1);
	s = &l->slot[l->parts];
	rc = rn_part_leaf(&s->part, &s->mem, l->next, sigs, g);
	if (rc < 0) {
		rewind_all(&s->mem);
		return rc;
	}
	s->height = 0;
	l->parts++;
	l->next++;
	carry(l); /* the rank is in; a merge that fails now is tried again at the next push */
	return RN_OK;
}

int rn_link_finish(struct rn_link *l, struct rn_arena *mem, struct rn_streams *out)
{
	if (l->parts == 0)
		return RN_E_ARG;
	while (l->parts > 1) {
		int rc = merge_top(l);

		if (rc < 0)
			return rc;
	}
	return rn_part_finish(&l->slot[0].part, mem, &l->scratch, out);
}

void rn_link_free(struct rn_link *l)
{
	rn_arena_free(&l->scratch);
	for (unsigned i = 0; i < RN_LINK_PARTS; i++)
		rn_arena_free(&l->slot[i].mem);
	l->parts = 0;
}
