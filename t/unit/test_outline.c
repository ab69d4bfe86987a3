/* test_outline.c - outlines of rules: their structure, and that they contain every call. */
#include "tap.h"

#include "analysis/outline.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "grammar/grammar.h"
#include "merge/loop_fold.h"
#include "model/markers.h"
#include "rules/rules.h"
#include "series/series.h"
#include "series/units.h"

#include <string.h>

#define SIGS   26u /* a to z; each has its own function, unless a test changes it */
#define GROUPS 6u

struct world {
	struct rn_arena mem, scratch;
	struct rn_folded f;
	struct rn_streams plain;
	struct rn_stream_group group[GROUPS];
	struct rn_rules *rules;
	struct rn_outline_sig sig[SIGS];
	struct rn_loop loop[4];
	uint32_t ref[4 * GROUPS];
	struct rn_outline out;
	uint64_t ranks;
};

static void world_init(struct world *w)
{
	struct rn_sigs *sigs;

	memset(w, 0, sizeof(*w));
	rn_arena_init(&w->mem, SIZE_MAX);
	rn_arena_init(&w->scratch, SIZE_MAX);
	sigs = rn_sigs_new(&w->mem);
	w->rules = rn_rules_new(&w->mem);
	for (uint32_t i = 0, id; i < SIGS; i++) {
		CHECK(rn_sigs_intern(sigs, &i, sizeof(i), &id) == RN_OK);
		w->sig[i] = (struct rn_outline_sig){ .function = i,
						     .manner = i,
						     .one = { .calls = 1, .bytes = i, .ns = 2 } };
	}
	w->f = (struct rn_folded){
		.streams = { .sigs = sigs, .rules = w->rules, .group = w->group },
		.loop = w->loop,
		.series = rn_sigs_new(&w->mem),
		.ref = w->ref
	};
}

static void world_free(struct world *w)
{
	rn_arena_free(&w->mem);
	rn_arena_free(&w->scratch);
}

static void marker(struct world *w, char c, enum rn_marker m)
{
	w->sig[c - 'a'].marker = (unsigned char)m;
	w->sig[c - 'a'].one = (struct rn_weight){ 0 };
}

/* Parses a rule such as "ab3R0L1": calls, rules and loops, each followed by its count if that is
 * not 1. R and L follow their index, a digit. */
static uint32_t rule(struct world *w, const char *text)
{
	struct rn_item item[64];
	uint32_t n = 0, id = 0;

	for (const char *s = text; *s; n++) {
		char *end;

		if (*s == 'R')
			item[n] = (struct rn_item){ (uint32_t)(*++s - '0'), RN_KIND_RULE, 1 };
		else if (*s == 'L')
			item[n] = (struct rn_item){ SIGS + (uint32_t)(*++s - '0'), RN_KIND_TERMINAL,
						    1 };
		else
			item[n] = (struct rn_item){ (uint32_t)(*s - 'a'), RN_KIND_TERMINAL, 1 };
		item[n].count = strtoul(s + 1, &end, 10);
		if (end == s + 1)
			item[n].count = 1;
		s = end;
	}
	CHECK(rn_rules_add(w->rules, item, n, &id) == RN_OK);
	return id;
}

static const struct rn_units *units(struct world *w, const int64_t *value, uint32_t n)
{
	struct rn_series *s = rn_series_new_sorted(&w->mem);
	struct rn_units *u = NULL;

	for (uint32_t i = 0; i < n; i++)
		CHECK(rn_series_append(s, value[i]) == RN_OK);
	CHECK(rn_units_seal(&w->mem, s, &u) == RN_OK);
	return u;
}

/* Adds a stream group of `ranks` more ranks with this start rule. */
static void group(struct world *w, uint32_t root, uint32_t ranks)
{
	int64_t rank[16];

	for (uint32_t i = 0; i < ranks; i++)
		rank[i] = (int64_t)w->ranks++;
	w->group[w->f.streams.groups++] =
		(struct rn_stream_group){ .root = root, .ranks = units(w, rank, ranks) };
	w->f.streams.ranks = w->ranks;
}

/* Sets the elastic counts of a loop in a stream group. */
static void counts(struct world *w, uint32_t g, uint32_t loop, const int64_t *value, uint32_t n)
{
	struct rn_series *s = rn_series_new(&w->mem);
	struct rn_buf b = { 0 };
	struct rn_units *u = NULL;
	uint32_t id = 0;

	for (uint32_t i = 0; i < n; i++)
		CHECK(rn_series_append(s, value[i]) == RN_OK);
	CHECK(rn_units_seal(&w->mem, s, &u) == RN_OK);
	CHECK(rn_units_encode(u, &b) == RN_OK);
	CHECK(rn_sigs_intern(w->f.series, b.data, b.len, &id) == RN_OK);
	w->ref[g * w->f.loops + loop] = id + 1;
	rn_buf_free(&b);
}

