/*
 * test_unwind.c - the unwinder, compared with libgcc's frame by frame, in functions of many kinds;
 * and that a step depends only on the words that it reports.
 */
#include "track/unwind.h"
#include "tap.h"

#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define DEPTH 200

struct frames {
	uintptr_t pc[DEPTH], sp[DEPTH];
	int n;
};

static uintptr_t stack_end;

/* The end of the calling thread's stack. */
static void find_end(void)
{
	pthread_attr_t a;
	void *lo;
	size_t n;

	CHECK(pthread_getattr_np(pthread_self(), &a) == 0);
	pthread_attr_getstack(&a, &lo, &n);
	pthread_attr_destroy(&a);
	stack_end = (uintptr_t)lo + n;
}

static _Unwind_Reason_Code add(struct _Unwind_Context *c, void *arg)
{
	struct frames *f = arg;

	if (f->n == DEPTH)
		return _URC_END_OF_STACK;
	f->pc[f->n] = _Unwind_GetIP(c);
	f->sp[f->n++] = _Unwind_GetCFA(c);
	return _URC_NO_REASON;
}

/* The frames of a walk, and the words that it read. */
static struct frames ours;
static struct {
	uintptr_t at, value;
} used[3 * DEPTH];
static unsigned uses;

static void note(const struct rn_unwind_uses *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		used[uses].at = u->at[i];
		memcpy(&used[uses++].value, (const void *)u->at[i], sizeof(uintptr_t));
	}
}

static void walk(struct rn_unwind u)
{
	struct rn_unwind_uses now;

	ours.n = 0;
	uses = 0;
	do {
		ours.pc[ours.n] = u.pc;
		ours.sp[ours.n++] = u.sp;
		if (ours.n == DEPTH || !rn_unwind_step(rn_unwind_rule(u.pc), stack_end, &u, &now))
			return;
		note(&now);
	} while (true);
}

/* The first frame of libgcc is that of this function. */
__attribute__((noinline)) static void compare(void)
{
	struct frames theirs = { .n = 0 };

	_Unwind_Backtrace(add, &theirs);
	walk(rn_unwind_from(__builtin_frame_address(0)));
	if (!CHECK(theirs.n > 2 && ours.n >= theirs.n - 2 && ours.n <= theirs.n))
		diag("%d frames, not %d", ours.n, theirs.n - 1);
	for (int i = 0; i < ours.n && i + 1 < theirs.n; i++)
		CHECK(ours.pc[i] == theirs.pc[i + 1] && ours.sp[i] == theirs.sp[i + 1]);
}

static volatile int sink;

#define KEEP __attribute__((noinline, noclone))

KEEP static void plain(int n)
{
	compare();
	sink = n;
}

KEEP __attribute__((optimize("O0"))) static void with_pointer(int n)
{
	int here = n;

	plain(here);
	sink = here;
}

KEEP static void any_size(int n)
{
	char *room = alloca((size_t)n * 40 + 8);

	memset(room, n, (size_t)n * 40 + 8);
	with_pointer(n);
	plain(n);
	sink = room[n];
}

KEEP static void aligned(int n)
{
	_Alignas(256) char room[512];

	memset(room, n, sizeof(room));
	any_size(n);
	sink = room[n];
}

/* An aligned frame of variable size, which needs both DWARF expressions. */
KEEP static void aligned_any_size(int n)
{
	_Alignas(128) char room[128];
	char *more = alloca((size_t)n * 24 + 16);

	memset(more, n, (size_t)n * 24 + 16);
	memset(room, n, sizeof(room));
	aligned(n);
	sink = room[n] + more[n];
}

KEEP static int recurse(int n)
{
	if (n == 0) {
		aligned_any_size(3);
		return 0;
	}
	return recurse(n - 1) + n;
}

static int by_callback(const void *a, const void *b)
{
	aligned_any_size(2);
	return *(const int *)a - *(const int *)b;
}

static void test_kinds(void)
{
	int a[4] = { 3, 1, 2, 0 };

	for (int n = 0; n < 20; n++)
		aligned_any_size(n);
	recurse(50);
	qsort(a, 4, sizeof(*a), by_callback);
}

static void *on_thread(void *arg)
{
	uintptr_t end = stack_end;

	find_end();
	test_kinds();
	stack_end = end;
	return arg;
}

/* ---- the cached frames of a stack are valid as long as its words are the same ---- */

#define STACKS 4096
#define WORDS  (3 * DEPTH)

