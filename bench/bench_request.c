/*
 * bench_request.c - measures the table of live requests: add, find and remove of one request.
 *
 * The samples are a few requests, as in a loop of a program, and half a million at once. The large
 * samples are measured in a fresh table, with page faults and growth, and again in the same table.
 * The repetitions of all samples are interleaved, and the minimum is used: 32 MB of entries pass
 * through the caches three times, so other activity of the machine would add to the times.
 */
#include "bench.h"

#include "base/arena.h"
#include "track/id_pool.h"
#include "track/request_table.h"

enum { REPS = 11, MANY = 500000, HOT = 1000000 };

enum {
	SHARED = 1,  /* all requests have the same handle */
	MOVED = 2,   /* the program copies them to another array before the wait */
	ONE_VAR = 4, /* with MOVED: all are created in one variable and copied one by one */
	FRESH = 8,   /* no handle is reused */
	MIXED = 16,  /* requests complete in random order */
};

struct sample {
	const char *what;
	uint32_t live;
	int how;
	double bar, again_bar;
	double ns[REPS], again[REPS];
	size_t mapped;
};

static struct sample samples[] = {
	{ .what = "1 live", .live = 1, .bar = 12 },
	{ .what = "8 live", .live = 8, .bar = 12 },
	{ .what = "64 live", .live = 64, .bar = 12 },
	{ .what = "8 live, copied", .live = 8, .how = MOVED, .bar = 20 },
	{ .what = "8 live, handles never come back", .live = 8, .how = FRESH, .bar = 60 },
	{ .what = "8 live, one handle", .live = 8, .how = SHARED, .bar = 25 },
	{ .what = "8 live, one handle, copied", .live = 8, .how = SHARED | MOVED, .bar = 40 },
	{ .what = "500,000 live", .live = MANY, .bar = 100, .again_bar = 60 },
	{ .what = "500,000 live, one handle",
	  .live = MANY,
	  .how = SHARED,
	  .bar = 100,
	  .again_bar = 60 },
	{ .what = "500,000 live, one handle, copied",
	  .live = MANY,
	  .how = SHARED | MOVED,
	  .bar = 100,
	  .again_bar = 60 },
	{ .what = "500,000 live, one handle and variable",
	  .live = MANY,
	  .how = SHARED | MOVED | ONE_VAR,
	  .bar = 100,
	  .again_bar = 60 },
	{ .what = "500,000 live, in random order", .live = MANY, .how = MIXED },
};

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static uint64_t created[MANY], copied[MANY]; /* the program's variables */
static uint32_t order[MANY];
static struct rn_request_token token[MANY];
static struct rn_arena mem;
static struct rn_requests table;

/* Sets handles like those of Open MPI: addresses of objects in a pool. */
static void set_handles(const struct sample *s, uint64_t round)
{
	for (uint32_t i = 0; i < s->live; i++)
		created[i] = copied[i] =
			0x7f0012345600u + 448 * (s->how & SHARED ? 0 : round * s->live + i);
}

/* Creates all requests and waits for all. */
static void wait_all(const struct sample *s)
{
	const struct rn_request r = { .shape = 7, .slot = 3 };
	const uint64_t *array = s->how & MOVED ? copied : created;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < s->live; i++)
		lost += rn_requests_add(&table, created[i], &created[s->how & ONE_VAR ? 0 : i],
					&r) < 0;
	rn_requests_begin(&table);
	for (uint32_t k = 0; k < s->live; k++) {
		uint32_t i = s->how & MIXED ? order[k] : k;

		token[k] = rn_requests_find_at(&table, array[i], &array[i]);
	}
	if (s->how & MOVED)
		for (uint32_t i = 0; i < s->live; i++)
			token[i] = rn_requests_find_moved(&table, array[i]);
	for (uint32_t i = 0; i < s->live; i++)
		lost += !rn_requests_remove(&table, token[i]);
	if (lost)
		printf("WRONG: %u lost\n", lost);
}

