/*
 * test_order_codec.c - events survive a round trip through every codec; hostile bytes are
 * rejected.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "order/event_codec.h"

#define ROWS  6000u
#define SITES 9u
#define TURNS 400

static struct rn_arena mem;
static struct rn_order_site site[SITES];
static struct rn_order_row row[ROWS];
static struct rn_order_done done[ROWS * 4];
static int64_t value[ROWS];
static struct rn_order events;

/* Parameters of a random set: exclusive bounds of the values, and how often the last rows are
 * repeated. */
struct manner {
	uint32_t sources, tags, indices, fails, done, repeats;
	bool extreme;
};

static uint32_t number(uint32_t below, bool extreme)
{
	if (extreme && tap_below(16) == 0)
		return UINT32_MAX - (uint32_t)tap_below(2);
	return (uint32_t)tap_below(below);
}

static void draw_done(const struct manner *m, struct rn_order_done *d)
{
	*d = (struct rn_order_done){ .index = number(m->indices, m->extreme) };
	d->flags = (uint32_t)tap_below(20) == 0 ? (uint32_t)tap_below(4) : RN_ORDER_MATCHED;
	d->late = tap_below(8) == 0 ? (uint32_t)tap_below(4) : 0;
	if (d->flags != RN_ORDER_MATCHED || tap_below(40) == 0)
		d->late = RN_ORDER_NOT;
	if (!(d->flags & RN_ORDER_MATCHED))
		return;
	d->source = (int32_t)number(m->sources, m->extreme);
	d->tag = (int32_t)number(m->tags, m->extreme);
}

static void add_row(const struct manner *m, struct rn_order_row r)
{
	bool of_value = rn_order_has_numbers(&site[r.site]);

	if (of_value) {
		r.done = r.done > 0;
		if (r.done)
			value[events.values++] = (int64_t)tap_rand();
	}
	for (uint32_t k = 0; !of_value && k < r.done; k++)
		draw_done(m, &done[events.dones++]);
	row[events.rows++] = r;
}

/* Appends the last n rows once more, with their completions. */
static void repeat_rows(size_t n)
{
	size_t from = events.rows - n, d = events.dones;

	for (size_t i = from; i < from + n; i++)
		d -= rn_order_has_numbers(&site[row[i].site]) ? 0 : row[i].done;
	for (size_t i = from; i < from + n; i++) {
		bool of_value = rn_order_has_numbers(&site[row[i].site]);

		for (uint32_t k = 0; !of_value && k < row[i].done; k++)
			done[events.dones++] = done[d++];
		if (of_value && row[i].done)
			value[events.values++] = (int64_t)tap_below(1000);
		row[events.rows++] = row[i];
	}
}

static void draw(const struct manner *m, uint32_t rows, uint32_t sites)
{
	events = (struct rn_order){ .site = site, .row = row, .done = done, .value = value };
	events.sites = sites;
	for (uint32_t i = 0; i < sites; i++)
		site[i].kind = (uint32_t)tap_below(RN_ORDER_KINDS);
	while (events.rows < rows && events.dones < ROWS * 3) {
		size_t n = 1 + tap_below(8);

		if (tap_below(100) < m->repeats && n <= events.rows && events.rows + n <= rows)
			repeat_rows(n);
		else
			add_row(m, (struct rn_order_row){ (uint32_t)tap_below(sites),
							  number(m->fails, m->extreme),
							  (uint32_t)tap_below(m->done) });
	}
}

static struct manner any_manner(void)
{
	return (struct manner){
		.sources = 1 + (uint32_t)tap_below(tap_below(4) ? 6 : 2000),
		.tags = 1 + (uint32_t)tap_below(tap_below(4) ? 3 : 2000),
		.indices = 1 + (uint32_t)tap_below(tap_below(4) ? 8 : 100),
		.fails = 1 + (uint32_t)tap_below(tap_below(4) ? 12 : 100000),
		.done = 1 + (uint32_t)tap_below(4),
		.repeats = (uint32_t)tap_below(3) * 49,
		.extreme = tap_below(5) == 0,
	};
}

