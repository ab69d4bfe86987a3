/*
 * time_stats.h - how long calls took and how long it was between them: statistics per signature.
 *
 * Of each signature's durations, and of the gaps between the end of the call before it and its
 * start: sum, least, largest, and a histogram whose bins double. The number of observations is not
 * kept apart: in a trace the rules have it.
 *
 * Observations are ticks of some clock; `scale` says how long one is, which is all that the bins
 * need. Sums stay in ticks until rn_times_settle turns them into nanoseconds, once and exactly;
 * only then may tables of different processes be merged.
 *
 * The first two observations need no histogram, as they are the least and the largest: signatures
 * that occur once or twice take 64 bytes, all others 704.
 *
 * Two written forms: an exact one for parts and for the merge (rn_times_save), and the section
 * "times", which is small and rounds (rn_times_encode): sums, least and largest to within one part
 * in 64, the counts of the bins as doc/format.md says.
 *
 * Cost: an observation below 2 ns; no system call and no libc allocation but the arena's. Not
 * locked: one table per stream.
 */
#ifndef RN_ENCODE_TIME_STATS_H
#define RN_ENCODE_TIME_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct rn_arena;
struct rn_buf;
struct rn_units;

/* Bin 0 holds 0 and 1 ns, bin b from 2^b to below 2^(b+1), the last one everything above. */
#define RN_TIME_BINS 40u

struct rn_timing {
	uint64_t sum, min, max;
	union {
		uintptr_t few;  /* 0, 1, 2: so many observations, and no histogram */
		uint64_t *hist; /* RN_TIME_BINS counts */
	};
};

struct rn_time { /* of one signature */
	struct rn_timing dur, gap;
};

struct rn_times {
	struct rn_arena *mem;
	struct rn_seg sig;   /* struct rn_time, by signature */
	uint64_t scale;      /* nanoseconds per tick, times 2^32 */
	struct rn_seg clock; /* struct rn_time_clock, ranks ascending */
	/* The same when it comes from a section: ranks, offsets and drifts; or NULL. */
	struct rn_units *clocks[3];
};

/* A rank whose clock is not that of rank 0: at time t of its own, in nanoseconds, rank 0's shows
 * t + offset + drift * (t - start) / 10^9, where start is when the rank started. */
struct rn_time_clock {
	uint64_t rank;
	int64_t offset; /* nanoseconds */
	int64_t drift;  /* nanoseconds a second */
};

#define RN_TIME_SCALE_ONE ((uint64_t)1 << 32)

void rn_times_init(struct rn_times *ts, struct rn_arena *mem, uint64_t scale);

/* Room for signatures up to this one. RN_OK or RN_E_NOMEM. */
int rn_times_grow(struct rn_times *ts, uint32_t sig);

/* The first observations. One that there is no memory for is lost. */
void rn_timing_few(struct rn_times *ts, struct rn_timing *t, uint64_t ticks);

static inline uint64_t rn_time_ns(uint64_t ticks, uint64_t scale)
{
	return (uint64_t)(((unsigned __int128)ticks * scale) >> 32);
}

static inline unsigned rn_time_bin(uint64_t ns)
{
	unsigned bin = 63u - (unsigned)__builtin_clzll(ns | 1);

	return bin < RN_TIME_BINS ? bin : RN_TIME_BINS - 1;
}

static inline void rn_timing_add(struct rn_times *ts, struct rn_timing *t, uint64_t ticks)
{
	if (__builtin_expect(t->few < 3, 0)) {
		rn_timing_few(ts, t, ticks);
		return;
	}
	t->sum += ticks;
	if (ticks < t->min)
		t->min = ticks;
	if (ticks > t->max)
		t->max = ticks;
	t->hist[rn_time_bin(rn_time_ns(ticks, ts->scale))]++;
}

/* One call of the signature. Without memory for the signature it is lost. */
static inline void rn_times_add(struct rn_times *ts, uint32_t sig, uint64_t dur, uint64_t gap)
{
	struct rn_time *t;

	if (__builtin_expect(sig >= ts->sig.n, 0) && rn_times_grow(ts, sig) < 0)
		return;
	t = RN_SEG_AT(&ts->sig, struct rn_time, sig);
	rn_timing_add(ts, &t->dur, dur);
	rn_timing_add(ts, &t->gap, gap);
}

/* Statistics of the signature; NULL when it has none. */
const struct rn_time *rn_times_get(const struct rn_times *ts, uint32_t sig);

/* Of a table that is settled: how many observations, how many of them in the bin. */
uint64_t rn_timing_count(const struct rn_timing *t);
uint64_t rn_timing_bin(const struct rn_timing *t, unsigned bin);

/* Ticks become nanoseconds: everything is multiplied by scale / 2^32. Once, at the end. */
void rn_times_settle(struct rn_times *ts, uint64_t scale);

/* Notes a rank's clock; one that is that of rank 0 (both 0) takes no room. Ranks ascend. RN_OK,
 * RN_E_NOMEM, or RN_E_ARG when they do not. */
int rn_times_clock(struct rn_times *ts, uint64_t rank, int64_t offset, int64_t drift);

/* RN_OK, also for ranks that were not noted (all 0). */
int rn_times_clock_of(const struct rn_times *ts, uint64_t rank, struct rn_time_clock *out);

/* Adds b's statistics to a's, where b's signature i is map[i] in a (or i, if map is NULL), and
 * appends b's clocks. Both in ticks of one clock, or both settled. b is not changed and not
 * referred to afterwards. RN_OK; RN_E_ARG when b's clocks are not of later ranks; RN_E_NOMEM: only
 * a part of b has been added. */
int rn_times_merge(struct rn_times *a, const struct rn_times *b, const uint32_t *map);

/* Exactly, for parts and messages. The table has this scale again: RN_TIME_SCALE_ONE if it was
 * settled. */
int rn_times_save(const struct rn_times *ts, struct rn_buf *out);
int rn_times_load(struct rn_arena *mem, const void *bytes, size_t len, uint64_t scale,
		  struct rn_times *out, struct rn_err *err);

/* The section "times" for signatures 0 .. sigs - 1; signature i occurs count[i] times in the trace.
 * The table is settled. On failure (RN_E_NOMEM) out is as it was. */
int rn_times_encode(const struct rn_times *ts, const uint64_t *count, uint32_t sigs,
		    struct rn_buf *out);
/* Trusts no byte. Every signature has statistics then. */
int rn_times_decode(struct rn_arena *mem, const void *bytes, size_t len, const uint64_t *count,
		    uint32_t sigs, struct rn_times *out, struct rn_err *err);

/* Means are between the least and the largest, and the bins of a settled table too. */
bool rn_times_check(const struct rn_times *ts);

#endif
