/*
 * row_model.h - the parts of a row, each coded by what the same site did before.
 *
 * What the codecs `model` and `clock` have in common. Each function takes the value to write and
 * gives the one that stands there (context_mix.h). A value that came another way is told to
 * rn_pieces_learn_*, so that what is expected next does not depend on how it came.
 *
 * Memory from an arena, 2 KB for each site; nothing else is allocated.
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

/* Kinds of decisions (context_mix.h). */
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
	RN_PIECES_KINDS, /* from here on they are the codec's */
};

/* What a site did last. */
struct rn_pieces_memory {
	struct rn_recent index, source, tag;
	uint32_t fails[2], done, shape;
	uint32_t plain; /* it was as expected, but for index and source */
	uint64_t polls; /* calls at this site so far: as time goes by */
};

/* The last tag of a source at a site. */
struct rn_pieces_tag {
	uint32_t key, last, step;
};

#define RN_PIECES_TAGS 1024u

/*
 * Requests that are done are started again, as a rule, in the order in which they were done, and
 * receives match in the order in which they were started. So what is done in a row should be those
 * that were done the longest ago, given in the order of the array:
 *
 *   the oldest first     2 5 0 | 1 3 4      and a row with 3 done:
 *   expected             index 0, late 2;  index 2, late 0;  index 5, late 0
 */
struct rn_pieces_queue {
	uint32_t index[RN_RECENT_MAX]; /* the oldest first */
	bool taken[RN_RECENT_MAX];
	uint32_t n, done, first; /* first: the oldest that is not taken */
	uint32_t late;           /* expected of the last one that was taken */
};

struct rn_pieces {
	struct rn_guess *g;
	const struct rn_order_site *site;
	size_t sites;
	struct rn_pieces_memory *memory; /* of each site */
	struct rn_recent order;          /* of sites */
	uint64_t rows;                   /* so far */
	struct rn_pieces_queue queue;    /* of the site of this row */
	struct rn_pieces_tag tag[RN_PIECES_TAGS];
	/* The last 16 sites, and the last 4 sources of all sites, a few bits of each; and what came
	 * after such; and after the last two tags of a source. */
	uint64_t last_sites, last_sources;
	struct rn_past after_sites, after_sources, after_tags;
};

/* NULL: no memory. */
struct rn_pieces *rn_pieces_new(struct rn_arena *mem, const struct rn_order *o, struct rn_guess *g);

/* Classes of numbers, two for each power of two. */
static inline uint32_t rn_pieces_bucket(uint32_t v)
{
	uint32_t digits = 31u - (uint32_t)__builtin_clz(v | 1);

	return digits < 2 ? v : digits * 2 + (v >> (digits - 1) & 1);
}

/* In all of a row; what a site gave as a number is not there. */
static inline uint32_t rn_pieces_things(const struct rn_pieces *p, const struct rn_order_row *row)
{
	return rn_order_has_numbers(&p->site[row->site]) ? 0 : row->done;
}

uint32_t rn_pieces_site(struct rn_pieces *p, uint32_t v);
uint32_t rn_pieces_fails(struct rn_pieces *p, uint32_t site, uint32_t v);
uint32_t rn_pieces_done(struct rn_pieces *p, uint32_t site, uint32_t fails, uint32_t v);

/* The n-th thing of its row, after which so many are left. */
struct rn_order_done rn_pieces_one(struct rn_pieces *p, uint32_t site, uint32_t nth, uint32_t left,
				   struct rn_order_done d);

/* A row has begun, of which fails and done are known; and all of it has been. */
void rn_pieces_begin_row(struct rn_pieces *p, const struct rn_order_row *row);
void rn_pieces_end_row(struct rn_pieces *p, const struct rn_order_row *row);

/* The same as coding it. */
void rn_pieces_learn_site(struct rn_pieces *p, uint32_t site);
void rn_pieces_learn_done(struct rn_pieces *p, uint32_t site, const struct rn_order_done *d);

#endif
