/* test_rules.c - sealed rules, compared with the plain stream: expand, seek, walk, encode, copy. */
#include "random_streams.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "bench/expand.h"
#include "grammar/grammar.h"

#include <string.h>

static struct stream in;
static struct rn_arena mem, side;

static struct rn_grammar *build(uint32_t n, const struct rn_grammar_opts *opts)
{
	struct rn_grammar *g;

	rn_arena_free(&mem);
	rn_arena_free(&side);
	g = rn_grammar_new(&mem, opts);
	for (uint32_t k = 0; k < n; k++)
		rn_grammar_append(g, in.t[k]);
	return g;
}

struct compare {
	const uint32_t *t;
	uint64_t n, at;
};

static bool compare_symbol(void *arg, uint32_t t)
{
	struct compare *c = arg;

	return c->at < c->n && c->t[c->at++] == t;
}

static bool expands_to(const struct rn_rules *r, uint32_t root, const uint32_t *t, uint64_t n)
{
	struct compare c = { t, n, 0 };

	return rn_rules_length(r, root) == n && expand_rule(r, root, compare_symbol, &c) == RN_OK &&
	       c.at == n;
}

/* A walker that moves at random returns the elements of the array. */
static bool walks(const struct rn_rules *r, uint32_t root, unsigned moves)
{
	struct rn_walk w;
	uint64_t at = 0;
	uint32_t t, buf[500];

	if (rn_walk_init(&w, r, root, &side) < 0)
		return false;
	while (moves--) {
		uint64_t steps = tap_below(60);
		size_t n;

		switch (tap_below(3)) {
		case 0:
			at = tap_below((uint64_t)in.n + 1);
			if (rn_walk_seek(&w, at) != RN_OK)
				return false;
			break;
		case 1:
			while (steps-- && rn_walk_next(&w, &t))
				if (t != in.t[at++])
					return false;
			break;
		default:
			n = rn_walk_read(&w, buf, tap_below(500));
			if (memcmp(buf, in.t + at, n * sizeof(*buf)) != 0)
				return false;
			at += n;
		}
		if (rn_walk_pos(&w) != at)
			return false;
	}
	return rn_walk_seek(&w, (uint64_t)in.n + 1) == RN_E_RANGE &&
	       rn_walk_seek(&w, in.n) == RN_OK && !rn_walk_next(&w, &t);
}

static bool codes(const struct rn_rules *r, uint32_t root, uint32_t terminals)
{
	struct rn_buf a = { 0 }, b = { 0 };
	struct rn_rules *back = NULL;
	struct rn_err err = { 0 };
	struct rn_reader rd;
	bool good;

	good = rn_rules_encode(r, &a) == RN_OK;
	rd = rn_reader(a.data, a.len);
	good = good && rn_rules_decode(&side, &rd, terminals, &back, &err) == RN_OK &&
	       rn_left(&rd) == 0 && rn_rules_check(back) && expands_to(back, root, in.t, in.n) &&
	       rn_rules_encode(back, &b) == RN_OK && a.len == b.len &&
	       memcmp(a.data, b.data, a.len) == 0;
	if (!good)
		diag("%s", err.text);
	rn_buf_free(&a);
	rn_buf_free(&b);
	return good;
}

/* Whether two rules, in two pools, are equal. */
static bool is_same(struct rn_rules *a, uint32_t rule, const struct rn_rules *b, uint32_t other)
{
	uint32_t n = rn_rules_count(b), *memo = rn_new(&side, uint32_t, n), found;

	memset(memo, 0xff, n * sizeof(*memo));
	return rn_rules_import(a, b, other, NULL, memo, &found) == RN_OK && found == rule;
}

/* The bodies of a builder decode to the rules that sealing it makes. */
static bool codes_builder(const struct rn_grammar *g, struct rn_rules *r, uint32_t root,
			  uint32_t terminals)
{
	struct rn_buf b = { 0 };
	struct rn_rules *back = NULL;
	struct rn_err err = { 0 };
	struct rn_reader rd;
	uint32_t again = 0;
	bool good;

	good = rn_rules_encode_grammar(g, &side, &b) == RN_OK;
	rd = rn_reader(b.data, b.len);
	good = good &&
	       rn_rules_decode_grammar(&side, &rd, terminals, &back, &again, &err) == RN_OK &&
	       rn_left(&rd) == 0 && rn_rules_check(back) && is_same(r, root, back, again);
	if (!good)
		diag("%s", err.text);
	rn_buf_free(&b);
	return good;
}

