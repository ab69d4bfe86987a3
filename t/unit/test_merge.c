/*
 * test_merge.c - the calls of merged ranks equal those of the generator, for every merge tree,
 * pattern and memory limit.
 */
#include "tap.h"

#include "series/series.h"
#include "series/units.h"
#include "part_check.h"
#include "virtual_trace.h"

static struct rank_merge link;

/* Checks every rank, or a sample if there are many. */
static void ranks_are_right(const struct virtual_run *v, const struct rn_streams *s,
			    struct rn_arena *mem)
{
	uint64_t n = v->ranks < 100 ? v->ranks : 60;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t rank = n == v->ranks ? i : tap_below(v->ranks);

		if (!CHECK(rank_is_right(v, s, rank, mem)))
			diag("%s, rank %llu of %llu", v->pattern->name, (unsigned long long)rank,
			     (unsigned long long)v->ranks);
	}
}

static void run_pattern(const char *pattern, uint64_t ranks, uint64_t steps)
{
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_err err = { 0 };

	CHECK(virtual_init(&v, pattern, ranks, steps) == RN_OK);
	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	if (CHECK(merge_run(&v, &link, &mem, &s) == RN_OK)) {
		CHECK(s.ranks == ranks);
		if (!CHECK(rn_streams_check(&s, &mem, &err) == RN_OK))
			diag("%s, %llu ranks: %s", pattern, (unsigned long long)ranks, err.text);
		ranks_are_right(&v, &s, &mem);
	}
	rank_merge_free(&link);
	rn_arena_free(&mem);
}

static void test_patterns(void)
{
	for (unsigned i = 0; i < virtual_patterns_count; i++) {
		const char *name = virtual_patterns[i].name;

		for (uint64_t ranks = 1; ranks <= 70; ranks++)
			run_pattern(name, ranks, ranks % 13);
		run_pattern(name, 1024, 20);
		ok("%s: 1 to 70 and 1024 ranks", name);
	}
}

/* Encoding one step and repeating it produces the same stream as encoding all steps. */
static void test_repeat(void)
{
	struct virtual_run v;
	struct rn_arena mem;
	struct feeder a, b;

	rn_arena_init(&mem, SIZE_MAX);
	a = new_feeder(&mem);
	b = new_feeder(&mem);
	for (unsigned i = 0; i < virtual_patterns_count; i++) {
		uint64_t rank = tap_below(30), calls_a = 0, calls_b = 0;
		struct rn_rules *pool = rn_rules_new(&mem);
		uint32_t root_a, root_b;

		CHECK(virtual_init(&v, virtual_patterns[i].name, 30, tap_below(50)) == RN_OK);
		CHECK(virtual_feed(&v, rank, a.sigs, a.g, &calls_a) == RN_OK);
		if (!v.pattern->plain) {
			CHECK(virtual_feed_repeat(&v, rank, b.sigs, b.g, &calls_b) == RN_E_ARG);
			continue;
		}
		CHECK(virtual_feed_repeat(&v, rank, b.sigs, b.g, &calls_b) == RN_OK);
		CHECK(rn_rules_seal(pool, a.g, &root_a) == RN_OK);
		CHECK(rn_rules_seal(pool, b.g, &root_b) == RN_OK);
		CHECK(root_a == root_b && calls_a == calls_b);
	}
	rn_arena_free(&mem);
}

/* A row of stream sets. Random neighbors are merged until one set remains. */
#define ROW 41

static struct rn_arena row_mem[ROW];
static struct rn_stream_set row[ROW];

static void make_row(const struct virtual_run *v, struct rn_arena *mem)
{
	struct feeder f = new_feeder(mem);
	uint64_t calls = 0;

	for (uint64_t r = 0; r < v->ranks; r++) {
		rn_arena_init(&row_mem[r], SIZE_MAX);
		CHECK(virtual_feed(v, r, f.sigs, f.g, &calls) == RN_OK);
		CHECK(rank_merge_leaf(&row[r], &row_mem[r], r, f.sigs, f.g) == RN_OK);
		CHECK(is_part_sound(&row[r]));
	}
}

