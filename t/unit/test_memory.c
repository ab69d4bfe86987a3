/*
 * test_memory.c - conversion of addresses to memory locations: compared with a plain list, in
 * several threads, after fork, and without memory.
 *
 * The blocks are fictitious: their addresses are in a large area that is mapped but never accessed.
 * A block can therefore have any position and length, and be adjacent to any other.
 */
#include "track/memory.h"
#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define AREA   ((size_t)5 << RN_SHADOW_LEAF)
#define LEAF   ((uintptr_t)1 << RN_SHADOW_LEAF)
#define THINGS 400
#define NO_ID  UINT32_MAX

static uintptr_t area; /* starts at a leaf boundary */

/* The kinds of blocks, in the order in which a search prefers them. */
enum kind { REGION, HEAP, MAP, KINDS };

struct thing {
	enum kind kind;
	uintptr_t lo, hi; /* the bytes that resolve to this block */
	uintptr_t need;   /* the end of the requested bytes */
	uint32_t cls, id;
};

static struct thing things[THINGS];
static int nthings;
static struct rn_mem_cache cache;

static const void *ptr(uintptr_t p)
{
	return (const void *)p;
}

/* ---- the model ---- */

static struct thing *model_find(uintptr_t p)
{
	struct thing *best = NULL;

	for (int i = 0; i < nthings; i++)
		if (things[i].lo <= p && p < things[i].hi && (!best || things[i].kind < best->kind))
			best = &things[i];
	return best;
}

static uint32_t lowest_free(uint32_t cls)
{
	static bool used[THINGS + 1];
	uint32_t id = 0;

	memset(used, 0, sizeof(used));
	for (int i = 0; i < nthings; i++)
		if (things[i].cls == cls && things[i].id != NO_ID)
			used[things[i].id] = true;
	while (used[id])
		id++;
	return id;
}

static struct rn_place model_place(uintptr_t p)
{
	struct thing *t = model_find(p), *before = model_find(p - 1);

	if (before && (!t || (t->lo != p && before->kind < t->kind)))
		t = before;
	if (!t)
		return (struct rn_place){ RN_MEM_OTHER, 0, 0 };
	if (t->id == NO_ID)
		t->id = lowest_free(t->cls);
	return (struct rn_place){ t->cls, t->id, (int64_t)(p - t->lo) };
}

static struct thing *model_add(enum kind kind, uintptr_t lo, uintptr_t hi, uint32_t cls)
{
	things[nthings] = (struct thing){ kind, lo, hi, hi, cls, NO_ID };
	return &things[nthings++];
}

static void model_drop(struct thing *t)
{
	*t = things[--nthings];
}

static struct thing *model_overlap(enum kind kind, uintptr_t lo, uintptr_t hi)
{
	for (int i = 0; i < nthings; i++)
		if (things[i].kind == kind && things[i].lo < hi && lo < things[i].need)
			return &things[i];
	return NULL;
}

static struct thing *any(enum kind kind)
{
	int from = nthings ? (int)tap_below((uint64_t)nthings) : 0;

	for (int i = 0; i < nthings; i++)
		if (things[(from + i) % nthings].kind == kind)
			return &things[(from + i) % nthings];
	return NULL;
}

/* ---- operations on both ---- */

/* A program does not reuse an address for another block without freeing it, and a cache may rely
 * on that. This test does reuse addresses, so it clears the cache. */
static void forget(void)
{
	for (int i = 0; i < 256; i++)
		cache.entry[i].serial = UINT64_MAX;
	for (int i = 0; i < 64; i++)
		cache.near[i].serial = UINT64_MAX;
}

static uintptr_t round_up(uintptr_t n, uintptr_t to)
{
	return (n + to - 1) / to * to;
}

static size_t any_size(void)
{
	static const size_t most[] = { 17, 40, 200, 2100, 5000, 20000, 3 << 20, LEAF * 5 / 2 };

	return tap_below(most[tap_below(tap_below(20) ? 7 : 8)]);
}

