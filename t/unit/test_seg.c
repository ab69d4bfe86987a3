/*
 * test_seg.c - the chunked array, compared with a plain one; elements do not move; failed
 * allocations.
 */
#include "base/vec.h"
#include "tap.h"

#include <string.h>

#define N 300000u

struct elem {
	uint64_t a;
	uint32_t b;
};

static void append(struct rn_seg *s, uint64_t v)
{
	uint32_t n = s->n;

	CHECK(RN_SEG_PUT(s, struct elem, (struct elem){ v, (uint32_t)(v >> 7) }) == n);
}

static bool holds(const struct rn_seg *s, const uint64_t *model, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct elem *e = RN_SEG_AT(s, struct elem, i);

		if (e->a != model[i] || e->b != (uint32_t)(model[i] >> 7))
			return false;
	}
	return s->n == n;
}

static void test_model(void)
{
	uint64_t *model = malloc(N * sizeof(*model));
	const struct elem *fixed = NULL;
	struct rn_arena mem;
	struct rn_seg s;

	rn_arena_init(&mem, SIZE_MAX);
	rn_seg_init(&s, sizeof(struct elem));
	while (s.n < N - 5000) {
		uint64_t more = tap_below(tap_below(50) ? 4 : 5000);

		if (!CHECK(rn_seg_reserve(&s, &mem, more)) || !CHECK(s.cap >= s.n + more))
			return;
		for (; more; more--) {
			model[s.n] = tap_rand();
			append(&s, model[s.n]);
		}
		if (!fixed && s.cap > RN_SEG_CHUNK)
			fixed = RN_SEG_AT(&s, struct elem, 0);
	}
	CHECK(holds(&s, model, s.n));
	CHECK(fixed == RN_SEG_AT(&s, struct elem, 0));
	/* The spare memory is at most one chunk and the copies of the first chunk when it grew. */
	CHECK(s.cap - s.n <= RN_SEG_CHUNK + 5000);
	rn_arena_free(&mem);
	free(model);
}

/* Every allocation fails once. No element is lost, and the next attempt continues. */
static void test_failures(void)
{
	uint64_t *model = malloc(N * sizeof(*model));
	struct rn_arena mem;
	struct rn_seg s;
	unsigned failures = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rn_seg_init(&s, sizeof(struct elem));
	while (s.n < 20 * RN_SEG_CHUNK) {
		mem.fail_at = 1 + tap_below(2);
		if (!rn_seg_reserve(&s, &mem, 1)) {
			failures++;
			CHECK(holds(&s, model, s.n));
			continue;
		}
		model[s.n] = tap_rand();
		append(&s, model[s.n]);
	}
	CHECK(failures > 10);
	CHECK(holds(&s, model, s.n));
	rn_arena_free(&mem);
	free(model);
}

static void test_small_and_large(void)
{
	struct rn_arena mem;
	struct rn_seg s, t;

	rn_arena_init(&mem, (size_t)1 << 30);
	rn_seg_init(&s, 4);
	CHECK(rn_seg_reserve(&s, &mem, 0) && s.cap == 0);
	CHECK(rn_seg_grow(&s, &mem, 0) && s.cap == 0);
	CHECK(rn_seg_reserve(&s, &mem, 1) && s.cap == 16);
	CHECK(rn_seg_grow(&s, &mem, 17) && s.cap == 32);
	t = s;
	CHECK(rn_seg_grow(&s, &mem, 17) && memcmp(&s, &t, sizeof(s)) == 0);
	CHECK(rn_seg_grow(&s, &mem, RN_SEG_CHUNK) && s.cap == RN_SEG_CHUNK);
	CHECK(rn_seg_grow(&s, &mem, RN_SEG_CHUNK + 1) && s.cap == 2 * RN_SEG_CHUNK);
	CHECK(!rn_seg_grow(&s, &mem, UINT32_MAX));
	CHECK(!rn_seg_grow(&s, &mem, UINT64_MAX));
	CHECK(!rn_seg_reserve(&s, &mem, UINT32_MAX));
	CHECK(rn_seg_reserve(&s, &mem, 1000000) && s.cap >= 1000000);
	rn_arena_free(&mem);
}

/* Continues at n, with some of the elements before it. */
static void skip_to(uint32_t n)
{
	struct rn_arena mem;
	struct rn_seg s;

	rn_arena_init(&mem, (size_t)1 << 30);
	rn_seg_init(&s, 4);
	CHECK(rn_seg_skip(&s, &mem, n) && s.n == n && s.cap > n);
	for (uint32_t i = 0; i < 10000; i++) {
		CHECK(rn_seg_reserve(&s, &mem, 1));
		*RN_SEG_AT(&s, uint32_t, s.n) = s.n;
		s.n++;
	}
	for (uint32_t i = 0; i < n; i += 9999) {
		CHECK(rn_seg_touch(&s, &mem, i) && *RN_SEG_AT(&s, uint32_t, i) == 0);
		*RN_SEG_AT(&s, uint32_t, i) = i;
	}
	CHECK(!rn_seg_has(&s, s.n) && (n < 3 * RN_SEG_CHUNK || !rn_seg_has(&s, RN_SEG_CHUNK)));
	for (uint32_t i = 0; i < n; i += 9999)
		CHECK(rn_seg_has(&s, i) && *RN_SEG_AT(&s, uint32_t, i) == i);
	for (uint32_t i = n; i < s.n; i++)
		CHECK(*RN_SEG_AT(&s, uint32_t, i) == i);
	rn_arena_free(&mem);
}

static void test_skip(void)
{
	static const uint32_t n[] = { 0, 1, 16, RN_SEG_CHUNK - 1, RN_SEG_CHUNK, 1000000 };
	struct rn_arena mem;
	struct rn_seg s;

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		skip_to(n[i]);
	rn_arena_init(&mem, 0);
	rn_seg_init(&s, 4);
	CHECK(!rn_seg_skip(&s, &mem, 100) && s.n == 0);
	CHECK(!rn_seg_skip(&s, &mem, UINT32_MAX));
}

int main(void)
{
	test_model();
	ok("the same as a plain array, and full chunks do not move");
	test_failures();
	ok("every allocation fails once and nothing is lost");
	test_small_and_large();
	ok("small arrays are small, impossible ones refused");
	test_skip();
	ok("one that goes on where another ended has no memory for what was before");
	return tap_done();
}