static void test_random(unsigned rounds)
{
	const struct rn_grammar_opts literal = { .literal_limit = 50 };
	uint64_t symbols = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct rn_rules *r;
		struct rn_grammar *g;
		uint32_t root = 0;

		stream_random(&in);
		g = build(in.n, i % 3 ? NULL : &literal);
		r = rn_rules_new(&side);
		CHECK(rn_rules_seal(r, g, &root) == RN_OK);
		symbols += in.n;
		if (!CHECK(rn_rules_check(r)) || !CHECK(expands_to(r, root, in.t, in.n)) ||
		    !CHECK(walks(r, root, 30)) || !CHECK(codes(r, root, 64)) ||
		    !CHECK(codes_builder(g, r, root, 64))) {
			diag("stream %u of %u symbols", i, in.n);
			return;
		}
	}
	ok("%u random streams, %llu symbols: expand, seek, walk both ways, read, encode, decode",
	   rounds, (unsigned long long)symbols);
}

/* Random noise in literal runs. The number of signatures is too large to compress it. */
static void test_literals(void)
{
	const struct rn_grammar_opts opts = { .literal_limit = 1000 };
	struct rn_rules *r;
	struct rn_grammar *g;
	uint32_t root;

	in.n = 0;
	while (in.n < STREAM_MAX)
		stream_put(&in, in.n % 20000 < 15000 ? tap_below(1 << 20) : in.n % 7);
	g = build(in.n, &opts);
	CHECK(rn_grammar_nodes(g) < STREAM_MAX / 2);
	CHECK(rn_grammar_check(g));
	r = rn_rules_new(&side);
	CHECK(rn_rules_seal(r, g, &root) == RN_OK);
	CHECK(rn_rules_literals(r) > 0);
	CHECK(rn_rules_check(r));
	CHECK(expands_to(r, root, in.t, in.n));
	CHECK(walks(r, root, 200));
	CHECK(codes(r, root, 1 << 20));
	CHECK(codes_builder(g, r, root, 1 << 20));
	ok("literal runs are read like everything else");
}

/* A stream that ends in the middle of a loop, like that of a killed program, is no larger. */
static void test_open_end(void)
{
	for (uint32_t n = 3000; n < 12000; n += 500) {
		struct rn_rules *r;
		struct rn_grammar *g;
		uint32_t root, items = 0;

		in.n = 0;
		while (in.n < n)
			stream_put(&in, in.n % 3000);
		g = build(in.n, NULL);
		r = rn_rules_new(&side);
		CHECK(rn_rules_seal(r, g, &root) == RN_OK);
		CHECK(expands_to(r, root, in.t, in.n) && rn_rules_check(r));
		for (uint32_t i = 0; i < rn_rules_count(r); i++)
			items += rn_rules_body(r, i).n;
		CHECK(items <= 3005);
	}
	ok("a stream that ends inside a loop or a match is sealed as structure");
}

/* A literal run that compresses extremely well must be readable. */
static void test_constant_literal(void)
{
	static uint32_t t[RN_LITERAL_MAX];
	struct rn_item it = { 0, RN_KIND_LITERAL, 1 };
	struct rn_rules *r, *q = NULL;
	struct rn_buf b = { 0 };
	struct rn_reader rd;
	uint32_t root, lit;

	rn_arena_free(&side);
	r = rn_rules_new(&side);
	CHECK(rn_rules_add_literal(r, t, RN_LITERAL_MAX, &lit) == RN_OK);
	CHECK(rn_rules_add(r, &it, 1, &root) == RN_OK);
	CHECK(rn_rules_encode(r, &b) == RN_OK);
	rd = rn_reader(b.data, b.len);
	CHECK(rn_rules_decode(&side, &rd, 1, &q, NULL) == RN_OK);
	CHECK(q && expands_to(q, root, t, RN_LITERAL_MAX));
	rn_buf_free(&b);
	ok("a literal run of equal symbols is written so that it is believed");
}

/* Copies a rule with its terminals renumbered. */
static uint32_t copy(struct rn_rules *to, const struct rn_rules *from, uint32_t root,
		     const uint32_t *map)
{
	uint32_t n = rn_rules_count(from), *memo = rn_new(&side, uint32_t, n), out = UINT32_MAX;

	memset(memo, 0xff, n * sizeof(*memo));
	CHECK(rn_rules_import(to, from, root, map, memo, &out) == RN_OK);
	return out;
}