/* Returns an address near other blocks, near boundaries of pages, MiB or leaves, or anywhere. */
static uintptr_t any_address(void)
{
	static const uintptr_t edge[] = { 4096, 1 << 20, LEAF };
	uintptr_t e = edge[tap_below(3)];

	if (nthings && tap_below(3))
		return things[tap_below((uint64_t)nthings)].need;
	if (tap_below(8) == 0)
		return area + tap_below(AREA);
	return area + LEAF + e * tap_below(LEAF * 2 / e) + tap_below(256) - 128;
}

static bool in_area(uintptr_t lo, size_t n)
{
	return lo >= area && n <= AREA - 4096 && lo <= area + AREA - 4096 - n;
}

static void set_heap_end(struct thing *t, size_t n)
{
	t->need = t->lo + (n ? n : 1);
	t->hi = t->lo % 16 ? t->need : t->lo + round_up(n ? n : 1, 16);
}

/* An allocator may return a block of 8 bytes in the upper half of a granule. */
static void do_alloc(void)
{
	size_t n = any_size();
	bool upper = tap_below(8) == 0;
	uintptr_t lo = round_up(any_address(), 16) + (upper ? 8 : 0);
	struct thing *t;

	if (upper)
		n %= 9;
	if (!in_area(lo, n) || model_overlap(HEAP, lo, lo + (n ? n : 1)) ||
	    (upper && model_overlap(REGION, lo, lo + 8)))
		return;
	t = model_add(upper ? REGION : HEAP, lo, lo, RN_MEM_HEAP);
	set_heap_end(t, n);
	forget();
	rn_mem_alloc(ptr(lo), n);
}

static void do_free(void)
{
	struct thing *t = any(HEAP);

	if (!t)
		return;
	rn_mem_free(ptr(t->lo));
	model_drop(t);
}

static void move(struct thing *t, struct rn_mem_moving m, size_t n)
{
	uintptr_t to = round_up(any_address(), 16);

	if (to == t->lo || !in_area(to, n) || model_overlap(HEAP, to, to + n + 1)) {
		rn_mem_realloc_undo(m);
		return;
	}
	rn_mem_realloc_end(m, ptr(to), n);
	t->lo = to;
	t->id = NO_ID;
	set_heap_end(t, n);
	forget();
}

static void do_realloc(void)
{
	struct thing *t = any(HEAP);
	struct rn_mem_moving m;
	size_t n = any_size();

	if (!t)
		return;
	m = rn_mem_realloc_begin(ptr(t->lo));
	if (tap_below(10) == 0) {
		rn_mem_realloc_end(m, NULL, 0);
		model_drop(t);
		return;
	}
	t->kind = KINDS; /* excluded from the search */
	if (tap_below(3) && in_area(t->lo, n) && !model_overlap(HEAP, t->lo, t->lo + n + 1)) {
		rn_mem_realloc_end(m, ptr(t->lo), n);
		set_heap_end(t, n);
		forget();
	} else {
		move(t, m, n);
	}
	t->kind = HEAP;
}

static void do_region_add(void)
{
	uint32_t cls = RN_MEM_ALLOC + (uint32_t)tap_below(RN_MEM_CLASSES - RN_MEM_ALLOC);
	size_t n = any_size();
	uintptr_t lo = any_address();
	struct thing *t;

	if (!in_area(lo, n))
		return;
	while ((t = model_overlap(REGION, lo, lo + (n ? n : 1))))
		model_drop(t);
	for (int i = 0; i < nthings; i++)
		if (things[i].lo > lo && things[i].lo <= lo + n)
			forget();
	model_add(REGION, lo, lo + (n ? n : 1), cls);
	rn_mem_region_add(ptr(lo), n, cls);
}

/* Drops a region. Blocks in the upper half of a granule are regions too, and are dropped by a
 * free. */
static void do_region_drop(void)
{
	struct thing *t = any(REGION);

	if (!t)
		return;
	if (t->cls == RN_MEM_HEAP)
		rn_mem_free(ptr(t->lo));
	else
		rn_mem_region_drop(ptr(t->lo));
	model_drop(t);
}

