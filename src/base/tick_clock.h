/*
 * tick_clock.h - fast timestamps in ticks, what a tick is, and how the ranks' clocks relate.
 *
 * Ticks are the processor's counter where it runs at a constant rate (x86: the invariant TSC,
 * aarch64: CNTVCT), elsewhere nanoseconds of CLOCK_MONOTONIC_RAW. Nothing is measured at start: the
 * counter and that clock are read together once when the process starts and again whenever the
 * scale is asked for, and the two pairs give it. What is asked for in the first 0.2 ms comes from
 * the processor's own description, or is waited for.
 *
 * Processes of one host read one clock. Between hosts the offset is measured with a handful of
 * messages, at the start and at the end, which also gives the drift.
 *
 * Cost: rn_clock_now about 9 ns (the counter itself); the rest below a microsecond. rn_clock_start
 * once, before there are threads; all else from any thread, rn_clock_compare from one at a time.
 * errno is kept. No MPI here: who compares brings the calls.
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

/* Set by rn_clock_start; until then the slow clock is read. */
extern bool rn_clock_counter __attribute__((visibility("hidden")));

/* A clock of the system, in nanoseconds. */
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

/* Chooses the source and reads the first pair. Again is fine and does nothing. */
void rn_clock_start(void);

/* The start of the run in this process: the tick of the first pair. rn_clock_age is the time since
 * then, in nanoseconds. */
uint64_t rn_clock_started(void);
uint64_t rn_clock_age(void);

/* Nanoseconds per tick, times 2^32, as well as it is known now. */
uint64_t rn_clock_scale(void);

/* When that was, in nanoseconds of CLOCK_MONOTONIC_RAW. Reads the clocks: for the end of a run. */
uint64_t rn_clock_ns(uint64_t ticks);

/* How ranks talk, on a communicator of the tracer's own; other than 0 is a failure. */
struct rn_clock_calls {
	void *arg;
	uint32_t rank, size;
	int (*send)(void *arg, const void *bytes, size_t n, uint32_t to);
	int (*recv)(void *arg, void *bytes, size_t n, uint32_t from);
	/* Everybody gets the least of what the ranks have, element by element. */
	int (*min)(void *arg, uint64_t *v, size_t n);
};

/* What a rank knows about its clock. Zeroed is ready. */
struct rn_clock_relation {
	unsigned times; /* compared so far */
	bool one_host;  /* all ranks are on it */
	struct {
		uint64_t at;    /* own clock, CLOCK_MONOTONIC_RAW */
		int64_t offset; /* rank 0's clock minus that */
	} first, last;
};

/* Called by all ranks together, at the start and at the end. When all are on one host it is a
 * reduction of two words the first time, and nothing the second. RN_OK, or RN_E_SYS when a call
 * failed: then what was known before stays. */
int rn_clock_compare(struct rn_clock_relation *r, const struct rn_clock_calls *calls);

/* The offset at the first comparison, in nanoseconds, and by how many nanoseconds a second it
 * grows. Both 0 where the clock is that of rank 0. */
void rn_clock_difference(const struct rn_clock_relation *r, int64_t *offset, int64_t *drift);

#endif
