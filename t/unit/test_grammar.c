/*
 * test_grammar.c - the grammar builder, compared with the plain stream of appended symbols.
 */
#include "random_streams.h"

#include "base/arena.h"
#include "base/buf.h"
#include "grammar/grammar.h"
#include "rules/rules.h"

#include <string.h>

static struct stream in, other;
static struct rn_arena mem;

/* Expands rule r recursively and compares the expansion with the stream. Deliberately simple. */
struct reading {
	const struct rn_grammar *g;
	const struct stream *s;
	uint64_t at;
	bool equal;
};

static void expand(struct reading *rd, uint32_t r);

static void expand_item(struct reading *rd, const struct rn_grammar_item *item)
{
	uint64_t literals;

	switch (item->kind) {
	case RN_KIND_TERMINAL:
		rd->equal &= rd->at < rd->s->n && rd->s->t[rd->at] == item->id;
		rd->at++;
		break;
	case RN_KIND_RULE:
		expand(rd, item->id);
		break;
	case RN_KIND_LITERAL:
		literals = rn_grammar_literal_length(rd->g, item->id);
		for (uint64_t i = 0; i < literals; i++, rd->at++) {
			uint32_t t;

			rn_grammar_literal_read(rd->g, item->id, i, &t, 1);
			rd->equal &= rd->at < rd->s->n && rd->s->t[rd->at] == t;
		}
	}
}

static void expand(struct reading *rd, uint32_t r)
{
	struct rn_grammar_iter it = rn_grammar_body(rd->g, r);
	struct rn_grammar_item item;

	while (rd->equal && rn_grammar_body_next(&it, &item))
		for (uint64_t k = 0; k < item.count && rd->equal; k++)
			expand_item(rd, &item);
}

static bool holds(const struct rn_grammar *g, const struct stream *s, uint64_t n)
{
	struct reading rd = { g, s, 0, true };

	expand(&rd, 0);
	return rd.equal && rd.at == n;
}

static bool same_bytes(const struct rn_grammar *a, const struct rn_grammar *b)
{
	struct rn_buf x = { 0 }, y = { 0 };
	struct rn_arena scratch;
	bool same;

	rn_arena_init(&scratch, SIZE_MAX);
	CHECK(rn_rules_encode_grammar(a, &scratch, &x) == RN_OK);
	CHECK(rn_rules_encode_grammar(b, &scratch, &y) == RN_OK);
	same = x.len == y.len && memcmp(x.data, y.data, x.len) == 0 &&
	       rn_grammar_expect(a) == rn_grammar_expect(b) &&
	       rn_grammar_nodes(a) == rn_grammar_nodes(b);
	rn_buf_free(&x);
	rn_buf_free(&y);
	rn_arena_free(&scratch);
	return same;
}

static struct rn_grammar *fresh(const struct rn_grammar_opts *opts)
{
	rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	return rn_grammar_new(&mem, opts);
}

static void test_random(unsigned rounds)
{
	uint64_t symbols = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct rn_grammar *g = fresh(NULL);
		uint32_t stop;

		stream_random(&in);
		stop = (uint32_t)tap_below(in.n + 1);
		for (uint32_t k = 0; k < in.n; k++) {
			if (k == stop && !(CHECK(rn_grammar_check(g)) && CHECK(holds(g, &in, k))))
				return;
			rn_grammar_append(g, in.t[k]);
		}
		symbols += in.n;
		if (!CHECK(rn_grammar_check(g)) || !CHECK(holds(g, &in, in.n))) {
			diag("stream %u of %u symbols", i, in.n);
			return;
		}
	}
	ok("%u random streams, %llu symbols, expand to what went in", rounds,
	   (unsigned long long)symbols);
}

/* Appends while the n-th allocation fails, for every n. The symbols accepted before must be
 * intact. */
