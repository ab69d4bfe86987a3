/*
 * test_fold.c - folding preserves all calls of random programs, and shortens programs with loops.
 */
#include "random_program.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "grammar/grammar.h"
#include "merge/loop_fold.h"
#include "model/lossy.h"
#include "rules/loop_stream.h"
#include "rules/rules.h"
#include "rules/symbol_counts.h"
#include "series/series.h"
#include "series/units.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

#define SIGS   PROGRAM_CALLS
#define GROUPS 4u

struct world {
	struct rn_arena mem, scratch;
	struct rn_streams s;
	struct rn_stream_group group[GROUPS];
};

static void world_init(struct world *w, uint32_t groups)
{
	struct rn_sigs *sigs;

	rn_arena_init(&w->mem, SIZE_MAX);
	rn_arena_init(&w->scratch, SIZE_MAX);
	memset(w->group, 0, sizeof(w->group));
	sigs = rn_sigs_new(&w->mem);
	for (uint32_t i = 0, id; i < SIGS; i++)
		CHECK(rn_sigs_intern(sigs, &i, sizeof(i), &id) == RN_OK);
	w->s = (struct rn_streams){
		.sigs = sigs, .rules = rn_rules_new(&w->mem), .group = w->group, .groups = groups
	};
}

static void world_free(struct world *w)
{
	rn_arena_free(&w->mem);
	rn_arena_free(&w->scratch);
}

static void add_group(struct world *w, uint32_t g, const struct rn_grammar *grammar)
{
	CHECK(rn_rules_seal((struct rn_rules *)(uintptr_t)w->s.rules, grammar, &w->group[g].root) ==
	      RN_OK);
}

/* Encodes and decodes the loops. The parts of f that the bytes contain are created anew. */
static int reread(struct rn_folded *f, struct rn_arena *mem)
{
	struct rn_buf b = { 0 };
	struct rn_folded g = { .streams = f->streams };
	int rc;

	rn_loops_encode(f, &b);
	rc = WHOLE(b.data, b.len, NULL, rn_loops_decode(mem, &whole, &g, NULL));
	CHECK(g.loops == f->loops && g.refs == f->refs);
	for (size_t cut = 0; cut < b.len && cut < 300; cut++) {
		struct rn_folded less = { .streams = f->streams };

		CHECK(WHOLE(b.data, cut, NULL, rn_loops_decode(mem, &whole, &less, NULL)) ==
			      RN_E_DATA ||
		      less.refs < f->refs);
	}
	rn_buf_free(&b);
	*f = g;
	return rc;
}

/* ---- reading folded streams ---- */

struct plain {
	uint32_t *t;
	uint64_t n;
};

static struct plain list(const struct rn_rules *r, uint32_t root, struct rn_arena *mem)
{
	struct plain p = { .n = rn_rules_length(r, root) };
	struct rn_walk w;

	p.t = rn_new(mem, uint32_t, p.n + 1);
	CHECK(rn_walk_init(&w, r, root, mem) == RN_OK);
	CHECK(rn_walk_read(&w, p.t, p.n + 1) == p.n);
	return p;
}

static bool same_counts(const struct rn_walk *w, const struct rn_streams *s, const struct plain *p,
			struct rn_arena *mem)
{
	uint64_t *times = rn_new(mem, uint64_t, rn_rules_count(s->rules));
	uint64_t *rounds = rn_new(mem, uint64_t, rn_loopset_count(s->loops->set));
	uint64_t has[SIGS] = { 0 }, wanted[SIGS] = { 0 };

	for (uint64_t i = 0; i < rn_walk_pos(w); i++)
		wanted[p->t[i]]++;
	rn_walk_counts(w, times, rounds, has);
	return memcmp(has, wanted, sizeof(has)) == 0;
}

/* Random moves: by symbol, forward and backward, in bulk and by seeking. */
static bool walks_like(const struct rn_streams *s, uint32_t group, const struct plain *p,
		       struct rn_arena *mem)
{
	struct rn_flow flow = rn_streams_flow(s, group);
	uint32_t t, buf[200];
	struct rn_walk w;
	uint64_t at = 0;

	if (flow.length != p->n || rn_walk_flow(&w, &flow, mem) < 0)
		return false;
	for (unsigned move = 0; move < 300; move++) {
		uint64_t n = tap_below(200);

		switch (tap_below(move % 10 ? 2 : 4)) {
		case 0:
			for (; n && rn_walk_next(&w, &t); n--)
				if (t != p->t[at++])
					return false;
			break;
		case 1:
			n = rn_walk_read(&w, buf, n);
			if (n > p->n - at || memcmp(buf, p->t + at, n * sizeof(*buf)) != 0)
				return false;
			at += n;
			break;
		case 2:
			at = tap_below(p->n + 1);
			if (rn_walk_seek(&w, at) != RN_OK)
				return false;
			break;
		default:
			if (!same_counts(&w, s, p, mem))
				return false;
		}
		if (rn_walk_pos(&w) != at)
			return false;
	}
	return rn_walk_seek(&w, p->n + 1) == RN_E_RANGE && rn_walk_seek(&w, p->n) == RN_OK &&
	       !rn_walk_next(&w, &t) && same_counts(&w, s, p, mem);
}

