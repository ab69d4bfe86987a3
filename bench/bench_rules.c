/*
 * bench_rules.c - measures reading sealed rules: by callback, in bulk, and at random positions.
 *
 * The unit is a million symbols per CPU second, median of interleaved runs. The bars apply to the
 * streams of real programs. Noise is measured to show the worst case.
 */
#include "bench.h"

#include "base/arena.h"
#include "bench/expand.h"

enum { REPS = 7, CHUNK = 4096, SEEKS = 200000 };

struct subject {
	const char *what;
	double callback_bar, bulk_bar; /* million symbols per second */
	struct rn_rules *rules;
	uint32_t root;
	double callback[REPS], bulk[REPS], seek[REPS];
};

static uint64_t sink;

typedef uint64_t fill_fn(struct rn_grammar *g, uint64_t n);

static uint64_t steady(struct rn_grammar *g, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		rn_grammar_append(g, (uint32_t)(i % 12));
	return n;
}

static uint64_t nested(struct rn_grammar *g, uint64_t n)
{
	uint64_t i = 0;

	while (i < n)
		for (uint32_t j = 0; j < 10; j++, i += 61) {
			for (uint32_t k = 0; k < 60; k++)
				rn_grammar_append(g, k % 3);
			rn_grammar_append(g, j == 9 ? 4 : 3);
		}
	return i;
}

static uint64_t varying(struct rn_grammar *g, uint64_t n)
{
	uint64_t i = 0;

	while (i < n) {
		uint32_t trips = 8 + bench_below(25);

		for (uint32_t k = 0; k < 4 * trips; k++)
			rn_grammar_append(g, k % 4);
		rn_grammar_append(g, 4);
		rn_grammar_append(g, 5);
		i += 4 * trips + 2;
	}
	return i;
}

static uint64_t noise(struct rn_grammar *g, uint64_t n)
{
	for (uint64_t i = 0; i < n / 10; i++)
		rn_grammar_append(g, bench_below(1000));
	return n / 10;
}

static void prepare(struct subject *s, fill_fn *fill, struct rn_arena *mem)
{
	struct rn_arena building;
	struct rn_grammar *g;

	rn_arena_init(&building, SIZE_MAX);
	g = rn_grammar_new(&building, NULL);
	fill(g, 10000000);
	s->rules = rn_rules_new(mem);
	if (rn_rules_seal(s->rules, g, &s->root) < 0)
		exit(1);
	rn_arena_free(&building);
}

static bool count(void *arg, uint32_t t)
{
	*(uint64_t *)arg += t;
	return true;
}

static void run(struct subject *s, int rep)
{
	double symbols = (double)rn_rules_length(s->rules, s->root) / 1e6, a;
	uint32_t buf[CHUNK];
	struct rn_arena mem;
	struct rn_walk w;
	size_t n;

	a = bench_cpu();
	expand_rule(s->rules, s->root, count, &sink);
	s->callback[rep] = symbols * 1e9 / (bench_cpu() - a);

	rn_arena_init(&mem, SIZE_MAX);
	rn_walk_init(&w, s->rules, s->root, &mem);
	a = bench_cpu();
	while ((n = rn_walk_read(&w, buf, CHUNK)) > 0)
		sink += buf[n - 1];
	s->bulk[rep] = symbols * 1e9 / (bench_cpu() - a);

	a = bench_cpu();
	for (int i = 0; i < SEEKS; i++) {
		uint32_t t = 0;

		rn_walk_seek(&w, bench_random() % (rn_rules_length(s->rules, s->root) - 1));
		rn_walk_next(&w, &t);
		sink += t;
	}
	s->seek[rep] = SEEKS / 1e6 * 1e9 / (bench_cpu() - a);
	rn_arena_free(&mem);
}

static void report(struct subject *s)
{
	char what[64];

	snprintf(what, sizeof(what), "%s, a callback each", s->what);
	bench_row(what, bench_median(s->callback, REPS), "M/s", -s->callback_bar, NULL);
	snprintf(what, sizeof(what), "%s, in bulk", s->what);
	bench_row(what, bench_median(s->bulk, REPS), "M/s", -s->bulk_bar, NULL);
	snprintf(what, sizeof(what), "%s, k-th symbol at random", s->what);
	bench_row(what, bench_median(s->seek, REPS), "M/s", 0, NULL);
}

int main(void)
{
	static struct subject subjects[] = {
		{ .what = "steady loop of 12", .callback_bar = 100, .bulk_bar = 800 },
		{ .what = "three nested loops", .callback_bar = 100, .bulk_bar = 800 },
		{ .what = "trip counts 8..32, body of 4", .callback_bar = 100, .bulk_bar = 800 },
		{ .what = "random of 1000" },
	};
	fill_fn *const fill[] = { steady, nested, varying, noise };
	enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };
	struct rn_arena mem;

	printf("rules: reading, million symbols per CPU second, median of %d interleaved runs\n",
	       REPS);
	rn_arena_init(&mem, SIZE_MAX);
	for (int i = 0; i < SUBJECTS; i++)
		prepare(&subjects[i], fill[i], &mem);
	for (int rep = 0; rep < REPS; rep++)
		for (int i = 0; i < SUBJECTS; i++)
			run(&subjects[i], rep);
	for (int i = 0; i < SUBJECTS; i++)
		report(&subjects[i]);
	rn_arena_free(&mem);
	return bench_done() | (sink == 42);
}
