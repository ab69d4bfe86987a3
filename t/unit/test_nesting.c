/* test_nesting.c - nested calls, compared with a list of symbols that is scanned linearly. */
#include "random_loops.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/signature.h"
#include "encode/template.h"
#include "grammar/grammar.h"
#include "model/merged_streams.h"
#include "read/call_nesting.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "rules/rules.h"
#include "series/units.h"
#include "call_writer.h"
#include "whole.h"

static const struct rn_func funcs[] = { { 0, "f", (const char *const[]){ "x" }, 1, NULL },
					{ 3, "rondo_enter", NULL, 0, NULL },
					{ 4, "rondo_leave", NULL, 0, NULL },
					{ 5, "rondo_ended", NULL, 0, NULL } };
static const struct rn_vocab vocab = { funcs, NULL, 4, 0 }, plain = { funcs, NULL, 1, 0 };

#define CALLS 4 /* signatures 0 to 3 */
#define ENTER 4
#define LEAVE 5
#define ENDED 6
#define SIGS  7
#define MOST  20000

static struct rn_arena mem;
static struct rn_sigs *sigs;
static struct rn_rules *rules;

static void begin(void)
{
	unsigned char bytes[CALL_BUFFER];
	struct rn_buf w;
	size_t len;
	uint32_t id;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = rn_sigs_new(&mem);
	rules = rn_rules_new(&mem);
	for (uint32_t i = 0; i < SIGS; i++) {
		call_begin(&w, bytes, sizeof(bytes), i < CALLS ? 0 : i - 1);
		if (i < CALLS)
			rn_call_num(&w, RN_V_INT, i);
		CHECK(call_end(&w, 0, &len) == RN_OK && rn_call_valid(bytes, len, &vocab));
		CHECK(rn_sigs_intern(sigs, bytes, len, &id) == RN_OK && id == i);
	}
}

/*
 * The model
 */

static struct {
	uint32_t symbol[MOST];
	uint64_t n;
	bool wrong;
	uint64_t numbers;
	uint64_t number[MOST]; /* ordinal of a call, or of the call that an enter begins */
	uint64_t parent[MOST]; /* of a call: index of the enclosing call, or MOST */
	uint64_t begins[MOST]; /* by ordinal of a call: index */
	uint64_t around[MOST]; /* the innermost enter that is open before the symbol, or MOST */
	uint64_t leaves[MOST]; /* of an enter: index of its leave, or MOST */
} model;

static bool is_wrong(void)
{
	uint64_t depth = 0;

	for (uint64_t i = 0; i < model.n; i++) {
		uint32_t s = model.symbol[i];

		if (s == LEAVE && depth-- == 0)
			return true;
		if (s == LEAVE && i + 1 < model.n && model.symbol[i + 1] >= CALLS)
			return true;
		if (s == ENTER && ++depth > RN_NESTING_MAX)
			return true;
	}
	return false;
}

static void begin_number(uint64_t i)
{
	model.begins[model.numbers] = i;
	model.number[i] = model.numbers++;
}

static void model_flat(void)
{
	for (uint64_t i = 0; i < model.n; i++) {
		model.around[i] = model.parent[i] = MOST;
		if (model.symbol[i] < CALLS)
			begin_number(i);
	}
}

static void model_nested(void)
{
	uint64_t around = MOST;

	for (uint64_t i = 0; i < model.n; i++) {
		model.around[i] = model.parent[i] = around;
		if (model.symbol[i] == ENTER) {
			begin_number(i);
			model.leaves[i] = MOST;
			around = i;
		} else if (model.symbol[i] == LEAVE) {
			model.leaves[around] = i;
			if (++i < model.n) {
				model.number[i] = model.number[around];
				model.around[i] = model.parent[i] = model.around[around];
			}
			around = model.around[around];
		} else if (model.symbol[i] != ENDED) {
			begin_number(i);
		}
	}
}

static void model_stream(void)
{
	model.numbers = 0;
	model.wrong = is_wrong();
	if (model.wrong)
		model_flat();
	else
		model_nested();
}

/* The ordinals of the calls that enclose a symbol are the given ones, outermost first. */
static bool same_open(uint64_t i, const uint64_t *open, uint32_t depth)
{
	uint64_t around = model.around[i];

	for (; depth && around != MOST; around = model.around[around])
		if (open[--depth] != model.number[around])
			return false;
	return depth == 0 && around == MOST;
}

