/*
 * test_peers.c - the selected rank expression is that of a naive model, the expected one for known
 * patterns, and the same for every merge tree. Hostile bytes and failed allocations change
 * nothing.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/rank_expr.h"

/* The model: everything that was added, and the rules of rank_expr.h applied to it literally. */
#define SAID_MAX 40000

struct said {
	uint64_t key;
	int64_t value, rank, size;
	int who; /* the rank of the world */
};

static struct said said[SAID_MAX];
static unsigned nsaid;

static void say(int who, uint64_t key, int64_t value, int64_t rank, int64_t size)
{
	if (CHECK(nsaid < SAID_MAX))
		said[nsaid++] = (struct said){ key, value, rank, size, who };
}

static const enum rn_value_kind kinds[4] = { RN_V_INT, RN_V_REL, RN_V_RELMOD, RN_V_XOR };

/* The distinct values of one rank for a key in one expression, in order. */
static unsigned listed(int who, uint64_t key, enum rn_value_kind kind, int64_t *out, bool *possible)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nsaid; i++) {
		const struct said *s = &said[i];
		int64_t x;
		unsigned k = 0;

		if (s->who != who || s->key != key)
			continue;
		if (rn_peer_express(kind, s->value, s->rank, s->size, &x) != kind)
			*possible = false;
		while (k < n && out[k] != x)
			k++;
		if (k == n)
			out[n++] = x;
	}
	return n;
}

static bool has(const int64_t *list, unsigned n, int64_t x)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == x)
			return true;
	return false;
}

static bool same_set(const int64_t *a, unsigned na, const int64_t *b, unsigned nb)
{
	for (unsigned i = 0; i < na; i++)
		if (!has(b, nb, a[i]))
			return false;
	return na == nb;
}

struct verdict {
	bool order, set;
	bool several; /* a rank has several values */
	unsigned all; /* size of the union */
};

static struct verdict judge(int ranks, uint64_t key, enum rn_value_kind kind)
{
	static int64_t first[SAID_MAX], list[SAID_MAX], all[SAID_MAX];
	unsigned nfirst = 0, nall = 0;
	struct verdict v = { true, true, false, 0 };
	bool possible = true;

	for (int who = 0; who < ranks; who++) {
		unsigned n = listed(who, key, kind, list, &possible);

		if (n == 0)
			continue;
		v.several |= n > 1;
		if (nfirst == 0) {
			nfirst = n;
			memcpy(first, list, n * sizeof(*list));
		}
		v.order &= n == nfirst && memcmp(first, list, n * sizeof(*list)) == 0;
		v.set &= same_set(first, nfirst, list, n);
		for (unsigned i = 0; i < n; i++)
			if (!has(all, nall, list[i]))
				all[nall++] = list[i];
	}
	v.all = nall;
	return possible ? v : (struct verdict){ false, false, v.several, RN_PEERS_UNION + 1 };
}

static enum rn_value_kind model(int ranks, uint64_t key)
{
	struct verdict v[4];
	unsigned best = 0;

	for (unsigned e = 0; e < 4; e++)
		v[e] = judge(ranks, key, kinds[e]);
	for (unsigned e = 0; e < 4; e++)
		if (v[e].order)
			return kinds[e];
	for (unsigned e = 0; e < 4; e++)
		if (v[e].set)
			return kinds[e];
	if (!v[0].several && v[0].all)
		return RN_V_VARIES;
	for (unsigned e = 1; e < 4; e++)
		if (v[e].all < v[best].all)
			best = e;
	return v[best].all <= RN_PEERS_UNION ? kinds[best] : RN_V_INT;
}

/* The module under test: the summary of each rank, merged along a random tree. */
#define RANKS_MAX 256

static void say_all(struct rn_peers *p, int who)
{
	for (unsigned i = 0; i < nsaid; i++) {
		const struct said *s = &said[i];

		if (s->who == who)
			CHECK(rn_peers_add(p, s->key, s->value, s->rank, s->size) == RN_OK);
	}
}

/* Merges ranks from..to-1, split at random. Either half may absorb the other. */
static struct rn_peers *merge_range(struct rn_arena *mem, int from, int to)
{
	struct rn_peers *a, *b;
	struct rn_buf bytes = { 0 };
	int mid;

	if (to - from == 1) {
		a = rn_peers_new(mem);
		say_all(a, from);
		return a;
	}
	mid = from + 1 + (int)tap_below((uint64_t)(to - from - 1));
	a = merge_range(mem, from, mid);
	b = merge_range(mem, mid, to);
	if (tap_below(2)) {
		struct rn_peers *c = a;

		a = b;
		b = c;
	}
	CHECK(rn_peers_encode(b, &bytes) == RN_OK);
	CHECK(rn_peers_absorb(a, bytes.data, bytes.len, NULL) == RN_OK);
	rn_buf_free(&bytes);
	return a;
}

