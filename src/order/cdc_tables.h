/*
 * cdc_tables.h - the chunks and tables of clock-delta compression.
 *
 * After K. Sato et al., "Clock Delta Compression for Scalable Order-Replay of Non-Deterministic
 * Parallel Applications" (SC '15), 3.2 to 3.5:
 *
 *   with next    things that were done in the same call as the next one
 *   unmatched    rows before which tests failed, and how many
 *   matched      receives by the clocks that their messages had, ties by the sender's rank: the
 *                reference order. Only those that came elsewhere are there, with how much later.
 *   epoch        the last clock of each source
 *
 * Here a row may also have no completion (`alone`). The first two tables are properties of the
 * rows, which cdc_codec.c codes directly. The last two are in struct rn_order_matched_tables. A
 * chunk has rows of all sites; those of a site are chained.
 *
 * In proportion to the rows; memory from the caller's arena. Tables that were decoded are checked
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

/* Rows in a chunk, and where what is done in them begins. */
struct rn_order_chunk {
	const struct rn_order_site *site;
	size_t sites;
	struct rn_order_row *row;
	struct rn_order_done *done;
	/* By completion; NULL: all equal. Decoding: the position in the reference order,
	 * counted from `before`. */
	uint64_t *clock;
	uint64_t before;
	uint32_t rows;
	uint32_t *at;    /* the first thing of each row; and of the row after the last */
	uint32_t *first; /* row of each site, or RN_TABLES_NONE */
	uint32_t *next;  /* row of the same site */
};

struct rn_order_epoch {
	int32_t source;
	uint64_t clock;
};

/* Receives of a site. */
struct rn_order_matched_tables {
	uint32_t matched, epochs, moved;
	uint32_t *thing; /* as they came: numbers of things done */
	struct rn_order_epoch *epoch;
	/* Where in the reference order those stand that came elsewhere, and by how much later. */
	uint32_t *moved_at;
	int32_t *delay;
};

/* The chains, from the sites of the rows; and `at`, from what is done in them. */
bool rn_order_chunk_begin(struct rn_arena *mem, struct rn_order_chunk *c);
void rn_order_chunk_count(struct rn_order_chunk *c);

/* Room for the numbers that the tables have. False here and below: no memory. */
bool rn_order_matched_tables_room(struct rn_arena *mem, struct rn_order_matched_tables *t);

bool rn_order_matched_tables(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
			     struct rn_order_matched_tables *t);

/* The first of these alone: `matched` and `thing`. */
bool rn_order_receives(struct rn_arena *mem, const struct rn_order_chunk *c, uint32_t site,
		       struct rn_order_matched_tables *t);

/* Fills in the places of receives. RN_OK, RN_E_DATA, RN_E_NOMEM. */
int rn_order_apply_matched(struct rn_arena *scratch, const struct rn_order_chunk *c,
			   const struct rn_order_matched_tables *t);

#endif