static void compare_seeks(const struct rn_nesting *n, const struct rn_nested *of, struct rn_walk *w)
{
	uint64_t open[RN_NESTING_MAX];
	uint32_t depth, symbol;

	for (uint64_t k = 0; k < model.numbers; k++) {
		uint64_t i = model.begins[k];

		if (model.numbers > 200 && tap_below(model.numbers) > 100)
			continue;
		CHECK(rn_nesting_seek(n, of, w, k, open, &depth) == RN_OK);
		CHECK(rn_walk_pos(w) == i && same_open(i, open, depth));
		CHECK(rn_walk_next(w, &symbol) == 1 && symbol == model.symbol[i]);
	}
	CHECK(rn_nesting_seek(n, of, w, model.numbers, open, &depth) == RN_E_RANGE);
	CHECK(rn_nesting_seek(n, of, w, UINT64_MAX, open, &depth) == RN_E_RANGE);
}

static void compare_leaves(const struct rn_nesting *n, struct rn_walk *w)
{
	for (uint64_t i = 0; i < model.n; i++) {
		uint64_t around = model.around[i];
		bool found;

		if (around == MOST || (model.n > 200 && tap_below(model.n) > 100))
			continue;
		CHECK(rn_walk_seek(w, i) == RN_OK);
		found = rn_nesting_leave(n, w);
		CHECK(found == (model.leaves[around] != MOST));
		CHECK(rn_walk_pos(w) == (found ? model.leaves[around] + 1 : model.n));
	}
}

/*
 * Lines
 */

static struct rn_printer *printer;
static struct rn_trace trace;
static struct rn_streams streams;
static struct rn_stream_group group;

static void make_trace_of(uint32_t root, const struct rn_stream_loops *loops)
{
	group = (struct rn_stream_group){ .root = root };
	streams = (struct rn_streams){ .sigs = sigs,
				       .rules = rules,
				       .group = &group,
				       .groups = 1,
				       .ranks = 1,
				       .loops = loops };
	trace = (struct rn_trace){ .vocab = vocab, .streams = streams, .ranks = 1, .threads = 1 };
	printer = rn_printer_new(&mem, &trace, rn_decode_text);
}

static void make_trace(uint32_t root)
{
	make_trace_of(root, NULL);
}

static bool prints(uint64_t from, uint64_t to, const char *want)
{
	struct rn_buf out = { 0 };
	int rc = rn_printer_begin(printer, 0, 0, from, to);
	bool equal;

	CHECK(rc == RN_OK);
	do
		rc = rn_printer_next(printer, &out);
	while (rc > 0);
	rn_buf_byte(&out, 0);
	CHECK(rc == 0 && rn_printer_next(printer, &out) == 0);
	equal = CHECK(strcmp((char *)out.data, want) == 0);
	if (!equal)
		diag("wanted %.500s got %.500s", want, (char *)out.data);
	rn_buf_free(&out);
	return equal;
}

static void model_line(uint64_t i, char *line, size_t room)
{
	char parent[32] = "";

	if (model.parent[i] != MOST)
		snprintf(parent, sizeof(parent), " <%llu>",
			 (unsigned long long)model.number[model.parent[i]]);
	snprintf(line, room, "0 %llu f(x=%u) = 0%s\n", (unsigned long long)model.number[i],
		 model.symbol[i], parent);
}

static void compare_lines(uint64_t from, uint64_t to)
{
	static char want[MOST * 32];
	size_t len = 0;

	for (uint64_t k = from; k < to && k < model.numbers; k++) {
		uint64_t i = model.begins[k];

		if (model.symbol[i] == ENTER)
			i = model.leaves[i] == MOST ? MOST : model.leaves[i] + 1;
		if (i >= model.n) /* the call never ended */
			continue;
		model_line(i, want + len, sizeof(want) - len);
		len += strlen(want + len);
	}
	want[len] = 0;
	prints(from, to, want);
}

static struct rn_flow flow_of(uint32_t root)
{
	return (struct rn_flow){ .rules = rules,
				 .root = root,
				 .length = rn_rules_length(rules, root) };
}