static void model_cut(uintptr_t lo, uintptr_t hi)
{
	struct thing *t;

	while ((t = model_overlap(MAP, lo, hi))) {
		uintptr_t end = t->hi;

		if (t->lo < lo)
			t->hi = t->need = lo;
		else
			model_drop(t);
		if (end > hi)
			model_add(MAP, hi, end, RN_MEM_MMAP);
	}
}

static void do_map(bool unmap)
{
	uintptr_t lo = any_address() & ~(uintptr_t)4095;
	size_t n = any_size();

	if (!n || !in_area(lo, n))
		return;
	model_cut(lo, lo + round_up(n, 4096));
	if (unmap) {
		rn_mem_unmap(ptr(lo), n);
		return;
	}
	model_add(MAP, lo, lo + round_up(n, 4096), RN_MEM_MMAP);
	rn_mem_map(ptr(lo), n);
}

static bool same(struct rn_place a, struct rn_place b)
{
	return a.cls == b.cls && a.id == b.id && a.disp == b.disp;
}

static void do_look(void)
{
	const struct thing *t = &things[tap_below((uint64_t)nthings + 1)];
	uintptr_t p = any_address();
	struct rn_place want;

	if (t < things + nthings) {
		const uintptr_t at[] = { t->lo, t->lo,     t->lo + tap_below(t->need - t->lo),
					 t->hi, t->hi - 1, t->lo + tap_below(64) };

		p = at[tap_below(6)];
	}
	if (p < area + 1 || p >= area + AREA)
		return;
	want = model_place(p);
	CHECK(same(rn_mem_place(&cache, ptr(p)), want));
	CHECK(same(rn_mem_place(&cache, ptr(p)), want));
}

static void do_something(void)
{
	unsigned what = (unsigned)tap_below(100);

	if (nthings > THINGS - 8) /* many at once, later few again */
		while (nthings > 10)
			tap_below(4) ? do_free() : tap_below(2) ? do_region_drop() : do_map(true);
	if (what < 50)
		do_look();
	else if (what < 75)
		do_alloc();
	else if (what < 84)
		do_free();
	else if (what < 90)
		do_realloc();
	else if (what < 93)
		do_region_add();
	else if (what < 96)
		do_region_drop();
	else
		do_map(what >= 98);
}

static void test_model(void)
{
	for (int i = 0; i < 1000000; i++) {
		do_something();
		if (i % 20000 == 0)
			CHECK(rn_mem_check());
	}
	CHECK(rn_mem_check());
	while (nthings)
		any(HEAP) ? do_free() : any(REGION) ? do_region_drop() : do_map(true);
}

/* ---- tests without the model ---- */

static struct rn_place place(uintptr_t p)
{
	return rn_mem_place(&cache, ptr(p));
}

static void test_odd_cases(void)
{
	uintptr_t p = area + 4096;

	rn_mem_alloc(NULL, 100);
	rn_mem_free(NULL);
	rn_mem_free(ptr(p));     /* never allocated */
	rn_mem_free(ptr(p + 8)); /* not aligned either */
	rn_mem_region_drop(ptr(p));
	rn_mem_region_add(NULL, 10, RN_MEM_ALLOC);
	rn_mem_region_add(ptr(p), 10, RN_MEM_CLASSES);
	rn_mem_unmap(ptr(p), 0);
	rn_mem_unmap(ptr(p), SIZE_MAX);
	rn_mem_alloc(ptr((uintptr_t)1 << 60), 10); /* an invalid address */
	CHECK(place((uintptr_t)1 << 60).cls == RN_MEM_OTHER);
	CHECK(place(UINTPTR_MAX).cls == RN_MEM_OTHER);
	CHECK(same(place(0), (struct rn_place){ RN_MEM_OTHER, 0, 0 }));
	CHECK(same(place(p), (struct rn_place){ RN_MEM_OTHER, 0, 0 }));
	/* A block whose free was not recorded, and a new block at the same address. */
	rn_mem_alloc(ptr(p), 100);
	CHECK(same(place(p + 99), (struct rn_place){ RN_MEM_HEAP, 0, 99 }));
	rn_mem_alloc(ptr(p), 5000);
	CHECK(same(place(p + 4999), (struct rn_place){ RN_MEM_HEAP, 0, 4999 }));
	CHECK(rn_mem_check());
	rn_mem_free(ptr(p));
}

