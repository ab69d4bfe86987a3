/*
 * time_stats.h - statistics of call durations and of the gaps between calls, per signature.
 *
 * A gap is the time from the end of the previous call to the start of the call. The statistics of
 * durations and of gaps are the sum, the minimum, the maximum and a histogram whose bins double in
 * width. The number of observations is not stored: in a trace it follows from the rules.
 *
 * Observations are ticks of a clock; `scale` is the length of a tick, which the bins depend on.
 * Sums remain in ticks until rn_times_settle converts them to nanoseconds, once and exactly. Tables
 * of different processes may be merged only after that.
 *
 * The first two observations need no histogram, because they are the minimum and the maximum. A
 * signature that occurs once or twice takes 64 bytes, any other 704.
 *
 * Two written forms exist. rn_times_save is exact and is used for partial traces and the merge.
 * rn_times_encode writes the section "times", which is small and rounds: sums, minima and maxima to
 * within one part in 64, bin counts as specified in doc/format.md.
 *
 * Cost: below 2 ns per observation; no system call and no libc allocation except those of the
 * arena. Not locked: one table per stream.
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

/* Bin 0 counts 0 and 1 ns, bin b from 2^b to below 2^(b+1), the last bin all larger ones. */
#define RN_TIME_BINS 40u

struct rn_timing {
	uint64_t sum, min, max;
	union {
		uintptr_t few;  /* 0, 1, 2: number of observations; there is no histogram */
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
	struct rn_seg clock; /* struct rn_time_clock, sorted by rank */
	/* The clocks as decoded from a section: ranks, offsets and drifts. NULL: the clocks are in
	 * `clock`. */
	struct rn_units *clocks[3];
};

/* The clock of a rank that differs from that of rank 0. At time t of this clock, in nanoseconds,
 * rank 0's clock shows t + offset + drift * (t - start) / 10^9, where start is the start time of
 * the rank. */
struct rn_time_clock {
	uint64_t rank;
	int64_t offset; /* nanoseconds */
	int64_t drift;  /* nanoseconds per second */
};

#define RN_TIME_SCALE_ONE ((uint64_t)1 << 32)

void rn_times_init(struct rn_times *ts, struct rn_arena *mem, uint64_t scale);

/* Allocates entries for all signatures up to `sig`. Returns RN_OK or RN_E_NOMEM. */
int rn_times_grow(struct rn_times *ts, uint32_t sig);

/* Adds one of the first observations. Without memory for a histogram, the observation is lost. */
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

/* Adds one call of the signature. Without memory for the signature, the call is lost. */
static inline void rn_times_add(struct rn_times *ts, uint32_t sig, uint64_t dur, uint64_t gap)
{
	struct rn_time *t;

	if (__builtin_expect(sig >= ts->sig.n, 0) && rn_times_grow(ts, sig) < 0)
		return;
	t = RN_SEG_AT(&ts->sig, struct rn_time, sig);
	rn_timing_add(ts, &t->dur, dur);
	rn_timing_add(ts, &t->gap, gap);
}

/* Returns the statistics of the signature, or NULL if it has none. */
const struct rn_time *rn_times_get(const struct rn_times *ts, uint32_t sig);

/* The number of observations, in total and in one bin. The table must be converted to nanoseconds.
 */
uint64_t rn_timing_count(const struct rn_timing *t);
uint64_t rn_timing_bin(const struct rn_timing *t, unsigned bin);

/* Converts ticks to nanoseconds: multiplies all values by scale / 2^32. Called once, at the end. */
void rn_times_settle(struct rn_times *ts, uint64_t scale);

/* Records the clock of a rank. If offset and drift are 0, the clock is that of rank 0 and takes no
 * memory. Ranks must ascend. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if they do not. */
int rn_times_clock(struct rn_times *ts, uint64_t rank, int64_t offset, int64_t drift);

/* Reads the clock of a rank; offset and drift are 0 for a rank that was not recorded. Returns
 * RN_OK. */
int rn_times_clock_of(const struct rn_times *ts, uint64_t rank, struct rn_time_clock *out);

/* Adds b's statistics to a's. b's signature i is map[i] in a, or i if map is NULL. Appends b's
 * clocks. Both tables must be in ticks of one clock, or both in nanoseconds. b is not changed, and
 * a does not refer to it afterwards. Returns RN_OK; RN_E_ARG if the ranks of b's clocks do not
 * follow a's; RN_E_NOMEM with b only partly added. */
int rn_times_merge(struct rn_times *a, const struct rn_times *b, const uint32_t *map);

/* The exact form, for partial traces and messages. rn_times_load must be passed the scale of the
 * saved table, which is RN_TIME_SCALE_ONE after rn_times_settle. */
int rn_times_save(const struct rn_times *ts, struct rn_buf *out);
int rn_times_load(struct rn_arena *mem, const void *bytes, size_t len, uint64_t scale,
		  struct rn_times *out, struct rn_err *err);

/* Writes the section "times" for signatures 0 .. sigs - 1; signature i occurs count[i] times in the
 * trace. The table must be in nanoseconds. Returns RN_E_NOMEM with `out` unchanged. */
int rn_times_encode(const struct rn_times *ts, const uint64_t *count, uint32_t sigs,
		    struct rn_buf *out);
/* Input is untrusted; malformed input returns RN_E_DATA. Every signature has statistics afterwards.
 */
int rn_times_decode(struct rn_arena *mem, const void *bytes, size_t len, const uint64_t *count,
		    uint32_t sigs, struct rn_times *out, struct rn_err *err);

/* Returns whether all means are between the minimum and the maximum and, in nanoseconds, the
 * histogram also is. */
bool rn_times_check(const struct rn_times *ts);

#endif