/* Checks that both sets have one rank, with the same calls. */
static void part_is(const struct rn_stream_set *a, const struct rn_stream_set *b,
		    struct rn_arena *mem)
{
	struct rn_walk x, y;
	uint32_t t, u;
	int more;

	if (!CHECK(a->groups == 1 && b->groups == 1))
		return;
	CHECK(rn_walk_init(&x, a->rules, a->group[0].root, mem) == RN_OK);
	CHECK(rn_walk_init(&y, b->rules, b->group[0].root, mem) == RN_OK);
	while ((more = rn_walk_next(&x, &t)) == 1) {
		size_t n, m;
		const void *p = rn_sigs_get(a->sigs, t, &n), *q;

		if (!CHECK(rn_walk_next(&y, &u) == 1))
			return;
		q = rn_sigs_get(b->sigs, u, &m);
		CHECK(n == m && memcmp(p, q, n) == 0);
	}
	CHECK(more == 0 && rn_walk_next(&y, &u) == 0);
}

/* Merges the row. Returns the index of the remaining stream set. */
static unsigned merge_row(unsigned n, bool random, struct rn_arena *scratch)
{
	unsigned at[ROW];

	for (unsigned i = 0; i < n; i++)
		at[i] = i;
	for (; n > 1; n--) {
		unsigned k = random ? (unsigned)tap_below(n - 1) : 0;

		CHECK(rn_part_merge(&row[at[k]], &row[at[k + 1]], scratch) == RN_OK);
		CHECK(is_part_sound(&row[at[k]]));
		memmove(at + k + 1, at + k + 2, (n - k - 2) * sizeof(*at));
	}
	return at[0];
}

static void row_bytes(const struct virtual_run *v, bool random, struct rn_buf *out)
{
	struct rn_arena mem, scratch;
	struct rn_streams s;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	make_row(v, &mem);
	CHECK(rn_part_finish(&row[merge_row((unsigned)v->ranks, random, &scratch)], &mem, &scratch,
			     &s) == RN_OK);
	CHECK(file_bytes(v, &s, out) == RN_OK);
	for (uint64_t r = 0; r < v->ranks; r++)
		rn_arena_free(&row_mem[r]);
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
}

static void link_bytes(const struct virtual_run *v, struct rn_buf *out)
{
	struct rn_arena mem;
	struct rn_streams s;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	CHECK(merge_run(v, &link, &mem, &s) == RN_OK);
	CHECK(file_bytes(v, &s, out) == RN_OK);
	rank_merge_free(&link);
	rn_arena_free(&mem);
}