static struct rn_nested look(struct rn_nesting *n, uint32_t root)
{
	struct rn_flow flow = flow_of(root);
	struct rn_nested of;

	CHECK(rn_nesting_look(n, &flow, &of) == RN_OK);
	return of;
}

/* The symbols of the flow are those of the model. */
static void compare_flow(const struct rn_flow *f, const struct rn_stream_loops *loops)
{
	struct rn_nesting *n = rn_nesting_new(&mem, &vocab, sigs, rules, f->loops);
	struct rn_nested of;
	struct rn_walk w;

	CHECK(n && rn_walk_flow(&w, f, &mem) == RN_OK);
	model_stream();
	CHECK(rn_nesting_look(n, f, &of) == RN_OK);
	CHECK(!of.wrong == !model.wrong && of.numbers == model.numbers);
	compare_seeks(n, &of, &w);
	if (!model.wrong)
		compare_leaves(n, &w);
	make_trace_of(f->root, loops);
	compare_lines(0, UINT64_MAX);
	for (int i = 0; i < 10; i++) {
		uint64_t from = tap_below(model.numbers + 2);

		rn_printer_hold(printer, i % 2 ? tap_below(200) : RN_PRINTER_HELD);
		compare_lines(from, from + tap_below(model.numbers + 2));
	}
	rn_printer_free(printer);
}

static bool compare(uint32_t root)
{
	struct rn_flow flow = flow_of(root);
	struct rn_walk w;

	if (flow.length > MOST)
		return false;
	CHECK(rn_walk_init(&w, rules, root, &mem) == RN_OK);
	model.n = rn_walk_read(&w, model.symbol, MOST);
	compare_flow(&flow, NULL);
	return true;
}

/*
 * Streams
 */

/* A program that makes calls and returns from them. `odds` of 100 symbols are arbitrary. */
static uint32_t random_program(uint64_t odds)
{
	struct rn_grammar *g = rn_grammar_new(&mem, NULL);
	uint64_t phases = 1 + tap_below(4), depth = 0;
	uint32_t root;

	for (; phases; phases--) {
		uint64_t seed = tap_rand(), times = 1 + tap_below(30), ops = 1 + tap_below(20);

		for (uint64_t i = 0; i < times * ops; i++) {
			uint64_t x = (seed ^ (i % ops + 1) * 0x9e3779b97f4a7c15u) >> 40;
			bool leaves = x % 3 == 1 && depth;

			if (tap_below(100) < odds)
				rn_grammar_append(g, (uint32_t)tap_below(SIGS));
			else if (x % 3 == 0 && depth < x / 3 % 12)
				depth++, rn_grammar_append(g, ENTER);
			else if (leaves)
				depth--, rn_grammar_append(g, LEAVE);
			if (x % 3 == 2 || leaves)
				rn_grammar_append(g, (uint32_t)(x / 3 % CALLS));
			if (x % 5 == 0)
				rn_grammar_append(g, ENDED);
		}
	}
	while (tap_below(4) && depth--) {
		rn_grammar_append(g, LEAVE);
		if (tap_below(8) || depth)
			rn_grammar_append(g, 0);
	}
	CHECK(rn_rules_seal(rules, g, &root) == RN_OK);
	return root;
}

/* Rules that a grammar would not build, with markers that rarely match. */
static uint32_t random_rules(uint64_t markers)
{
	uint32_t rule = 0;
	uint64_t n = 1 + tap_below(8);

	for (uint64_t i = 0; i < n; i++) {
		struct rn_item item[6];
		uint64_t items = 1 + tap_below(6);

		for (uint64_t k = 0; k < items; k++) {
			uint32_t symbol[8], lit = 0;
			uint64_t kind = tap_below(5), len = 1 + tap_below(8);

			for (uint64_t s = 0; s < len; s++)
				symbol[s] = (uint32_t)tap_below(CALLS + markers);
			CHECK(rn_rules_add_literal(rules, symbol, len, &lit) == RN_OK);
			item[k] = (struct rn_item){ .id = symbol[0],
						    .kind = RN_KIND_TERMINAL,
						    .count = 1 + tap_below(4) };
			if (kind == 0) {
				item[k].id = lit;
				item[k].kind = RN_KIND_LITERAL;
			} else if (kind < 4 && rn_rules_count(rules)) {
				item[k].id = (uint32_t)tap_below(rn_rules_count(rules));
				item[k].kind = RN_KIND_RULE;
			}
		}
		CHECK(rn_rules_add(rules, item, (uint32_t)items, &rule) == RN_OK);
	}
	return rule;
}