static double measure(const struct sample *s, uint64_t rounds)
{
	double a;

	set_handles(s, 0);
	a = bench_cpu();
	for (uint64_t k = 0; k < rounds; k++) {
		if (s->how & FRESH)
			set_handles(s, k);
		wait_all(s);
	}
	return (bench_cpu() - a) / (double)(rounds * s->live);
}

static void run(struct sample *s, int rep)
{
	bool many = s->live == MANY;

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_requests_init(&table, &mem) < 0)
		exit(1);
	if (!many)
		measure(s, 100);
	s->ns[rep] = measure(s, many ? 1 : HOT / s->live);
	s->again[rep] = many ? measure(s, 1) : 0;
	s->mapped = mem.mapped;
	rn_arena_free(&mem);
}

static double least(const double *v)
{
	double x = v[0];

	for (int i = 1; i < REPS; i++)
		x = v[i] < x ? v[i] : x;
	return x;
}

static void report(const struct sample *s)
{
	char what[64], note[64];

	snprintf(note, sizeof(note), "%zu KiB", s->mapped >> 10);
	bench_row(s->what, least(s->ns), "ns", s->bar, note);
	if (s->live != MANY)
		return;
	snprintf(what, sizeof(what), "%s, again", s->what);
	bench_row(what, least(s->again), "ns", s->again_bar, NULL);
}

/* Prints the time of the longest add of half a million. The index grows in one step. */
static void longest_add(void)
{
	const struct sample all = { .live = MANY };
	const struct rn_request r = { 0 };
	double longest[REPS] = { 0 };

	set_handles(&all, 0);
	for (int rep = 0; rep < REPS; rep++) {
		double a, b;

		rn_arena_init(&mem, SIZE_MAX);
		if (rn_requests_init(&table, &mem) < 0)
			exit(1);
		a = bench_now(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < MANY; i++, a = b) {
			rn_requests_add(&table, created[i], &created[i], &r);
			b = bench_now(CLOCK_MONOTONIC);
			longest[rep] = b - a > longest[rep] ? b - a : longest[rep];
		}
		rn_arena_free(&mem);
	}
	bench_row("longest add", least(longest) / 1000, "us", 0, NULL);
}

/* Measures the id pool: `out` ids are allocated and released in another order. */
static void numbers(const char *what, uint32_t out, double bar)
{
	double ns[REPS];

	for (int rep = 0; rep < REPS; rep++) {
		uint32_t rounds = HOT / out, wrong = 0, n;
		struct rn_idpool p;
		double a;

		rn_arena_init(&mem, SIZE_MAX);
		rn_idpool_init(&p);
		a = bench_cpu();
		for (uint32_t k = 0; k < rounds; k++) {
			for (uint32_t i = 0; i < out; i++)
				wrong += rn_idpool_take(&p, &mem, &n) < 0 || n != i;
			for (uint32_t i = 0, at = 0; i < out; i++, at = (at + 7919) % out)
				rn_idpool_give(&p, at);
		}
		ns[rep] = (bench_cpu() - a) / (double)(rounds * out);
		rn_arena_free(&mem);
		if (wrong)
			printf("WRONG: %u numbers\n", wrong);
	}
	bench_row(what, least(ns), "ns", bar, NULL);
}

int main(void)
{
	printf("requests: CPU time of add, find and remove together, least of %d interleaved "
	       "runs\n",
	       REPS);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t k = bench_below(i + 1);

		token[i].entry = 1; /* page faults occur here, not in the measurement */
		order[i] = order[k];
		order[k] = i;
	}
	for (int rep = 0; rep < REPS; rep++)
		for (int i = 0; i < SAMPLES; i++)
			run(&samples[i], rep);
	for (int i = 0; i < SAMPLES; i++)
		report(&samples[i]);
	longest_add();
	printf("numbers: CPU time of take and give\n");
	numbers("8 out", 8, 4);
	numbers("1000 out", 1000, 30);
	numbers("500,000 out", MANY, 60);
	return bench_done();
}