static bool same_bytes(const struct rn_buf *a, const struct rn_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void test_shapes(void)
{
	for (unsigned i = 0; i < virtual_patterns_count; i++) {
		struct rn_buf want = { 0 }, got = { 0 };
		struct virtual_run v;

		CHECK(virtual_init(&v, virtual_patterns[i].name, 1 + tap_below(ROW), 7) == RN_OK);
		link_bytes(&v, &want);
		for (int k = 0; k < 8; k++) {
			rn_buf_clear(&got);
			row_bytes(&v, k > 0, &got);
			if (!CHECK(same_bytes(&want, &got)))
				diag("%s, %llu ranks, tree %d", v.pattern->name,
				     (unsigned long long)v.ranks, k);
		}
		rn_buf_free(&want);
		rn_buf_free(&got);
	}
}

/* Streams given as text: each letter is a signature. */
static int push_text(struct rank_merge *l, struct feeder *f, const char *text)
{
	rn_sigs_reset(f->sigs);
	rn_grammar_reset(f->g);
	for (; *text; text++) {
		uint32_t id;

		CHECK(rn_sigs_intern(f->sigs, text, 1, &id) == RN_OK);
		CHECK(rn_grammar_append(f->g, id) == RN_OK);
	}
	return rank_merge_add(l, f->sigs, f->g);
}

static bool stream_is(const struct rn_streams *s, uint64_t rank, const char *text,
		      struct rn_arena *mem)
{
	struct rn_walk w;
	uint32_t group, t;
	size_t len;

	if (rn_streams_find(s, rank, &group) < 0 ||
	    rn_walk_init(&w, s->rules, s->group[group].root, mem) < 0)
		return false;
	for (; *text; text++)
		if (rn_walk_next(&w, &t) != 1 ||
		    *(const char *)rn_sigs_get(s->sigs, t, &len) != *text)
			return false;
	return rn_walk_next(&w, &t) == 0;
}

static void merge_texts(const char *const *text, unsigned n, struct rn_arena *mem,
			struct rn_streams *s)
{
	struct feeder f = new_feeder(mem);
	struct rn_err err = { 0 };

	rank_merge_init(&link);
	for (unsigned i = 0; i < n; i++)
		CHECK(push_text(&link, &f, text[i]) == RN_OK);
	CHECK(rank_merge_finish(&link, mem, s) == RN_OK);
	if (!CHECK(rn_streams_check(s, mem, &err) == RN_OK))
		diag("%s", err.text);
	for (unsigned i = 0; i < n; i++)
		CHECK(stream_is(s, i, text[i], mem));
	rank_merge_free(&link);
}

static void test_sharing(void)
{
	/* No substring repeats within a stream; the long one that all streams share becomes a
	 * rule. */
	const char *const common[] = { "abcdefghijklmnopqrstuvwxyz", "0bcdefghijklmnopqrstuvwxy1",
				       "2bcdefghijklmnopqrstuvwxy3" };
	const char *const apart[] = { "abc", "def", "ghi" };
	const char *const same[] = { "xyxyxy", "xyxyxy", "xy", "", "xyxyxy", "" };
	struct rn_arena mem;
	struct rn_streams s;

	rn_arena_init(&mem, SIZE_MAX);
	merge_texts(common, 3, &mem, &s);
	CHECK(s.groups == 3 && rn_rules_count(s.rules) == 4);
	CHECK(rn_rules_body(s.rules, s.group[0].root).n == 3);
	merge_texts(apart, 3, &mem, &s);
	CHECK(s.groups == 3 && rn_rules_count(s.rules) == 3);
	merge_texts(same, 6, &mem, &s);
	CHECK(s.groups == 3 && s.ranks == 6 && rn_sigs_count(s.sigs) == 2);
	CHECK(rn_units_length(s.group[0].ranks) == 3 && rn_units_at(s.group[0].ranks, 2) == 4);
	rn_arena_free(&mem);
}

static uint32_t noise(uint32_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(z >> 33) % 500;
}

static void is_noise(const struct rn_streams *s, uint32_t group, uint32_t calls,
		     struct rn_arena *mem)
{
	struct rn_walk w;
	uint32_t t = 0;
	size_t len;

	CHECK(rn_walk_init(&w, s->rules, s->group[group].root, mem) == RN_OK);
	for (uint32_t i = 0; i < calls; i++) {
		uint32_t call = noise(i + group);

		CHECK(rn_walk_next(&w, &t) == 1);
		CHECK(memcmp(rn_sigs_get(s->sigs, t, &len), &call, sizeof(call)) == 0);
	}
}

/* Noise that the builder stores as literal runs, identical on every third rank. */
static void test_literals(void)
{
	enum { RANKS = 9, CALLS = 20000 };
	const struct rn_grammar_opts opts = { .literal_limit = 64 };
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_err err = { 0 };
	struct feeder f;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	f = (struct feeder){ rn_sigs_new(&mem), rn_grammar_new(&mem, &opts) };
	for (uint32_t r = 0; r < RANKS; r++) {
		rn_sigs_reset(f.sigs);
		rn_grammar_reset(f.g);
		for (uint32_t i = 0; i < CALLS; i++) {
			uint32_t call = noise(i + r % 3), id;

			CHECK(rn_sigs_intern(f.sigs, &call, sizeof(call), &id) == RN_OK);
			CHECK(rn_grammar_append(f.g, id) == RN_OK);
		}
		CHECK(rank_merge_add(&link, f.sigs, f.g) == RN_OK);
	}
	CHECK(rank_merge_finish(&link, &mem, &s) == RN_OK);
	CHECK(s.groups == 3 && rn_rules_literals(s.rules) > 0);
	CHECK(rn_streams_calls(&s) == (uint64_t)RANKS * CALLS);
	CHECK(rn_streams_check(&s, &mem, &err) == RN_OK);
	for (uint32_t r = 0; r < 3; r++)
		is_noise(&s, r, CALLS, &mem);
	rank_merge_free(&link);
	rn_arena_free(&mem);
}

/* Irregular ranks: many stream groups, whose rank sets interleave at random. */
static void test_irregular(void)
{
	enum { RANKS = 400 };
	static char text[RANKS][24];
	static const char *texts[RANKS];
	struct rn_rank_iter it;
	struct rn_arena mem;
	struct rn_streams s;
	uint64_t rank, next = 0;
	uint32_t group, found;

	for (unsigned i = 0; i < RANKS; i++) {
		unsigned n = (unsigned)tap_below(tap_below(2) ? 23 : 3);

		for (unsigned k = 0; k < n; k++)
			text[i][k] = (char)('a' + tap_below(4));
		texts[i] = text[i];
	}
	rn_arena_init(&mem, SIZE_MAX);
	merge_texts(texts, RANKS, &mem, &s);
	CHECK(rn_rank_iter_init(&it, &s, 0, &mem) == RN_OK);
	for (; rn_rank_iter_next(&it, &rank, &group); next++)
		CHECK(rank == next && rn_streams_find(&s, rank, &found) == RN_OK && found == group);
	CHECK(next == RANKS);
	for (uint64_t from = 0; from < RANKS + 3; from += 7) {
		CHECK(rn_rank_iter_init(&it, &s, from, &mem) == RN_OK);
		CHECK(rn_rank_iter_next(&it, &rank, &group) == (from < RANKS));
		CHECK(from >= RANKS || rank == from);
	}
	CHECK(rn_streams_find(&s, RANKS, &found) == RN_E_RANGE);
	rn_arena_free(&mem);
}

/* A grammar whose terminals are mapped to signatures. Several terminals map to the same
 * signature. */
static void test_mapped(void)
{
	static const char *const letters[] = { "a", "b", "c" };
	static const uint32_t map[] = { 2, 0, 1, 0, 2 };
	struct rn_arena mem, scratch;
	struct rn_stream_set plain, mapped;
	struct feeder f;
	struct rn_grammar *own;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	f = new_feeder(&mem);
	own = rn_grammar_new(&mem, NULL);
	for (int round = 0; round < 200; round++) {
		uint64_t n = tap_below(200), choices = 1 + tap_below(5);
		struct rn_rules *own_rules;
		uint32_t id, root, *memo;

		rn_sigs_reset(f.sigs);
		rn_grammar_reset(f.g);
		rn_grammar_reset(own);
		for (unsigned i = 0; i < 3; i++)
			CHECK(rn_sigs_intern(f.sigs, letters[i], 1, &id) == RN_OK);
		for (uint64_t i = 0; i < n; i++) {
			uint32_t t = (uint32_t)tap_below(choices);

			CHECK(rn_grammar_append(own, t) == RN_OK);
			CHECK(rn_grammar_append(f.g, map[t]) == RN_OK);
		}
		CHECK(rank_merge_leaf(&plain, &mem, 0, f.sigs, f.g) == RN_OK);
		CHECK(rn_part_empty(&mapped, &mem) == RN_OK);
		for (unsigned i = 0; i < 3; i++)
			CHECK(rn_sigs_copy(mapped.sigs, f.sigs, i, &id) == RN_OK);
		own_rules = rn_rules_new(&mem);
		memo = rn_new_map(&mem, 2 * n);
		CHECK(rn_rules_seal(own_rules, own, &root) == RN_OK);
		CHECK(rn_rules_count(own_rules) <= 2 * n + 1);
		CHECK(rn_rules_import(mapped.rules, own_rules, root, map, memo, &root) == RN_OK);
		CHECK(rn_part_streams(&mapped, root, 1, 1) == RN_OK);
		CHECK(is_part_sound(&mapped) && mapped.first == 1 && mapped.last == 1);
		part_is(&plain, &mapped, &mem);
		CHECK(rn_part_merge(&plain, &mapped, &scratch) == RN_OK);
		CHECK(plain.ranks == 2 && is_part_sound(&plain));
	}
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
}

/* Compares the counted occurrences with those found by walking through all ranks. */
static void counts_are_right(const struct virtual_run *v, struct rn_arena *mem)
{
	struct rn_streams s;
	uint64_t *got, *want, calls = 0;
	uint32_t n, group, t;
	struct rn_walk w;

	rank_merge_init(&link);
	CHECK(merge_run(v, &link, mem, &s) == RN_OK);
	n = rn_sigs_count(s.sigs);
	got = rn_new(mem, uint64_t, n);
	want = rn_new(mem, uint64_t, n);
	for (uint64_t r = 0; r < s.ranks; r++) {
		CHECK(rn_streams_find(&s, r, &group) == RN_OK);
		CHECK(rn_walk_init(&w, s.rules, s.group[group].root, mem) == RN_OK);
		while (rn_walk_next(&w, &t) == 1)
			want[t]++;
	}
	memset(got, 0xa5, n * sizeof(*got));
	CHECK(rn_streams_counts(&s, mem, got) == RN_OK);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(got[i] == want[i]);
		calls += got[i];
	}
	CHECK(calls == rn_streams_calls(&s));
	rank_merge_free(&link);
}