static bool same(const struct rn_order *a, const struct rn_order *b)
{
	return a->rows == b->rows && a->dones == b->dones && a->values == b->values &&
	       (!a->rows || memcmp(a->row, b->row, a->rows * sizeof(*a->row)) == 0) &&
	       (!a->dones || memcmp(a->done, b->done, a->dones * sizeof(*a->done)) == 0) &&
	       (!a->values || memcmp(a->value, b->value, a->values * sizeof(*a->value)) == 0);
}

static int decode(const struct rn_buf *b, struct rn_order *out)
{
	return rn_order_decode(&mem, site, events.sites, b->data, b->len, out, NULL);
}

/* A round trip through each codec, after bytes that the buffer already has. */
static void there_and_back(uint64_t *clock)
{
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct rn_buf out = { 0 };
		struct rn_order again = { 0 };

		events.clock = clock;
		CHECK(rn_order_encode(&mem, c, &events, &out) == RN_OK);
		events.clock = NULL;
		if (!CHECK(decode(&out, &again) == RN_OK) || !CHECK(same(&events, &again)))
			diag("%s: %zu rows, %zu done", rn_order_codec_name(c), events.rows,
			     events.dones);
		rn_buf_free(&out);
		rn_arena_rewind(&mem, mark);
	}
}

static uint64_t *random_clocks(void)
{
	uint64_t *clock = rn_new(&mem, uint64_t, events.dones), range = 1 + tap_below(20), now = 0;

	for (size_t i = 0; i < events.dones; i++) {
		now += tap_below(3);
		clock[i] = now + tap_below(range);
	}
	return clock;
}

static void test_random(void)
{
	for (int i = 0; i < TURNS; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct manner m = any_manner();
		uint32_t rows = (uint32_t)tap_below(tap_below(8) ? 200 : ROWS);

		draw(&m, rows, 1 + (uint32_t)tap_below(SITES));
		there_and_back(tap_below(4) ? random_clocks() : NULL);
		rn_arena_rewind(&mem, mark);
	}
}

static void test_small(void)
{
	struct manner m = any_manner();

	for (uint32_t rows = 0; rows < 3; rows++)
		for (int i = 0; i < 50; i++) {
			draw(&m, rows, 1 + (uint32_t)tap_below(SITES));
			there_and_back(NULL);
		}
	events = (struct rn_order){ 0 };
	there_and_back(NULL);
}

/* The source and tag of a completion without a matched message are not stored. */
static void test_unmatched(void)
{
	struct manner m = any_manner();
	struct rn_order again;
	struct rn_buf out;

	draw(&m, 300, 4);
	for (size_t i = 0; i < events.dones; i++)
		if (!(done[i].flags & RN_ORDER_MATCHED))
			done[i].source = done[i].tag = 77 + (int32_t)i;
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		out = (struct rn_buf){ 0 };
		CHECK(rn_order_encode(&mem, c, &events, &out) == RN_OK);
		CHECK(decode(&out, &again) == RN_OK);
		for (size_t i = 0; i < events.dones; i++)
			CHECK(done[i].flags & RN_ORDER_MATCHED ||
			      (again.done[i].source == 0 && again.done[i].tag == 0));
		rn_buf_free(&out);
	}
}

/* A million equal rows are accepted and take almost no space. */
static void test_same(void)
{
	enum { MANY = 1000000 };
	struct rn_arena_mark mark = rn_arena_mark(&mem);
	struct rn_order_row *r = rn_new(&mem, struct rn_order_row, MANY);
	struct rn_order_done *d = rn_new(&mem, struct rn_order_done, MANY);
	struct rn_buf out = { 0 };

	for (size_t i = 0; i < MANY; i++) {
		r[i] = (struct rn_order_row){ .done = 1 };
		d[i] = (struct rn_order_done){ .index = i % 4, .flags = RN_ORDER_MATCHED };
	}
	site[0].kind = RN_ORDER_ANY;
	events = (struct rn_order){ .site = site, .sites = 1, .row = r, .done = d };
	events.rows = events.dones = MANY;
	there_and_back(NULL);
	CHECK(rn_order_encode(&mem, RN_ORDER_MODEL, &events, &out) == RN_OK);
	CHECK(out.len < MANY / 400);
	rn_buf_free(&out);
	rn_arena_rewind(&mem, mark);
}

