/*
 * bench_grammar.c - measures the cost of a grammar append, in clk, for regular and hostile streams.
 *
 * All streams are prepared before the measurement. The repetitions of all streams are interleaved.
 * Each repetition builds a grammar in a fresh arena, so the times include page faults and table
 * growth.
 */
#include "bench.h"

#include "base/arena.h"
#include "grammar/grammar.h"

#include <string.h>

enum { REPS = 7 };

struct stream {
	const char *what;
	double bar; /* clk */
	uint32_t *t;
	uint64_t n, cap;
	uint64_t skip; /* number of symbols appended before the measurement starts */
	const struct rn_grammar_opts *opts;
	double clk[REPS], ns[REPS];
	uint64_t nodes;
};

static struct stream streams[64];
static int nstreams;

static struct stream *add(const char *what, double bar)
{
	struct stream *s = &streams[nstreams++];

	s->what = what;
	s->bar = bar;
	return s;
}

static void put(struct stream *s, uint32_t t)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 1 << 16;
		s->t = realloc(s->t, s->cap * sizeof(*s->t));
		if (!s->t)
			exit(1);
	}
	s->t[s->n++] = t;
}

static void loop(struct stream *s, uint32_t body, uint32_t passes)
{
	for (uint32_t p = 0; p < passes; p++)
		for (uint32_t i = 0; i < body; i++)
			put(s, i);
}

static void nested(struct stream *s, uint64_t n)
{
	while (s->n < n) {
		for (int j = 0; j < 10; j++) {
			for (int k = 0; k < 20; k++) {
				put(s, 1);
				put(s, 2);
				put(s, 3);
			}
			put(s, 4);
		}
		put(s, 5);
	}
}

static void varying(struct stream *s, uint32_t body, uint64_t n)
{
	while (s->n < n) {
		for (uint32_t k = 8 + bench_below(25); k; k--)
			for (uint32_t b = 0; b < body; b++)
				put(s, b);
		put(s, 100);
		put(s, 101);
	}
}

static void prefixes(struct stream *s, uint64_t n)
{
	for (uint32_t k = 1; s->n < n; k++)
		for (uint32_t j = 0; j < k; j++)
			put(s, j);
}

static void last_differs(struct stream *s, uint64_t n)
{
	for (uint32_t k = 1; s->n < n; k++) {
		for (uint32_t j = 0; j < 999; j++)
			put(s, j);
		put(s, 1000 + k);
	}
}

static void optional(struct stream *s, uint64_t n)
{
	while (s->n < n) {
		for (uint32_t j = 0; j < 10; j++)
			put(s, j);
		if (bench_below(4) == 0)
			put(s, 10);
	}
}

static void noise(struct stream *s, uint64_t n)
{
	while (s->n < n)
		put(s, bench_below(1000));
}

static void run(struct stream *s, int rep)
{
	struct rn_arena mem;
	struct rn_grammar *g;
	double a;
	uint64_t i = 0;

	rn_arena_init(&mem, SIZE_MAX);
	s->clk[rep] = bench_clk();
	a = bench_cpu();
	g = rn_grammar_new(&mem, s->opts);
	for (; i < s->skip; i++)
		rn_grammar_append(g, s->t[i]);
	if (s->skip)
		a = bench_cpu();
	for (; i < s->n; i++)
		rn_grammar_append(g, s->t[i]);
	s->ns[rep] = (bench_cpu() - a) / (double)(s->n - s->skip);
	s->nodes = rn_grammar_nodes(g);
	rn_arena_free(&mem);
}

static double report(struct stream *s)
{
	double ns = bench_median(s->ns, REPS), clk = bench_median(s->clk, REPS);
	char note[80];

	snprintf(note, sizeof(note), "%.1f ns, %llu nodes", ns, (unsigned long long)s->nodes);
	bench_row(s->what, ns / clk, "clk", s->bar, note);
	return ns / clk;
}

/* Sizes of loop bodies. Measured: ten iterations on average, and the second and third alone. */
static const uint32_t bodies[] = { 512, 2048, 8192, 65536 };
enum { BODIES = sizeof(bodies) / sizeof(bodies[0]) };
static struct stream *mean[BODIES], *second[BODIES], *later[BODIES];