static void test_counts(void)
{
	struct virtual_run v;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	for (unsigned i = 0; i < virtual_patterns_count; i++)
		for (uint64_t k = 0; k < 5; k++) {
			CHECK(virtual_init(&v, virtual_patterns[i].name, 1 + tap_below(40),
					   tap_below(20)) == RN_OK);
			counts_are_right(&v, &mem);
			rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
		}
	rn_arena_free(&mem);
}

static void test_wrong_order(void)
{
	struct virtual_run v;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d", 4, 3) == RN_OK);
	make_row(&v, &mem);
	CHECK(rn_part_merge(&row[2], &row[1], &mem) == RN_E_ARG);
	CHECK(rn_part_merge(&row[2], &row[2], &mem) == RN_E_ARG);
	CHECK(rn_part_merge(&row[1], &row[3], &mem) == RN_OK);
	CHECK(rn_part_merge(&row[1], &row[2], &mem) == RN_E_ARG && is_part_sound(&row[1]));
	for (int i = 0; i < 4; i++)
		rn_arena_free(&row_mem[i]);
	rank_merge_init(&link);
	CHECK(rank_merge_finish(&link, &mem, &(struct rn_streams){ 0 }) == RN_E_ARG);
	rn_arena_free(&mem);
}

/* Creates a rank set for tests that violate one invariant at a time. */
static const struct rn_units *ranklist(struct rn_arena *mem, const int64_t *v, unsigned n)
{
	struct rn_series *s = rn_series_new(mem);
	struct rn_units *u;

	for (unsigned i = 0; i < n; i++)
		CHECK(rn_series_append(s, v[i]) == RN_OK);
	CHECK(rn_units_seal(mem, s, &u) == RN_OK);
	return u;
}