static struct remembered {
	struct frames frames;
	unsigned words;
	uintptr_t at[WORDS], value[WORDS];
} known[STACKS];

static uint64_t hits, changes;

static bool unchanged(const struct remembered *k)
{
	for (unsigned i = 0; i < k->words; i++) {
		uintptr_t value;

		if (k->at[i] >= stack_end)
			return false;
		memcpy(&value, (const void *)k->at[i], sizeof(value));
		if (value != k->value[i])
			return false;
	}
	return k->frames.n > 0;
}

static void remember(struct remembered *k)
{
	k->frames = ours;
	k->words = uses;
	for (unsigned i = 0; i < uses; i++) {
		k->at[i] = used[i].at;
		k->value[i] = used[i].value;
	}
}

KEEP static void ask(void)
{
	struct rn_unwind u = rn_unwind_from(__builtin_frame_address(0));
	struct remembered *k = &known[(u.pc ^ u.sp / 8) * 0x9e3779b97f4a7c15u >> 52];
	bool same = k->frames.n && k->frames.pc[0] == u.pc && k->frames.sp[0] == u.sp;

	walk(u);
	if (same && unchanged(k)) {
		hits++;
		CHECK(k->frames.n == ours.n &&
		      memcmp(k->frames.pc, ours.pc, (size_t)ours.n * sizeof(*ours.pc)) == 0);
	} else {
		changes += same;
		remember(k);
	}
}

KEEP static void wander(int n);

/* Leaves parts of its frame unwritten, so they contain data of earlier calls. */
KEEP static void dirty(int n)
{
	char *volatile room = alloca((size_t)(tap_rand() % 4) * 32 + 16);

	wander(n);
	room[0] = (char)n;
}

KEEP static void one(int n)
{
	wander(n);
	sink = n;
}

KEEP __attribute__((optimize("O0"))) static void other(int n)
{
	wander(n);
	sink = n;
}

KEEP static void wander(int n)
{
	uint64_t way = tap_rand() % 4;

	if (n == 0) {
		ask();
		sink = n;
	} else if (way == 0) {
		one(n - 1);
		sink = n;
	} else if (way == 1) {
		other(n - 1);
		sink = n;
	} else if (way == 2) {
		dirty(n - 1);
		sink = n;
	} else {
		dirty(n - 1);
		sink = n + 1;
	}
}

static void test_uses(void)
{
	for (int i = 0; i < 60000; i++)
		wander((int)(tap_rand() % 5));
	diag("%llu stacks were as remembered, %llu were others at the same place",
	     (unsigned long long)hits, (unsigned long long)changes);
	CHECK(hits > 1000 && changes > 100);
}

static void test_bounds(void)
{
	uintptr_t stack[4] = { 0 };
	struct rn_unwind u = { 1, (uintptr_t)stack, (uintptr_t)&stack[2], (uintptr_t)stack };
	struct rn_unwind_rule chain = { .cfa = RN_CFA_CHAIN };
	struct rn_unwind_uses now;
	uintptr_t end = (uintptr_t)(stack + 4);

	CHECK(!rn_unwind_step(chain, end, &u, &now)); /* no return address */
	stack[3] = 7;
	CHECK(!rn_unwind_step(chain, end - 8, &u, &now));
	u.fp = (uintptr_t)stack - 16;
	CHECK(!rn_unwind_step(chain, end, &u, &now)); /* the frame address decreases */
	u.fp = (uintptr_t)&stack[2] + 1;
	CHECK(!rn_unwind_step(chain, end, &u, &now));
	u.fp = (uintptr_t)&stack[2];
	CHECK(rn_unwind_step(chain, end, &u, &now) && u.pc == 7 && u.sp == end);
	CHECK(now.n == 2 && now.at[0] == (uintptr_t)stack && now.at[1] == (uintptr_t)&stack[3]);
	CHECK(rn_unwind_rule((uintptr_t)stack).cfa == RN_CFA_CHAIN);
}

int main(void)
{
	pthread_t thread;

	find_end();
	test_bounds();
	ok("nothing outside of the stack is read");
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
	test_kinds();
	ok("frames are those that libgcc finds");
	CHECK(pthread_create(&thread, NULL, on_thread, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	ok("on other threads too");
	test_uses();
	ok("what is remembered is true while its words are the same");
#else
	(void)thread;
	(void)test_kinds;
	(void)on_thread;
	(void)test_uses;
#endif
	return tap_done();
}