static int outline(struct world *w)
{
	struct rn_streams opened = w->f.streams;
	struct rn_err err;

	if (w->f.loops)
		CHECK(rn_folded_open(&w->f, &w->mem, &w->scratch, &opened, &err) == RN_OK);
	return rn_outline(&opened, w->sig, &w->mem, &w->scratch, &w->out);
}

/* ---- outlines as text ---- */

static void put(struct rn_buf *b, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rn_buf_add(b, text, strlen(text));
}

/* Prints calls as characters, the content of a call or loop in brackets, then the count: *3, *0-2.
 * The number of streams follows if it is not the number of all: @1. */
static void show(struct rn_buf *b, const struct rn_piece *p, uint64_t streams)
{
	for (; p; p = p->next) {
		if (p->kind == RN_PIECE_CALL)
			put(b, "%c", (int)('a' + p->function));
		if (p->kind == RN_PIECE_REST)
			put(b, "...");
		if (p->child) {
			put(b, "(");
			show(b, p->child, p->streams);
			put(b, ")");
		}
		if (p->total.min != p->total.max)
			put(b, "*%u-%u", (unsigned)p->total.min, (unsigned)p->total.max);
		else if (p->total.max != 1)
			put(b, "*%u", (unsigned)p->total.max);
		if (p->streams != streams)
			put(b, "@%u", (unsigned)p->streams);
	}
}

static bool looks(const struct world *w, uint32_t tree, const char *wanted)
{
	struct rn_buf b = { 0 };
	bool same;

	if (tree >= w->out.trees)
		return false;
	show(&b, w->out.tree[tree].child, w->out.tree[tree].streams);
	rn_buf_byte(&b, 0);
	same = strcmp((const char *)b.data, wanted) == 0;
	if (!same)
		diag("%s instead of %s", (const char *)b.data, wanted);
	rn_buf_free(&b);
	return same;
}

static void test_plain(void)
{
	struct world w;

	world_init(&w);
	rule(&w, "ab");
	rule(&w, "cR0");
	group(&w, rule(&w, "iR01000cR1d3f"), 4);
	CHECK(outline(&w) == RN_OK);
	CHECK(w.out.trees == 1 && looks(&w, 0, "i(ab)*1000ccabd*3f"));
	CHECK(w.out.tree[0].streams == 4 && w.out.tree[0].weight.calls == 4 * 2009);
	CHECK(w.out.tree[0].child->next->weight.calls == 8000);
	CHECK(w.out.tree[0].child->next->weight.bytes == 4000);
	CHECK(w.out.tree[0].child->next->weight.ns == 16000);
	world_free(&w);
	ok("loops are loops, and shared rules stand in place");
}

static void test_elastic(void)
{
	struct world w;

	world_init(&w);
	rule(&w, "ab");
	rule(&w, "L0L1c");
	w.f.loops = 2;
	w.loop[0] = (struct rn_loop){ RN_KIND_RULE, 0 };
	w.loop[1] = (struct rn_loop){ RN_KIND_TERMINAL, 'd' - 'a' };
	group(&w, rule(&w, "iR14f"), 2);
	group(&w, rule(&w, "iR14f"), 1);
	counts(&w, 0, 0, (int64_t[]){ 17, 19, 9, 17 }, 4);
	counts(&w, 0, 1, (int64_t[]){ 0, 1, 0, 0 }, 4);
	counts(&w, 1, 0, (int64_t[]){ 1, 40, 1, 1 }, 4);
	counts(&w, 1, 1, (int64_t[]){ 0, 0, 0, 1 }, 4);
	CHECK(outline(&w) == RN_OK);
	if (CHECK(w.out.trees == 1 && looks(&w, 0, "i((ab)*1-40d*0-1c)*4f"))) {
		const struct rn_piece *l = w.out.tree[0].child->next->child;

		CHECK(l->total.visits == 12 && l->total.rounds == 2 * 62 + 43);
		CHECK(l->next->total.visits == 12 && l->next->total.rounds == 3);
		CHECK(w.out.tree[0].weight.calls == 3 * 6 + 2 * (2 * 62 + 43) + 3);
	}
	world_free(&w);
	ok("counts that change have a range, over all streams");
}

/* a^5, a^7 b is a^12 b, and empty iterations are dropped. */
static void test_cut_rounds(void)
{
	struct world w;

	world_init(&w);
	rule(&w, "L0L1");
	w.f.loops = 2;
	w.loop[0] = (struct rn_loop){ RN_KIND_TERMINAL, 0 };
	w.loop[1] = (struct rn_loop){ RN_KIND_TERMINAL, 1 };
	group(&w, rule(&w, "iR06f"), 2);
	counts(&w, 0, 0, (int64_t[]){ 12, 5, 7, 13, 0, 11 }, 6);
	counts(&w, 0, 1, (int64_t[]){ 1, 0, 1, 1, 0, 1 }, 6);
	CHECK(outline(&w) == RN_OK);
	CHECK(looks(&w, 0, "i(a*11-13b)*4f"));
	CHECK(w.out.tree[0].weight.calls == 2 * 54);
	world_free(&w);
	ok("a round that was cut in two is one");
}