struct broken {
	const char *what;
	int64_t a[4], b[4];
	unsigned na, nb;
	uint64_t ranks;
	uint32_t root_b;
	bool more_sigs, more_rules, indexed;
};

static const struct broken cases[] = {
	{ NULL, { 0, 2 }, { 1, 3 }, 2, 2, 4, 1, false, false, true },
	{ "rank 1 is there twice", { 0, 1 }, { 1, 3 }, 2, 2, 4, 1, false, false, true },
	{ "rank 1 is in no group", { 0, 2, 3 }, { 2 }, 3, 1, 4, 1, false, false, true },
	{ "rank 2 is there twice", { 0, 2, 2 }, { 1 }, 3, 1, 4, 1, false, false, true },
	{ "signature 2 is not used", { 0, 2 }, { 1, 3 }, 2, 2, 4, 1, true, false, true },
	{ "rule 2 is not used", { 0, 2 }, { 1, 3 }, 2, 2, 4, 1, false, true, true },
	{ "two groups", { 0, 2 }, { 1, 3 }, 2, 2, 4, 0, false, false, true },
	{ "of 5", { 0, 2 }, { 1, 3 }, 2, 2, 5, 1, false, false, false },
	{ "out of order", { 1, 3 }, { 0, 2 }, 2, 2, 4, 1, false, false, false },
	{ "not a ranklist", { 2, 0 }, { 1, 3 }, 2, 2, 4, 1, false, false, false },
	{ "ranks -1 to 2", { -1, 2 }, { 1, 3 }, 2, 2, 4, 1, false, false, false },
	{ "ranks 1 to 4", { 0, 2 }, { 1, 4 }, 2, 2, 4, 1, false, false, false },
	{ "no rule 9", { 0, 2 }, { 1, 3 }, 2, 2, 4, 9, false, false, false },
	{ "0 ranks", { 0, 2 }, { 1, 3 }, 2, 2, 0, 1, false, false, false },
};

