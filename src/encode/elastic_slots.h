/*
 * elastic_slots.h - calls that differ in nothing but numbers: one signature with holes, and what
 * stands in them.
 *
 * In the words of a call (encode/call_words.h) a hole is RN_RAW_HOLE in place of a number that goes
 * in or comes out, or of a displacement; the numbers themselves are series, one for each hole, with
 * a number for each call of the signature, in their order. Constants never are in a hole, so only
 * numbers that no constant has: those from 0 on. A number that always is that of an earlier hole
 * (the tag that was sent, and the one that came) is RN_RAW_SAME, and no hole. Which of several
 * stacks that are alike a call was made from (RN_RAW_ALIKE) is in a hole from the first call on.
 *
 * Which numbers leave signatures is decided where calls are recorded (trace/elastic.h); who
 * finds a part file does the same again from what is there (recover/journal_read.h).
 *
 * Memory from the arena: a series is about 2.5 KiB (series/series.h).
 */
#ifndef RN_ENCODE_ELASTIC_SLOTS_H
#define RN_ENCODE_ELASTIC_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "encode/call_words.h"

struct rn_reader;
struct rn_series;
struct rn_units;

#define RN_HOLES_WORDS 512u /* of a call that may have some */

/* A word that is the same as hole `of`. */
struct rn_tie {
	uint16_t at, of;
};

/* A stretch of what stands in a hole, from the builder or from a journal. */
struct rn_done_series {
	uint32_t hole;
	const struct rn_series *series;
	const struct rn_units *units; /* instead of the series, unless NULL */
};

struct rn_holes {
	uint32_t n, ties;
	bool closed;  /* the series may have one more than there are calls: none is added */
	uint16_t *at; /* where in the words; ascending */
	struct rn_tie *tie;
	struct rn_seg done; /* struct rn_done_series: what came before what is in `series` */
	uint64_t *mask;     /* by word: 0 for a hole and what is the same as one, else all bits */
	struct rn_series **series;
};

/* Whether a call with so many words can have holes. */
bool rn_holes_can(const uint64_t *words, size_t n);

/* Where the words of a call have numbers that may be in holes, and whether they may be the same as
 * others: ranks may not, of which each is expressed in its own way. Returns how many; 0, too, when
 * it is a call that has no holes. */
struct rn_possible {
	uint16_t at;
	bool plain;
	bool partner; /* a rank or a length: with whom and how much, not what for */
};
uint32_t rn_holes_possible(const uint64_t *words, size_t n, struct rn_possible at[RN_HOLES_MAX]);

/* Whether words with holes have them where numbers may be, and no more than there can be. */
bool rn_holes_valid(const uint64_t *words, size_t n);

/* Of words with holes, which are valid, nothing in them. NULL when there is no memory. */
struct rn_holes *rn_holes_new(struct rn_arena *mem, const uint64_t *words, size_t n);

/* Those of call i, in an array (struct rn_holes *) that has none behind its end. */
static inline struct rn_holes *rn_holes_of(const struct rn_seg *all, uint32_t i)
{
	return i < all->n ? *RN_SEG_AT(all, struct rn_holes *, i) : NULL;
}

bool rn_holes_put(struct rn_seg *all, struct rn_arena *mem, uint32_t i, struct rn_holes *h);

/* Whether a call is one of words with these holes. Without a branch: it is nearly always. */
static inline bool rn_holes_fit(const struct rn_holes *h, const uint64_t *holes,
				const uint64_t *words, size_t n)
{
	uint64_t diff = 0, below = 0;

	for (size_t i = 0; i < n; i++) {
		diff |= (holes[i] ^ words[i]) & h->mask[i];
		below |= words[i] & ~h->mask[i];
	}
	for (uint32_t i = 0; i < h->ties; i++)
		diff |= words[h->tie[i].at] ^ words[h->at[h->tie[i].of]];
	return !diff && !(below >> 63);
}

/* The numbers of one more call. RN_OK, or RN_E_NOMEM: it is closed, and the call is none. */
int rn_holes_append(struct rn_holes *h, const uint64_t *words);
/* The same for numbers as they follow each other. */
int rn_holes_append_numbers(struct rn_holes *h, const int64_t *number);

/* All that stands in a hole, sealed quickly (series/units.h). RN_OK or RN_E_NOMEM. */
int rn_holes_units(const struct rn_holes *h, uint32_t hole, struct rn_arena *mem,
		   struct rn_arena *scratch, struct rn_units **out);

/* What stands in a hole is kept elsewhere, and begins anew: so that what is saved again and again
 * stays short. False without memory, with all as it was. */
bool rn_holes_cut(struct rn_holes *h, struct rn_arena *mem, uint32_t hole);

/* Adds the next stretch of a hole, from an encoded series. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_holes_load(struct rn_holes *h, struct rn_arena *mem, uint32_t hole, struct rn_reader *in);

/* What stands in those of another, which has so many calls, comes behind. What is of a call that
 * was lost (`closed`) does not. RN_OK or RN_E_NOMEM. */
int rn_holes_join(struct rn_holes *h, const struct rn_holes *other, uint64_t calls,
		  struct rn_arena *scratch);

#endif