static void test_not_sound(void)
{
	struct manner m = any_manner();
	struct rn_buf out = { 0 };

	draw(&m, 100, 3);
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		row[50].site += 3;
		CHECK(rn_order_encode(&mem, c, &events, &out) == RN_E_ARG);
		row[50].site -= 3;
		row[50].done++;
		CHECK(rn_order_encode(&mem, c, &events, &out) == RN_E_ARG);
		row[50].done--;
	}
	CHECK(out.len == 0);
	rn_buf_free(&out);
}

/* A truncated encoding is rejected. A changed one is rejected or decodes to sound events, in a
 * bounded amount of memory. */
static void test_damage(void)
{
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		struct manner m = any_manner();
		struct rn_order again;
		struct rn_buf out = { 0 };

		draw(&m, 150, 4);
		events.clock = random_clocks();
		CHECK(rn_order_encode(&mem, c, &events, &out) == RN_OK);
		events.clock = NULL;
		for (size_t len = 0; len < out.len; len++)
			CHECK(rn_order_decode(&mem, site, events.sites, out.data, len, &again,
					      NULL) == RN_E_DATA);
		for (int i = 0; i < 3000; i++) {
			struct rn_arena_mark mark = rn_arena_mark(&mem);
			size_t at = tap_below(tap_below(2) ? 12 : out.len);
			unsigned char was = out.data[at];

			out.data[at] = (unsigned char)tap_rand();
			CHECK(decode(&out, &again) != RN_E_NOMEM);
			out.data[at] = was;
			rn_arena_rewind(&mem, mark);
		}
		rn_buf_free(&out);
	}
}

/* Forged counts allocate no more than the bytes justify. */
static void test_forged(void)
{
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		struct rn_arena small;
		struct rn_order again;
		struct rn_buf out = { 0 };

		rn_arena_init(&small, (size_t)4 << 20);
		rn_buf_byte(&out, (unsigned char)c);
		rn_buf_u64(&out, 500000000);
		rn_buf_u64(&out, 500000000);
		rn_buf_u64(&out, 500000000);
		rn_buf_u64(&out, 8);
		rn_buf_add(&out, "\0\0\0\0\0\0\0\0", 8);
		CHECK(rn_order_decode(&small, site, 1, out.data, out.len, &again, NULL) ==
		      RN_E_DATA);
		rn_buf_free(&out);
		rn_arena_free(&small);
	}
}

/* Every allocation fails once, and the output is unchanged after the failure. */
static void test_no_memory(void)
{
	struct manner m = any_manner();

	draw(&m, 500, 4);
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		struct rn_buf out = { 0 };
		struct rn_order again;
		int rc = RN_E_NOMEM;

		for (uint64_t n = 1; rc; n++) {
			mem.fail_at = n;
			rc = rn_order_encode(&mem, c, &events, &out);
			CHECK(rc == RN_OK || (rc == RN_E_NOMEM && out.len == 0));
		}
		rc = RN_E_NOMEM;
		for (uint64_t n = 1; rc; n++) {
			mem.fail_at = n;
			rc = decode(&out, &again);
			CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		}
		mem.fail_at = 0;
		CHECK(same(&events, &again));
		rc = RN_E_NOMEM;
		for (uint64_t n = 1; rc; n++) {
			rn_buf_clear(&out);
			rn_buf_free(&out);
			rn_buf_fail_at(n);
			rc = rn_order_encode(&mem, c, &events, &out);
			CHECK(rc == RN_OK || (rc == RN_E_NOMEM && out.len == 0));
		}
		rn_buf_fail_at(0);
		rn_buf_free(&out);
	}
}

static void test_names(void)
{
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++)
		CHECK(rn_order_codec_named(rn_order_codec_name(c)) == c);
	CHECK(rn_order_codec_named("gzip") == RN_ORDER_CODECS);
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_names();
	ok("codecs have names");
	test_small();
	ok("none, one and two rows");
	test_random();
	ok("all codecs give random events back");
	test_same();
	ok("a million rows that repeat");
	test_unmatched();
	ok("source and tag are kept where they are there");
	test_not_sound();
	ok("rows that do not fit are not encoded");
	test_damage();
	ok("damaged bytes");
	test_forged();
	ok("forged counts");
	test_no_memory();
	ok("no memory");
	rn_arena_free(&mem);
	return tap_done();
}
