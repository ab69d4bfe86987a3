/*
 * cdc_tables.h - the chunks and tables of clock-delta compression.
 *
 * After K. Sato et al., "Clock Delta Compression for Scalable Order-Replay of Non-Deterministic
 * Parallel Applications" (SC '15), 3.2 to 3.5:
 *
 *   with next    completions that the same call reported as the next completion
 *   unmatched    rows after failed tests, and the number of failed tests
 *   matched      the reference order: receives sorted by the clocks of their messages, ties by the
 *                sender's rank. The table contains only the receives that are out of order, with
 *                the number of positions by which each came later
 *   epoch        the last clock of each source
 *
 * Here a row may also have no completion (`alone`). The first two tables are properties of the
 * rows, which cdc_codec.c codes directly. The last two are in struct rn_order_matched_tables. A
 * chunk has rows of all event sites; the rows of one site are chained.
 *
 * Cost: linear in the number of rows. Memory: the caller's arena. Decoded tables are validated
 * before they are applied.
 */
#ifndef RN_ORDER_CDC_TABLES_H
#define RN_ORDER_CDC_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;

#define RN_TABLES_NONE UINT32_MAX

/* The rows and completions of a chunk. */
struct rn_order_chunk {
	const struct rn_order_site *site;
	size_t sites;
	struct rn_order_row *row;
	struct rn_order_done *done;
	/* Per completion; NULL: all equal. Decoding: the position in the reference order, counted
	 * from `before`. */
	uint64_t *clock;
	uint64_t before;
	uint32_t rows;
	uint32_t *at;    /* first completion of each row, and of the row after the last */
	uint32_t *first; /* first row of each event site, or RN_TABLES_NONE */
	uint32_t *next;  /* next row of the same event site */
};

struct rn_order_epoch {
	int32_t source;
	uint64_t clock;
};

/* The matched and epoch tables of one event site. */
struct rn_order_matched_tables {
	uint32_t matched, epochs, moved;
	uint32_t *thing; /* indices of the completions, in observed order */
	struct rn_order_epoch *epoch;
	/* Receives out of order: position in the reference order, and number of positions by which
	 * the receive came later. */
	uint32_t *moved_at;
	int32_t *delay;
};

/* rn_order_chunk_begin builds the chains from the event sites of the rows; rn_order_chunk_count
 * computes `at` from the completions of the rows. */
bool rn_order_chunk_begin(struct rn_arena *mem, struct rn_order_chunk *c);
void rn_order_chunk_count(struct rn_order_chunk *c);

/* Allocates the arrays for the counts in the tables. Returns false without memory, as do the
 * functions below. */
bool rn_order_matched_tables_room(struct rn_arena *mem, struct rn_order_matched_tables *t);

bool rn_order_matched_tables(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
			     struct rn_order_matched_tables *t);

/* Computes only `matched` and `thing`. */
bool rn_order_receives(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
		       struct rn_order_matched_tables *t);

/* Stores the position of each receive in the reference order. Returns RN_OK, RN_E_DATA or
 * RN_E_NOMEM. */
int rn_order_apply_matched(struct rn_arena *scratch, const struct rn_order_chunk *c,
			   const struct rn_order_matched_tables *t);

#endif
