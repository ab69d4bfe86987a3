/*
 * units_impl.h - sealed series internals shared by units_*.c.
 *
 * The rules of a pattern are bodies of items, all in one array, children before parents and the
 * root's body last. An item is a repeated delta or a repeated child. It stores totals of the items
 * before it in its body, so a search needs one search in a body and one division per level.
 *
 *   three nested strides     item: before len     count  step  child
 *   R1  a^999 b              0     0      1       999    a     -
 *                            1     999    1       1      b     -
 *   R2  R1^999 a^999 c       2     0      1000    999    A     0, 2 items     (A = 999a + b)
 *   ...
 *
 * A short child that is not repeated is not a level: its items replace it. (Where a stride changes
 * at the end of a loop, the grammar has such rules at every second level.)
 *
 * Sums. The elements of a body of len elements, entered with value v (the element before its
 * first), have the sum len * v + weight; the weight does not depend on v. One repeat increases v by
 * step, so count repeats have the sum count * (len * v + weight) + len * step * count * (count - 1)
 * / 2.
 *
 * Why nothing overflows. Elements are int64. A step is the difference of two elements and has 65
 * bits. `step` stores the low 64 bits. This is exact for elements (they wrap back) and for monotone
 * patterns (as unsigned). Only rn_units_sum needs all bits, which are in the weights. A weight is a
 * sum of fewer than 2^63 such differences and fits 128 bits. Intermediate products may wrap, in
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
	uint32_t child, nchild; /* items of the child; nchild 0: a delta, which is `step` */
};

struct rn_unit_weight {
	rn_u128 before; /* sum of the items before this one */
	rn_u128 one;    /* sum of one repeat */
	rn_i128 step;   /* all 65 bits */
};

struct rn_unit_term {
	uint64_t count;
	int64_t delta; /* if the symbol is a delta */
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
	/* For encoding: symbols are numbered in order of appearance, deltas at their first use and
	 * rules at their end. */
	uint32_t nrules, nterms;
	const uint32_t *size; /* number of terms of each rule */
	const struct rn_unit_term *term;
};

#define RN_MARK_SHIFT 6

struct rn_unit { /* a unit of a sealed series */
	uint64_t start, n;
	rn_u128 sum_before;
	uint32_t lanes; /* 0: literal */
	bool monotone, nonneg;
	int64_t first, last;
	const struct rn_pattern *lane;
	const int64_t *value;
	const rn_u128 *mark; /* mark[k]: sum of the first k << RN_MARK_SHIFT values */
	/* The values as a column, if sealing had to encode one; otherwise NULL. */
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
 * units_build.c: creates a pattern from symbols. Sealing and decoding create all patterns this way.
 *
 *	rn_make_begin(&m, mem, &pattern, first, rules, terms, deltas);
 *	for each rule:
 *		for each term:
 *			symbol = rn_make_delta(&m, d);       unless it is known
 *			rn_make_term(&m, symbol, count);
 *		rn_make_rule(&m, &symbol);
 *	rn_make_end(&m);
 *
 * The numbers passed to rn_make_begin are exact. Scratch memory is also from mem and is released by
 * rn_make_end, so nothing else may be allocated from mem in between.
 */
struct rn_make_sym {
	rn_i128 step, lo, hi; /* lo, hi: range of elements, relative to that before the first */
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
	struct rn_make_sym *known; /* symbols defined so far */
	uint32_t nknown, most;
	struct rn_make_sym open; /* the rule under construction */
	uint32_t first_term;     /* index of its first term */
	bool falling;            /* a delta is negative */
	struct rn_arena *mem;
	struct rn_arena_mark scratch;
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_make_begin(struct rn_make *m, struct rn_arena *mem, struct rn_pattern *p, int64_t first,
		  uint32_t rules, uint32_t terms, uint32_t deltas);
uint32_t rn_make_delta(struct rn_make *m, int64_t d);
/* Returns RN_E_RANGE if there is no such symbol, the count is 0, or there are 2^63 elements or
 * more. */
int rn_make_term(struct rn_make *m, uint32_t sym, uint64_t count);
/* Returns RN_E_RANGE if the body is empty. */
int rn_make_rule(struct rn_make *m, uint32_t *sym);
/* Returns RN_E_RANGE if an element does not fit an int64, or a rule is not used. */
int rn_make_end(struct rn_make *m);

/* Creates the pattern first, first + d, ... of n elements. */
int rn_make_even(struct rn_arena *mem, struct rn_pattern *p, int64_t first, int64_t d, uint64_t n);
/* Create a unit of lanes from its patterns, or of literal values. The second one returns RN_OK or
 * RN_E_NOMEM. */
void rn_unit_of_lanes(struct rn_unit *u, const struct rn_pattern *lane, uint32_t lanes, uint64_t n);
int rn_unit_of_values(struct rn_unit *u, struct rn_arena *mem, const int64_t *v, uint64_t n);
/* Creates a series from its units. Returns RN_E_RANGE for 2^63 elements or more. */
int rn_units_join(struct rn_units *u, struct rn_unit *unit, uint32_t count);

/* units_search.c */
int64_t rn_unit_at(const struct rn_unit *u, uint64_t i);
rn_u128 rn_unit_sum(const struct rn_unit *u, uint64_t i);
void rn_unit_read(const struct rn_unit *u, uint64_t from, int64_t *out, size_t n);

/* units_codec.c: returns the encoded size of a pattern unit, in bytes. */
size_t rn_unit_pattern_size(const struct rn_unit *u);

#endif
