/*
 * rule_search.h - finds a position in a stream by the symbols before it.
 *
 * A search passes spans of a stream, as large as possible, until it reaches a symbol that it must
 * not pass. A callback decides for each span whether it may be passed. If it rejects a span that
 * could be passed, the search enters the span. This costs time, but does not change the result.
 *
 * Cost: spans that are passed are not walked. O(height * body) steps, and log(repeats) for items
 * whose repeats are passed only in part.
 */
#ifndef RN_RULES_RULE_SEARCH_H
#define RN_RULES_RULE_SEARCH_H

#include "rules/loop_stream.h"

/* A span: n repeats of an item, whose own count is ignored, or one symbol of a literal run. */
struct rn_passage {
	const struct rn_item *item;
	uint64_t n;
	uint64_t length;
	uint64_t cost; /* items with loops that were visited to compute the length */
	/* NULL if the span contains no loop; otherwise its contents (rn_passage_each). */
	const struct rn_stretch *stretch;
};

/* Calls fn for the items without loops of a span that contains loops. The item, including its
 * count, occurs the given number of times. */
void rn_passage_each(const struct rn_passage *p, rn_fixed_fn *fn, void *arg);

struct rn_search {
	/* NULL, or called before each repeat of an item. Returns true if no repeat of the item may
	 * be passed as a whole; the repeat is then entered. Only for searches toward the end. */
	bool (*enters)(struct rn_search *q, const struct rn_walk *w, const struct rn_item *it);
	bool (*passes)(const struct rn_search *q, const struct rn_passage *p);
	void (*pass)(struct rn_search *q, const struct rn_passage *p);
	uint64_t left;    /* steps that the search may take; it subtracts those that it takes */
	bool whole_items; /* stop before an item without loops that must not be passed */
};

/* Advances to the position before the symbol. Returns false at the end of the stream, or if no
 * steps are left. */
bool rn_search_on(struct rn_search *q, struct rn_walk *w);

/* Moves backward to the position before the symbol. Returns false at the beginning of the stream,
 * or if no steps are left. */
bool rn_search_back(struct rn_search *q, struct rn_walk *w);

#endif
