/*
 * tap.h - TAP for the C unit tests; each test is a program that includes this file once.
 *
 *	static void test_push(void)
 *	{
 *		CHECK(push(1) == 0);            a failure prints its position and expression
 *		if (!CHECK(top() != NULL))      CHECK returns the truth value of its expression
 *			return;
 *	}
 *
 *	int main(void)
 *	{
 *		test_push();
 *		ok("push and top agree");       one TAP line for all CHECKs since the last ok
 *		return tap_done();              prints the plan, returns the exit status
 *	}
 *
 * tap_rand() returns the same numbers in every run. RONDO_SEED=n selects others. The seed is
 * printed, so that a failure can be reproduced. Failures are printed on standard error, which prove
 * shows. Remarks (diag) are printed on standard output, which prove shows with -v.
 */
#ifndef RN_T_TAP_H
#define RN_T_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The maximum number of failures printed per group: a check in a loop may fail a million times. */
#define TAP_DIAGS_MAX 20

static struct {
	unsigned tests, failed; /* groups */
	uint64_t bad;           /* failed CHECKs since the last ok() */
	uint64_t seed, state;
	bool seeded;
} tap;

__attribute__((unused, format(printf, 1, 2))) static void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

__attribute__((unused)) static bool tap_check(bool good, const char *expr, const char *file,
					      int line)
{
	if (!good && tap.bad++ < TAP_DIAGS_MAX)
		fprintf(stderr, "# %s:%d: %s\n", file, line, expr);
	return good;
}

#define CHECK(expr) tap_check(!!(expr), #expr, __FILE__, __LINE__)

/* Ends a group by printing its TAP line. */
__attribute__((unused, format(printf, 1, 2))) static void ok(const char *fmt, ...)
{
	va_list ap;

	if (tap.bad > TAP_DIAGS_MAX)
		fprintf(stderr, "# and %llu more\n", (unsigned long long)(tap.bad - TAP_DIAGS_MAX));
	if (tap.bad && tap.seeded)
		fprintf(stderr, "# with RONDO_SEED=%llu\n", (unsigned long long)tap.seed);
	tap.failed += tap.bad != 0;
	printf("%sok %u - ", tap.bad ? "not " : "", ++tap.tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap.bad = 0;
}

/* Prints a group as skipped, with the reason. */
__attribute__((unused)) static void skip(const char *name, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++tap.tests, name, why);
	fflush(stdout);
}

__attribute__((unused)) static int tap_done(void)
{
	if (tap.bad)
		ok("(CHECKs after the last group)");
	printf("1..%u\n", tap.tests);
	return fflush(stdout) == 0 && tap.failed == 0 ? 0 : 1;
}

/* splitmix64: any seed is suitable. */
__attribute__((unused)) static uint64_t tap_rand(void)
{
	uint64_t z;

	if (!tap.seeded) {
		const char *s = getenv("RONDO_SEED");

		tap.seed = tap.state = s ? strtoull(s, NULL, 0) : 1;
		tap.seeded = true;
		diag("RONDO_SEED=%llu", (unsigned long long)tap.seed);
	}
	z = tap.state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 <= result < n */
__attribute__((unused)) static uint64_t tap_below(uint64_t n)
{
	return tap_rand() % n;
}

#endif