static void build_broken(const struct broken *c, struct rn_arena *mem, struct rn_streams *s)
{
	struct rn_sigs *sigs = rn_sigs_new(mem);
	struct rn_rules *rules = rn_rules_new(mem);
	uint32_t id;

	for (uint32_t i = 0; i < (c->more_sigs ? 3 : 2); i++)
		CHECK(rn_sigs_intern(sigs, &i, sizeof(i), &id) == RN_OK);
	for (uint32_t i = 0; i < (c->more_rules ? 3 : 2); i++) {
		struct rn_item it = { i % 2, RN_KIND_TERMINAL, i + 1 };

		CHECK(rn_rules_add(rules, &it, 1, &id) == RN_OK && id == i);
	}
	*s = (struct rn_streams){ .sigs = sigs, .rules = rules, .groups = 2, .ranks = c->ranks };
	if (!c->root_b) { /* so that rule 1 remains in use */
		struct rn_item both[2] = { { 0, RN_KIND_TERMINAL, 1 }, { 1, RN_KIND_TERMINAL, 1 } };

		rules = rn_rules_new(mem);
		CHECK(rn_rules_add(rules, both, 2, &id) == RN_OK);
		s->rules = rules;
	}
	s->group = rn_new(mem, struct rn_stream_group, 2);
	s->group[0] = (struct rn_stream_group){ .ranks = ranklist(mem, c->a, c->na) };
	s->group[1] =
		(struct rn_stream_group){ .root = c->root_b, .ranks = ranklist(mem, c->b, c->nb) };
}