static void read_folded(const struct world *w, const struct rn_folded *f)
{
	struct rn_streams s;
	struct rn_arena mem;
	struct rn_err err = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	if (!CHECK(rn_folded_open(f, &mem, &mem, &s, &err) == RN_OK))
		diag("%s", err.text);
	else
		for (uint32_t g = 0; g < s.groups; g++) {
			struct plain p = list(w->s.rules, w->group[g].root, &mem);

			CHECK(walks_like(&s, g, &p, &mem));
		}
	rn_arena_free(&mem);
}

static uint32_t round_trip(struct world *w)
{
	struct rn_folded f;
	uint32_t loops;

	CHECK(rn_fold(&w->s, &w->mem, &w->scratch, &f) == RN_OK);
	loops = f.loops;
	if (loops == 0)
		return 0;
	CHECK(rn_rules_check(f.streams.rules));
	CHECK(reread(&f, &w->mem) == RN_OK);
	read_folded(w, &f);
	return loops;
}

static uint64_t items(const struct rn_rules *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < rn_rules_count(r); i++)
		n += rn_rules_body(r, i).n;
	return n;
}

static void solve(struct rn_grammar *g, unsigned steps, uint32_t end)
{
	for (unsigned step = 0; step < steps; step++) {
		for (uint64_t i = 8 + tap_below(25); i; i--)
			for (uint32_t call = 0; call < 3; call++)
				rn_grammar_append(g, call);
		if (tap_below(4) == 0)
			rn_grammar_append(g, 3);
		if (tap_below(3) == 0)
			rn_grammar_append(g, 4);
		rn_grammar_append(g, end);
	}
}

static uint64_t most_executions(const struct rn_folded *f, struct rn_arena *mem)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < rn_sigs_count(f->series); i++) {
		size_t len;
		const void *bytes = rn_sigs_get(f->series, i, &len);
		struct rn_reader in = rn_reader(bytes, len);
		struct rn_units *u;

		if (CHECK(rn_units_decode(mem, &in, &u, NULL) == RN_OK) &&
		    rn_units_length(u) > most)
			most = rn_units_length(u);
	}
	return most;
}

/* Steps with a solver of 8 to 32 iterations, some with two more calls, each by itself. Each step
 * executes the solver once, even if rules divide its iterations. Returns the number of items
 * after folding. */
static uint64_t solver(unsigned steps)
{
	struct rn_folded f;
	struct rn_grammar *g;
	struct world w;
	uint64_t n;

	world_init(&w, 1);
	g = rn_grammar_new(&w.mem, NULL);
	solve(g, steps, 5);
	add_group(&w, 0, g);
	CHECK(rn_fold(&w.s, &w.mem, &w.scratch, &f) == RN_OK);
	n = items(f.streams.rules);
	CHECK(most_executions(&f, &w.scratch) == steps);
	CHECK(round_trip(&w) > 0);
	world_free(&w);
	return n;
}

static void test_solver(void)
{
	uint64_t n = solver(100);

	CHECK(n < 20);
	CHECK(solver(1000) == n);
	CHECK(solver(10000) == n);
	ok("a solver's steps have %llu symbols, however many there are", (unsigned long long)n);
}

/* ---- */

static uint64_t series_bytes(const struct rn_folded *f)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < rn_sigs_count(f->series); i++) {
		size_t len;

		rn_sigs_get(f->series, i, &len);
		n += len;
	}
	return n;
}

/* Blurring loses the order of calls, but no call. */
static void same_calls(const struct world *w, const struct rn_streams *s)
{
	for (uint32_t g = 0; g < w->s.groups; g++) {
		uint64_t had[SIGS] = { 0 }, has[SIGS] = { 0 };
		struct rn_flow flow = rn_streams_flow(s, g);
		struct rn_walk walk;
		struct rn_arena mem;
		uint32_t t;

		rn_arena_init(&mem, SIZE_MAX);
		CHECK(rn_walk_init(&walk, w->s.rules, w->group[g].root, &mem) == RN_OK);
		while (rn_walk_next(&walk, &t) > 0)
			had[t]++;
		CHECK(rn_walk_flow(&walk, &flow, &mem) == RN_OK);
		while (rn_walk_next(&walk, &t) > 0)
			has[t]++;
		CHECK(memcmp(had, has, sizeof(had)) == 0);
		rn_arena_free(&mem);
	}
}

