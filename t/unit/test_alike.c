/*
 * test_alike.c - stack clusters: calls from one cluster share a signature, whatever ids the stacks
 * have in their process, and the elastic values identify the stack of each call.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/callsite.h"
#include "encode/elastic_slots.h"
#include "encode/process_table.h"
#include "encode/template.h"
#include "encode/time_stats.h"
#include "take_sites.h"
#include "encode/rank_expr.h"
#include "identity/comm_table.h"
#include "merge/canonicalize.h"
#include "model/elastic_values.h"
#include "series/units.h"
#include "tap.h"
#include "whole.h"

#include <string.h>

#define STACKS 40
#define CALLS  500

/* ---- stacks ---- */

static const struct rn_code_module modules[] = { { "app", 3, NULL, 0 },
						 { "app", 3, (const unsigned char *)"ab", 2 } };

/* Returns stack i. The stacks differ in frame 2 of three. */
static struct rn_callsite stack(uint64_t i)
{
	struct rn_callsite s = { .frames = 0 };

	rn_callsite_add(&s, modules[0], 100);
	rn_callsite_add(&s, modules[i % 2], 1000 - i);
	rn_callsite_add(&s, modules[0], 300);
	return s;
}

static void test_match(void)
{
	struct rn_callsite a = stack(0), b = stack(3), c = stack(3), none = { .frames = 0 };

	CHECK(rn_callsite_alike(&a, &a, 0) && !rn_callsite_alike(&a, &b, 0));
	CHECK(rn_callsite_alike(&a, &b, 1) && rn_callsite_alike(&b, &a, 1));
	c.frame[2].offset++;
	CHECK(!rn_callsite_alike(&a, &c, 1) && rn_callsite_alike(&a, &c, 2));
	CHECK(rn_callsite_alike(&b, &c, 1));
	c = b;
	c.frame[0].offset++; /* the innermost frame */
	CHECK(!rn_callsite_alike(&b, &c, RN_CALLSITE_FRAMES));
	c = b;
	rn_callsite_add(&c, modules[0], 400);
	CHECK(!rn_callsite_alike(&b, &c, RN_CALLSITE_FRAMES));
	CHECK(!rn_callsite_alike(&none, &none, RN_CALLSITE_FRAMES));
	c = b;
	c.frame[1].module = !c.frame[1].module; /* another build of the same file */
	CHECK(!rn_callsite_alike(&b, &c, 0) && rn_callsite_alike(&b, &c, 1));
}

/* ---- a process ---- */

/* A process whose stacks have ids that depend on `shift`. */
struct process {
	struct rn_arena mem;
	unsigned shift;
	struct rn_process_table table;
	struct rn_stream_calls calls;
	struct rn_sigs *words, *sigs;
	struct rn_times times;
	struct rn_seg holes;
	struct rn_values values;
	uint32_t map[8];
	uint64_t lost;
};

static uint32_t number_of(const struct process *p, unsigned i)
{
	return 2 + (i * 7 + p->shift) % STACKS;
}

static void add_stacks(struct process *p)
{
	for (unsigned i = 0; i < STACKS; i++) {
		struct rn_callsite s = stack(i);
		unsigned char bytes[1024];
		struct rn_object o = { .number = number_of(p, i) };
		uint32_t id;
		size_t len = rn_callsite_write(&s, bytes);

		CHECK(rn_sigs_intern(p->sigs, bytes, len, &id) == RN_OK);
		o.bytes = rn_sigs_get(p->sigs, id, &len);
		o.len = (uint32_t)len;
		CHECK(rn_objects_add(&p->table.sites, &p->mem, o) == RN_OK);
	}
	rn_objects_sort(&p->table.sites);
}

static uint64_t function(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return rn_mpi_vocab.func[i].number;
	CHECK(!"a function of that name");
	return 0;
}

static void begin(struct process *p, unsigned shift)
{
	*p = (struct process){ .shift = shift };
	rn_arena_init(&p->mem, SIZE_MAX);
	p->table = (struct rn_process_table){ .size = 1 };
	p->words = rn_sigs_new(&p->mem);
	p->sigs = rn_sigs_new(&p->mem); /* owns the bytes of the stacks */
	add_stacks(p);
	rn_times_init(&p->times, &p->mem, RN_TIME_SCALE_ONE);
	rn_seg_init(&p->holes, sizeof(struct rn_holes *));
	p->calls = (struct rn_stream_calls){
		&p->table, p->words, rn_sigs_new(&p->mem), rn_sigs_new(&p->mem),
		&p->times, &p->holes
	};
}

/* Adds a call with these words. Returns its elastic slots, or NULL if it has none. */
static struct rn_holes *add_call(struct process *p, const uint64_t *w, size_t n)
{
	struct rn_holes *h = rn_holes_valid(w, n) ? rn_holes_new(&p->mem, w, n) : NULL;
	uint32_t id;