static void test_broken(void)
{
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rn_err err = { 0 };
		struct rn_streams s;
		int rc;

		build_broken(&cases[i], &mem, &s);
		rc = rn_streams_index(&s, &err);
		if (!CHECK(cases[i].indexed == (rc == RN_OK)))
			diag("case %u: %s", i, err.text);
		if (rc == RN_OK)
			rc = rn_streams_check(&s, &mem, &err);
		if (!CHECK(cases[i].what ? rc == RN_E_DATA && strstr(err.text, cases[i].what)
					 : rc == RN_OK))
			diag("case %u: %s", i, err.text);
	}
	rn_arena_free(&mem);
}

/* The n-th allocation of every arena fails once, and the failed operation is repeated. */
static bool push_all_failing(const struct virtual_run *v, uint64_t n, struct rn_arena *mem)
{
	struct feeder f = new_feeder(mem);
	uint64_t calls = 0;
	bool failed = false;

	link.scratch.fail_at = link.mem.fail_at = link.leaf.fail_at = n;
	for (uint64_t r = 0; r < v->ranks; r++) {
		int rc = RN_E_NOMEM;

		CHECK(virtual_feed(v, r, f.sigs, f.g, &calls) == RN_OK);
		for (int tries = 0; rc == RN_E_NOMEM && tries < 200; tries++) {
			uint64_t next = link.next;

			rc = rank_merge_add(&link, f.sigs, f.g);
			failed |= rc == RN_E_NOMEM;
			CHECK(link.next == next + (rc == RN_OK));
		}
		CHECK(rc == RN_OK);
	}
	return failed || !link.mem.fail_at || !link.leaf.fail_at || !link.scratch.fail_at;
}

static bool finish_failing(uint64_t n, struct rn_arena *mem, struct rn_streams *s)
{
	struct rn_arena_mark mark = rn_arena_mark(mem);
	bool failed = false;
	int rc = RN_E_NOMEM;

	mem->fail_at = link.scratch.fail_at = n;
	for (int tries = 0; rc == RN_E_NOMEM && tries < 4; tries++) {
		rc = rank_merge_finish(&link, mem, s);
		failed |= rc == RN_E_NOMEM;
		CHECK(rc == RN_OK || mem->beg == mark.beg || mem->block == NULL || !mark.block);
	}
	CHECK(rc == RN_OK);
	mem->fail_at = link.scratch.fail_at = 0;
	return failed;
}

static void test_failures(const char *pattern, uint64_t ranks)
{
	struct rn_buf want = { 0 }, got = { 0 };
	struct virtual_run v;
	bool failed = true;

	CHECK(virtual_init(&v, pattern, ranks, 5) == RN_OK);
	link_bytes(&v, &want);
	for (uint64_t n = 1; failed; n++) {
		struct rn_arena mem, other;
		struct rn_streams s;

		rn_arena_init(&mem, SIZE_MAX);
		rn_arena_init(&other, SIZE_MAX);
		rank_merge_init(&link);
		failed = push_all_failing(&v, n, &other);
		failed |= finish_failing(n, &mem, &s);
		rn_buf_clear(&got);
		CHECK(file_bytes(&v, &s, &got) == RN_OK && same_bytes(&want, &got));
		rank_merge_free(&link);
		rn_arena_free(&other);
		rn_arena_free(&mem);
	}
	rn_buf_free(&want);
	rn_buf_free(&got);
}

int main(void)
{
	test_patterns();
	test_repeat();
	ok("append_repeat gives the same streams");
	test_shapes();
	ok("trees of every shape give the same bytes");
	test_sharing();
	ok("stretches that streams have in common are kept once");
	test_literals();
	ok("literal runs are merged too");
	test_irregular();
	ok("irregular ranks: finding and going through them agree");
	test_wrong_order();
	ok("ranks that do not follow are refused");
	test_mapped();
	ok("a grammar whose symbols are mapped is the one of the signatures");
	test_counts();
	ok("occurrences of signatures are counted");
	test_broken();
	ok("every violated invariant is found");
	test_failures("stencil2d", 9);
	test_failures("timestep", 3);
	ok("an allocation that fails can be tried again, and nothing is lost");
	return tap_done();
}