static void test_random(void)
{
	unsigned nested = 0, wrong = 0;

	for (int round = 0; round < 4000; round++) {
		uint32_t root;

		begin();
		if (round % 4 == 0)
			root = random_rules((uint64_t)round / 4 % 4);
		else
			root = random_program(round % 4 == 1 ? 2 : 0);
		if (compare(root)) {
			nested += !model.wrong && model.numbers < model.n;
			wrong += model.wrong;
		}
		rn_arena_free(&mem);
	}
	CHECK(nested > 1000 && wrong > 500);
}

/* Markers that match for every number of iterations, or arbitrary ones if any_markers is true. */
static bool any_markers;

static uint32_t nested_items(const struct random_loops *r, struct rn_item *to)
{
	const struct rn_item enter = { .id = ENTER, .kind = RN_KIND_TERMINAL, .count = 1 };
	struct rn_item leave = enter, call = enter;

	leave.id = LEAVE;
	call.id = (uint32_t)tap_below(CALLS);
	if (any_markers && tap_below(8) == 0) {
		*to = random_item(r, (uint32_t)tap_below(SIGS));
		return 1;
	}
	switch (tap_below(6)) {
	case 0:
		to[0] = enter;
		to[1] = random_item(r, 0);
		to[2] = leave;
		to[3] = call;
		return 4;
	case 1: /* cut in the middle, so that it begins inside a call */
		to[0] = random_item(r, 1);
		to[1] = leave;
		to[2] = call;
		to[3] = enter;
		return any_markers ? 4 : 1;
	default:
		*to = random_item(r, (uint32_t)tap_below(CALLS));
		return 1;
	}
}

static void test_loops(void)
{
	unsigned nested = 0, wrong = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct random_loops *r;
		struct rn_stream_loops l;

		begin();
		r = rn_new(&mem, struct random_loops, 1);
		r->rules = rules;
		r->symbols = SIGS;
		r->symbol = model.symbol;
		r->room = MOST / 4;
		any_markers = round % 2;
		if (random_loops(r, &mem, nested_items)) {
			model.n = r->n;
			l = (struct rn_stream_loops){ r->set, r->series, r->rounds, &r->n };
			compare_flow(&r->flow, &l);
			nested += !model.wrong && model.numbers < model.n;
			wrong += model.wrong;
		}
		rn_arena_free(&mem);
	}
	CHECK(nested > 500 && wrong > 200);
	ok("%u streams with loops and calls inside calls, %u wrong ones", nested, wrong);
}

static uint32_t add_rule(const struct rn_item *item, uint32_t n)
{
	uint32_t rule;

	CHECK(rn_rules_add(rules, item, n, &rule) == RN_OK);
	return rule;
}

static struct rn_item terminal(uint32_t id, uint64_t count)
{
	return (struct rn_item){ .id = id, .kind = RN_KIND_TERMINAL, .count = count };
}

static struct rn_item rule(uint32_t id, uint64_t count)
{
	return (struct rn_item){ .id = id, .kind = RN_KIND_RULE, .count = count };
}

#define BODY(...)                                         \
	add_rule((const struct rn_item[]){ __VA_ARGS__ }, \
		 sizeof((const struct rn_item[]){ __VA_ARGS__ }) / sizeof(struct rn_item))