static void test_sharing(unsigned rounds)
{
	uint32_t map[64], root[2];

	for (uint32_t k = 0; k < 64; k++)
		map[k] = 63 - k;
	for (unsigned i = 0; i < rounds; i++) {
		struct rn_rules *r, *q;
		struct rn_grammar *g;
		uint32_t n;

		stream_random(&in);
		g = build(in.n, NULL);
		r = rn_rules_new(&side);
		q = rn_rules_new(&side);
		CHECK(rn_rules_seal(r, g, &root[0]) == RN_OK);
		n = rn_rules_count(r);
		CHECK(rn_rules_seal(r, g, &root[1]) == RN_OK);
		CHECK(root[0] == root[1] && rn_rules_count(r) == n);
		/* Renumbering a rule into another pool and back results in the same rule. */
		CHECK(copy(r, q, copy(q, r, root[0], map), map) == root[0]);
		if (!CHECK(rn_rules_count(r) == n) || !CHECK(rn_rules_check(r)))
			return;
	}
	ok("equal streams become one rule, in one pool and across pools (%u)", rounds);
}

static void test_no_memory(void)
{
	unsigned failures = 0;

	for (unsigned i = 0; i < 20; i++) {
		struct rn_grammar *g;

		stream_random(&in);
		g = build(in.n, NULL);
		for (uint64_t n = 1;; n++) {
			struct rn_rules *r;
			uint32_t root;
			int rc;

			rn_arena_free(&side);
			side.fail_at = n;
			r = rn_rules_new(&side);
			rc = r ? rn_rules_seal(r, g, &root) : RN_E_NOMEM;
			side.fail_at = 0;
			CHECK(rc == RN_OK || rc == RN_E_NOMEM);
			if (r && !CHECK(rn_rules_check(r)))
				return;
			if (rc == RN_OK)
				break;
			failures++;
			if (r) {
				CHECK(rn_rules_seal(r, g, &root) == RN_OK);
				CHECK(expands_to(r, root, in.t, in.n));
			}
			n += n / 16;
		}
	}
	ok("every failed allocation leaves the pool sound (%u failures)", failures);
}

static void test_normal_form(void)
{
	struct rn_rules *r;
	uint32_t a, b, c;
	struct rn_item ab[] = { { 1, RN_KIND_TERMINAL, 2 }, { 2, RN_KIND_TERMINAL, 1 } };
	struct rn_item one[] = { { 7, RN_KIND_TERMINAL, 3 } };
	struct rn_item mixed[] = { { 0, RN_KIND_RULE, 1 },
				   { 0, RN_KIND_RULE, 4 },
				   { 1, RN_KIND_RULE, 5 },
				   { 7, RN_KIND_TERMINAL, 1 } };
	struct rn_item huge[] = { { 0, RN_KIND_RULE, UINT64_MAX / 2 } };
	struct rn_item wrong[] = { { 99, RN_KIND_RULE, 1 } };
	struct rn_body body;

	rn_arena_free(&side);
	r = rn_rules_new(&side);
	CHECK(rn_rules_add(r, ab, 2, &a) == RN_OK && a == 0);
	CHECK(rn_rules_add(r, one, 1, &b) == RN_OK && b == 1);
	CHECK(rn_rules_add(r, mixed, 4, &c) == RN_OK && c == 2);
	body = rn_rules_body(r, c);
	CHECK(body.n == 2 && body.item[0].count == 5 && body.item[1].id == 7 &&
	      body.item[1].count == 16 && body.length == 5 * 3 + 16);
	CHECK(rn_rules_add(r, mixed, 1, &c) == RN_OK && c == 0);
	CHECK(rn_rules_add(r, huge, 1, &c) == RN_E_RANGE);
	CHECK(rn_rules_add(r, wrong, 1, &c) == RN_E_ARG);
	CHECK(rn_rules_add(r, NULL, 0, &c) == RN_OK && rn_rules_length(r, c) == 0);
	CHECK(rn_rules_check(r));
	ok("bodies come into normal form; what overflows or dangles is refused");
}

