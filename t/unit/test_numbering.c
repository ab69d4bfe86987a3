/* test_numbering.c - request numbers, compared with a list that is searched call by call. */
#include "random_loops.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/intern.h"
#include "encode/signature.h"
#include "encode/template.h"
#include "read/request_numbering.h"
#include "rules/loop_stream.h"
#include "rules/rules.h"
#include "call_writer.h"

static const struct rn_func func = { 0, "f", (const char *const[]){ "x" }, 1, NULL };
static const struct rn_word words[] = {
	{ 0, "request" }, { 1, "request-" }, { 2, "request+" }, { 3, "heap" }
};
static const struct rn_vocab vocab = { &func, words, 1, 4 };

enum what { NOTHING, CREATE, USE, END };

/* The effects of a signature on requests: a list of steps. */
struct sig {
	struct {
		enum what what;
		int64_t shape, slot;
	} step[4];
	unsigned n;
};

#define SIGS   12
#define SHAPES 4
#define SLOTS  4

static struct sig sig[SIGS];
static struct rn_arena mem;
static struct rn_sigs *sigs;
static struct rn_rules *rules;

static void write_sig(unsigned i)
{
	unsigned char bytes[CALL_BUFFER];
	struct rn_buf w;
	size_t len;
	uint32_t id;

	call_begin(&w, bytes, sizeof(bytes), 0);
	rn_call_list(&w, sig[i].n + 1);
	for (unsigned k = 0; k < sig[i].n; k++) {
		if (sig[i].step[k].what == CREATE)
			rn_call_const(&w, 2);
		else
			rn_call_place(&w, sig[i].step[k].what == END,
				      (uint64_t)sig[i].step[k].shape, sig[i].step[k].slot);
	}
	rn_call_place(&w, 3, i, 0); /* makes it different from the others */
	CHECK(call_end(&w, 0, &len) == RN_OK && rn_call_valid(bytes, len, &vocab));
	CHECK(rn_sigs_intern(sigs, bytes, len, &id) == RN_OK && id == i);
}

static void random_sigs(void)
{
	for (unsigned i = 0; i < SIGS; i++) {
		sig[i].n = tap_below(3) ? 1 + (unsigned)tap_below(2) : 0;
		for (unsigned k = 0; k < sig[i].n; k++) {
			sig[i].step[k].what = CREATE + (enum what)tap_below(3);
			sig[i].step[k].shape = (int64_t)tap_below(SHAPES);
			sig[i].step[k].slot = (int64_t)tap_below(SLOTS);
		}
		write_sig(i);
	}
}

/* Out-of-range creators and indices are not found and do no damage. */
static void strange_sigs(void)
{
	static const int64_t odd[] = { INT64_MIN, -1, RN_REQUESTS_MAX, UINT32_MAX, INT64_MAX };

	for (unsigned i = 0; i < SIGS; i++) {
		sig[i].n = 1;
		sig[i].step[0].what = i % 2 ? END : i % 4 ? USE : CREATE;
		sig[i].step[0].shape = odd[i % 5];
		sig[i].step[0].slot = odd[i / 2 % 5];
		write_sig(i);
	}
}

static uint32_t random_literal(void)
{
	uint32_t symbol[20], lit;
	uint64_t n = 1 + tap_below(20);

	for (uint64_t i = 0; i < n; i++)
		symbol[i] = (uint32_t)tap_below(SIGS);
	CHECK(rn_rules_add_literal(rules, symbol, n, &lit) == RN_OK);
	return lit;
}

/* Nested rules with counts; the last one is the start rule. */
static uint32_t random_rules(unsigned n)
{
	uint32_t rule = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rn_item item[6];
		unsigned items = 1 + (unsigned)tap_below(6);

		for (unsigned k = 0; k < items; k++) {
			uint64_t kind = tap_below(5);

			item[k] = (struct rn_item){ .count = 1 + tap_below(4) };
			item[k].id = (uint32_t)tap_below(SIGS);
			item[k].kind = RN_KIND_TERMINAL;
			if (kind == 0) {
				item[k].id = random_literal();
				item[k].kind = RN_KIND_LITERAL;
			} else if (kind < 4 && rn_rules_count(rules)) {
				item[k].id = (uint32_t)tap_below(rn_rules_count(rules));
				item[k].kind = RN_KIND_RULE;
			}
		}
		CHECK(rn_rules_add(rules, item, items, &rule) == RN_OK);
	}
	return rule;
}

