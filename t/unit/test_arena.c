/*
 * test_arena.c - memory is zeroed, aligned, disjoint and bounded; rewinding releases it; and
 * allocations fail on request.
 */
#include "base/arena.h"
#include "base/errno_guard.h"
#include "tap.h"

#include <string.h>

static bool all_are(const unsigned char *p, size_t n, unsigned char v)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != v)
			return false;
	return true;
}

struct piece {
	unsigned char *p;
	size_t n;
	unsigned char fill;
};

#define PIECES 4000

/* Random sizes and alignments, some far larger than a block. No allocation overwrites another. */
static void test_pieces(void)
{
	static struct piece piece[PIECES];
	struct rn_arena a;
	uint64_t misaligned = 0, dirty = 0, overlaps = 0;

	rn_arena_init(&a, SIZE_MAX);
	for (int i = 0; i < PIECES; i++) {
		size_t align = (size_t)1 << tap_below(13);
		size_t n = (size_t)tap_below(tap_below(100) ? 300 : 3u << 20);

		piece[i] = (struct piece){ rn_alloc(&a, 1, align, n), n, (unsigned char)(i | 1) };
		if (!CHECK(piece[i].p != NULL))
			return;
		misaligned += (uintptr_t)piece[i].p % align != 0;
		dirty += !all_are(piece[i].p, n, 0);
		memset(piece[i].p, piece[i].fill, n);
	}
	for (int i = 0; i < PIECES; i++)
		overlaps += !all_are(piece[i].p, piece[i].n, piece[i].fill);
	CHECK(misaligned == 0);
	CHECK(dirty == 0);
	CHECK(overlaps == 0);
	rn_arena_free(&a);
	CHECK(a.mapped == 0);
}

/* A rewind releases memory. Reused memory is zeroed again, and older allocations are unchanged. */
static void test_rewind(void)
{
	struct rn_arena a;
	uint64_t dirty = 0, lost = 0;
	size_t mapped = 0;

	rn_arena_init(&a, SIZE_MAX);
	for (int round = 0; round < 200; round++) {
		size_t keep_n = 1 + (size_t)tap_below(20000);
		unsigned char *keep = rn_new(&a, unsigned char, keep_n);
		struct rn_arena_mark mark;

		if (!CHECK(keep != NULL))
			return;
		memset(keep, 0xee, keep_n);
		mark = rn_arena_mark(&a);
		mapped = a.mapped;
		for (int i = 0; i < 20; i++) {
			size_t n = 1 + (size_t)tap_below(30000);
			unsigned char *p = rn_new(&a, unsigned char, n);

			if (!CHECK(p != NULL))
				return;
			dirty += !all_are(p, n, 0);
			memset(p, 0xdd, n);
		}
		lost += !all_are(keep, keep_n, 0xee);
		rn_arena_rewind(&a, mark);
		CHECK(a.mapped == mapped);
	}
	CHECK(dirty == 0);
	CHECK(lost == 0);
	rn_arena_free(&a);
}

/* Rewinding to a mark set before the first block retains that block: no system call per
 * iteration. */
static void test_rewind_empty(void)
{
	struct rn_arena a;
	struct rn_arena_mark mark;
	unsigned char *first = NULL;

	rn_arena_init(&a, SIZE_MAX);
	mark = rn_arena_mark(&a);
	rn_arena_rewind(&a, mark);
	CHECK(a.mapped == 0);
	for (int round = 0; round < 3; round++) {
		unsigned char *p = rn_new(&a, unsigned char, 100);

		if (!CHECK(p != NULL) || !CHECK(all_are(p, 100, 0)))
			return;
		memset(p, 1, 100);
		if (first)
			CHECK(p == first);
		first = p;
		CHECK(rn_new(&a, unsigned char, 1 << 20) != NULL);
		rn_arena_rewind(&a, mark);
		CHECK(a.mapped > 0 && a.mapped < 1 << 20);
	}
	rn_arena_free(&a);
	rn_arena_free(&a);
	CHECK(rn_new(&a, int, 1) != NULL); /* usable again */
	rn_arena_free(&a);
}

/* Reserved memory remains when the arena is rewound to its start. */
static void test_reserve(void)
{
	const struct rn_arena_mark beginning = { 0 };
	struct rn_arena a;
	size_t mapped;

	rn_arena_init(&a, SIZE_MAX);
	rn_arena_reserve(&a, 100000);
	mapped = a.mapped;
	CHECK(mapped >= 100000);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 9; i++)
			CHECK(all_are(rn_new(&a, unsigned char, 10000), 10000, 0));
		CHECK(a.mapped == mapped);
		rn_arena_rewind(&a, beginning);
		CHECK(a.mapped == mapped);
	}
	rn_arena_reserve(&a, 1000000); /* the arena is not empty */
	CHECK(a.mapped == mapped);
	rn_arena_free(&a);
	rn_arena_init(&a, 1000);
	rn_arena_reserve(&a, 100000); /* more than its limit */
	CHECK(a.mapped == 0 && !rn_new(&a, int, 1));
}

