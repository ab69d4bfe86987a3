/*
 * bench_series.c - measures series: appends, queries of the sealed form, and encoded size.
 *
 * All sequences are prepared before the measurement. The repetitions of all sequences are
 * interleaved. Each repetition builds its series in a fresh arena, so the times include page faults
 * and table growth.
 */
#include "bench.h"

#include "base/arena.h"
#include "base/buf.h"
#include "series/series.h"
#include "series/units.h"

#include <string.h>

enum { REPS = 7, QUESTIONS = 1000000 };

struct sequence {
	const char *what;
	double bar;      /* clk per append */
	double size_bar; /* bytes */
	bool questions;
	double rate_bar; /* million queries per second */
	int64_t *v;
	uint64_t n, cap;
	double clk[REPS], ns[REPS];
	double rate[3][REPS]; /* at, find, read; millions per second */
	size_t bytes;
	uint64_t memory;
};

static struct sequence sequences[32];
static int nsequences;
/* Returns a random number with 64 random bits. */
static uint64_t any(void)
{
	return bench_random() * 0x2545f4914f6cdd1du;
}

static uint64_t below(uint64_t n)
{
	return (any() >> 16) % n;
}

static void put(struct sequence *s, uint64_t x)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 1 << 16;
		s->v = realloc(s->v, s->cap * sizeof(*s->v));
		if (!s->v)
			exit(1);
	}
	s->v[s->n++] = (int64_t)x;
}

static struct sequence *add(const char *what, double bar, double size_bar)
{
	struct sequence *s = &sequences[nsequences++];

	s->what = what;
	s->bar = bar;
	s->size_bar = size_bar;
	return s;
}

/* ---- the sequences ---- */

static void even(struct sequence *s, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		put(s, 1000 + i * 4096);
}

static void cyclic(struct sequence *s, uint64_t n)
{
	static const uint64_t d[] = { 8, 16, 8, 100, 4 };

	for (uint64_t i = 0, x = 0; i < n; x += d[i++ % 5])
		put(s, x);
}

static void nested(struct sequence *s, uint64_t n)
{
	for (uint64_t i = 0; s->n < n; i++)
		for (uint64_t j = 0; j < 300; j++)
			for (uint64_t k = 0; k < 400; k++)
				put(s, i * 1000000000 + j * 1000000 + k * 64);
}

static void nested_short(struct sequence *s, uint64_t n)
{
	for (uint64_t i = 0; s->n < n; i++)
		for (uint64_t j = 0; j < 100; j++)
			for (uint64_t k = 0; k < 4; k++)
				for (uint64_t l = 0; l < 8; l++)
					put(s, i * 1000000000 + j * 1000000 + k * 4096 + l * 8);
}

static void lanes(struct sequence *s, uint64_t n, uint64_t count)
{
	for (uint64_t i = 0; i < n; i++)
		put(s, i % count * 1000000007 + i / count * (8 + i % count * 24));
}

static void two_lanes(struct sequence *s, uint64_t n)
{
	lanes(s, n, 2);
}

static void eight_lanes(struct sequence *s, uint64_t n)
{
	lanes(s, n, 8);
}

/* A loop over 200 irregular offsets. */
static void places(struct sequence *s, uint64_t n)
{
	uint64_t place[200];

	for (int i = 0; i < 200; i++)
		place[i] = below(1000000);
	for (uint64_t i = 0; i < n; i++)
		put(s, place[i % 200] + i / 200 * 1048576);
}

static void noise(struct sequence *s, uint64_t n)
{
	while (s->n < n)
		put(s, any());
}

static void bits(struct sequence *s, uint64_t n)
{
	while (s->n < n)
		put(s, below(2));
}

static void counts(struct sequence *s, uint64_t n)
{
	while (s->n < n)
		put(s, 8 + below(25));
}

static void sparse(struct sequence *s, uint64_t n)
{
	while (s->n < n)
		put(s, below(10) == 0);
}

static void offsets(struct sequence *s, uint64_t n)
{
	for (uint64_t x = 0; s->n < n; x += 1 + below(1000000))
		put(s, x);
}

/* Patterns and random values alternate. */
static void mixed(struct sequence *s, uint64_t n)
{
	while (s->n < n) {
		uint64_t x = any() >> 20, stop = s->n + 100 + below(3000), d = 1 + below(1000);

		for (; s->n < stop; x += d)
			put(s, x);
		for (stop = s->n + 100 + below(3000); s->n < stop;)
			put(s, any() >> 20);
	}
}

