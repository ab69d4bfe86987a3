/*
 * series_impl.h - inside the series builder: what series*.c and units_seal.c share.
 *
 * Closed parts are in `parts`; the open one is spread over struct rn_series, so that an append
 * that the pattern foresaw touches the series, one lane and that lane's grammar, and nothing else.
 * All literal parts lie one after the other in `lit`.
 */
#ifndef RN_SERIES_SERIES_IMPL_H
#define RN_SERIES_SERIES_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "grammar/grammar.h"
#include "series/series.h"

#define RN_LANES_MAX 16u

/* A new part is judged after so many values: at RAW_FEW only whether they are equally spaced. */
#define RAW_FEW  8u
#define RAW_FULL 64u

/* Most values that one append moves between a literal and a pattern part: some 0.3 ms. */
#define CUT_MAX 1024u

#define SEEN_BITS 10
#define SEEN_SIZE (1u << SEEN_BITS)

/* A pattern that is being built: first value, and a grammar over interned differences. */
struct rn_lane {
	struct rn_grammar *g;
	int64_t last;         /* its latest element */
	struct rn_lane *next; /* the ring of lanes, in the order in which they take elements */
	struct rn_seg delta;  /* int64_t: terminal -> difference */
	struct rn_map ids;    /* difference -> terminal */
	int64_t first;
};

struct rn_series_part {
	uint64_t n;
	struct rn_lane *lane; /* the one of element 0; NULL for a literal part */
	uint32_t lanes;       /* 0: literal */
	uint32_t lit;         /* literal: its first value's place in `lit` */
};

enum rn_series_mode { RN_SERIES_RAW, RN_SERIES_PATTERN, RN_SERIES_LITERAL };

/* What is due before the next element is taken. */
enum rn_series_due { RN_DUE_NOTHING, RN_DUE_CLOSE, RN_DUE_CONVERT };

struct rn_series {
	struct rn_lane *lane; /* takes the next element; NULL unless a pattern part is healthy */
	uint64_t n;           /* elements in all */
	uint64_t start;       /* elements in closed parts */
	struct rn_series_part open; /* all but n, which is n - start */
	uint8_t mode, due;
	bool sorted; /* no lanes */
	bool young;  /* a pattern part that began on RAW_FEW values, and has not missed yet */

	/* An open pattern part's health: credit is spent by differences that were not foreseen
	 * and earned by those that were. */
	uint32_t slow;   /* not foreseen, since the last look */
	uint64_t looked; /* n at the last look */
	int64_t credit;

	/* An open literal part's search for a pattern. `seen` leads from the hash of four
	 * differences in a row to where they were last; `lag` is a distance under test, at which
	 * the latest `run` differences have all repeated. */
	uint64_t since;    /* literal values since the last pattern that failed */
	uint64_t patience; /* how large `since` must be for a try on weak evidence */
	uint32_t *seen;
	uint32_t context, lag, run;
	struct { /* what RN_DUE_CONVERT is to do with the latest `cut` values */
		uint32_t lanes, cut, credit;
	} want;

	struct rn_seg parts;  /* struct rn_series_part */
	struct rn_seg lit;    /* int64_t */
	struct rn_lane *idle; /* lanes to be used again */
	struct rn_arena *mem;
	int64_t *raw; /* the values of a new part */
	uint32_t raw_cap;
	int64_t few[RAW_FEW]; /* where raw begins */
};

static inline const struct rn_series_part *rn_series_part_at(const struct rn_series *s, uint32_t i)
{
	return RN_SEG_AT(&s->parts, struct rn_series_part, i);
}

static inline int64_t rn_lit_at(const struct rn_series *s, uint32_t i)
{
	return *RN_SEG_AT(&s->lit, int64_t, i);
}

/* How many of a part's n elements lane k of `lanes` has. */
static inline uint64_t rn_lane_length(uint64_t n, uint32_t lanes, uint32_t k)
{
	return n / lanes + (k < n % lanes);
}

/* ---- series_lane.c ---- */

/* Gives a whole ring back, whatever the lanes hold. */
void rn_lanes_recycle(struct rn_series *s, struct rn_lane *ring);
/* A new ring of lanes with these values dealt out to it, n >= lanes. RN_E_RANGE: a difference does
 * not fit; RN_E_NOMEM. */
int rn_lanes_build(struct rn_series *s, const int64_t *v, uint32_t n, uint32_t lanes,
		   struct rn_lane **ring);
uint64_t rn_lanes_nodes(const struct rn_lane *ring);
/* Takes x as the lane's next element: RN_OK, RN_E_RANGE (the difference does not fit), RN_E_NOMEM;
 * both leave the lane as it was. */
int rn_lane_step(struct rn_lane *l, struct rn_arena *mem, int64_t x, bool *foreseen);
/* All elements to out[at], out[at + stride], ... which has the room. RN_E_RANGE: rules nested too
 * deeply. */
int rn_lane_expand(const struct rn_lane *l, struct rn_seg *out, uint32_t at, uint32_t stride);
/* The number of a difference, or RN_MAP_NONE. */
uint32_t rn_lane_find(const struct rn_lane *l, int64_t d);

/* ---- series_detect.c ---- */

/* d = b - a, or false when that does not fit. */
static inline bool rn_difference(int64_t a, int64_t b, int64_t *d)
{
	return !__builtin_sub_overflow(b, a, d);
}

/* All neighbours have the same difference. */
bool rn_series_even(const int64_t *v, uint32_t n);
/* The kind of part that suits RAW_FULL values: 1 pattern, 2.. lanes, 0 literal. *strong: they
 * repeat so well that it can hardly be chance. */
uint32_t rn_series_judge(const int64_t *v, bool *strong);
/* A literal part begins: nothing has been seen. RN_OK or RN_E_NOMEM. */
int rn_seen_reserve(struct rn_series *s);
void rn_seen_clear(struct rn_series *s);
/* Enters the open literal part's values from..end without looking for a lag. */
void rn_seen_enter(struct rn_series *s, uint32_t from, uint32_t end);
/* Enters value i, the latest, and looks whether differences repeat. */
void rn_seen_look(struct rn_series *s, uint32_t i);

#endif