/* A driver that may be loaded and has one range. */
static struct {
	bool loaded;
	struct rn_mem_range range;
	int queries;
} driver;

static bool query(uintptr_t p, struct rn_mem_range *range)
{
	driver.queries++;
	*range = (struct rn_mem_range){ .cls = RN_MEM_OTHER };
	if (driver.loaded && p - driver.range.lo < driver.range.hi - driver.range.lo)
		*range = driver.range;
	return driver.loaded;
}

/* Returns the number of driver queries needed to resolve p to a block of this class. */
static int queries_for(uintptr_t p, uint32_t cls, uint32_t id, int64_t disp)
{
	int before = driver.queries;

	CHECK(same(place(p), (struct rn_place){ cls, id, disp }));
	return driver.queries - before;
}

static void test_driver(void)
{
	const uintptr_t p = area + LEAF;

	rn_mem_ask_driver(query);
	rn_mem_map(ptr(p), 1 << 20);
	rn_mem_alloc(ptr(p + 65536), 100);
	CHECK(queries_for(p, RN_MEM_MMAP, 0, 0) == 1);
	CHECK(queries_for(p + 8, RN_MEM_MMAP, 0, 8) == 0); /* no driver is loaded */
	CHECK(queries_for(p + 65536, RN_MEM_HEAP, 0, 0) == 0);
	driver.loaded = true;
	driver.range = (struct rn_mem_range){ p + 8192, p + 12288, RN_MEM_GPU + 1 };
	rn_mem_region_add(ptr(p + 32768), 4096, RN_MEM_GPU);
	CHECK(queries_for(p + 32768, RN_MEM_GPU, 0, 0) == 0);
	CHECK(queries_for(p + 8192 + 16, RN_MEM_GPU + 1, 0, 16) == 1);
	CHECK(queries_for(p + 8192, RN_MEM_GPU + 1, 0, 0) == 0);
	CHECK(queries_for(p + 16, RN_MEM_MMAP, 0, 16) == 1);
	CHECK(queries_for(p + 16, RN_MEM_MMAP, 0, 16) == 0); /* it is in the cache */
	rn_mem_region_drop(ptr(p + 8192));
	driver.range.lo = driver.range.hi = 0;
	CHECK(queries_for(p + 8192, RN_MEM_MMAP, 0, 8192) == 1);
	CHECK(rn_mem_check());
	rn_mem_region_drop(ptr(p + 32768));
	rn_mem_free(ptr(p + 65536));
	rn_mem_unmap(ptr(p), 1 << 20);
	rn_mem_ask_driver(NULL);
}

static int a_static[100];
static _Thread_local int a_local[100];

static void test_program(void)
{
	struct rn_place s = place((uintptr_t)&a_static[50]), f = place((uintptr_t)dlsym);
	struct rn_place t = place((uintptr_t)&a_local[50]);
	int frame[10];

	CHECK(s.cls == RN_MEM_STATIC &&
	      strcmp(rn_mem_module(s.id).name, program_invocation_short_name) == 0);
	CHECK(s.disp - place((uintptr_t)a_static).disp == 200);
	CHECK(f.cls == RN_MEM_STATIC && strncmp(rn_mem_module(f.id).name, "libc.so", 7) == 0);
	CHECK(rn_mem_module(f.id).build_id && rn_mem_module(f.id).build_id_len == 20);
	CHECK(!rn_mem_module(10000).name && !rn_mem_module(10000).build_id);
	CHECK(t.cls == RN_MEM_TLS && t.id == 0);
	CHECK(t.disp - place((uintptr_t)a_local).disp == 200);
	CHECK(place((uintptr_t)&frame[1]).cls == RN_MEM_STACK);
	CHECK(place((uintptr_t)&frame[1]).disp == (char *)&frame[1] - (char *)cache.stack_base);
}

