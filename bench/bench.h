/*
 * bench.h - code shared by the benchmarks: CPU time, the unit "clk", medians, rows and their bars.
 *
 * All times are CPU times. One clk is the cost of one clock_gettime(CLOCK_MONOTONIC). It is
 * measured again before every repetition, so a machine that slows down slows both. The value of a
 * row is the median over interleaved repetitions. A row is compared with its bar, a limit.
 * bench_done() returns 1 if a row exceeded its bar. If BENCH_CSV is set in the environment, the
 * rows are also appended to the file that it names.
 */
#ifndef RN_BENCH_BENCH_H
#define RN_BENCH_BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_REPS_MAX 64

static int bench_over;

static inline double bench_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A constant seed: every run uses the same random numbers. */
static uint64_t bench_rng = 88172645463325252u;

static inline uint64_t bench_random(void)
{
	bench_rng ^= bench_rng << 13;
	bench_rng ^= bench_rng >> 7;
	bench_rng ^= bench_rng << 17;
	return bench_rng;
}

/* Returns a random number from 0 to n-1. */
static inline uint32_t bench_below(uint32_t n)
{
	return (uint32_t)(bench_random() >> 16) % n;
}

/* Returns the CPU time of this process in nanoseconds. */
static inline double bench_cpu(void)
{
	return bench_now(CLOCK_PROCESS_CPUTIME_ID);
}

/* Measures the CPU time of one clock_gettime(CLOCK_MONOTONIC), in nanoseconds. */
static inline double bench_clk(void)
{
	enum { N = 200000 };
	struct timespec t;
	double a = bench_cpu();

	for (int i = 0; i < N; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	return (bench_cpu() - a) / N;
}

static inline int bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), bench_by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Appends the line bench,what,value,unit,bar,holds. `bar` is that of bench_row. */
static inline void bench_csv(const char *what, double value, const char *unit, double bar,
			     bool holds)
{
	const char *path = getenv("BENCH_CSV");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	what += strspn(what, " ");
	fprintf(f, "%s,\"%s\",%.4g,%s,", program_invocation_short_name, what, value, unit);
	if (bar != 0)
		fprintf(f, "%s%.10g,%s\n", bar > 0 ? "<=" : ">=", bar > 0 ? bar : -bar,
			holds ? "yes" : "no");
	else
		fprintf(f, ",\n");
	fclose(f);
}

/* Prints one row. A positive bar is an upper limit, a negative one a lower limit; 0: no bar. */
static inline void bench_row(const char *what, double value, const char *unit, double bar,
			     const char *note)
{
	bool holds = bar == 0 || (bar > 0 ? value <= bar : value >= -bar);

	printf("%-46s %12.2f %-8s", what, value, unit);
	if (bar != 0)
		printf(" %s %-9.10g %s", bar > 0 ? "at most " : "at least", bar > 0 ? bar : -bar,
		       holds ? "ok" : "OVER");
	printf("%s%s\n", note && *note ? "   " : "", note ? note : "");
	fflush(stdout);
	bench_csv(what, value, unit, bar, holds);
	bench_over += !holds;
}

/* A measured object: begin() creates it for each run, step() is called n times, end() frees it. */
struct bench_steps {
	void *(*begin)(void *arg);
	void (*step)(void *subject, void *arg, uint64_t i);
	void (*end)(void *subject);
};

/*
 * Prints the time of the longest step in a row with a bar of 1 ms. Each step is timed in four runs
 * over the same input, and its minimum is used. The minimum removes interrupts, which do not occur
 * at the same step in all runs. It retains the growth of a table, which does.
 */
static inline void bench_longest(const char *what, const struct bench_steps *s, void *arg,
				 uint64_t n)
{
	float *least = malloc(n * sizeof(*least));
	double worst = 0;

	for (int run = 0; run < 4; run++) {
		void *subject = s->begin(arg);
		double a = bench_now(CLOCK_MONOTONIC), b;

		for (uint64_t i = 0; i < n; i++, a = b) {
			s->step(subject, arg, i);
			b = bench_now(CLOCK_MONOTONIC);
			if (run == 0 || (float)(b - a) < least[i])
				least[i] = (float)(b - a);
		}
		s->end(subject);
	}
	for (uint64_t i = 0; i < n; i++)
		worst = least[i] > worst ? least[i] : worst;
	free(least);
	bench_row(what, worst / 1000, "us", 1000, NULL);
}

static inline int bench_done(void)
{
	if (bench_over)
		printf("%d bars do not hold\n", bench_over);
	return bench_over ? 1 : 0;
}

#endif