/* Streams of maximum length: a call is found in constant time. */
static void test_long(void)
{
	const uint64_t huge = (uint64_t)1 << 50;
	clock_t start = clock();
	uint32_t root;

	/* A loop of calls with a nested call each. Printing starts in the middle of it. */
	begin();
	root = BODY(terminal(LEAVE, 1), terminal(1, 1), terminal(ENTER, 1), terminal(0, 1));
	make_trace(BODY(terminal(ENTER, 1), terminal(0, 1), rule(root, huge), terminal(LEAVE, 1),
			terminal(1, 1), terminal(2, 1)));
	prints(huge, huge + 3,
	       "0 1125899906842624 f(x=1) = 0\n0 1125899906842625 f(x=0) = 0 <1125899906842624>\n"
	       "0 1125899906842626 f(x=1) = 0\n");
	prints(huge + 1, huge + 2, "0 1125899906842625 f(x=0) = 0 <1125899906842624>\n");
	prints(2 * huge + 2, UINT64_MAX, "0 2251799813685250 f(x=2) = 0\n");
	rn_printer_free(printer);

	/* Nested rules instead of a loop. */
	for (int i = 0; i < 50; i++)
		root = BODY(rule(root, 1), terminal(LEAVE, 1), terminal(2, 1), terminal(ENTER, 1),
			    rule(root, 1));
	make_trace(BODY(terminal(ENTER, 1), rule(root, 1), terminal(LEAVE, 1), terminal(3, 1)));
	prints(0, 1, "0 0 f(x=1) = 0\n");
	prints(huge + huge / 2 - 2, huge + huge / 2 + 1,
	       "0 1688849860263934 f(x=2) = 0\n0 1688849860263935 f(x=0) = 0 <1688849860263934>\n"
	       "0 1688849860263936 f(x=1) = 0\n");
	rn_printer_free(printer);

	/* All calls are nested in one call, which ends or does not end. */
	make_trace(BODY(terminal(ENTER, 1), terminal(0, huge), terminal(LEAVE, 1), terminal(1, 1)));
	prints(0, 2, "0 0 f(x=1) = 0\n0 1 f(x=0) = 0 <0>\n");
	prints(huge, UINT64_MAX, "0 1125899906842624 f(x=0) = 0 <0>\n");
	rn_printer_free(printer);
	make_trace(BODY(terminal(ENTER, 1), terminal(0, huge)));
	prints(0, 2, "0 1 f(x=0) = 0 <0>\n");
	rn_printer_free(printer);

	/* A call that is followed only by markers. */
	make_trace(BODY(terminal(0, 1), terminal(ENTER, huge)));
	prints(0, UINT64_MAX, "0 0 f(x=0) = 0\n");
	rn_printer_free(printer);
	rn_arena_free(&mem);
	CHECK(clock() - start < CLOCKS_PER_SEC);
}

/* A call that is printed before its nested calls and has no value for its elastic slot. This is an
 * error, whatever follows it. */
static void test_no_values(void)
{
	unsigned char bytes[CALL_BUFFER];
	struct rn_buf w;
	struct rn_buf out = { 0 };
	size_t len;
	uint32_t id;
	int rc;

	begin();
	call_begin(&w, bytes, sizeof(bytes), 0);
	rn_call_elastic(&w, RN_ELASTIC_INT, 0);
	CHECK(call_end(&w, 0, &len) == RN_OK);
	CHECK(rn_sigs_intern(sigs, bytes, len, &id) == RN_OK && id == SIGS);
	make_trace(BODY(terminal(ENTER, 2), terminal(0, 2), terminal(LEAVE, 1), terminal(SIGS, 1),
			terminal(LEAVE, 1), terminal(1, 1)));
	rn_printer_free(printer);
	CHECK(WHOLE("\0\0", 2, NULL,
		    rn_value_list_decode(&mem, &whole, sigs, 1, &trace.values, NULL)) == RN_OK);
	printer = rn_printer_new(&mem, &trace, rn_decode_text);
	for (size_t hold = 0; hold < 200; hold += 100) {
		rn_printer_hold(printer, hold);
		CHECK(rn_printer_begin(printer, 0, 0, 0, UINT64_MAX) == RN_OK);
		do
			rc = rn_printer_next(printer, &out);
		while (rc > 0);
		CHECK(rc == RN_E_DATA);
	}
	rn_buf_free(&out);
	rn_printer_free(printer);
	rn_arena_free(&mem);
}

static void test_depth(void)
{
	struct rn_nesting *n;
	uint32_t fits, deep;

	begin();
	deep = BODY(terminal(LEAVE, 1), terminal(1, 1));
	fits = BODY(terminal(ENTER, RN_NESTING_MAX), terminal(0, 1), rule(deep, RN_NESTING_MAX));
	deep = BODY(terminal(ENTER, RN_NESTING_MAX + 1), terminal(0, 1),
		    rule(deep, RN_NESTING_MAX + 1));
	CHECK(compare(fits) && !model.wrong && model.numbers == RN_NESTING_MAX + 1);
	CHECK(compare(deep) && model.wrong);
	n = rn_nesting_new(&mem, &vocab, sigs, rules, NULL);
	CHECK(strstr(look(n, deep).wrong, "too deep") != NULL);
	rn_arena_free(&mem);
}