/* Returns the size of the series in bytes after blurring. */
static uint64_t blur(struct world *w)
{
	struct rn_streams out;
	struct rn_folded f;
	uint64_t before;

	CHECK(rn_fold(&w->s, &w->mem, &w->scratch, &f) == RN_OK);
	before = f.loops ? series_bytes(&f) : 0;
	CHECK(rn_blur(&f, &w->mem, &w->scratch) == RN_OK);
	if (f.loops == 0)
		return 0;
	CHECK(series_bytes(&f) <= before);
	if (CHECK(rn_folded_open(&f, &w->mem, &w->scratch, &out, NULL) == RN_OK))
		same_calls(w, &out);
	return series_bytes(&f);
}

static uint64_t blurred_solver(unsigned steps)
{
	struct world w;
	uint64_t n;

	world_init(&w, 2);
	for (uint32_t g = 0; g < 2; g++) {
		struct rn_grammar *grammar = rn_grammar_new(&w.mem, NULL);

		solve(grammar, steps, 5);
		add_group(&w, g, grammar);
	}
	n = blur(&w);
	world_free(&w);
	return n;
}

static void test_blur(void)
{
	CHECK(blurred_solver(0) == 0);
	for (unsigned steps = 100; steps <= 30000; steps *= 6)
		CHECK(blurred_solver(steps) < 300);
	ok("blurred counts take no more however many there are, and no call is lost");
}

/* ---- */

static void append_call(void *arg, uint32_t call, uint64_t parameter)
{
	CHECK(rn_grammar_append(arg, (uint32_t)((call + parameter) % SIGS)) == RN_OK);
}

static void test_programs(unsigned n)
{
	unsigned folded = 0;

	for (unsigned i = 0; i < n; i++) {
		struct program p;
		struct world w;

		world_init(&w, 1 + (uint32_t)tap_below(GROUPS));
		make_program(&p);
		for (uint32_t g = 0; g < w.s.groups; g++) {
			struct rn_grammar_opts opts = { .literal_limit = tap_below(4) ? 0 : 50 };
			struct rn_grammar *grammar = rn_grammar_new(&w.mem, &opts);

			run_program(&p, g, 3000, append_call, grammar);
			add_group(&w, g, grammar);
		}
		folded += round_trip(&w) > 0;
		blur(&w);
		world_free(&w);
	}
	CHECK(folded > n / 10);
	ok("%u random programs, %u of them folded: nothing is lost", n, folded);
}

/* ---- */

/* Decodes loop 0, over signature 7, with a hostile reference, iteration count or series. */
static int hostile(struct rn_loop loop, uint32_t ref, int64_t count, uint64_t times)
{
	struct rn_item it = { .kind = RN_KIND_TERMINAL, .id = SIGS, .count = times };
	struct rn_buf b = { 0 };
	struct rn_series *series;
	struct rn_units *units;
	struct rn_folded f;
	struct rn_rules *rules;
	struct rn_streams out;
	struct world w;
	uint32_t id;
	int rc;

	world_init(&w, 1);
	rules = rn_rules_new(&w.mem);
	series = rn_series_new(&w.mem);
	CHECK(rn_rules_add(rules, &it, 1, &w.group[0].root) == RN_OK);
	for (unsigned i = 0; i < 3; i++)
		CHECK(rn_series_append(series, count) == RN_OK);
	CHECK(rn_units_seal(&w.mem, series, &units) == RN_OK &&
	      rn_units_encode(units, &b) == RN_OK);
	f = (struct rn_folded){ .streams = w.s, .loop = &loop, .loops = 1, .ref = &ref };
	f.streams.rules = rules;
	f.series = rn_sigs_new(&w.mem);
	CHECK(rn_sigs_intern(f.series, b.data, b.len, &id) == RN_OK);
	rc = rn_folded_open(&f, &w.mem, &w.scratch, &out, NULL);
	rn_buf_free(&b);
	world_free(&w);
	return rc;
}

static void test_hostile(void)
{
	struct rn_loop call = { RN_KIND_TERMINAL, 7 }, itself = { RN_KIND_RULE, 0 };

	CHECK(hostile(call, 1, 5, 3) == RN_OK);
	CHECK(hostile(call, 1, 0, 3) == RN_OK);
	CHECK(hostile(call, 1, 5, 2) == RN_E_DATA);
	CHECK(hostile(call, 1, 5, 4) == RN_E_DATA);
	CHECK(hostile(call, 1, -1, 3) == RN_E_DATA);
	CHECK(hostile(call, 2, 5, 3) == RN_E_DATA);
	CHECK(hostile(call, 0, 5, 3) == RN_E_DATA);
	CHECK(hostile((struct rn_loop){ RN_KIND_TERMINAL, SIGS }, 1, 5, 3) == RN_E_DATA);
	CHECK(hostile((struct rn_loop){ RN_KIND_RULE, 9 }, 1, 5, 3) == RN_E_DATA);
	CHECK(hostile(itself, 1, 5, 3) == RN_E_DATA);
	CHECK(hostile(call, 1, INT64_MAX, 3) == RN_E_DATA);
	ok("what does not fit is refused");
}