/* The model. */
static struct {
	uint64_t number[SIGS][256]; /* by creator and index; UINT64_MAX: no request */
	int64_t shape[SIGS];        /* creator of each signature */
	unsigned shapes;
	uint64_t next;
	bool wrong;
} model;

static void model_begin(void)
{
	memset(&model, 0, sizeof(model));
	memset(model.number, 0xff, sizeof(model.number));
	memset(model.shape, 0xff, sizeof(model.shape));
}

static bool model_find(int64_t shape, int64_t slot, uint64_t *number)
{
	if (shape < 0 || slot < 0 || shape >= SIGS || slot >= 256)
		return false;
	*number = model.number[shape][slot];
	return *number != UINT64_MAX;
}

static bool model_call(uint32_t s)
{
	for (unsigned k = 0; k < sig[s].n; k++) {
		int64_t shape = sig[s].step[k].shape, slot = sig[s].step[k].slot;
		uint64_t number;

		if (sig[s].step[k].what == CREATE) {
			if (model.shape[s] < 0)
				model.shape[s] = (int64_t)model.shapes++;
			for (slot = 0; model.number[model.shape[s]][slot] != UINT64_MAX;)
				if (++slot == 256)
					return false;
			model.number[model.shape[s]][slot] = model.next++;
			continue;
		}
		if (!model_find(shape, slot, &number))
			model.wrong = true;
		else if (sig[s].step[k].what == END)
			model.number[shape][slot] = UINT64_MAX;
	}
	return true;
}

/* Whether numbering and model agree about every possible request. */
static bool agrees(const struct rn_numbering *n)
{
	bool good = rn_numbering_next(n) == model.next;

	for (int64_t shape = -1; shape <= SIGS; shape++) {
		for (int64_t slot = -1; slot <= 256; slot++) {
			uint64_t a = 0, b = 0;
			bool has = rn_numbering_find(n, (uint64_t)shape, slot, &a);

			good &= has == model_find(shape, slot, &b) && (!has || a == b);
		}
	}
	return good;
}

static struct rn_flow flow_of(uint32_t root)
{
	return (struct rn_flow){ .rules = rules,
				 .root = root,
				 .length = rn_rules_length(rules, root) };
}

/* Compares a stream with the model. Returns false if the model has no room for it. */
static bool compare_stream(struct rn_numbering *n, const struct rn_flow *of)
{
	struct rn_walk w, to;
	uint64_t length = of->length;
	uint64_t patience = UINT64_MAX;
	uint32_t t, wrong;
	int rc;

	CHECK(rn_walk_flow(&w, of, &mem) == RN_OK);
	CHECK(rn_walk_flow(&to, of, &mem) == RN_OK);
	model_begin();
	for (uint64_t k = 0; rn_walk_next(&w, &t) == 1; k++) {
		if (tap_below(length) < 8) {
			CHECK(rn_walk_seek(&to, k) == RN_OK);
			CHECK(rn_numbering_seek(n, &to) == RN_OK);
			CHECK(agrees(n));
		}
		if (!model_call(t))
			return false;
		CHECK(rn_numbering_call(n, t, NULL) == RN_OK);
	}
	CHECK(rn_walk_seek(&to, length) == RN_OK);
	CHECK(rn_numbering_seek(n, &to) == RN_OK);
	CHECK(agrees(n));
	rc = rn_numbering_check(n, of, &patience, &wrong);
	CHECK(rc == (model.wrong ? RN_E_DATA : RN_OK));
	CHECK(rc == RN_OK || wrong < SIGS);
	return true;
}

static void test_random(void (*make_sigs)(void))
{
	unsigned done = 0;

	for (int round = 0; round < 1500; round++) {
		struct rn_numbering *n;
		struct rn_flow of;

		rn_arena_init(&mem, SIZE_MAX);
		sigs = rn_sigs_new(&mem);
		rules = rn_rules_new(&mem);
		make_sigs();
		of = flow_of(random_rules(1 + (unsigned)tap_below(8)));
		n = rn_numbering_new(&mem, &vocab, sigs, rules, NULL);
		if (CHECK(n != NULL) && of.length < 20000)
			done += compare_stream(n, &of);
		rn_numbering_free(n);
		rn_arena_free(&mem);
	}
	CHECK(done > 500);
}

