/*
 * test_disorder.c - the measures of nondeterminism, and the comparison of two runs, against simple
 * models.
 *
 *	test_disorder FILE NAME     writes a trace for t1013-diff.t: `plain`, or a variant of it
 */
#include "tap.h"

#include <string.h>

#include "analysis/event_diff.h"
#include "analysis/nondeterminism.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "script_trace.h"

#define MOST    600u
#define THREADS 4u

static struct rn_arena mem;

static const struct rn_order_site sites[] = { { .kind = RN_ORDER_WAIT, .function = 1 },
					      { .kind = RN_ORDER_ANY, .function = 2 },
					      { .kind = RN_ORDER_SOME, .function = 3 },
					      { .kind = RN_ORDER_VALUE, .function = 4 } };

enum { WAIT, ANY, SOME, VALUE, SITES };

/* The events of a thread, while they are built. */
struct events {
	struct rn_order o;
	struct rn_order_row row[MOST];
	struct rn_order_done done[MOST];
	int64_t value[MOST];
	struct rn_order_send send[MOST];
};

static struct events thread[THREADS];

static void begin(struct events *e)
{
	memset(e, 0, sizeof(*e));
	e->o = (struct rn_order){ .site = sites,
				  .sites = SITES,
				  .row = e->row,
				  .done = e->done,
				  .value = e->value,
				  .send = e->send };
}

static void add_row(struct events *e, uint32_t site, uint32_t fails, uint32_t done)
{
	e->row[e->o.rows++] = (struct rn_order_row){ site, fails, done };
	if (site == VALUE)
		e->o.values += done;
}

static void add_done(struct events *e, uint32_t index, uint32_t late, int32_t source, int32_t tag)
{
	e->done[e->o.dones++] =
		(struct rn_order_done){ index, late, source, tag, RN_ORDER_MATCHED };
}

/* Adds a receive that is completed alone. */
static void receive(struct events *e, uint32_t site, uint32_t index, int32_t source, int32_t tag)
{
	add_row(e, site, 0, 1);
	add_done(e, index, 0, source, tag);
}

static struct rn_disorder look(size_t threads)
{
	struct rn_order o[THREADS];
	int32_t rank[THREADS];
	struct rn_disorder d = { 0 };

	for (size_t t = 0; t < threads; t++) {
		o[t] = thread[t].o;
		rank[t] = (int32_t)t;
	}
	CHECK(rn_disorder(&mem, o, rank, threads, THREADS, &d) == RN_OK);
	return d;
}

static const struct rn_disorder_site *find(const struct rn_disorder *d, uint32_t kind)
{
	for (uint32_t i = 0; i < d->sites; i++)
		if (d->site[i].site.kind == kind)
			return &d->site[i];
	CHECK(!"a site of that kind");
	return &d->all;
}

static void test_counts(void)
{
	struct rn_disorder d;

	begin(&thread[0]);
	add_row(&thread[0], SOME, 3, 2);
	add_done(&thread[0], 4, 1, 2, 7);
	add_done(&thread[0], 5, RN_ORDER_NOT, 0, 0);
	thread[0].done[1].flags = 0;
	add_row(&thread[0], SOME, 5, 0);
	add_row(&thread[0], VALUE, 0, 1);
	add_row(&thread[0], WAIT, 0, 1);
	add_done(&thread[0], 0, 0, 0, 0);
	thread[0].done[2].flags = RN_ORDER_CANCELLED;
	d = look(1);
	CHECK(d.sites == 2 && !d.clocks && d.all.calls == 10 && d.all.failed == 8);
	CHECK(d.all.done == 3 && d.all.received == 1 && d.all.late == 1);
	CHECK(d.site[0].site.kind == RN_ORDER_SOME && d.site[0].calls == 9);
	CHECK(d.site[0].sources == 1 && d.site[0].fixed == 0);
	begin(&thread[0]);
	CHECK(look(1).sites == 0 && look(0).sites == 0);
}

