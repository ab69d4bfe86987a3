/*
 * bench.h - what the benchmarks share: CPU time, the unit "clk", medians, and rows against bars.
 *
 * Times are CPU times. The unit is what one clock_gettime(CLOCK_MONOTONIC) costs, measured again
 * before every repetition, so that a machine that slows down slows both. A row is the median over
 * interleaved repetitions and says whether its bar holds; bench_done() counts those that do not.
 * With BENCH_CSV in the environment the rows are also added to that file.
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

/* The same numbers in every run. */
static uint64_t bench_rng = 88172645463325252u;

static inline uint64_t bench_random(void)
{
	bench_rng ^= bench_rng << 13;
	bench_rng ^= bench_rng >> 7;
	bench_rng ^= bench_rng << 17;
	return bench_rng;
}

/* 0 <= result < n */
static inline uint32_t bench_below(uint32_t n)
{
	return (uint32_t)(bench_random() >> 16) % n;
}

/* CPU nanoseconds of this process. */
static inline double bench_cpu(void)
{
	return bench_now(CLOCK_PROCESS_CPUTIME_ID);
}

/* CPU nanoseconds of one clock_gettime(CLOCK_MONOTONIC), now. */
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

/* bench,what,value,unit,bar,holds: the bar as given to bench_row. */
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

/* One row; the bar is an upper one, or (negative) a lower one. A bar of 0 is none. */
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

/* A subject that is built anew for each run and takes n steps. */
struct bench_steps {
	void *(*begin)(void *arg);
	void (*step)(void *subject, void *arg, uint64_t i);
	void (*end)(void *subject);
};

/*
 * The longest single step, in a row with a bar of 1 ms. Each is timed in several runs over the same
 * input and the least counts: an interrupt does not come at the same place in all of them, a table
 * that grows does.
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