static void add_sequences(uint64_t n)
{
	even(add("arithmetic", 0.5, 12), n);
	cyclic(add("cyclic, 5 deltas", 0.5, 40), n);
	nested(add("three nested strides, ..x300x400", 0.5, 40), n);
	sequences[nsequences - 1].questions = true;
	sequences[nsequences - 1].rate_bar = 15;
	nested_short(add("four nested strides, innermost 8", 0.5, 60), n);
	sequences[nsequences - 1].questions = true; /* sums exceed 64 bits and use the slow path */
	sequences[nsequences - 1].rate_bar = 15;
	two_lanes(add("2 interleaved lanes", 0.5, 64), n);
	eight_lanes(add("8 interleaved lanes", 0.5, 64), n);
	places(add("loop over 200 irregular places", 0.5, 0), n);
	noise(add("random 64-bit", 3, 0), n / 4);
	bits(add("random bits", 3, 0), n / 4);
	counts(add("random 8..32", 3, 0), n / 4);
	sparse(add("random, one in ten is 1", 3, 0), n / 4);
	offsets(add("growing by random steps", 3, 0), n / 4);
	mixed(add("patterns and noise by turns", 3, 0), n / 4);
	noise(add("random 64-bit, 1000 only", 0, 0), 1000);
	bits(add("random bits, 1000 only", 0, 0), 1000);
	bits(add("random bits, 10000 only", 0, 0), 10000);
}

/* ---- running them ---- */

static void question_at(struct sequence *s, const struct rn_units *u, int rep)
{
	uint64_t sum = 0, *i = malloc(QUESTIONS * sizeof(*i));
	double a;

	for (int k = 0; k < QUESTIONS; k++)
		i[k] = below(s->n);
	a = bench_cpu();
	for (int k = 0; k < QUESTIONS; k++)
		sum += (uint64_t)rn_units_at(u, i[k]);
	s->rate[0][rep] = QUESTIONS / (bench_cpu() - a) * 1000;
	for (int k = 0; k < QUESTIONS; k++)
		sum -= (uint64_t)s->v[i[k]];
	if (sum)
		printf("WRONG: at\n");
	free(i);
}

static void question_find(struct sequence *s, const struct rn_units *u, int rep)
{
	uint64_t got, wrong = 0, *i = malloc(QUESTIONS * sizeof(*i));
	int64_t *x = malloc(QUESTIONS * sizeof(*x));
	double a;

	for (int k = 0; k < QUESTIONS; k++) {
		i[k] = below(s->n);
		x[k] = s->v[i[k]] + (k & 1);
	}
	a = bench_cpu();
	for (int k = 0; k < QUESTIONS; k++)
		wrong += rn_units_find(u, x[k], &got) != RN_OK || got != i[k];
	s->rate[1][rep] = QUESTIONS / (bench_cpu() - a) * 1000;
	if (wrong)
		printf("WRONG: find\n");
	free(i);
	free(x);
}

static void question_read(struct sequence *s, const struct rn_units *u, int rep)
{
	int64_t block[1024];
	uint64_t i = 0, wrong = 0;
	double a = bench_cpu();

	for (size_t n; (n = rn_units_read(u, i, block, 1024)) > 0; i += n)
		wrong += (uint64_t)block[n - 1] != (uint64_t)s->v[i + n - 1];
	s->rate[2][rep] = (double)i / (bench_cpu() - a) * 1000;
	if (wrong || i != s->n)
		printf("WRONG: read\n");
}

static void finish(struct sequence *s, struct rn_arena *mem, const struct rn_series *series,
		   int rep)
{
	struct rn_units *u;
	struct rn_buf b = { 0 };

	s->memory = mem->mapped;
	if (rn_units_seal(mem, series, &u) < 0 || rn_units_encode(u, &b) < 0)
		exit(1);
	s->bytes = b.len;
	rn_buf_free(&b);
	if (!s->questions)
		return;
	question_at(s, u, rep);
	question_find(s, u, rep);
	question_read(s, u, rep);
}

