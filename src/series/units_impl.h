/*
 * units_impl.h - inside a sealed series: what units_*.c share.
 *
 * A pattern's rules are bodies of items, all in one array, children before parents and the root's
 * body last. An item is a repeated delta or a repeated child, and knows what lies before it in
 * its body, so that a search goes down by one search in a body and one division per level.
 *
 *   three nested strides     item: before len     count  step  child
 *   R1  a^999 b              0     0      1       999    a     -
 *                            1     999    1       1      b     -
 *   R2  R1^999 a^999 c       2     0      1000    999    A     0, 2 items     (A = 999a + b)
 *   ...
 *
 * A short child that is not repeated is not gone down to: its items stand in its place (where a
 * stride changes at the end of a loop, the grammar has rules of that kind at every other level).
 *
 * Sums. A body of len elements, entered with value v (the element before its first), adds up to
 * len * v + weight; the weight does not depend on v. One repeat moves v by step, so count
 * repeats add up to
 *      count * (len * v + weight) + len * step * count * (count - 1) / 2.
 *
 * Why nothing overflows. Elements are int64, and so a step, the difference of two elements, has 65
 * bits: `step` keeps the low 64, which is exact for elements (they wrap back) and for monotone
 * patterns (as unsigned). Only rn_units_sum needs the whole, which is in the weights. A weight is a
 * sum of fewer than 2^63 such differences and fits 128 bits; products on the way may wrap, in
 * unsigned arithmetic.
 */
#ifndef RN_SERIES_UNITS_IMPL_H
#define RN_SERIES_UNITS_IMPL_H

#include "base/arena.h"
#include "series/units.h"

typedef unsigned __int128 rn_u128;

static inline rn_u128 rn_wide(int64_t v)
{
	return (rn_u128)(rn_i128)v;
}

struct rn_unit_item {
	uint64_t before, len, count;
	uint64_t step_before, step;
	uint32_t child, nchild; /* the child's items; nchild 0: a delta, which is `step` */
};

struct rn_unit_weight {
	rn_u128 before; /* of the items before this one */
	rn_u128 one;    /* of one repeat */
	rn_i128 step;   /* all 65 bits */
};

struct rn_unit_term {
	uint64_t count;
	int64_t delta; /* where the symbol is one */
	uint32_t sym;
};

struct rn_pattern {
	int64_t first, last;
	uint64_t n;
	const struct rn_unit_item *item;
	const struct rn_unit_weight *weight;
	uint32_t root, nroot;
	bool monotone, nonneg;
	uint32_t nitems;
	/* As they are written: symbols are numbered in the order in which they come up, deltas
	 * where they are used first and rules where they end. */
	uint32_t nrules, nterms;
	const uint32_t *size; /* terms of each rule */
	const struct rn_unit_term *term;
};

#define RN_MARK_SHIFT 6

struct rn_unit { /* a sealed part */
	uint64_t start, n;
	rn_u128 sum_before;
	uint32_t lanes; /* 0: literal */
	bool monotone, nonneg;
	int64_t first, last;
	const struct rn_pattern *lane;
	const int64_t *value;
	const rn_u128 *mark; /* mark[k]: sum of the first k << RN_MARK_SHIFT values */
	/* The values as a column, where sealing has had to make one; or NULL. */
	const unsigned char *column;
	size_t column_len;
};

struct rn_units {
	uint64_t n;
	uint32_t count;
	bool monotone, nonneg;
	const struct rn_unit *unit;
};

/*
 * units_build.c: a pattern from symbols; the one way to make one, for sealing and for decoding.
 *
 *	rn_make_begin(&m, mem, &pattern, first, rules, terms, deltas);
 *	for each rule:
 *		for each term:
 *			symbol = rn_make_delta(&m, d);       unless it is known
 *			rn_make_term(&m, symbol, count);
 *		rn_make_rule(&m, &symbol);
 *	rn_make_end(&m);
 *
 * The numbers given to rn_make_begin are exact. Scratch comes from mem too and is given back by
 * rn_make_end, so nothing else may be allocated there in between.
 */
struct rn_make_sym {
	rn_i128 step, lo, hi; /* lo, hi: of the elements, against the value before the first */
	rn_u128 weight;
	uint64_t len;
	uint32_t item, nitems; /* nitems 0: a delta */
	bool used;
};

struct rn_make {
	struct rn_pattern *p;
	struct rn_unit_item *item;
	struct rn_unit_weight *weight;
	uint32_t *size;
	struct rn_unit_term *term;
	struct rn_make_sym *known; /* symbols so far */
	uint32_t nknown, most;
	struct rn_make_sym open; /* the rule that is being filled */
	uint32_t first_term;     /* its first one */
	bool falling;            /* a delta is negative */
	struct rn_arena *mem;
	struct rn_arena_mark scratch;
};

/* RN_OK or RN_E_NOMEM. */
int rn_make_begin(struct rn_make *m, struct rn_arena *mem, struct rn_pattern *p, int64_t first,
		  uint32_t rules, uint32_t terms, uint32_t deltas);
uint32_t rn_make_delta(struct rn_make *m, int64_t d);
/* RN_E_RANGE: no such symbol, count 0, or 2^63 elements and more. */
int rn_make_term(struct rn_make *m, uint32_t sym, uint64_t count);
/* RN_E_RANGE: the body is empty. */
int rn_make_rule(struct rn_make *m, uint32_t *sym);
/* RN_E_RANGE: an element does not fit an int64, or a rule is not used. */
int rn_make_end(struct rn_make *m);

/* first, first + d, ... n elements. */
int rn_make_even(struct rn_arena *mem, struct rn_pattern *p, int64_t first, int64_t d, uint64_t n);
/* A part of lanes from its patterns, or of literal values; RN_OK or RN_E_NOMEM. */
void rn_unit_of_lanes(struct rn_unit *u, const struct rn_pattern *lane, uint32_t lanes, uint64_t n);
int rn_unit_of_values(struct rn_unit *u, struct rn_arena *mem, const int64_t *v, uint64_t n);
/* The whole from its parts. RN_E_RANGE: 2^63 elements and more. */
int rn_units_join(struct rn_units *u, struct rn_unit *unit, uint32_t count);

/* units_search.c */
int64_t rn_unit_at(const struct rn_unit *u, uint64_t i);
rn_u128 rn_unit_sum(const struct rn_unit *u, uint64_t i);
void rn_unit_read(const struct rn_unit *u, uint64_t from, int64_t *out, size_t n);

/* units_codec.c: bytes that the part would take. */
size_t rn_unit_pattern_size(const struct rn_unit *u);

#endif
