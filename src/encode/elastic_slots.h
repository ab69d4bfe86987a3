/*
 * elastic_slots.h - the elastic slots of a signature, and the series of their values.
 *
 * In call words (encode/call_words.h), RN_RAW_HOLE marks an elastic slot in place of an input or
 * output number or of a displacement. The elastic values of a slot are a series with one element
 * per call of the signature, in the order of the calls. Constants never become elastic, so a slot
 * contains only numbers that no constant has: those from 0 on. A number that always equals that of
 * an earlier slot (the tag that was sent, and the one that was received) is RN_RAW_SAME, and not a
 * slot. If the call was made from a stack cluster (RN_RAW_ALIKE), the stack is an elastic slot from
 * the first call on.
 *
 * The recording code decides which numbers become elastic (trace/elastic.h). Recovery reproduces
 * the slots from a journal (recover/journal_read.h).
 *
 * Memory is from the arena: about 2.5 KiB per series (series/series.h).
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

#define RN_HOLES_WORDS 512u /* maximum number of words of a call with elastic slots */

/* A word that always equals the value of elastic slot `of`. */
struct rn_tie {
	uint16_t at, of;
};

/* A section of a slot's elastic values that is complete, from the builder or from a journal. */
struct rn_done_series {
	uint32_t hole;
	const struct rn_series *series;
	const struct rn_units *units; /* if not NULL, used in place of `series` */
};

struct rn_holes {
	uint32_t n, ties;
	bool closed;  /* an append failed: a series may have one value too many */
	uint16_t *at; /* indices of the slots in the words, ascending */
	struct rn_tie *tie;
	struct rn_seg done; /* struct rn_done_series: the values before those in `series` */
	uint64_t *mask; /* per word: 0 for an elastic slot or a word equal to one, else all bits */
	struct rn_series **series;
};

/* Returns whether a call of n words can have elastic slots. */
bool rn_holes_can(const uint64_t *words, size_t n);

/* Lists the words of a call that can become elastic slots and returns their number. `plain`: the
 * number is not a rank, so it may be RN_RAW_SAME. A rank may not, because each rank has its own
 * rank expression. Returns 0 if the call cannot have elastic slots. */
struct rn_possible {
	uint16_t at;
	bool plain;
	bool partner; /* a rank or a length: the partner or the amount, not the purpose */
};
uint32_t rn_holes_possible(const uint64_t *words, size_t n, struct rn_possible at[RN_HOLES_MAX]);

/* Returns whether all elastic slots of the words are where numbers may be, and their number is
 * within the limits. */
bool rn_holes_valid(const uint64_t *words, size_t n);

/* Creates the slots of valid words, with empty series. Returns NULL without memory. */
struct rn_holes *rn_holes_new(struct rn_arena *mem, const uint64_t *words, size_t n);

/* Returns the slots of call i from an array of struct rn_holes *; NULL if the call has none or i is
 * beyond the end. */
static inline struct rn_holes *rn_holes_of(const struct rn_seg *all, uint32_t i)
{
	return i < all->n ? *RN_SEG_AT(all, struct rn_holes *, i) : NULL;
}

bool rn_holes_put(struct rn_seg *all, struct rn_arena *mem, uint32_t i, struct rn_holes *h);

/* Returns whether a call matches the words with these slots. The loops have no branches, because
 * the result is nearly always true. */
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

/* Appends the elastic values of one more call. Returns RN_OK, or RN_E_NOMEM: the slots are closed,
 * and the call is not counted. */
int rn_holes_append(struct rn_holes *h, const uint64_t *words);
/* Appends elastic values given in the order of the slots. Returns as rn_holes_append. */
int rn_holes_append_numbers(struct rn_holes *h, const int64_t *number);

/* Seals all values of a slot with the fast method (series/units.h). Returns RN_OK or RN_E_NOMEM. */
int rn_holes_units(const struct rn_holes *h, uint32_t hole, struct rn_arena *mem,
		   struct rn_arena *scratch, struct rn_units **out);

/* Moves the values of a slot to `done` and begins an empty series, so that repeated checkpoints
 * stay short. Returns false without memory, with everything unchanged. */
bool rn_holes_cut(struct rn_holes *h, struct rn_arena *mem, uint32_t hole);

/* Appends a section of values to a slot, from an encoded series. Returns RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_holes_load(struct rn_holes *h, struct rn_arena *mem, uint32_t hole, struct rn_reader *in);

/* Appends the values of `other`, whose slots have `calls` values. A value of a call that was lost
 * (`closed`) is not appended. Returns RN_OK or RN_E_NOMEM. */
int rn_holes_join(struct rn_holes *h, const struct rn_holes *other, uint64_t calls,
		  struct rn_arena *scratch);

#endif