/* Sources that are always the same, or determined by tag, index or a period. */
static void test_hidden(void)
{
	const struct rn_disorder_site *wait, *any, *some;
	struct rn_disorder d;

	for (uint32_t t = 0; t < THREADS; t++) {
		begin(&thread[t]);
		for (uint32_t i = 0; i < 20; i++) {
			receive(&thread[t], WAIT, 0, (int32_t)((t + 3) % THREADS), (int32_t)i);
			receive(&thread[t], ANY, i % 3, (int32_t)(i % 3), (int32_t)(i % 3));
			receive(&thread[t], SOME, i % 4 < 2, (int32_t)(i % 4 < 2), (int32_t)i);
		}
	}
	d = look(THREADS);
	wait = find(&d, RN_ORDER_WAIT);
	any = find(&d, RN_ORDER_ANY);
	some = find(&d, RN_ORDER_SOME);
	CHECK(d.sites == 3 && d.all.irregular == 0 && d.disorderly == 0);
	CHECK(wait->fixed == RN_FIXED_SOURCE && wait->sources == 1);
	CHECK(!wait->one_source && wait->one_step && wait->step == 3);
	CHECK(wait->period[0] == 1 && wait->period[1] == 1);
	CHECK(any->fixed == (RN_FIXED_BY_TAG | RN_FIXED_BY_INDEX) && any->sources == 3);
	CHECK(any->period[0] == 3 && any->period[1] == 3);
	CHECK(some->fixed == RN_FIXED_BY_INDEX && some->period[1] == 4);
	/* One thread deviates at the end. */
	receive(&thread[2], WAIT, 0, 2, 0);
	receive(&thread[2], ANY, 1, 2, 1);
	d = look(THREADS);
	wait = find(&d, RN_ORDER_WAIT);
	any = find(&d, RN_ORDER_ANY);
	CHECK(wait->fixed == 0 && wait->sources == 2 && wait->period[0] == 0);
	CHECK(any->fixed == 0 && any->period[0] == 0 && any->irregular == 1);
	CHECK(d.disorderly == 2);
	/* All messages are from one source. */
	begin(&thread[0]);
	begin(&thread[1]);
	for (uint32_t i = 0; i < 6; i++)
		receive(&thread[i % 2], WAIT, 0, 3, 0);
	d = look(2);
	CHECK(d.site[0].one_source && d.site[0].source == 3 && !d.site[0].one_step);
	CHECK(d.site[0].fixed == (RN_FIXED_SOURCE | RN_FIXED_BY_TAG));
}

static uint64_t simple_irregular(const int32_t *s, uint32_t n)
{
	uint64_t bad = 0;

	for (uint32_t i = 2; i < n; i++)
		for (uint32_t j = i; j-- > 2;)
			if (s[j - 1] == s[i - 1] && s[j - 2] == s[i - 2]) {
				bad += s[j] != s[i];
				break;
			}
	return bad;
}

static uint64_t simple_period(const int32_t *s, uint32_t n)
{
	for (uint32_t p = 1; p * 2 <= n; p++)
		if (memcmp(s, s + p, (n - p) * sizeof(*s)) == 0)
			return p;
	return 0;
}

static void test_model(void)
{
	static int32_t source[MOST];

	for (int turn = 0; turn < 300; turn++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		uint32_t n = 2 + (uint32_t)tap_below(MOST - 2), round = 1 + (uint32_t)tap_below(9);
		uint32_t noise = turn % 2 ? 0 : 1 + (uint32_t)tap_below(20);
		struct rn_disorder d;

		begin(&thread[0]);
		for (uint32_t i = 0; i < n; i++) {
			bool fresh = i < round || (noise && tap_below(noise) == 0);

			source[i] = fresh ? (int32_t)tap_below(5) : source[i - round];
			/* An index that is used only once does not affect the measures. */
			receive(&thread[0], turn % 3 ? WAIT : ANY, turn % 3 ? 0 : i, source[i], 0);
		}
		d = look(1);
		CHECK(d.all.irregular == simple_irregular(source, n));
		CHECK(d.site[0].period[0] == simple_period(source, n));
		rn_arena_rewind(&mem, mark);
	}
}

/* Threads 1 and 2 send alternately. Thread 0 receives all messages of one of them first. */
static void test_reference(void)
{
	struct rn_disorder d;

	for (uint32_t t = 0; t < 3; t++)
		begin(&thread[t]);
	for (uint32_t i = 0; i < 6; i++) {
		int32_t from = i < 3 ? 1 : 2;

		receive(&thread[0], WAIT, 0, from, 5);
		thread[from].send[thread[from].o.sends++] =
			(struct rn_order_send){ .me = from, .dest = 0, .tag = 5 };
	}
	d = look(3);
	CHECK(d.clocks && d.all.received == 6 && d.all.moved == 2 && d.disorderly == 1);
	for (uint32_t i = 0; i < 6; i++)
		thread[0].done[i].source = 1 + (int32_t)(i % 2);
	d = look(3);
	CHECK(d.clocks && d.all.moved == 0 && d.disorderly == 0);
}