/* A library used only by this test is loaded, unloaded and loaded again. */
static void test_modules(void)
{
	static const char lib[] = "libBrokenLocale.so.1";
	void *h = dlopen(lib, RTLD_NOW), *sym = h ? dlsym(h, "__ctype_get_mb_cur_max") : NULL;
	struct rn_place p;

	if (!h || !sym) {
		skip("modules come and go", "no library to load");
		return;
	}
	p = place((uintptr_t)sym);
	CHECK(p.cls == RN_MEM_STATIC && strcmp(rn_mem_module(p.id).name, lib) == 0);
	dlclose(h);
	rn_mem_modules_changed();
	CHECK(place((uintptr_t)sym).cls == RN_MEM_OTHER);
	h = dlopen(lib, RTLD_NOW);
	CHECK(same(place((uintptr_t)dlsym(h, "__ctype_get_mb_cur_max")), p));
	dlclose(h);
	CHECK(rn_mem_check());
	ok("modules come, go and come back");
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 30000, OWN = 64 };

/* Threads own alternating granules, so that neighbors in the shadow memory belong to different
 * threads. */
static uintptr_t own(uintptr_t thread, uint64_t i)
{
	return area + LEAF - 4096 + (i * THREADS + thread) * 32;
}

static void *busy_thread(void *arg)
{
	static struct rn_mem_cache caches[THREADS];
	uintptr_t thread = (uintptr_t)arg, wrong = 0;
	struct rn_mem_cache *c = &caches[thread];
	uint64_t x = thread;

	rn_mem_thread_start(c, (uint32_t)thread + 1, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		uintptr_t p =
			own(thread, (x = x * 6364136223846793005u + 1442695040888963407u) >> 58);
		struct rn_place a, b;

		rn_mem_alloc(ptr(p), 32);
		if (round % 3) {
			a = rn_mem_place(c, ptr(p + 8));
			b = rn_mem_place(c, ptr(p + 8));
			wrong += a.cls != RN_MEM_HEAP || a.disp != 8 || !same(a, b);
		}
		rn_mem_free(ptr(p));
		if (round % 3 == 0)
			wrong += rn_mem_place(c, ptr(p + 8)).cls == RN_MEM_HEAP;
	}
	wrong += rn_mem_place(c, &x).cls != RN_MEM_STACK;
	wrong += rn_mem_place(c, a_local).cls != RN_MEM_TLS;
	rn_mem_thread_stop(c);
	return (void *)wrong;
}

static void test_threads(void)
{
	pthread_t t[THREADS];
	void *wrong;

	for (uintptr_t i = 0; i < THREADS; i++)
		if (!CHECK(pthread_create(&t[i], NULL, busy_thread, (void *)i) == 0))
			return;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &wrong);
		CHECK(!wrong);
	}
	CHECK(rn_mem_check());
}

static void *ask_about_stack(void *arg)
{
	static struct rn_mem_cache c;
	struct rn_place *p = arg;

	rn_mem_thread_start(&c, 7, NULL);
	p[1] = rn_mem_place(&c, p);
	rn_mem_thread_stop(&c);
	return &c;
}

/* The stack of thread 0, as seen from another thread. */
static void test_stack_of_another(void)
{
	struct rn_place p[2] = { 0 };
	struct rn_mem_cache *other = NULL;
	pthread_t t;

	p[0] = place((uintptr_t)p);
	if (CHECK(pthread_create(&t, NULL, ask_about_stack, p) == 0))
		pthread_join(t, (void **)&other);
	CHECK(p[1].cls == RN_MEM_STACK && p[1].id == 1 && p[1].disp == p[0].disp);
	/* The other thread has ended, and its stack is no longer registered. */
	CHECK(other && place(other->stack_lo + other->stack_size - 16).cls != RN_MEM_STACK);
}

static atomic_bool stop;

static void *name_and_forget(void *arg)
{
	static struct rn_mem_cache c;

	(void)arg;
	rn_mem_thread_start(&c, 1, NULL);
	while (!stop) {
		rn_mem_alloc(ptr(area), 16);
		rn_mem_place(&c, ptr(area));
		rn_mem_free(ptr(area));
	}
	rn_mem_thread_stop(&c);
	return NULL;
}

