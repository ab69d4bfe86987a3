/*
 * series_impl.h - series builder internals shared by series*.c and units_seal.c.
 *
 * In the builder, a unit is a struct rn_series_part. Closed units are in `parts`. The open unit is
 * stored in fields of struct rn_series, so that a predicted append accesses only the series, one
 * lane and that lane's grammar. All literal units are consecutive in `lit`.
 */
#ifndef RN_SERIES_SERIES_IMPL_H
#define RN_SERIES_SERIES_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "grammar/grammar.h"
#include "series/series.h"

#define RN_LANES_MAX 16u

/* A new unit is classified after RAW_FULL values. After RAW_FEW values, it is only tested whether
 * these are equally spaced. */
#define RAW_FEW  8u
#define RAW_FULL 64u

/* Maximum number of values that one append moves between a literal and a pattern unit (about 0.3
 * ms). */
#define CUT_MAX 1024u

#define SEEN_BITS 10
#define SEEN_SIZE (1u << SEEN_BITS)

/* A pattern under construction: a first value, and a grammar over interned differences. */
struct rn_lane {
	struct rn_grammar *g;
	int64_t last;         /* latest element */
	struct rn_lane *next; /* ring of lanes, in the order in which they receive elements */
	struct rn_seg delta;  /* int64_t: terminal -> difference */
	struct rn_map ids;    /* difference -> terminal */
	int64_t first;
};

struct rn_series_part {
	uint64_t n;
	struct rn_lane *lane; /* the lane of element 0; NULL for a literal unit */
	uint32_t lanes;       /* 0: literal */
	uint32_t lit;         /* literal: index of its first value in `lit` */
};

enum rn_series_mode { RN_SERIES_RAW, RN_SERIES_PATTERN, RN_SERIES_LITERAL };

/* The change of units that is due before the next element is appended. */
enum rn_series_due { RN_DUE_NOTHING, RN_DUE_CLOSE, RN_DUE_CONVERT };

struct rn_series {
	struct rn_lane *lane; /* receives the next element; NULL: no pattern unit with credit */
	uint64_t n;           /* number of elements */
	uint64_t start;       /* number of elements in closed units */
	struct rn_series_part open; /* all fields except n, which is n - start */
	uint8_t mode, due;
	bool sorted; /* never use lanes */
	bool young;  /* a pattern unit that began with RAW_FEW values, without a miss so far */

	/* Open pattern unit: differences that were not predicted spend credit, and predicted ones
	 * earn it. */
	uint32_t slow;   /* differences not predicted since the last look() */
	uint64_t looked; /* value of n at the last look() */
	int64_t credit;

	/* Open literal unit: the search for a pattern. `seen` maps the hash of four successive
	 * differences to the index of their last occurrence. `lag` is a distance under test, at
	 * which the latest `run` differences have all repeated. */
	uint64_t since;    /* literal values since the last failed pattern */
	uint64_t patience; /* minimum of `since` for an attempt on weak evidence */
	uint32_t *seen;
	uint32_t context, lag, run;
	struct { /* parameters of RN_DUE_CONVERT, which converts the latest `cut` values */
		uint32_t lanes, cut, credit;
	} want;

	struct rn_seg parts;  /* struct rn_series_part */
	struct rn_seg lit;    /* int64_t */
	struct rn_lane *idle; /* unused lanes, available for reuse */
	struct rn_arena *mem;
	int64_t *raw; /* values of a new unit */
	uint32_t raw_cap;
	int64_t few[RAW_FEW]; /* initial storage of raw */
};

static inline const struct rn_series_part *rn_series_part_at(const struct rn_series *s, uint32_t i)
{
	return RN_SEG_AT(&s->parts, struct rn_series_part, i);
}

static inline int64_t rn_lit_at(const struct rn_series *s, uint32_t i)
{
	return *RN_SEG_AT(&s->lit, int64_t, i);
}

/* Returns the number of elements that lane k of `lanes` has in a unit of n elements. */
static inline uint64_t rn_lane_length(uint64_t n, uint32_t lanes, uint32_t k)
{
	return n / lanes + (k < n % lanes);
}

/* ---- series_lane.c ---- */

/* Returns all lanes of a ring to the idle list, whatever they contain. */
void rn_lanes_recycle(struct rn_series *s, struct rn_lane *ring);
/* Creates a ring of lanes and distributes n >= lanes values to it. Returns RN_OK, RN_E_NOMEM, or
 * RN_E_RANGE if a difference does not fit. */
int rn_lanes_build(struct rn_series *s, const int64_t *v, uint32_t n, uint32_t lanes,
		   struct rn_lane **ring);
uint64_t rn_lanes_nodes(const struct rn_lane *ring);
/* Appends x to the lane. Returns RN_OK, or with the lane unchanged RN_E_NOMEM, or RN_E_RANGE if the
 * difference does not fit. */
int rn_lane_step(struct rn_lane *l, struct rn_arena *mem, int64_t x, bool *foreseen);
/* Writes all elements to out[at], out[at + stride], ..., which must have room. Returns RN_E_RANGE
 * if rules are nested too deeply. */
int rn_lane_expand(const struct rn_lane *l, struct rn_seg *out, uint32_t at, uint32_t stride);
/* Returns the id of a difference, or RN_MAP_NONE. */
uint32_t rn_lane_find(const struct rn_lane *l, int64_t d);

/* ---- series_detect.c ---- */

/* Stores d = b - a. Returns false if that does not fit. */
static inline bool rn_difference(int64_t a, int64_t b, int64_t *d)
{
	return !__builtin_sub_overflow(b, a, d);
}

/* Whether all neighbors have the same difference. */
bool rn_series_even(const int64_t *v, uint32_t n);
/* Selects the kind of unit for RAW_FULL values. Returns 1 for a pattern, 2 or more for a number of
 * lanes, 0 for literal. Sets *strong if the repetition is unlikely to be chance. */
uint32_t rn_series_judge(const int64_t *v, bool *strong);
/* Prepare the search in a new literal unit. rn_seen_reserve returns RN_OK or RN_E_NOMEM. */
int rn_seen_reserve(struct rn_series *s);
void rn_seen_clear(struct rn_series *s);
/* Enters values from..end of the open literal unit without searching for a lag. */
void rn_seen_enter(struct rn_series *s, uint32_t from, uint32_t end);
/* Enters value i, the latest, and tests whether differences repeat. */
void rn_seen_look(struct rn_series *s, uint32_t i);

#endif