static uint32_t any_items(const struct random_loops *r, struct rn_item *to)
{
	*to = random_item(r, (uint32_t)tap_below(SIGS));
	return 1;
}

/* Loops with any number of iterations that contain requests. */
static void test_loops(void (*make_sigs)(void))
{
	static uint32_t symbol[3000];
	unsigned done = 0;

	for (int round = 0; round < 800; round++) {
		struct rn_numbering *n;
		struct random_loops *r;

		rn_arena_init(&mem, SIZE_MAX);
		sigs = rn_sigs_new(&mem);
		rules = rn_rules_new(&mem);
		make_sigs();
		r = rn_new(&mem, struct random_loops, 1);
		r->rules = rules;
		r->symbols = SIGS;
		r->symbol = symbol;
		r->room = sizeof(symbol) / sizeof(*symbol);
		if (random_loops(r, &mem, any_items)) {
			n = rn_numbering_new(&mem, &vocab, sigs, rules, r->set);
			CHECK(n != NULL);
			done += compare_stream(n, &r->flow);
			rn_numbering_free(n);
		}
		rn_arena_free(&mem);
	}
	CHECK(done > 200);
}

/* Two signatures create requests. For the indices 0 and 1 of both creators, one signature each ends
 * the request. */
static void paired_sigs(void)
{
	for (unsigned i = 0; i < SIGS; i++) {
		sig[i].n = i < 2 ? 1 : i < 6 ? 2 : 0;
		sig[i].step[0].what = i < 2 ? CREATE : USE;
		sig[i].step[1].what = END;
		for (unsigned k = 0; k < 2; k++) {
			sig[i].step[k].shape = i % 2;
			sig[i].step[k].slot = i / 2 % 2 == 0; /* 2 and 3: index 0 */
		}
		write_sig(i);
	}
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

/* A request is created at the end of each iteration and completed in the next one. Some request is
 * always open, but another one in each iteration. */
static uint32_t rolling(uint64_t times)
{
	/* create 0, then: (create 1, end (1, 0), end (0, 0), create 0) times */
	const struct rn_item body[] = { terminal(1, 1), terminal(3, 1), terminal(2, 1),
					terminal(0, 1) };
	const struct rn_item root[] = { terminal(0, 1), rule(add_rule(body, 4), times),
					terminal(6, 1) };

	return add_rule(root, 3);
}

/* Streams of maximum length, nested loops, and doublings without a loop: a request is found
 * quickly. */
static void test_long(void)
{
	clock_t start = clock();
	struct rn_numbering *n;
	struct rn_walk w;
	uint64_t number, patience = 1000, none = 3;
	uint32_t root, wrong, roll;
	struct rn_flow of, rolls;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = rn_sigs_new(&mem);
	rules = rn_rules_new(&mem);
	paired_sigs();
	roll = rolling((uint64_t)1 << 50);
	root = add_rule((const struct rn_item[]){ terminal(0, 1), terminal(2, 1) }, 2);
	for (int i = 0; i < 50; i++)
		root = add_rule((const struct rn_item[]){ rule(root, 1),
							  terminal((uint32_t)(6 + i % 2), 1),
							  rule(root, 1) },
				3);
	n = rn_numbering_new(&mem, &vocab, sigs, rules, NULL);
	of = flow_of(root);
	rolls = flow_of(roll);
	CHECK(rn_numbering_check(n, &of, &patience, &wrong) == RN_OK);
	CHECK(rn_numbering_check(n, &rolls, &patience, &wrong) == RN_OK && patience > 0);
	CHECK(rn_numbering_check(n, &rolls, &none, &wrong) == RN_E_RANGE && none == 0);
	CHECK(rn_walk_init(&w, rules, root, &mem) == RN_OK);
	CHECK(rn_walk_seek(&w, rn_rules_length(rules, root)) == RN_OK);
	CHECK(rn_numbering_seek(n, &w) == RN_OK && rn_numbering_next(n) == (uint64_t)1 << 50);
	CHECK(rn_walk_init(&w, rules, roll, &mem) == RN_OK);
	CHECK(rn_walk_seek(&w, rn_rules_length(rules, roll) - 1) == RN_OK);
	CHECK(rn_numbering_seek(n, &w) == RN_OK);
	CHECK(rn_numbering_next(n) == ((uint64_t)1 << 51) + 1);
	CHECK(rn_numbering_find(n, 0, 0, &number) && number == (uint64_t)1 << 51);
	CHECK(clock() - start < CLOCKS_PER_SEC);
	rn_numbering_free(n);
	rn_arena_free(&mem);
}

/* Rule P occurs in two states, and one of its repeats is traversed in part. */
static void test_partial_repeat(void)
{
	struct rn_numbering *n;
	struct rn_walk all, to;
	struct rn_flow of;
	uint32_t p, q, x, r, root, t;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = rn_sigs_new(&mem);
	rules = rn_rules_new(&mem);
	paired_sigs();
	p = add_rule((const struct rn_item[]){ terminal(1, 1), terminal(3, 1) }, 2);
	q = add_rule((const struct rn_item[]){ terminal(1, 1), terminal(3, 1), terminal(6, 1) }, 3);
	x = add_rule((const struct rn_item[]){ rule(p, 1), rule(q, 1) }, 2);
	r = add_rule((const struct rn_item[]){ rule(x, 1), terminal(0, 1), rule(x, 1),
					       terminal(2, 1), rule(p, 1), terminal(0, 1),
					       rule(p, 1), terminal(2, 1), terminal(6, 1) },
		     9);
	root = add_rule((const struct rn_item[]){ terminal(0, 1), terminal(2, 1), rule(r, 10),
						  terminal(7, 1) },
			4);
	n = rn_numbering_new(&mem, &vocab, sigs, rules, NULL);
	of = flow_of(root);
	CHECK(rn_walk_flow(&all, &of, &mem) == RN_OK && rn_walk_flow(&to, &of, &mem) == RN_OK);
	model_begin();
	for (uint64_t k = 0; rn_walk_next(&all, &t) == 1; k++) {
		CHECK(rn_walk_seek(&to, k) == RN_OK && rn_numbering_seek(n, &to) == RN_OK);
		CHECK(agrees(n));
		model_call(t);
	}
	rn_numbering_free(n);
	rn_arena_free(&mem);
}

/* A call with 2,000 requests that is made 2,000 times. The limit is a quarter of the requests. */
static void test_steps(void)
{
	enum { REQUESTS = 2000 };
	static unsigned char bytes[1 << 16];
	uint64_t patience = REQUESTS * REQUESTS / 4;
	struct rn_numbering *n;
	uint32_t id, body, root, wrong;
	struct rn_buf w;
	struct rn_flow of;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = rn_sigs_new(&mem);
	rules = rn_rules_new(&mem);
	paired_sigs();
	call_begin(&w, bytes, sizeof(bytes), 0);
	rn_call_list(&w, REQUESTS);
	for (int64_t k = 0; k < REQUESTS; k++)
		rn_call_place(&w, 0, 0, k);
	CHECK(call_end(&w, 0, &len) == RN_OK && rn_call_valid(bytes, len, &vocab));
	CHECK(rn_sigs_intern(sigs, bytes, len, &id) == RN_OK);
	body = add_rule((const struct rn_item[]){ terminal(0, 1), terminal(id, 1) }, 2);
	root = add_rule((const struct rn_item[]){ terminal(0, REQUESTS), rule(body, REQUESTS) }, 2);
	n = rn_numbering_new(&mem, &vocab, sigs, rules, NULL);
	of = flow_of(root);
	CHECK(rn_numbering_check(n, &of, &patience, &wrong) == RN_E_RANGE);
	rn_numbering_free(n);
	rn_arena_free(&mem);
}

int main(void)
{
	test_random(random_sigs);
	ok("numbers are those of a model, wherever reading begins");
	test_random(paired_sigs);
	test_random(strange_sigs);
	test_loops(random_sigs);
	test_loops(paired_sigs);
	ok("also when less is wrong, and when everything is");
	test_long();
	ok("streams of 2^50 calls take no time");
	test_partial_repeat();
	ok("numbers are right inside a repeat that the search passes in part");
	test_steps();
	ok("each request of a call counts as a step");
	return tap_done();
}