static struct stream *body_stream(const char *fmt, uint32_t body, double bar, uint32_t skip,
				  uint32_t passes)
{
	char *what = malloc(64);
	struct stream *s;

	snprintf(what, 64, fmt, body);
	s = add(what, bar);
	s->skip = (uint64_t)skip * body;
	loop(s, body, passes);
	return s;
}

static void add_bodies(void)
{
	for (int i = 0; i < BODIES; i++) {
		uint32_t b = bodies[i];

		mean[i] = body_stream("body of %u, mean of 10 passes", b, 0, 0, 10);
		second[i] = body_stream("body of %u, second pass", b, 15, 1, 2);
		later[i] = body_stream("body of %u, from the third pass on", b, 0.5, 2, 10);
	}
}

static void add_streams(uint64_t n)
{
	static const struct rn_grammar_opts literal = { .literal_limit = 10000 };

	loop(add("steady loop of 12", 0.4), 12, (uint32_t)(n / 12));
	nested(add("three nested loops", 0.5), n);
	varying(add("trip counts 8..32, body of 4", 1.2), 4, n);
	varying(add("trip counts 8..32, body of 1", 3), 1, n);
	add_bodies();
	prefixes(add("growing prefixes, 100 thousand", 10), 100000);
	prefixes(add("growing prefixes, 1 million", 10), 1000000);
	prefixes(add("growing prefixes, 4 million", 10), 4000000);
	last_differs(add("last of 1000 differs, 100 thousand", 10), 100000);
	last_differs(add("last of 1000 differs, 1 million", 10), 1000000);
	last_differs(add("last of 1000 differs, 4 million", 10), 4000000);
	optional(add("optional call, 100 thousand", 10), 100000);
	optional(add("optional call, 1 million", 10), 1000000);
	optional(add("optional call, 4 million", 10), 4000000);
	noise(add("random of 1000, 1 million", 12), 1000000);
	noise(add("random of 1000, 10 million", 25), 10000000);
	add("random of 1000, literal", 1)->opts = &literal;
	noise(&streams[nstreams - 1], n);
	streams[nstreams - 1].skip = 100000; /* until the grammar reaches its limit */
}

/* Arena of the measurement of the longest append. */
static struct rn_arena longest_mem;

static void *longest_begin(void *arg)
{
	(void)arg;
	rn_arena_init(&longest_mem, SIZE_MAX);
	return rn_grammar_new(&longest_mem, NULL);
}

static void longest_step(void *subject, void *arg, uint64_t i)
{
	rn_grammar_append(subject, ((struct stream *)arg)->t[i]);
}

static void longest_end(void *subject)
{
	(void)subject;
	rn_arena_free(&longest_mem);
}

static void longest(const char *what, void (*fill)(struct stream *, uint64_t), uint64_t n)
{
	static const struct bench_steps steps = { longest_begin, longest_step, longest_end };
	struct stream s = { 0 };

	fill(&s, n);
	bench_longest(what, &steps, &s, s.n);
	free(s.t);
}

static void distinct(struct stream *s, uint64_t n)
{
	while (s->n < n)
		put(s, (uint32_t)s->n);
}

static void long_body_breaks(struct stream *s, uint64_t n)
{
	while (s->n < n) {
		loop(s, 65536, 3);
		loop(s, 1 + bench_below(65536), 1);
		put(s, 70000 + bench_below(1000));
	}
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;

	printf("grammar: CPU time of an append, median of %d interleaved runs\n", REPS);
	add_streams(quick ? 1000000 : 10000000);
	for (int rep = 0; rep < REPS; rep++)
		for (int i = 0; i < nstreams; i++)
			run(&streams[i], rep);
	for (int i = 0; i < nstreams; i++)
		report(&streams[i]);
	for (int i = 1; i < BODIES; i++) {
		char what[64];

		snprintf(what, sizeof(what), "mean, body of %u against 512", bodies[i]);
		bench_row(what, mean[i]->ns[REPS / 2] / mean[0]->ns[REPS / 2], "x", 1.5, NULL);
	}
	longest("longest append, distinct symbols", distinct, quick ? 1000000 : 10000000);
	longest("longest append, random of 1000", noise, quick ? 1000000 : 10000000);
	longest("longest append, growing prefixes", prefixes, 4000000);
	longest("longest append, long body that breaks off", long_body_breaks, 4000000);
	return bench_done();
}
