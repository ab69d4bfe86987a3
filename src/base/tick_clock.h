/*
 * tick_clock.h - fast timestamps in ticks, the duration of a tick, and the offsets between the
 * clocks of ranks.
 *
 * Ticks are those of the processor's counter if its rate is constant (x86: invariant TSC, aarch64:
 * CNTVCT), otherwise nanoseconds of CLOCK_MONOTONIC_RAW. There is no calibration at start. The
 * counter and that clock are read together once when the process starts, and again whenever the
 * scale is requested; the scale follows from the two pairs. A request in the first 0.2 ms uses the
 * rate that the processor states, or waits.
 *
 * The processes of a host read the same clock. Between hosts, the offset is measured with a small
 * number of messages, at the start and at the end. The drift follows from the two offsets.
 *
 * Cost: rn_clock_now about 9 ns (the counter itself); the other functions less than a microsecond.
 * Call rn_clock_start once, before there are threads. Any thread may call the other functions, but
 * only one at a time rn_clock_compare. errno is preserved. This file does not call MPI: the caller
 * of rn_clock_compare passes the functions.
 */
#ifndef RN_BASE_TICK_CLOCK_H
#define RN_BASE_TICK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Set by rn_clock_start. Until then the slow clock is read. */
extern bool rn_clock_counter __attribute__((visibility("hidden")));

/* Return the time of a system clock, and of CLOCK_MONOTONIC_RAW, in nanoseconds. */
uint64_t rn_clock_read(clockid_t clock);
uint64_t rn_clock_slow(void);

static inline uint64_t rn_clock_now(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(rn_clock_counter, 1))
		return __rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	if (__builtin_expect(rn_clock_counter, 1)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return rn_clock_slow();
}

/* Selects the source and reads the first pair. Further calls have no effect. */
void rn_clock_start(void);

/* Return the start of the run in this process: the tick of the first pair, and the time since then,
 * in nanoseconds. */
uint64_t rn_clock_started(void);
uint64_t rn_clock_age(void);

/* Returns the number of nanoseconds per tick, times 2^32. The precision increases with time. */
uint64_t rn_clock_scale(void);

/* Converts ticks to nanoseconds of CLOCK_MONOTONIC_RAW. Reads the clocks: for the end of a run. */
uint64_t rn_clock_ns(uint64_t ticks);

/* Communication between ranks, on a communicator of the tracer. A nonzero result is an error. */
struct rn_clock_calls {
	void *arg;
	uint32_t rank, size;
	int (*send)(void *arg, const void *bytes, size_t n, uint32_t to);
	int (*recv)(void *arg, void *bytes, size_t n, uint32_t from);
	/* All ranks receive the element-wise minimum. */
	int (*min)(void *arg, uint64_t *v, size_t n);
};

/* The relation of a rank's clock to that of rank 0. Must be zero-initialized. */
struct rn_clock_relation {
	unsigned times; /* number of comparisons */
	bool one_host;  /* all ranks are on one host */
	struct {
		uint64_t at;    /* own clock, CLOCK_MONOTONIC_RAW */
		int64_t offset; /* rank 0's clock minus the own clock */
	} first, last;
};

/* Collective over all ranks; called at the start and at the end. If all are on one host, the first
 * call is a reduction of two words, and the second does not communicate. Returns RN_OK, or RN_E_SYS
 * if a call failed. The relation is then unchanged. */
int rn_clock_compare(struct rn_clock_relation *r, const struct rn_clock_calls *calls);

/* Computes the offset at the first comparison, in nanoseconds, and its increase in nanoseconds per
 * second. Both are 0 if the clock is that of rank 0. */
void rn_clock_difference(const struct rn_clock_relation *r, int64_t *offset, int64_t *drift);

#endif