/* Without markers no nesting is computed: the ordinal of a call is its position. */
static void test_none(void)
{
	uint64_t open[RN_NESTING_MAX];
	uint32_t depth, root;
	struct rn_nesting *n;
	struct rn_nested of;
	struct rn_walk w;
	size_t used;

	begin();
	root = BODY(terminal(0, 5), terminal(1, 5));
	used = (size_t)(mem.end - mem.beg);
	n = rn_nesting_new(&mem, &plain, sigs, rules, NULL);
	CHECK(used - (size_t)(mem.end - mem.beg) < 100);
	CHECK(rn_walk_init(&w, rules, root, &mem) == RN_OK);
	of = look(n, root);
	CHECK(of.numbers == 10 && !of.wrong);
	CHECK(rn_nesting_marker(n, ENTER) == RN_MARKER_NONE && !rn_nesting_leave(n, &w));
	CHECK(rn_nesting_seek(n, &of, &w, 7, open, &depth) == RN_OK && depth == 0 &&
	      rn_walk_pos(&w) == 7);
	CHECK(rn_nesting_seek(n, &of, &w, 10, open, &depth) == RN_E_RANGE);
	rn_arena_free(&mem);
}

static void test_counts(void)
{
	const struct rn_markers m = rn_markers_of(&vocab), none = rn_markers_of(&plain);
	struct rn_reader ranks = rn_reader("\x1a\x00\x02", 3); /* 0, 1, 2 */
	struct rn_units *three;
	uint64_t calls;

	begin();
	make_trace(BODY(terminal(ENTER, 1), terminal(0, 5), terminal(LEAVE, 1), terminal(1, 1)));
	CHECK(rn_units_decode(&mem, &ranks, &three, NULL) == RN_OK);
	group.ranks = three;
	CHECK(rn_markers_any(&m) && rn_markers_calls(&m, &streams, &mem, &calls) == RN_OK);
	CHECK(calls == 18);
	CHECK(!rn_markers_any(&none) && rn_markers_calls(&none, &streams, &mem, &calls) == RN_OK);
	CHECK(calls == 24);
	rn_printer_free(printer);
	rn_arena_free(&mem);
}

/* Every allocation fails once, and every growth of a buffer fails once. */
static void test_memory(void)
{
	struct rn_buf out = { 0 };
	uint32_t root;
	int rc = RN_E_NOMEM;

	begin();
	root = BODY(terminal(ENTER, 1), terminal(0, 40), terminal(LEAVE, 1), terminal(1, 1));
	for (uint64_t k = 1; k < 20; k++) {
		mem.fail_at = k;
		make_trace(root);
		CHECK(printer || mem.fail_at == 0);
		rn_printer_free(printer);
	}
	mem.fail_at = 0;
	for (uint64_t k = 1; rc < 0 && k < 100; k++) {
		make_trace(root);
		rn_buf_clear(&out);
		rn_buf_fail_at(k);
		CHECK(rn_printer_begin(printer, 0, 0, 0, UINT64_MAX) == RN_OK);
		do
			rc = rn_printer_next(printer, &out);
		while (rc > 0);
		rn_buf_fail_at(0);
		CHECK(rc == 0 || rc == RN_E_NOMEM);
		if (rc == 0)
			rc = rn_buf_status(&out);
		rn_printer_free(printer);
		if (rc < 0)
			rn_buf_free(&out), out = (struct rn_buf){ 0 };
	}
	CHECK(rc == RN_OK);
	rn_buf_free(&out);
	rn_arena_free(&mem);
}

int main(void)
{
	test_random();
	ok("numbers, parents and lines are those of a model, wherever reading begins");
	test_loops();
	test_long();
	ok("streams of 2^50 calls take no time");
	test_no_values();
	ok("a call without its numbers is an error");
	test_depth();
	ok("there is a limit to how deep calls are inside calls");
	test_none();
	test_counts();
	ok("markers are not counted, and cost nothing where there are none");
	test_memory();
	ok("running out of memory is noticed");
	return tap_done();
}