static void run(struct sequence *s, int rep)
{
	struct rn_arena mem;
	struct rn_series *series;
	uint64_t again = s->n < 100000 ? 100000 / s->n : 1;
	double a;

	s->clk[rep] = bench_clk();
	a = bench_cpu();
	for (uint64_t k = 0; k < again; k++) {
		rn_arena_init(&mem, SIZE_MAX);
		series = rn_series_new(&mem);
		for (uint64_t i = 0; i < s->n; i++)
			rn_series_append(series, s->v[i]);
		if (k + 1 < again)
			rn_arena_free(&mem);
	}
	s->ns[rep] = (bench_cpu() - a) / (double)(s->n * again);
	if (s->questions || rep == 0)
		finish(s, &mem, series, rep);
	rn_arena_free(&mem);
}

static void report(struct sequence *s)
{
	double ns = bench_median(s->ns, REPS), clk = bench_median(s->clk, REPS);
	char note[100];

	snprintf(note, sizeof(note), "%.1f ns; %zu bytes sealed, %llu KiB while building", ns,
		 s->bytes, (unsigned long long)s->memory >> 10);
	bench_row(s->what, ns / clk, "clk", s->bar, note);
}

static void report_questions(struct sequence *s)
{
	static const char *name[] = { "at", "find", "read" };

	for (int i = 0; s->questions && i < 3; i++) {
		char what[64];

		snprintf(what, sizeof(what), "%s: %s", name[i], s->what);
		bench_row(what, bench_median(s->rate[i], REPS), "M/s", -s->rate_bar, NULL);
	}
}

/* Prints the size of 10^9 elements. They are never in memory at once. */
static void size_of_many(void)
{
	struct rn_arena mem;
	struct rn_series *s;
	struct rn_units *u;
	struct rn_buf b = { 0 };
	char note[80];
	double a = bench_cpu();

	rn_arena_init(&mem, SIZE_MAX);
	s = rn_series_new(&mem);
	for (int64_t i = 0; i < 1000; i++)
		for (int64_t j = 0; j < 1000; j++)
			for (int64_t k = 0; k < 1000; k++)
				rn_series_append(s, i * 1000000000000 + j * 1000000000 + k * 4096);
	a = (bench_cpu() - a) / 1e9;
	if (rn_units_seal(&mem, s, &u) < 0 || rn_units_encode(u, &b) < 0)
		exit(1);
	snprintf(note, sizeof(note), "%.1f ns an append", a);
	bench_row("size: 10^9 elements in three nested strides", (double)b.len, "bytes", 40, note);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* The longest single append. */
static struct rn_arena longest_mem;

static void *longest_begin(void *arg)
{
	(void)arg;
	rn_arena_init(&longest_mem, SIZE_MAX);
	return rn_series_new(&longest_mem);
}

static void longest_step(void *subject, void *arg, uint64_t i)
{
	rn_series_append(subject, ((struct sequence *)arg)->v[i]);
}

static void longest_end(void *subject)
{
	(void)subject;
	rn_arena_free(&longest_mem);
}

static void longest(const char *what, void (*fill)(struct sequence *, uint64_t), uint64_t n)
{
	static const struct bench_steps steps = { longest_begin, longest_step, longest_end };
	struct sequence s = { 0 };

	fill(&s, n);
	bench_longest(what, &steps, &s, s.n);
	free(s.v);
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	uint64_t n = quick ? 1000000 : 24000000;

	printf("series: CPU time of an append, median of %d interleaved runs\n", REPS);
	add_sequences(n);
	for (int rep = 0; rep < REPS; rep++)
		for (int i = 0; i < nsequences; i++)
			run(&sequences[i], rep);
	for (int i = 0; i < nsequences; i++)
		report(&sequences[i]);
	for (int i = 0; i < nsequences; i++)
		report_questions(&sequences[i]);
	for (int i = 0; i < nsequences; i++)
		if (sequences[i].size_bar > 0)
			bench_row(sequences[i].what, (double)sequences[i].bytes, "bytes",
				  sequences[i].size_bar, NULL);
	if (!quick)
		size_of_many();
	longest("longest append, random 64-bit", noise, n / 4);
	longest("longest append, random bits", bits, n / 4);
	longest("longest append, patterns and noise by turns", mixed, n / 4);
	longest("longest append, irregular places", places, n / 4);
	longest("longest append, 8 lanes", eight_lanes, n / 4);
	return bench_done();
}