static bool same_bytes(const struct rn_buf *a, const struct rn_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Every merge tree results in the same bytes. Returns the last result. */
static struct rn_peers *merge_all(struct rn_arena *mem, int ranks)
{
	struct rn_buf want = { 0 }, got = { 0 };
	struct rn_peers *p = NULL;

	for (int k = 0; k < 4; k++) {
		p = merge_range(mem, 0, ranks);
		rn_buf_clear(&got);
		CHECK(rn_peers_encode(p, k ? &got : &want) == RN_OK);
		CHECK(k == 0 || same_bytes(&want, &got));
	}
	rn_buf_free(&want);
	rn_buf_free(&got);
	return p;
}

static struct rn_choices *send_choices(struct rn_arena *mem, const struct rn_peers *p)
{
	struct rn_choices *c = NULL;
	struct rn_buf bytes = { 0 };

	CHECK(rn_choices_encode(p, &bytes) == RN_OK);
	CHECK(rn_choices_decode(mem, bytes.data, bytes.len, &c, NULL) == RN_OK);
	rn_buf_free(&bytes);
	return c;
}

/* The choices for all keys 0 .. keys-1 are those of the model. Returns the choice for key 0. */
static enum rn_value_kind choices_are_right(int ranks, uint64_t keys)
{
	struct rn_arena mem;
	struct rn_peers *p;
	struct rn_choices *c;
	enum rn_value_kind kind;
	uint64_t varying = 0;

	rn_arena_init(&mem, SIZE_MAX);
	p = merge_all(&mem, ranks);
	c = send_choices(&mem, p);
	for (uint64_t key = 0; key < keys + 2 && c; key++) {
		CHECK(rn_choices_get(c, key) == model(ranks, key));
		if (rn_choices_get(c, key) == RN_V_VARIES)
			CHECK(rn_choices_varying(c, key) == varying++);
		else
			CHECK(rn_choices_varying(c, key) == UINT64_MAX);
	}
	kind = c ? rn_choices_get(c, 0) : RN_V_INT;
	rn_arena_free(&mem);
	nsaid = 0;
	return kind;
}

/* Known patterns: key 0 is the rank parameter under test. */
static enum rn_value_kind stencil(int nx, int ny, bool periodic, bool tags)
{
	static const int step[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
	int n = nx * ny;

	for (int r = 0; r < n; r++)
		for (unsigned d = 0; d < 4; d++) {
			int x = r % nx + step[d][0], y = r / nx + step[d][1];

			if (periodic) {
				x = (x + nx) % nx;
				y = (y + ny) % ny;
			}
			if (x >= 0 && x < nx && y >= 0 && y < ny)
				say(r, tags ? d : 0, y * nx + x, r, n);
		}
	return choices_are_right(n, tags ? 4 : 1);
}

static enum rn_value_kind box3d(int n)
{
	int all = n * n * n;

	for (int r = 0; r < all; r++)
		for (int d = 0; d < 27; d++) {
			int x = r % n + d % 3 - 1, y = r / n % n + d / 3 % 3 - 1,
			    z = r / (n * n) + d / 9 - 1;

			if (d != 13 && x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n)
				say(r, 0, (z * n + y) * n + x, r, all);
		}
	return choices_are_right(all, 1);
}

static enum rn_value_kind ring(int n)
{
	for (int r = 0; r < n; r++)
		say(r, 0, (r + 1) % n, r, n);
	return choices_are_right(n, 1);
}

static enum rn_value_kind butterfly(int n)
{
	for (int r = 0; r < n; r++)
		for (int k = 1; k < n; k *= 2)
			say(r, 0, r ^ k, r, n);
	return choices_are_right(n, 1);
}

/* All-to-all communication: cyclic from the next rank, or from rank 0. */
static enum rn_value_kind all_to_all(int n, bool rotated, bool self)
{
	for (int r = 0; r < n; r++)
		for (int i = 0; i < n; i++) {
			int to = rotated ? (r + i) % n : i;

			if (self || to != r)
				say(r, 0, to, r, n);
		}
	return choices_are_right(n, 1);
}

/* Workers send to rank 0. The master replies to each (key 1). */
static enum rn_value_kind master_worker(int n)
{
	for (int r = 1; r < n; r++) {
		say(r, 0, 0, r, n);
		say(0, 1, r, 0, n);
	}
	return choices_are_right(n, 2);
}

/* Row communicators of different sizes, with a ring in each. */
static enum rn_value_kind rings_of_rows(void)
{
	static const int size[] = { 3, 5, 4, 7 };
	int who = 0;

	for (unsigned row = 0; row < 4; row++)
		for (int r = 0; r < size[row]; r++)
			say(who++, 0, (r + size[row] - 1) % size[row], r, size[row]);
	return choices_are_right(who, 1);
}

/* Colors of a split: each rank has one, without a pattern. Every other key has a pattern. */
static enum rn_value_kind colours(int n)
{
	for (int r = 0; r < n; r++)
		for (uint64_t key = 0; key < 6; key++)
			say(r, key, key % 2 ? r + 1 : (r * r + (int)key) % 7, r, n);
	return choices_are_right(n, 6);
}

/* Colors of a split, where one rank has a second value. */
static enum rn_value_kind two_colours(int n)
{
	for (int r = 0; r < n; r++)
		say(r, 0, r * r % 7, r, n);
	say(n / 2, 0, 7, n / 2, n);
	return choices_are_right(n, 1);
}

static void test_stencils(void)
{
	CHECK(stencil(3, 3, false, true) == RN_V_REL);
	CHECK(stencil(3, 3, false, false) == RN_V_REL);
	CHECK(stencil(8, 8, false, false) == RN_V_REL);
	CHECK(stencil(8, 8, true, false) == RN_V_RELMOD);
	CHECK(stencil(4, 16, true, false) == RN_V_RELMOD);
	CHECK(stencil(16, 1, false, true) == RN_V_REL);
	CHECK(stencil(16, 1, true, true) == RN_V_RELMOD);
	CHECK(box3d(4) == RN_V_REL);
}

static void test_patterns(void)
{
	CHECK(ring(1) == RN_V_INT);
	CHECK(ring(2) == RN_V_RELMOD);
	CHECK(ring(17) == RN_V_RELMOD);
	CHECK(rings_of_rows() == RN_V_RELMOD);
	CHECK(butterfly(64) == RN_V_XOR);
	CHECK(master_worker(40) == RN_V_INT);
	CHECK(all_to_all(40, true, false) == RN_V_RELMOD);
	CHECK(all_to_all(40, true, true) == RN_V_RELMOD); /* unlike the next, by the order */
	CHECK(all_to_all(40, false, true) == RN_V_INT);
	CHECK(all_to_all(5, true, false) == RN_V_RELMOD);
	CHECK(colours(3) == RN_V_VARIES && colours(40) == RN_V_VARIES);
	CHECK(two_colours(40) == RN_V_INT);
}

/* Rank parameters of many kinds at once: from nothing in common to everything. */
static void test_random(void)
{
	for (int round = 0; round < 60; round++) {
		int ranks = 1 + (int)tap_below(24);
		uint64_t keys = 1 + tap_below(6);
		int times = round % 2 ? 400 : ranks; /* few: at most one value per rank */

		for (int i = 0; i < times; i++) {
			int who = (int)tap_below((uint64_t)ranks);
			uint64_t key = tap_below(keys);
			int size = key == 5 ? 7 : ranks, rank = who % size;
			int64_t off = (int64_t)tap_below(key < 3 ? 2 : 60) - (int64_t)(key % 2);
			int64_t value = key % 3 == 0   ? off
					: key % 3 == 1 ? rank + off
						       : (rank + off + size) % size;

			say(who, key, value, rank, size);
		}
		choices_are_right(ranks, keys);
	}
}

static void test_express(void)
{
	for (int i = 0; i < 20000; i++) {
		int64_t size = 1 + (int64_t)tap_below(i % 2 ? 9 : INT32_MAX);
		int64_t rank = (int64_t)tap_below((uint64_t)size * (1 + tap_below(3)));
		int64_t value = (int64_t)tap_below((uint64_t)size) - (tap_below(9) == 0);
		struct rn_value v = { 0 };
		enum rn_value_kind want = kinds[tap_below(4)];

		v.kind = rn_peer_express(want, value, rank, size, &v.num);
		CHECK(v.kind == want || (want == RN_V_RELMOD && value < 0 && v.kind == RN_V_INT));
		CHECK(rn_value_resolve(&v, (uint64_t)rank, (uint64_t)size) == value);
		CHECK(v.kind != RN_V_RELMOD || (v.num <= size / 2 && -v.num <= size / 2));
	}
}

/* Adds values of all kinds for a rank, for the tests below. */
static void talk(int who)
{
	for (int i = 0; i < 50; i++)
		say(who, (uint64_t)i % 7 * 0x123456789abcdef, (who * 5 + i * (i % 7)) % 50, who,
		    50);
}

static void encode_rank(struct rn_arena *mem, int who, struct rn_buf *out)
{
	struct rn_peers *p = rn_peers_new(mem);

	nsaid = 0;
	talk(who);
	say_all(p, who);
	CHECK(rn_peers_encode(p, out) == RN_OK);
	nsaid = 0;
}

static void test_no_memory(void)
{
	struct rn_buf other = { 0 }, before = { 0 }, after = { 0 };
	struct rn_arena mem;
	int failures = 0;

	rn_arena_init(&mem, SIZE_MAX);
	encode_rank(&mem, 1, &other);
	for (uint64_t fail_at = 1; fail_at < 200; fail_at++) {
		struct rn_arena small;
		struct rn_peers *p;
		int rc = RN_OK;

		rn_arena_init(&small, SIZE_MAX);
		p = rn_peers_new(&small);
		talk(0);
		small.fail_at = fail_at;
		for (unsigned i = 0; i < nsaid; i++) {
			const struct said *s = &said[i];

			if (rn_peers_add(p, s->key, s->value, s->rank, s->size) < 0) {
				failures++;
				CHECK(rn_peers_add(p, s->key, s->value, s->rank, s->size) == RN_OK);
			}
		}
		nsaid = 0;
		rn_buf_clear(&before);
		rn_buf_clear(&after);
		small.fail_at = 0;
		CHECK(rn_peers_encode(p, &before) == RN_OK);
		small.fail_at = fail_at;
		rc = rn_peers_absorb(p, other.data, other.len, NULL);
		small.fail_at = 0;
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		failures += rc < 0;
		CHECK(rn_peers_encode(p, &after) == RN_OK);
		CHECK((rc < 0) == same_bytes(&before, &after));
		rn_arena_free(&small);
	}
	CHECK(failures > 40);
	rn_buf_free(&other);
	rn_buf_free(&before);
	rn_buf_free(&after);
	rn_arena_free(&mem);
}

/* Modified encodings are absorbed completely, or rejected without any effect. */
static void test_hostile(void)
{
	struct rn_buf good = { 0 }, bad = { 0 }, before = { 0 }, after = { 0 };
	unsigned refused = 0;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	encode_rank(&mem, 3, &good);
	for (int i = 0; i < 3000; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct rn_peers *p = rn_peers_new(&mem);
		struct rn_choices *c;
		struct rn_err err = { 0 };
		int rc;

		rn_buf_clear(&bad);
		rn_buf_clear(&before);
		rn_buf_clear(&after);
		rn_buf_add(&bad, good.data, tap_below(4) ? good.len : tap_below(good.len));
		for (uint64_t k = tap_below(4); k-- > 0 && bad.len;)
			bad.data[tap_below(bad.len)] ^= (unsigned char)tap_rand();
		talk(2);
		say_all(p, 2);
		nsaid = 0;
		CHECK(rn_peers_encode(p, &before) == RN_OK);
		rc = rn_peers_absorb(p, bad.data, bad.len, &err);
		CHECK(rc == RN_OK || (rc == RN_E_DATA && err.text[0]));
		CHECK(rn_peers_encode(p, &after) == RN_OK);
		CHECK(rc == RN_OK || same_bytes(&before, &after));
		refused += rc < 0;
		if (rn_choices_decode(&mem, bad.data, bad.len, &c, &err) == RN_OK)
			rn_choices_get(c, tap_rand());
		rn_arena_rewind(&mem, mark);
	}
	CHECK(refused > 500 && refused < 3000);
	rn_buf_free(&good);
	rn_buf_free(&bad);
	rn_buf_free(&before);
	rn_buf_free(&after);
	rn_arena_free(&mem);
}

static void test_order_of_use(void)
{
	struct rn_buf bytes = { 0 };
	struct rn_arena mem;
	struct rn_peers *p;

	rn_arena_init(&mem, SIZE_MAX);
	p = rn_peers_new(&mem);
	CHECK(rn_peers_encode(p, &bytes) == RN_OK && bytes.len == 1);
	CHECK(rn_peers_absorb(p, bytes.data, bytes.len, NULL) == RN_OK);
	CHECK(rn_peers_add(p, 1, 1, 1, 2) == RN_E_ARG);
	rn_buf_free(&bytes);
	rn_arena_free(&mem);
}

int main(void)
{
	test_express();
	ok("expressions give the value back");
	test_stencils();
	ok("stencils");
	test_patterns();
	ok("rings, butterfly, master and workers, all to all");
	test_random();
	ok("random slots: what the model says, whatever the tree");
	test_no_memory();
	ok("without memory everything is as it was");
	test_hostile();
	ok("hostile bytes");
	test_order_of_use();
	ok("nothing, and adding too late");
	return tap_done();
}