/* A loop that occurs twice in the program has separate counts for each occurrence. */
static void test_places(void)
{
	struct world w;

	world_init(&w);
	rule(&w, "L0b");
	rule(&w, "L1");
	w.f.loops = 2;
	w.loop[0] = (struct rn_loop){ RN_KIND_TERMINAL, 0 };
	w.loop[1] = (struct rn_loop){ RN_KIND_RULE, 0 };
	group(&w, rule(&w, "R0cL1"), 1);
	counts(&w, 0, 0, (int64_t[]){ 5, 2, 3 }, 3);
	counts(&w, 0, 1, (int64_t[]){ 2 }, 1);
	CHECK(outline(&w) == RN_OK);
	CHECK(looks(&w, 0, "a*5bc(a*2-3b)*2"));
	world_free(&w);
	ok("a loop that stands at two places has two counts");
}

static void test_join(void)
{
	struct world w;

	world_init(&w);
	w.sig['b' - 'a'].function = 0; /* a with other arguments */
	rule(&w, "acd");
	rule(&w, "bcd");
	rule(&w, "cxd");
	group(&w, rule(&w, "iR010f"), 2);
	group(&w, rule(&w, "iR110f"), 2);
	group(&w, rule(&w, "iR212f"), 1);
	group(&w, rule(&w, "pqrstuv"), 1);
	CHECK(outline(&w) == RN_OK);
	CHECK(w.out.trees == 2);
	CHECK(looks(&w, 0, "i(a@4cx@1d)*10-12f"));
	CHECK(looks(&w, 1, "pqrstuv"));
	if (CHECK(w.out.tree[0].child->next->child)) {
		const struct rn_piece *a = w.out.tree[0].child->next->child;

		CHECK(a->variant->calls == 20 && a->variant->next && a->weight.calls == 40);
		CHECK(a->next->weight.calls == 4 * 10 + 12);
	}
	world_free(&w);
	ok("who does the same is one tree, and who does nearly the same");
}

static void test_join_call(void)
{
	struct world w;

	world_init(&w);
	rule(&w, "ac");
	group(&w, rule(&w, "ic10f"), 1);
	group(&w, rule(&w, "iR010f"), 2);
	CHECK(outline(&w) == RN_OK);
	CHECK(w.out.trees == 1 && looks(&w, 0, "i(a@2c)*10f"));
	CHECK(w.out.tree[0].weight.calls == 12 + 2 * 22);
	CHECK(w.out.tree[0].child->next->child->next->weight.calls == 30);
	world_free(&w);
	ok("a call that some only make in a loop is in the loop of the others");
}

static void test_nested(void)
{
	struct world w;

	world_init(&w);
	marker(&w, 'y', RN_MARKER_ENTER);
	marker(&w, 'z', RN_MARKER_LEAVE);
	marker(&w, 'x', RN_MARKER_ENDED);
	rule(&w, "yabzo");
	group(&w, rule(&w, "iR05xyyczpzqyzo3y"), 1);
	group(&w, rule(&w, "x"), 1);
	CHECK(outline(&w) == RN_OK);
	CHECK(w.out.trees == 1 && looks(&w, 0, "i(o(ab))*5q(p(c))oo*2"));
	CHECK(w.out.tree[0].weight.calls == 1 + 15 + 3 + 3);
	CHECK(w.out.tree[0].child->next->weight.calls == 15);
	CHECK(w.out.tree[0].child->next->weight.ns == 10); /* without the time of a and b */
	world_free(&w);
	ok("what was called inside a call is below it, and no marker is left");
}

/* Outlines that would be too large: 2^41 calls in rules with shared subrules, and a long body. */
static void test_large(void)
{
	struct world w;
	uint32_t r;
	struct rn_item item[3] = { { 0, RN_KIND_RULE, 1 },
				   { 2, RN_KIND_TERMINAL, 1 },
				   { 0, RN_KIND_RULE, 1 } };
	static struct rn_item many[40000];

	world_init(&w);
	r = rule(&w, "ab");
	for (unsigned i = 0; i < 40; i++) {
		item[0].id = item[2].id = r;
		CHECK(rn_rules_add(w.rules, item, 3, &r) == RN_OK);
	}
	group(&w, r, 3);
	for (uint32_t i = 0; i < 40000; i++)
		many[i] = (struct rn_item){ i % 2 + 4, RN_KIND_TERMINAL, 1 + i % 3 };
	CHECK(rn_rules_add(w.rules, many, 40000, &r) == RN_OK);
	group(&w, r, 1);
	CHECK(outline(&w) == RN_OK);
	if (CHECK(w.out.trees == 2)) {
		CHECK(w.out.tree[0].weight.calls == 3 * rn_rules_length(w.rules, w.group[0].root));
		CHECK(w.out.tree[1].weight.calls == rn_rules_length(w.rules, r));
	}
	world_free(&w);
	ok("what is too large for a tree is summed up");
}