static void test_no_memory(void)
{
	unsigned failures = 0;

	for (unsigned round = 0; round < 12; round++) {
		stream_random(&in);
		if (in.n > 3000)
			in.n = 3000;
		for (uint64_t n = 1;; n += 1 + n / 8) {
			struct rn_grammar *g;
			uint32_t k = 0;
			int rc = RN_OK;

			rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
			mem.fail_at = n;
			g = rn_grammar_new(&mem, NULL);
			for (; g && k < in.n && rc == RN_OK; k += rc == RN_OK)
				rc = rn_grammar_append(g, in.t[k]);
			if (!g)
				continue;
			CHECK(rc == RN_OK || rc == RN_E_NOMEM);
			failures += rc != RN_OK;
			if (!CHECK(rn_grammar_check(g)) || !CHECK(holds(g, &in, k)))
				return;
			mem.fail_at = 0;
			for (; k < in.n; k++)
				CHECK(rn_grammar_append(g, in.t[k]) == RN_OK);
			if (!CHECK(rn_grammar_check(g)) || !CHECK(holds(g, &in, k)))
				return;
			if (n > 100)
				break;
		}
	}
	mem.fail_at = 0;
	ok("every failed allocation leaves the grammar as it was (%u failures)", failures);
}

static void test_repeat(unsigned rounds)
{
	struct rn_arena side;

	rn_arena_init(&side, SIZE_MAX);
	for (unsigned i = 0; i < rounds; i++) {
		struct rn_grammar *g = fresh(NULL), *h;
		uint64_t times = tap_below(100), done = 0;
		uint32_t n;

		rn_arena_free(&side);
		h = rn_grammar_new(&side, NULL);
		stream_random(&in);
		stream_random(&other);
		if (in.n > 500)
			in.n = 500;
		n = (uint32_t)tap_below(other.n < 20 ? other.n + 1 : 20);
		for (uint32_t k = 0; k < in.n; k++) {
			rn_grammar_append(g, in.t[k]);
			rn_grammar_append(h, in.t[k]);
		}
		CHECK(rn_grammar_append_repeat(g, other.t, n, times, &done) == RN_OK);
		CHECK(done == times);
		for (uint64_t k = 0; k < times; k++)
			for (uint32_t j = 0; j < n; j++)
				rn_grammar_append(h, other.t[j]);
		for (uint32_t k = 0; k < in.n; k++) {
			rn_grammar_append(g, in.t[k]);
			rn_grammar_append(h, in.t[k]);
		}
		if (!CHECK(same_bytes(g, h)))
			return;
	}
	rn_arena_free(&side);
	ok("append_repeat gives the very grammar that %u symbol-wise loops give", rounds);
}

/* append_repeat must not append every iteration, also inside an outer loop that is already a rule.
 * Otherwise a loop of 10^12 iterations would not terminate. */
static void test_repeat_nested(void)
{
	const uint32_t body[] = { 1, 2 };
	struct rn_grammar *g = fresh(NULL);

	for (int i = 0; i < 100; i++) {
		CHECK(rn_grammar_append_repeat(g, body, 2, 1000000000000u, NULL) == RN_OK);
		CHECK(rn_grammar_append(g, 3) == RN_OK);
	}
	CHECK(rn_grammar_check(g) && rn_grammar_nodes(g) < 20);
	ok("append_repeat skips rounds inside an outer loop");
}

/* Rewriting that was postponed when memory was short is done while a miss is appended. It must
 * not use the memory reserved for the miss. */
static void test_backlog(unsigned rounds)
{
	unsigned pending = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct rn_grammar *g = fresh(NULL);
		uint32_t blocked, k;

		stream_random(&in);
		if (in.n > 2000)
			in.n = 2000;
		blocked = (uint32_t)tap_below(in.n + 1);
		for (k = 0; k < in.n; k++) {
			mem.limit = k >= blocked && k < blocked + 200 ? 0 : SIZE_MAX;
			if (rn_grammar_append(g, in.t[k]) == RN_OK)
				continue;
			mem.limit = SIZE_MAX;
			pending++;
			CHECK(rn_grammar_append(g, in.t[k]) == RN_OK);
		}
		mem.limit = SIZE_MAX;
		if (!CHECK(rn_grammar_check(g)) || !CHECK(holds(g, &in, in.n)))
			return;
	}
	ok("a backlog of rewriting is worked off (%u times out of memory)", pending);
}