static bool same(const struct rn_arena *a, const struct rn_arena *b)
{
	return a->beg == b->beg && a->end == b->end && a->block == b->block &&
	       a->mapped == b->mapped && a->limit == b->limit;
}

static void test_limit(void)
{
	struct rn_arena a, before;
	unsigned n = 0;

	rn_arena_init(&a, 0);
	CHECK(rn_new(&a, char, 1) == NULL);
	rn_arena_init(&a, 100000);
	while (before = a, rn_new(&a, char, 1000))
		n++;
	CHECK(same(&a, &before));
	CHECK(n > 40 && n < 100);
	CHECK(a.mapped <= 100000);
	a.limit = SIZE_MAX;
	CHECK(rn_new(&a, char, 1000) != NULL);
	rn_arena_free(&a);
}

static void test_refusals(void)
{
	struct rn_arena a, before;

	rn_arena_init(&a, SIZE_MAX);
	CHECK(rn_new(&a, char, 1) != NULL);
	before = a;
	CHECK(rn_alloc(&a, SIZE_MAX / 2 + 1, 8, 2) == NULL); /* the product is 0 in a size_t */
	CHECK(rn_alloc(&a, SIZE_MAX, 1, 1) == NULL);
	CHECK(rn_alloc(&a, SIZE_MAX / 4, 1, 1) == NULL); /* not that much memory */
	CHECK(same(&a, &before));
	CHECK(rn_alloc(&a, 16, 8, 0) != NULL);
	rn_arena_free(&a);
}

static void test_fail_at(void)
{
	struct rn_arena a, before;

	rn_arena_init(&a, SIZE_MAX);
	for (uint64_t n = 1; n < 50; n++) {
		a.fail_at = n;
		for (uint64_t i = 1; i < n; i++)
			CHECK(rn_new(&a, char, 10) != NULL);
		before = a;
		CHECK(rn_new(&a, char, 10) == NULL);
		CHECK(same(&a, &before));
		CHECK(a.fail_at == 0);
		CHECK(rn_new(&a, char, 10) != NULL);
	}
	rn_arena_free(&a);
}

/* An allocation that fits into the caller's block needs no memory from the system. */
static void test_over(void)
{
	static _Alignas(64) unsigned char block[4096];
	struct rn_arena a;
	unsigned n = 0;

	rn_arena_init_over(&a, 0, block, sizeof(block));
	for (unsigned char *p; (p = rn_alloc(&a, 100, 8, 1)); n++)
		CHECK(p > block && p + 100 <= block + sizeof(block));
	CHECK(n > 20 && a.mapped == 0);
}

/* An array grown element by element equals a plain array. A failed growth changes nothing. */
static void test_grow(void)
{
	uint32_t *v = NULL, n = 0, cap = 0, *old, was, failures = 0;
	struct rn_arena a;

	rn_arena_init(&a, SIZE_MAX);
	while (n < 100000) {
		old = v;
		was = cap;
		a.fail_at = tap_below(2);
		if (RN_GROW(&a, v, n + 1, cap)) {
			v[n] = n;
			n++;
			continue;
		}
		failures++;
		CHECK(v == old && cap == was);
	}
	for (uint32_t i = 0; i < n; i++)
		CHECK(v[i] == i);
	CHECK(failures && cap == 131072);
	a.fail_at = 0;
	CHECK(!RN_GROW(&a, v, ((uint64_t)1 << 31) + 1, cap) && cap == 131072);
	rn_arena_free(&a);
}

static int change_errno(void)
{
	RN_ERRNO_GUARD;

	errno = ENOMEM;
	return errno;
}

static void test_errno(void)
{
	errno = EINTR;
	CHECK(change_errno() == ENOMEM && errno == EINTR);
}

int main(void)
{
	test_pieces();
	ok("pieces are zeroed, aligned and apart");
	test_rewind();
	ok("a rewind gives back what came after the mark, and only that");
	test_rewind_empty();
	ok("a rewind to the empty arena keeps one block");
	test_reserve();
	ok("which may have been reserved");
	test_limit();
	ok("the limit holds, and a refusal changes nothing");
	test_refusals();
	ok("sizes that overflow are refused");
	test_fail_at();
	ok("the n-th allocation fails when asked to");
	test_over();
	ok("an arena may begin with a block that is there");
	test_grow();
	ok("an array grows, and a failed growth changes nothing");
	test_errno();
	ok("a guard restores errno");
	return tap_done();
}
