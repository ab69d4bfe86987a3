/*
 * bench_memory.c - measures the tracking of program memory: malloc, free and memory locations.
 *
 * The functions of memory.h are called around those of libc, as in the tracer's malloc and free.
 * "Added" is the difference from the same loop without them; both are measured alternately. The
 * heap contains 100,000 other live blocks of mixed sizes, and the loop's blocks are allocated and
 * freed among them.
 */
#include "bench.h"

#include "track/memory.h"

enum { REPS = 9, N = 400000, LIVE = 100000, PLACES = 64 };

static void *live[LIVE], *bare[LIVE], *named[LIVE]; /* `bare` is not registered in memory.h */
static struct rn_mem_cache cache;
static uint64_t sink;

struct loop {
	const char *what;
	double bar;              /* ns */
	void (*run)(bool known); /* `known`: whether to call memory.h */
	double added[REPS];
};

static void *get(bool known, size_t n)
{
	void *p = malloc(n);

	__asm__ volatile("" : : "r"(p) : "memory");
	if (known)
		rn_mem_alloc(p, n);
	return p;
}

static void put(bool known, void *p)
{
	if (known)
		rn_mem_free(p);
	free(p);
}

static void use(bool known, const void *p)
{
	if (known) {
		struct rn_place place = rn_mem_place(&cache, p);

		sink += place.id + (uint64_t)place.disp;
	} else {
		sink += (uintptr_t)p;
	}
}

/* ---- loops ---- */

static void small_blocks(bool known)
{
	for (int i = 0; i < N; i++)
		put(known, get(known, 16 + (size_t)(i & 31) * 32));
}

static void large_blocks(bool known)
{
	for (int i = 0; i < N; i++)
		put(known, get(known, 4096 + (size_t)(i & 15) * 4096));
}

/* Frees a random block of the heap and allocates a new one, N times. */
static void scattered_blocks(bool known)
{
	void **block = known ? live : bare;
	uint32_t at = 0;

	for (int i = 0; i < N; i++) {
		at = at * 1664525 + 1013904223;
		put(known, block[(at >> 8) % LIVE]);
		block[(at >> 8) % LIVE] = get(known, 16 + (at >> 20) % 1000);
	}
}

static void named_blocks(bool known)
{
	for (int i = 0; i < N; i++) {
		void *p = get(known, 1024);

		use(known, p);
		put(known, p);
	}
}

static void named_large_blocks(bool known)
{
	for (int i = 0; i < N; i++) {
		char *p = get(known, 100000);

		use(known, p + 50000);
		put(known, p);
	}
}

static void cached_places(bool known)
{
	for (int i = 0; i < N; i++)
		use(known, live[i % PLACES]);
}

static void other_places(bool known)
{
	for (int i = 0; i < N; i++)
		use(known, (char *)named[i % LIVE] + 8);
}

static void moving_place(bool known)
{
	char *p = get(true, 1 << 20);

	for (int i = 0; i < N; i++)
		use(known, p + (i & 0xffff) * 16);
	put(true, p);
}

static struct loop loops[] = {
	{ "a place that is cached", 5, cached_places, { 0 } },
	{ "a place that moves through a block", 60, moving_place, { 0 } },
	{ "a place in one of 100,000 named blocks", 0, other_places, { 0 } },
	{ "added to malloc and free, small", 20, small_blocks, { 0 } },
	{ "added to malloc and free, 4 to 64 KiB", 20, large_blocks, { 0 } },
	{ "added to malloc and free, all over the heap", 60, scattered_blocks, { 0 } },
	{ "added to malloc, place, free", 100, named_blocks, { 0 } },
	{ "added to malloc, place inside, free, 100 kB", 100, named_large_blocks, { 0 } },
};

static double cost(const struct loop *l, bool known)
{
	double a = bench_cpu();

	l->run(known);
	return (bench_cpu() - a) / N;
}

int main(void)
{
	const size_t n = sizeof(loops) / sizeof(loops[0]);
	static int base;

	printf("memory: ns of CPU time, median of %d interleaved runs\n", REPS);
	rn_mem_thread_start(&cache, 0, &base);
	for (int i = 0; i < LIVE; i++) {
		live[i] = get(true, 16 + bench_below(1000));
		bare[i] = get(false, 16 + bench_below(1000));
		named[i] = get(true, 16 + bench_below(1000));
	}
	for (size_t i = 0; i < n; i++)
		loops[i].run(true);
	for (int rep = 0; rep < REPS; rep++)
		for (size_t i = 0; i < n; i++) {
			double without = cost(&loops[i], false);

			loops[i].added[rep] = cost(&loops[i], true) - without;
		}
	for (size_t i = 0; i < n; i++)
		bench_row(loops[i].what, bench_median(loops[i].added, REPS), "ns", loops[i].bar,
			  NULL);
	if (!rn_mem_check() || sink == 0)
		return 1;
	return bench_done();
}