/* A child can resolve and free addresses even if another thread of its parent was doing so at
 * the fork. */
static void test_fork(void)
{
	pthread_t t;
	int status;

	rn_mem_start();
	CHECK(pthread_create(&t, NULL, name_and_forget, NULL) == 0);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(20);
			rn_mem_alloc(ptr(area + 4096), 16);
			rn_mem_place(&cache, ptr(area + 4096));
			rn_mem_free(ptr(area + 4096));
			_exit(rn_mem_check() ? 0 : 1);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	}
	stop = true;
	pthread_join(t, NULL);
}

static pthread_barrier_t together;

static void *ask_about_static(void *arg)
{
	static struct rn_mem_cache caches[THREADS];
	struct rn_mem_cache *c = &caches[(uintptr_t)arg];
	bool good;

	rn_mem_thread_start(c, (uint32_t)(uintptr_t)arg + 1, NULL);
	pthread_barrier_wait(&together);
	good = rn_mem_place(c, &things).cls == RN_MEM_STATIC;
	rn_mem_thread_stop(c);
	return good ? NULL : arg;
}

/* All threads resolve an address of the same new module at the same time, in a process that has
 * seen no module. */
static int see_modules(void)
{
	pthread_t t[THREADS];
	void *wrong;
	int bad = 0;

	rn_mem_ask_kernel();
	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, ask_about_static, (void *)i) != 0)
			return 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &wrong);
		bad += wrong != NULL;
	}
	return bad;
}

static void test_first_to_see(void)
{
	int status;

	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(see_modules());
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	}
}

/* ---- without memory ---- */

static void test_failures(void)
{
	uint32_t failures = 0, n = 30000;

	for (uint32_t i = 0; i < n; i++) {
		uintptr_t p = area + (uintptr_t)i * 32;

		errno = 77;
		rn_mem_alloc(ptr(p), 32);
		rn_mem_fail_at(1 + i % 2);
		if (place(p).cls == RN_MEM_OTHER) {
			failures++;
			CHECK(rn_mem_check());
		}
		rn_mem_fail_at(0);
		CHECK(same(place(p + 1), (struct rn_place){ RN_MEM_HEAP, i, 1 }));
		CHECK(errno == 77);
	}
	CHECK(failures > 5);
	for (uint32_t i = 0; i < n; i++)
		rn_mem_free(ptr(area + (uintptr_t)i * 32));
	CHECK(rn_mem_check());
	/* Without a leaf, the address is unknown, which does no harm. */
	rn_shadow_fail(true);
	rn_mem_alloc(ptr(area + AREA), 100);
	CHECK(place(area + AREA).cls == RN_MEM_OTHER);
	rn_mem_free(ptr(area + AREA));
	rn_shadow_fail(false);
	rn_mem_alloc(ptr(area + AREA), 100);
	CHECK(place(area + AREA).cls == RN_MEM_HEAP);
	rn_mem_free(ptr(area + AREA));
}

static bool map_area(void)
{
	void *p = mmap(NULL, AREA + 2 * LEAF, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	area = round_up((uintptr_t)p, LEAF);
	return p != MAP_FAILED;
}

int main(void)
{
	int base;

	if (!map_area()) {
		skip("memory", "no address space");
		return tap_done();
	}
	test_first_to_see();
	ok("several threads that see a module first");
	rn_mem_thread_start(&cache, 0, &base);
	test_driver();
	ok("a GPU driver is queried about unknown addresses only");
	test_model();
	ok("the same as a plain list of blocks, regions and mappings");
	test_odd_cases();
	ok("odd cases");
	test_program();
	ok("static, thread-local and stack memory");
	test_modules();
	test_threads();
	ok("threads do not disturb each other");
	test_stack_of_another();
	ok("the stack of another thread");
	test_fork();
	ok("a child is not locked out");
	test_failures();
	ok("no memory: unknown addresses, nothing worse");
	return tap_done();
}