/* Writes a series of n equal values. Its size is a few bytes for any n. */
static void put_even(struct rn_buf *b, uint64_t n, unsigned char number)
{
	rn_buf_u64(b, n << 3 | 1 << 1);
	rn_buf_byte(b, (unsigned char)(number << 1));
	rn_buf_byte(b, 0);
}

/* Decodes many stream groups that have the same loop, of a few bytes, each `times` times with
 * one iteration per execution. */
static int many_groups(uint32_t groups, uint64_t times)
{
	struct rn_item it = { .kind = RN_KIND_TERMINAL, .id = SIGS, .count = times };
	struct rn_loop loop = { RN_KIND_TERMINAL, 7 };
	struct rn_stream_group *group = calloc(groups, sizeof(*group));
	uint32_t *ref = calloc(groups, sizeof(*ref)), id;
	struct rn_buf b = { 0 };
	struct rn_folded f;
	struct rn_streams out;
	struct world w;
	int rc;

	world_init(&w, groups);
	w.s.group = group;
	put_even(&b, times, 1);
	f = (struct rn_folded){ .streams = w.s, .loop = &loop, .loops = 1, .ref = ref };
	f.streams.rules = rn_rules_new(&w.mem);
	f.series = rn_sigs_new(&w.mem);
	CHECK(rn_sigs_intern(f.series, b.data, b.len, &id) == RN_OK);
	for (uint32_t g = 0; g < groups; g++) {
		ref[g] = 1;
		CHECK(rn_rules_add((struct rn_rules *)(uintptr_t)f.streams.rules, &it, 1,
				   &group[g].root) == RN_OK);
	}
	rc = rn_folded_open(&f, &w.mem, &w.scratch, &out, NULL);
	for (uint32_t g = 0; g < groups && rc == RN_OK; g++)
		CHECK(rn_streams_length(&out, g) == times);
	CHECK(w.mem.mapped + w.scratch.mapped < (size_t)8 << 20);
	rn_buf_free(&b);
	free(group);
	free(ref);
	world_free(&w);
	return rc;
}

static void test_many_groups(void)
{
	CHECK(many_groups(3, 1000) == RN_OK);
	CHECK(many_groups(1, (uint64_t)1 << 50) == RN_OK);
	CHECK(many_groups(200, (uint64_t)1 << 50) == RN_OK);
	ok("opening takes nothing for executions, however many there are");
}

/* Many steps that end with the call that they begin with, so that many candidates are tried
 * before a useful one. */
static void test_many_steps(void)
{
	struct rn_folded f;
	struct world w;

	world_init(&w, GROUPS);
	for (uint32_t g = 0; g < GROUPS; g++) {
		struct rn_grammar *grammar = rn_grammar_new(&w.mem, NULL);

		solve(grammar, 40000, 0);
		add_group(&w, g, grammar);
	}
	CHECK(items(w.s.rules) > 10000);
	CHECK(rn_fold(&w.s, &w.mem, &w.scratch, &f) == RN_OK);
	CHECK(items(f.streams.rules) < 1000);
	world_free(&w);
	ok("what is worth it is found among much that is not");
}

/* Calls in random order, each of which may be followed by a call specific to it. Every one of
 * these could become a branch, and none is worth it. */
static void test_large(void)
{
	struct rn_folded f;
	struct rn_grammar *g;
	struct world w;

	world_init(&w, 1);
	g = rn_grammar_new(&w.mem, NULL);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t call = (uint32_t)tap_below(SIGS / 2) * 2;

		rn_grammar_append(g, call);
		if (tap_below(3) == 0)
			rn_grammar_append(g, call + 1);
	}
	add_group(&w, 0, g);
	CHECK(rn_fold(&w.s, &w.mem, &w.scratch, &f) == RN_OK);
	CHECK(w.scratch.mapped < (size_t)64 << 20);
	round_trip(&w);
	ok("what was tried for nothing costs no memory");

	rn_arena_free(&w.scratch);
	w.scratch.limit = (size_t)1 << 20;
	CHECK(rn_fold(&w.s, &w.mem, &w.scratch, &f) == RN_OK && f.loops == 0);
	ok("without memory it stays as it is");
	world_free(&w);
}

int main(void)
{
	test_programs(150);
	test_solver();
	test_blur();
	test_hostile();
	test_many_groups();
	test_many_steps();
	test_large();
	return tap_done();
}