/* Rules nested 100,000 deep: no recursion anywhere. */
static void test_deep(void)
{
	struct rn_rules *r, *q = NULL;
	uint32_t root = 0, t, out;
	struct rn_walk w;
	struct rn_buf b = { 0 };
	struct rn_reader rd;
	uint32_t *memo;

	rn_arena_free(&side);
	r = rn_rules_new(&side);
	for (uint32_t k = 0; k < 100000; k++) {
		struct rn_item it[] = { { k ? root : 5, k ? RN_KIND_RULE : RN_KIND_TERMINAL, 1 },
					{ k % 50, RN_KIND_TERMINAL, 1 + (k == 5) } };

		CHECK(rn_rules_add(r, it, 2, &root) == RN_OK);
	}
	CHECK(rn_rules_height(r, root) == 100000);
	CHECK(rn_walk_init(&w, r, root, &side) == RN_OK);
	CHECK(rn_walk_next(&w, &t) == 1 && t == 5);
	CHECK(rn_walk_seek(&w, 49999) == RN_OK && rn_walk_next(&w, &t) == 1);
	CHECK(rn_rules_encode(r, &b) == RN_OK);
	rd = rn_reader(b.data, b.len);
	CHECK(rn_rules_decode(&side, &rd, 64, &q, NULL) == RN_OK);
	memo = rn_new(&side, uint32_t, 100000);
	memset(memo, 0xff, 100000 * sizeof(*memo));
	CHECK(rn_rules_import(q, r, root, NULL, memo, &out) == RN_OK && out == root);
	rn_buf_free(&b);
	ok("rules 100,000 deep are added, walked, coded and copied");
}

static void test_damage(void)
{
	struct rn_buf b = { 0 };
	struct rn_grammar *g;
	struct rn_rules *r, *q;
	struct rn_reader rd;
	uint32_t root;
	unsigned refused = 0, taken = 0;

	in.n = 0;
	stream_trips(&in, 5);
	stream_noise(&in, 40);
	g = build(in.n, NULL);
	r = rn_rules_new(&side);
	rn_rules_seal(r, g, &root);
	rn_rules_encode(r, &b);
	for (size_t i = 0; i < b.len; i++) {
		struct rn_err err = { 0 };
		unsigned char old = b.data[i];

		rd = rn_reader(b.data, i);
		CHECK(rn_rules_decode(&mem, &rd, 64, &q, &err) == RN_E_DATA && err.text[0]);
		b.data[i] ^= (unsigned char)(1 + tap_below(255));
		rd = rn_reader(b.data, b.len);
		if (rn_rules_decode(&mem, &rd, 64, &q, &err) == RN_OK) {
			CHECK(rn_rules_check(q));
			taken++;
		} else {
			refused++;
		}
		b.data[i] = old;
	}
	rn_buf_free(&b);
	diag("%u flips refused, %u gave other sound rules", refused, taken);
	ok("damaged rules are refused or sound");
}

static void test_builder_damage(void)
{
	struct rn_buf b = { 0 };
	struct rn_grammar *g;
	struct rn_rules *q;
	uint32_t root;
	unsigned refused = 0, taken = 0;

	in.n = 0;
	stream_trips(&in, 5);
	stream_noise(&in, 40);
	g = build(in.n, &(struct rn_grammar_opts){ .literal_limit = 20 });
	CHECK(rn_rules_encode_grammar(g, &side, &b) == RN_OK);
	for (size_t i = 0; i < b.len; i++) {
		struct rn_reader rd = rn_reader(b.data, i);
		unsigned char old = b.data[i];

		CHECK(rn_rules_decode_grammar(&mem, &rd, 64, &q, &root, NULL) == RN_E_DATA);
		b.data[i] ^= (unsigned char)(1 + tap_below(255));
		rd = rn_reader(b.data, b.len);
		if (rn_rules_decode_grammar(&mem, &rd, 64, &q, &root, NULL) == RN_OK) {
			CHECK(rn_rules_check(q) && root < rn_rules_count(q));
			taken++;
		} else {
			refused++;
		}
		b.data[i] = old;
	}
	rn_buf_free(&b);
	diag("%u flips refused, %u gave other sound rules", refused, taken);
	ok("damaged bodies of a builder are refused or sound");
}

int main(void)
{
	unsigned rounds = getenv("RONDO_SHORT") ? 200 : 2000;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&side, SIZE_MAX);
	test_random(rounds);
	test_literals();
	test_open_end();
	test_constant_literal();
	test_sharing(rounds / 4);
	test_no_memory();
	test_normal_form();
	test_deep();
	test_damage();
	test_builder_damage();
	rn_arena_free(&mem);
	rn_arena_free(&side);
	return tap_done();
}