	CHECK(rn_sigs_intern(p->words, w, n * sizeof(*w), &id) == RN_OK);
	rn_times_add(&p->times, id, 1, 1);
	if (h && h->n)
		CHECK(rn_holes_put(&p->holes, &p->mem, id, h));
	return h;
}

static struct rn_sigs *write_calls(struct process *p)
{
	struct rn_peers *peers = rn_peers_new(&p->mem);
	struct rn_choices *choices = NULL;
	struct rn_buf b = { 0 };
	struct rn_canonical_out out = { .tables = rn_comms_new(&p->mem),
					.sigs = rn_sigs_new(&p->mem),
					.map = p->map,
					.values = &p->values,
					.lost = &p->lost };

	CHECK(rn_canonical_collect(&p->calls, peers) == RN_OK);
	CHECK(rn_choices_encode(peers, &b) == RN_OK);
	CHECK(rn_choices_decode(&p->mem, b.data, b.len, &choices, NULL) == RN_OK);
	CHECK(rn_values_init(&p->values, &p->mem) == RN_OK);
	CHECK(rn_canonical_write(&p->calls, choices, &out) == RN_OK);
	rn_buf_free(&b);
	return out.sigs;
}

/* Returns value n of the last elastic slot of a signature. */
static int64_t value(const struct process *p, uint32_t sig, uint32_t hole, uint64_t n)
{
	struct rn_units *u;

	for (uint32_t i = 0; i < p->values.use.n; i++) {
		const struct rn_value_use *use = RN_SEG_AT(&p->values.use, struct rn_value_use, i);
		size_t len;
		const void *bytes = rn_sigs_get(p->values.series, use->series, &len);
		struct rn_reader in = rn_reader(bytes, len);
		struct rn_arena mem;
		int64_t v = -1;

		if (use->place.sig != sig || use->place.hole != hole)
			continue;
		rn_arena_init(&mem, SIZE_MAX);
		if (CHECK(rn_units_decode(&mem, &in, &u, NULL) == RN_OK))
			v = rn_units_at(u, n) + *RN_SEG_AT(&use->begin, int64_t, 0);
		rn_arena_free(&mem);
		return v;
	}
	CHECK(!"a series");
	return -1;
}

/* ---- round trip ---- */

/* The stack of call n, equal in both processes. */
static unsigned stack_of(unsigned n)
{
	return n < STACKS ? n : (n * n) % STACKS;
}

static struct rn_sigs *run(struct process *p, unsigned shift)
{
	uint64_t w[] = { function("MPI_Wtick"), 0, RN_RAW_HOLE };
	struct rn_holes *h;

	begin(p, shift);
	w[0] = RN_RAW_HEAD(w[0], number_of(p, 0)) | RN_RAW_ALIKE;
	h = add_call(p, w, 3);
	if (!CHECK(h && h->n == 1 && h->at[0] == 2))
		return NULL;
	for (unsigned n = 0; n < CALLS; n++) {
		const int64_t v = number_of(p, stack_of(n));

		CHECK(rn_holes_append_numbers(h, &v) == RN_OK);
	}
	return write_calls(p);
}

static bool same_stack(const void *bytes, size_t len, const struct rn_callsite *want)
{
	struct rn_callsite s;

	return rn_callsite_read(bytes, len, &s) && rn_callsite_alike(&s, want, 0);
}

static void check_calls(struct process *p, const void *sig, size_t len)
{
	const struct rn_keywords k = rn_keywords_of(&rn_mpi_vocab);
	struct rn_template t;
	uint32_t of_stack;

	CHECK(rn_template_parse(&p->mem, &k, sig, len, &t) == RN_OK && t.has_site);
	CHECK(rn_call_elastics(sig, len, &of_stack) == 1 && of_stack == 0);
	for (unsigned n = 0; n < CALLS; n++) {
		const int64_t v = value(p, p->map[0], 0, n);
		struct rn_callsite want = stack(stack_of(n));
		const struct rn_value *stack;

		CHECK(rn_template_fill(&t, &v));
		stack = &t.value[t.stack];
		CHECK(stack->kind == RN_V_STRING && same_stack(stack->text, stack->len, &want));
	}
}