/* Too many executions of a loop: a few bytes encode 2^40 of them. */
static void test_many_executions(void)
{
	const uint64_t times = (uint64_t)1 << 40;
	struct rn_buf b = { 0 };
	struct world w;
	uint32_t id = 0;

	world_init(&w);
	rule(&w, "L0c");
	w.f.loops = 1;
	w.loop[0] = (struct rn_loop){ RN_KIND_TERMINAL, 0 };
	group(&w, rule(&w, "iR01099511627776f"), 1);
	rn_buf_u64(&b, times << 3 | 1 << 1); /* one pattern of `times` values with difference 0 */
	rn_buf_byte(&b, 3 << 1);
	rn_buf_byte(&b, 0);
	CHECK(rn_sigs_intern(w.f.series, b.data, b.len, &id) == RN_OK);
	w.ref[0] = id + 1;
	CHECK(outline(&w) == RN_OK);
	if (CHECK(w.out.trees == 1))
		CHECK(w.out.tree[0].weight.calls == 2 + 4 * times);
	rn_buf_free(&b);
	world_free(&w);
	ok("and so is what is executed too often");
}

/* ---- random programs ---- */

static void add_counts(const struct rn_piece *p, uint64_t *count)
{
	for (; p; p = p->next) {
		CHECK(p->kind != RN_PIECE_REST);
		for (const struct rn_variant *v = p->variant; v; v = v->next)
			count[v->sig] += v->calls;
		add_counts(p->child, count);
	}
}

/* Blocks of calls, some of them repeated at random. */
static void append_block(struct rn_grammar *g, unsigned level)
{
	uint32_t from = (uint32_t)tap_below(SIGS - 3);

	for (uint64_t n = 1 + tap_below(6); n > 0; n--) {
		for (uint32_t i = 0; i < 3; i++)
			CHECK(rn_grammar_append(g, from + i) == RN_OK);
		if (level)
			append_block(g, level - 1);
	}
}

static void one_random(struct world *w)
{
	struct rn_stream_group group_of[GROUPS];
	uint64_t got[SIGS] = { 0 }, wanted[SIGS] = { 0 };

	for (uint32_t g = 0; g < GROUPS; g++) {
		struct rn_grammar *grammar = rn_grammar_new(&w->mem, NULL);
		uint32_t root = 0;

		for (unsigned i = 0; i < 10; i++)
			append_block(grammar, 2);
		CHECK(rn_rules_seal(w->rules, grammar, &root) == RN_OK);
		group(w, root, 1 + g % 2);
	}
	memcpy(group_of, w->group, sizeof(group_of));
	w->plain = w->f.streams;
	w->plain.group = group_of;
	CHECK(rn_fold(&w->plain, &w->mem, &w->scratch, &w->f) == RN_OK);
	if (!w->f.loops)
		w->f.streams = w->plain;
	CHECK(rn_streams_counts(&w->plain, &w->scratch, wanted) == RN_OK);
	CHECK(outline(w) == RN_OK);
	for (uint32_t i = 0; i < w->out.trees; i++)
		add_counts(w->out.tree[i].child, got);
	CHECK(memcmp(got, wanted, sizeof(got)) == 0);
}

static void test_random(void)
{
	for (unsigned i = 0; i < 50; i++) {
		struct world w;

		world_init(&w);
		one_random(&w);
		world_free(&w);
	}
	ok("every call of random programs is in their trees");
}

static void test_memory(void)
{
	int rc = RN_E_NOMEM;

	for (uint64_t n = 1; rc != RN_OK && n < 1000; n++) {
		struct world w;

		world_init(&w);
		rule(&w, "abc");
		group(&w, rule(&w, "iR010f"), 2);
		group(&w, rule(&w, "iR09f"), 2);
		group(&w, rule(&w, "iR09df"), 2);
		w.mem.fail_at = n;
		rc = outline(&w);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		w.mem.fail_at = 0;
		world_free(&w);
	}
	CHECK(rc == RN_OK);
	ok("every allocation may fail");
}

int main(void)
{
	test_plain();
	test_elastic();
	test_cut_rounds();
	test_places();
	test_join();
	test_join_call();
	test_nested();
	test_large();
	test_many_executions();
	test_random();
	test_memory();
	return tap_done();
}