static void test_memory(void)
{
	struct rn_order o = thread[0].o;
	struct rn_disorder d;
	int32_t rank = 0;
	int rc = RN_E_NOMEM;

	for (uint64_t n = 1; rc != RN_OK && n < 100; n++) {
		mem.fail_at = n;
		rc = rn_disorder(&mem, &o, &rank, 1, 1, &d);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	mem.fail_at = 0;
	CHECK(rc == RN_OK && d.all.received == 6);
}

/* ---- two runs ---- */

static const uint32_t same_sites[] = { 0, 1, 2, 3 };

static struct rn_order_diff compare(bool strict)
{
	struct rn_order_run run[2] = { { &thread[0].o, same_sites }, { &thread[1].o, same_sites } };

	return rn_order_diff(run, strict);
}

static void test_same(void)
{
	struct rn_order_diff d;

	for (uint32_t t = 0; t < 2; t++) {
		begin(&thread[t]);
		add_row(&thread[t], ANY, 4 + t, 0);
		add_row(&thread[t], VALUE, 0, 1);
		thread[t].value[0] = t;
		add_row(&thread[t], ANY, 1, 1);
		add_done(&thread[t], 2, 0, 1, 1);
		if (t)
			add_row(&thread[t], ANY, 7, 0);
	}
	d = compare(false);
	CHECK(d.different == 0 && d.done[0] == 1 && d.done[1] == 1 && d.retried == 2);
	CHECK(d.failed[0] == 5 && d.failed[1] == 13);
	d = compare(true);
	CHECK(d.different == 2 && d.first[0].row == 2 && d.first[0].seq == 6);
	CHECK(d.first[1].row == 2 && d.first[1].seq == 7 && d.first[1].value == 1);
}

static void test_different(void)
{
	struct rn_order_diff d;

	for (uint32_t t = 0; t < 2; t++) {
		begin(&thread[t]);
		receive(&thread[t], WAIT, 0, 1, 1);
		add_row(&thread[t], SOME, 0, t ? 1 : 2);
		add_done(&thread[t], 0, 0, 1, 1);
		if (t)
			add_row(&thread[t], SOME, 0, 1);
		add_done(&thread[t], 1, 0, 2, 1);
		receive(&thread[t], WAIT, 0, 3, 1);
	}
	d = compare(false);
	CHECK(d.different == 1 && d.first[0].row == 1 && d.first[1].row == 2);
	CHECK(d.first[0].done == 1 && d.first[1].done == 2 && d.first[1].seq == 2);
	receive(&thread[1], WAIT, 0, 3, 1);
	receive(&thread[1], WAIT, 0, 3, 2);
	d = compare(false);
	CHECK(d.different == 3 && d.done[0] == 4 && d.done[1] == 6);
	thread[1].o.rows = thread[1].o.dones = 0;
	d = compare(false);
	CHECK(d.different == 4 && d.done[1] == 0 && d.first[1].row == 0);
}

/* ---- traces ---- */

#define W         " comm=MPI_COMM_WORLD"
#define GETS(s)   "MPI_Recv source=* tag=2" W " status=<" #s ",2,0>"
#define MISSES    "MPI_Iprobe source=* tag=2" W " flag=0 status=~"
#define FINDS(s)  "MPI_Iprobe source=* tag=2" W " flag=1 status={" #s ",2}"
#define SENDS     "MPI_Send dest=0 tag=2" W
#define LINE(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The calls of rank 0. */
static const struct script_of {
	const char *name;
	uint64_t ranks;
	const char *line[8];
} scripts[] = {
	{ "plain", 3, { GETS(1), MISSES, FINDS(2), GETS(2), GETS(2) } },
	{ "swapped", 3, { GETS(2), MISSES, FINDS(2), GETS(1), GETS(2) } },
	{ "patient", 3, { GETS(1), MISSES, MISSES, MISSES, FINDS(2), GETS(2), GETS(2) } },
	{ "short", 3, { GETS(1), MISSES, FINDS(2), GETS(2) } },
	{ "more-ranks", 4, { GETS(1), MISSES, FINDS(2), GETS(2), GETS(2) } },
};

static int write_file(const char *path, const char *name)
{
	struct rn_buf file = { 0 };
	int rc = RN_E_ARG;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		const char *const *rank[] = { scripts[i].line, LINE(SENDS), LINE(SENDS, SENDS),
					      LINE(GETS(1), GETS(1)) };

		if (strcmp(scripts[i].name, name) == 0)
			rc = script_file(rank, scripts[i].ranks, NULL, &file);
	}
	if (rc == RN_OK)
		rc = rn_io_replace(path, file.data, file.len, NULL);
	rn_buf_free(&file);
	return rc == RN_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return write_file(argv[1], argv[2]);
	rn_arena_init(&mem, SIZE_MAX);
	test_counts();
	ok("calls and what was done in them are counted");
	test_hidden();
	ok("what is always the same is found");
	test_model();
	ok("what is irregular, and periods, are those of a simple model");
	test_reference();
	ok("receives out of the order of clocks");
	test_memory();
	ok("every allocation can fail");
	test_same();
	ok("runs that differ in failed tests and numbers only");
	test_different();
	ok("runs that differ");
	rn_arena_free(&mem);
	return tap_done();
}