/* Encodes the call sites as a section, with ids in place of stacks, as in a file. */
static void check_section(struct process *p, const struct rn_sigs *sigs)
{
	const struct rn_keywords k = rn_keywords_of(&rn_mpi_vocab);
	struct rn_buf section = { 0 };
	struct rn_template t;
	const struct rn_sigs *out;
	struct rn_sites s, fewer;
	struct rn_err err;
	const void *sig;
	size_t len;

	CHECK(take_sites(&p->mem, sigs, &rn_mpi_vocab, &out, &section) == RN_OK);
	if (!CHECK(WHOLE(section.data, section.len, &err,
			 rn_sites_decode(&p->mem, &whole, &s, &err)) == RN_OK))
		return;
	CHECK(s.nodes == 1 + 2 * STACKS);
	CHECK(rn_sites_fit(&s, out, &rn_mpi_vocab, &err) == RN_OK);
	fewer = s;
	fewer.nodes--;
	CHECK(rn_sites_fit(&fewer, out, &rn_mpi_vocab, &err) == RN_E_DATA);
	sig = rn_sigs_get(out, p->map[0], &len);
	CHECK(rn_call_valid(sig, len, &rn_mpi_vocab) && rn_call_elastics(sig, len, NULL) == 1);
	/* The first four bytes, function and return value, are a valid call without a call site. */
	for (size_t i = 0; i < len; i++)
		CHECK(!rn_call_valid(sig, i, &rn_mpi_vocab) || i == 4);
	CHECK(rn_template_parse(&p->mem, &k, sig, len, &t) == RN_OK && t.has_site && !t.site);
	for (int64_t v = -1; v <= STACKS; v++) {
		CHECK(rn_template_fill(&t, &v) == (v >= 0 && v < STACKS));
		CHECK((t.site > 0) == (v >= 0 && v < STACKS));
	}
	rn_buf_free(&section);
}

static void test_ranks(void)
{
	static struct process one, other;
	struct rn_sigs *a = run(&one, 0), *b = run(&other, 11);
	size_t n, m;
	const void *x = rn_sigs_get(a, one.map[0], &n), *y = rn_sigs_get(b, other.map[0], &m);

	CHECK(one.lost == 0 && other.lost == 0);
	CHECK(n == m && memcmp(x, y, n) == 0);
	check_calls(&one, x, n);
	check_calls(&other, y, m);
	check_section(&one, a);
	rn_arena_free(&one.mem);
	rn_arena_free(&other.mem);
}

/* ---- hostile ---- */

/* Stack ids that do not exist, and more of them than a cluster can have. */
static void test_numbers(void)
{
	static struct process p;
	const uint64_t w[] = { RN_RAW_HEAD(function("MPI_Wtick"), 5) | RN_RAW_ALIKE, 0,
			       RN_RAW_HOLE };
	struct rn_holes *h;
	struct rn_sigs *sigs;
	const struct rn_keywords k = rn_keywords_of(&rn_mpi_vocab);
	struct rn_template t;
	const void *sig;
	size_t len;

	begin(&p, 0);
	h = add_call(&p, w, 3);
	for (int64_t n = 0; h && n < CALLS; n++) {
		const int64_t v = n % 9 == 0 ? -n : n % 7 == 0 ? INT64_MAX - n : n * n;

		CHECK(rn_holes_append_numbers(h, &v) == RN_OK);
	}
	sigs = write_calls(&p);
	sig = rn_sigs_get(sigs, p.map[0], &len);
	CHECK(p.lost == 0 && rn_template_parse(&p.mem, &k, sig, len, &t) == RN_OK);
	for (uint64_t n = 0; n < CALLS; n++) {
		const int64_t v = value(&p, p.map[0], 0, n);

		CHECK(rn_template_fill(&t, &v));
	}
	rn_arena_free(&p.mem);
}

/* The elastic slot of the stack is missing, is not elastic, occurs twice, or is an alias. */
static void test_words(void)
{
	static struct process p;
	const uint64_t head = RN_RAW_HEAD(function("MPI_Wtick"), 5) | RN_RAW_ALIKE;
	const uint64_t missing[] = { head, 0 }, plain[] = { head, 0, 7 },
		       two[] = { head, 0, RN_RAW_HOLE, RN_RAW_HOLE },
		       same[] = { head, 0, RN_RAW_SAME(0) };
	struct rn_sigs *sigs;

	begin(&p, 0);
	CHECK(!rn_holes_valid(missing, 2) && !rn_holes_valid(two, 4) && !rn_holes_valid(same, 3));
	add_call(&p, missing, 2);
	add_call(&p, plain, 3);
	add_call(&p, two, 4);
	add_call(&p, same, 3);
	sigs = write_calls(&p);
	CHECK(p.lost == 4);
	for (uint32_t i = 0; i < 4; i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, p.map[i], &len);

		CHECK(rn_call_valid(sig, len, &rn_mpi_vocab));
	}
	rn_arena_free(&p.mem);
}

int main(void)
{
	test_match();
	ok("stacks are alike that differ in few frames, but not in the innermost");
	test_ranks();
	ok("ranks with the same stacks have the same signature, and each call its own stack");
	test_numbers();
	test_words();
	ok("numbers and words that make no sense are no stacks");
	return tap_done();
}