static void test_wide_counts(void)
{
	const uint32_t body[] = { 1, 2, 3 }, one[] = { 9 };
	struct rn_grammar *g = fresh(NULL);
	struct rn_grammar_iter it;
	struct rn_grammar_item item;
	uint64_t total = 0;

	for (int i = 0; i < 3; i++) {
		CHECK(rn_grammar_append_repeat(g, body, 3, (uint64_t)1 << 40, NULL) == RN_OK);
		CHECK(rn_grammar_append_repeat(g, one, 1, ((uint64_t)1 << 31) - 2, NULL) == RN_OK);
		for (int k = 0; k < 5; k++) /* across the boundary between narrow and wide counts */
			CHECK(rn_grammar_append(g, 9) == RN_OK);
		CHECK(rn_grammar_check(g));
	}
	rn_grammar_append(g, 4); /* closes the last run of 9 */
	it = rn_grammar_body(g, 0);
	while (rn_grammar_body_next(&it, &item))
		total += item.count;
	CHECK(total == 4 && "three equal rounds of (1 2 3)^2^40 9^(2^31+3) are one rule");
	g = fresh(NULL); /* the iteration that makes a count wide */
	CHECK(rn_grammar_append_repeat(g, body, 2, ((uint64_t)1 << 31) - 1, NULL) == RN_OK);
	CHECK(rn_grammar_append(g, 1) == RN_OK);
	CHECK(rn_grammar_append(g, 2) == RN_OK && rn_grammar_check(g));
	CHECK(rn_grammar_append(g, RN_TERMINAL_MAX) == RN_OK);
	CHECK(rn_grammar_append(g, RN_TERMINAL_MAX + 1) == RN_E_ARG);
	CHECK(rn_grammar_append(g, UINT32_MAX) == RN_E_ARG);
	CHECK(rn_grammar_check(g));
	ok("counts beyond 31 bits, and terminals at their limit");
}

static uint64_t first_count(const struct rn_grammar *g)
{
	struct rn_grammar_iter it = rn_grammar_body(g, 0);
	struct rn_grammar_item item = { 0 };

	rn_grammar_body_next(&it, &item);
	return item.count;
}

static void test_repeat_limits(void)
{
	const uint64_t most = (uint64_t)1 << 61;
	const uint32_t body[] = { 1, 2, 3 }, one[] = { 9 };
	struct rn_grammar *g = fresh(NULL), *untouched = rn_grammar_new(&mem, NULL);
	uint64_t done = 7;

	CHECK(rn_grammar_append_repeat(g, body, 3, most / 3 + 1, &done) == RN_E_RANGE && done == 0);
	CHECK(rn_grammar_append_repeat(g, one, 1, UINT64_MAX, NULL) == RN_E_RANGE);
	CHECK(rn_grammar_append_repeat(g, body, 0, UINT64_MAX, &done) == RN_OK);
	CHECK(done == UINT64_MAX && same_bytes(g, untouched));
	CHECK(rn_grammar_append_repeat(g, one, 1, most - 5, &done) == RN_OK && done == most - 5);
	CHECK(rn_grammar_append_repeat(g, one, 1, 10, &done) == RN_E_RANGE && done < 10);
	CHECK(first_count(g) == most - 5 + done && rn_grammar_check(g));
	CHECK(rn_grammar_append_repeat(g, one, 1, most - first_count(g), NULL) == RN_OK);
	CHECK(rn_grammar_append_repeat(g, one, 1, 1, &done) == RN_E_RANGE && done == 0);
	CHECK(first_count(g) == most && rn_grammar_check(g));
	CHECK(rn_grammar_append(g, 9) == RN_OK && rn_grammar_check(g));
	ok("append_repeat stops at 2^61, at once");
}

static void test_reset(void)
{
	struct rn_grammar *g = fresh(NULL);
	struct rn_arena side;

	rn_arena_init(&side, SIZE_MAX);
	for (int i = 0; i < 200; i++) {
		struct rn_grammar *h;

		rn_arena_free(&side);
		h = rn_grammar_new(&side, NULL);
		rn_grammar_reset(g);
		stream_random(&in);
		for (uint32_t k = 0; k < in.n; k++) {
			rn_grammar_append(g, in.t[k]);
			rn_grammar_append(h, in.t[k]);
		}
		if (!CHECK(same_bytes(g, h)))
			return;
	}
	rn_arena_free(&side);
	ok("a reset grammar is as good as new");
}

int main(void)
{
	unsigned rounds = getenv("RONDO_SHORT") ? 300 : 3000;

	rn_arena_init(&mem, SIZE_MAX);
	test_random(rounds);
	test_no_memory();
	test_repeat(rounds);
	test_repeat_nested();
	test_backlog(rounds / 4);
	test_wide_counts();
	test_repeat_limits();
	test_reset();
	rn_arena_free(&mem);
	return tap_done();
}
