/*
 * row_model.h - field models of an event row, shared by the codecs `model` and `clock`.
 *
 * Each field is coded with the history of the same event site as context. Each function receives
 * the value to encode and returns the value that is encoded or decoded (context_mix.h). Values
 * coded by other means are passed to rn_pieces_learn_*, so that predictions do not depend on how a
 * value was coded.
 *
 * Memory: the arena, 2 KB per event site. Nothing else is allocated.
 */
#ifndef RN_ORDER_ROW_MODEL_H
#define RN_ORDER_ROW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/context_mix.h"
#include "order/events.h"
#include "order/last_value.h"
#include "order/move_to_front.h"

struct rn_arena;

/* Decision kinds (context_mix.h). */
enum {
	RN_PIECES_SITE,
	RN_PIECES_INDEX = RN_PIECES_SITE + RN_RECENT_KINDS,
	RN_PIECES_SOURCE = RN_PIECES_INDEX + RN_RECENT_KINDS,
	RN_PIECES_TAG = RN_PIECES_SOURCE + RN_RECENT_KINDS,
	RN_PIECES_FAILS = RN_PIECES_TAG + RN_RECENT_KINDS,
	RN_PIECES_DONE,
	RN_PIECES_PLAIN,
	RN_PIECES_SHAPE,
	RN_PIECES_LATE,
	RN_PIECES_LATE_SAME,
	RN_PIECES_TAG_SAME,
	RN_PIECES_KINDS, /* the codec's own kinds start here */
};

/* The latest values of an event site. */
struct rn_pieces_memory {
	struct rn_recent index, source, tag;
	uint32_t fails[2], done, shape;
	uint32_t plain; /* 1: all fields except index and source were as predicted */
	uint64_t polls; /* calls at this event site so far; serves as a clock */
};

/* The latest tag of a source at an event site. */
struct rn_pieces_tag {
	uint32_t key, last, step;
};

#define RN_PIECES_TAGS 1024u

/*
 * Completed requests are usually restarted in the order in which they completed, and receives
 * match in the order in which they were started. The completions of a row are therefore
 * predicted to be the requests that completed the longest ago, in the order of the array:
 *
 *   oldest completion first   2 5 0 | 1 3 4      and a row with 3 completions:
 *   predicted                 index 0, late 2;  index 2, late 0;  index 5, late 0
 */
struct rn_pieces_queue {
	uint32_t index[RN_RECENT_MAX]; /* oldest completion first */
	bool taken[RN_RECENT_MAX];
	uint32_t n, done, first; /* first: position of the oldest index that is not taken */
	uint32_t late;           /* predicted `late` of the index taken last */
};

struct rn_pieces {
	struct rn_guess *g;
	const struct rn_order_site *site;
	size_t sites;
	struct rn_pieces_memory *memory; /* per event site */
	struct rn_recent order;          /* move-to-front list of event sites */
	uint64_t rows;                   /* number of rows so far */
	struct rn_pieces_queue queue;    /* queue of the event site of the current row */
	struct rn_pieces_tag tag[RN_PIECES_TAGS];
	/* Hashes of the last 16 event sites and of the last 4 sources of all sites, a few bits
	 * each. Predictors of the value that follows such a hash; and of the tag, from the last two
	 * tags of a source. */
	uint64_t last_sites, last_sources;
	struct rn_past after_sites, after_sources, after_tags;
};

/* Returns NULL without memory. */
struct rn_pieces *rn_pieces_new(struct rn_arena *mem, const struct rn_order *o, struct rn_guess *g);

/* Returns the size class of v. There are two classes per power of two. */
static inline uint32_t rn_pieces_bucket(uint32_t v)
{
	uint32_t digits = 31u - (uint32_t)__builtin_clz(v | 1);

	return digits < 2 ? v : digits * 2 + (v >> (digits - 1) & 1);
}

/* Returns the number of completions of a row; 0 if the row has numbers in `value`. */
static inline uint32_t rn_pieces_things(const struct rn_pieces *p, const struct rn_order_row *row)
{
	return rn_order_has_numbers(&p->site[row->site]) ? 0 : row->done;
}

uint32_t rn_pieces_site(struct rn_pieces *p, uint32_t v);
uint32_t rn_pieces_fails(struct rn_pieces *p, uint32_t site, uint32_t v);
uint32_t rn_pieces_done(struct rn_pieces *p, uint32_t site, uint32_t fails, uint32_t v);

/* Codes the n-th completion of its row, with `left` completions after it. */
struct rn_order_done rn_pieces_one(struct rn_pieces *p, uint32_t site, uint32_t nth, uint32_t left,
				   struct rn_order_done d);

/* rn_pieces_begin_row is called when `fails` and `done` of a row are known; rn_pieces_end_row,
 * after its completions. */
void rn_pieces_begin_row(struct rn_pieces *p, const struct rn_order_row *row);
void rn_pieces_end_row(struct rn_pieces *p, const struct rn_order_row *row);

/* Update the predictions as coding the value would. */
void rn_pieces_learn_site(struct rn_pieces *p, uint32_t site);
void rn_pieces_learn_done(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d);

#endif
