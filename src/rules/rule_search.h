/*
 * rule_search.h - finds a place in a stream by what comes before it.
 *
 * A search passes over pieces of a stream, as large ones as it may, until it comes to a symbol that
 * it must not pass. Somebody says of each piece whether it may be passed; who says no to some that
 * could be costs time, and changes nothing: the piece is looked into.
 *
 * Cost: what is passed is not walked; O(height * body) steps, and log of the repeats that are
 * passed only in part.
 */
#ifndef RN_RULES_RULE_SEARCH_H
#define RN_RULES_RULE_SEARCH_H

#include "rules/loop_stream.h"

/* So many repeats of an item (its own count aside), or one symbol of a run. */
struct rn_passage {
	const struct rn_item *item;
	uint64_t n;
	uint64_t length;
	uint64_t cost; /* items with loops that were visited to find the length */
	/* NULL: there is no loop in it. Otherwise what it consists of (rn_passage_each). */
	const struct rn_stretch *stretch;
};

/* Items without loops in a piece that has some: m times what they say. */
void rn_passage_each(const struct rn_passage *p, rn_fixed_fn *fn, void *arg);

struct rn_search {
	/* NULL, or called before each repeat of an item: true if no repeat of the item may be
	 * passed as a whole. The repeat is then entered. Only for searches towards the end. */
	bool (*enters)(struct rn_search *q, const struct rn_walk *w, const struct rn_item *it);
	bool (*passes)(const struct rn_search *q, const struct rn_passage *p);
	void (*pass)(struct rn_search *q, const struct rn_passage *p);
	uint64_t left;    /* steps that it may take, from which they are subtracted */
	bool whole_items; /* stop before what has no loops and must not be passed */
};

/* To before the symbol that is looked for. False at the end of the stream, or when there are no
 * steps left. */
bool rn_search_on(struct rn_search *q, struct rn_walk *w);

/* The same towards the beginning; ends before the symbol, too. */
bool rn_search_back(struct rn_search *q, struct rn_walk *w);

#endif
