/*
 * test_moments.c - call times: their errors, nesting, damaged chunks, and lists of chunks.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/call_times.h"
#include "encode/call_words.h"
#include "model/chunk_list.h"

#define CALLS 1000000u
#define FUNCS 6u

static struct rn_arena mem;
static struct rn_moment_writer writer;
static struct rn_moment_reader reader;

/* ---- quantization levels ---- */

static void good(const char *text, uint32_t base, uint32_t owns)
{
	struct rn_grain g;

	CHECK(rn_grain_parse(&mem, text, &rn_mpi_vocab, &g, NULL) == RN_OK);
	CHECK(g.base == base && g.owns == owns && !g.levels == !base);
}

static void bad(const char *text)
{
	struct rn_err err = { 0 };
	struct rn_grain g;

	CHECK(rn_grain_parse(&mem, text, &rn_mpi_vocab, &g, &err) == RN_E_ARG);
	CHECK(err.text[0]);
}

static void test_parse(void)
{
	static const char *const wrong[] = {
		"",        "bin",           "bins:",     "bins:2",         "bins:0.9",
		"bins:1.", "bins:1.2345",   "bins:1.x",  "bins:1.95",      "exact:1.2",
		"bins,",   "bins,MPI_Send", "bins,=1.2", "bins,MPI_Send=", "bins,MPI_Nothing=1.2",
		"summary"
	};

	good("exact", 0, 0);
	good("bins", 200, 0);
	good("bins:1", 0, 0);
	good("bins:1.2", 200, 0);
	good("bins:1.05", 50, 0);
	good("bins:1.001", 1, 0);
	good("bins:1.9", 900, 0);
	good("bins:1.2,MPI_Send=1.05", 200, 1);
	good("bins:1.2,MPI_Send=1.05,MPI_Recv=1", 200, 2);
	good("bins:1.2,MPI_Send=1.05,MPI_Send=1.2", 200, 0);
	good("exact,MPI_Test=1.5", 0, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		bad(wrong[i]);
}

static void grain_of(const char *text, struct rn_grain *g)
{
	CHECK(rn_grain_parse(&mem, text, &rn_mpi_vocab, g, NULL) == RN_OK);
}

static uint64_t any_number(void)
{
	return tap_rand() >> tap_below(64);
}

static void test_levels(void)
{
	static const char *const text[] = { "bins:1.001", "bins:1.05", "bins:1.2", "bins:1.9" };

	for (unsigned i = 0; i < 4; i++) {
		struct rn_grain g;

		grain_of(text[i], &g);
		for (unsigned k = 0; k < 100000; k++) {
			uint64_t v = k < 2000 ? k : k == 2000 ? UINT64_MAX : any_number();
			uint32_t l = rn_level_of(g.levels, v);
			uint64_t at = g.levels->at[l];

			CHECK(at <= v && (l + 1 == g.levels->n || g.levels->at[l + 1] > v));
			CHECK((unsigned __int128)(v - at) * 1000 <= (unsigned __int128)v * g.base);
		}
	}
}

/* ---- streams ---- */

static struct rn_moment truth[CALLS], got[CALLS];
static uint64_t before[CALLS]; /* the actual end of the preceding call */
static uint32_t length;

enum style { STEADY, NOISE, TIES, HUGE_GAPS, LONG_THEN_SHORT, NESTED, STYLES };

static uint64_t any_gap(enum style s, uint32_t i)
{
	switch (s) {
	case STEADY:
		return i % 9 ? 40 + tap_below(8) : 50000 + tap_below(20000);
	case TIES:
		return tap_below(4) ? 0 : tap_below(3);
	case HUGE_GAPS:
		return tap_below(1000) ? tap_below(100) : tap_rand() >> (20 + tap_below(30));
	case LONG_THEN_SHORT:
		return i % 2 ? tap_below(4) : 1000000 + tap_below(1000000);
	default:
		return tap_rand() >> (30 + tap_below(34));
	}
}

static uint64_t any_duration(enum style s, uint32_t i)
{
	return s == LONG_THEN_SHORT ? any_gap(s, i + 1 + (tap_below(2) > 0)) : any_gap(s, i + 1);
}

static void add(enum rn_moment_kind kind, uint64_t prior, uint64_t start, uint64_t end)
{
	before[length] = prior;
	truth[length++] = (struct rn_moment){ start, end, (uint32_t)tap_below(FUNCS), kind };
}

/* Generates calls from the time `now`, at a nesting depth. Returns the time after the last one. */
static uint64_t fill(enum style s, uint64_t now, uint32_t n, unsigned depth)
{
	for (uint32_t i = 0; i < n && length + 4 < CALLS; i++) {
		uint64_t start = now + any_gap(s, i), end;

		if (s == NESTED && depth < 5 && tap_below(5) == 0) {
			add(RN_MOMENT_ENTER, now, start, start);
			end = fill(s, start, 1 + (uint32_t)tap_below(4), depth + 1);
			add(RN_MOMENT_NONE, end, end, end);
			now = end;
			end += any_duration(s, i);
			add(RN_MOMENT_OUTER, now, start, end);
		} else {
			end = start + any_duration(s, i);
			add(RN_MOMENT_CALL, now, start, end);
		}
		now = end;
	}
	return now;
}

/* Consecutive chunks of a stream. where[i] is the offset of chunk i. */
struct written {
	struct rn_buf bytes;
	size_t where[2000];
	uint32_t n[2000], chunks;
};

static struct written out;

static void write_all(const struct rn_grain *g, uint64_t zero)
{
	rn_buf_clear(&out.bytes);
	out.chunks = 0;
	memset(&writer, 0, sizeof(writer));
	rn_moments_begin(&writer, g, zero);
	for (uint32_t i = 0, n; i < length; i += n) {
		bool full;

		n = 1 + (uint32_t)tap_below(RN_MOMENTS_BATCH);
		n = n < length - i ? n : length - i;
		full = rn_moments_add(&writer, &truth[i], n);
		if (full || i + n == length) {
			size_t most = rn_moments_most(&writer);

			out.where[out.chunks] = out.bytes.len;
			out.n[out.chunks++] = writer.n;
			rn_moments_close(&writer, &out.bytes);
			CHECK(out.bytes.len - out.where[out.chunks - 1] <= most);
		}
	}
	out.where[out.chunks] = out.bytes.len;
	CHECK(rn_buf_status(&out.bytes) == RN_OK);
}

static int read_one(uint32_t k, struct rn_moment *m, uint32_t n)
{
	const unsigned char *p = out.bytes.data + out.where[k];

	for (uint32_t i = 0; i < n; i++)
		m[i].start = m[i].end = 0;
	return rn_moments_read(&reader, &mem, p, out.where[k + 1] - out.where[k], m, n, NULL);
}

static void read_all(void)
{
	uint32_t at = 0;

	memcpy(got, truth, length * sizeof(*got));
	reader.grain_bytes = NULL;
	for (uint32_t k = 0; k < out.chunks; at += out.n[k++]) {
		CHECK(rn_moments_length(out.bytes.data + out.where[k],
					out.where[k + 1] - out.where[k]) == out.n[k]);
		CHECK(read_one(k, &got[at], out.n[k]) == RN_OK);
	}
	CHECK(at == length);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool within(uint64_t a, uint64_t b, uint32_t base, uint64_t of)
{
	return (unsigned __int128)apart(a, b) * 1000 <= (unsigned __int128)of * base;
}

static uint32_t base_of(const struct rn_grain *g, uint32_t func)
{
	const struct rn_levels *l = rn_grain_levels(g, func);

	return l ? l->base : 0;
}

/* Checks the guarantees of call_times.h for every call. */
static void compare(const struct rn_grain *g, uint64_t zero)
{
	uint64_t now = 0;

	for (uint32_t i = 0; i < length; i++) {
		const struct rn_moment *t = &truth[i], *m = &got[i];
		uint32_t base = base_of(g, t->func);

		if (t->kind == RN_MOMENT_NONE)
			continue;
		if (t->kind == RN_MOMENT_CALL)
			CHECK(within(m->start, t->start - zero, base, t->start - before[i]));
		else
			CHECK(m->start == t->start - zero);
		if (t->kind != RN_MOMENT_ENTER)
			CHECK(within(m->end - m->start, t->end - t->start, base,
				     t->end - t->start));
		CHECK(m->start <= m->end && m->end >= now &&
		      (t->kind == RN_MOMENT_OUTER || m->start >= now));
		now = m->end;
	}
}

static void test_bounds(const char *text, enum style s, uint32_t n)
{
	uint64_t zero = tap_rand() >> 20;
	struct rn_grain g;

	grain_of(text, &g);
	length = 0;
	while (length + 4 < n)
		fill(s, length ? truth[length - 1].end : zero, n - length - 4, 0);
	write_all(&g, zero);
	read_all();
	compare(&g, zero);
	diag("%s, style %d: %.2f bytes a call", text, (int)s,
	     (double)out.bytes.len / (double)length);
}

/* Stores generated streams exactly and in bins, as two traces of one run would. */
static void test_styles(void)
{
	static const char *const text[] = { "exact",      "bins:1.2",
					    "bins:1.05",  "bins:1.9",
					    "bins:1.001", "bins:1.3,MPI_A*=1.01,MPI_Abort=1" };

	for (unsigned i = 0; i < sizeof(text) / sizeof(*text); i++)
		for (int s = 0; s < STYLES; s++)
			test_bounds(text[i], (enum style)s, CALLS / 16);
	test_bounds("bins:1.2", NOISE, CALLS);
	test_bounds("bins:1.2", NESTED, CALLS);
}

/* Clocks that go backward, times beyond all limits, and markers that do not match. */
static void test_odd_clocks(void)
{
	struct rn_grain g;
	uint64_t now = 0;

	grain_of("bins:1.2", &g);
	length = 0;
	while (length < 20000)
		add((enum rn_moment_kind)tap_below(4), 0, any_number(), any_number());
	write_all(&g, any_number());
	read_all();
	for (uint32_t i = 0; i < length; i++) {
		if (got[i].kind == RN_MOMENT_NONE)
			continue;
		CHECK(got[i].start <= got[i].end && got[i].end >= now);
		now = got[i].end;
	}
}

/* Reads a chunk of a truncated stream, which has fewer calls than the chunk. */
static void test_beginning(void)
{
	struct rn_grain g;

	grain_of("bins:1.2", &g);
	length = 0;
	fill(NESTED, 0, 3000, 0);
	write_all(&g, 0);
	read_all();
	for (uint32_t n = 1; n < 400; n += 7) {
		static struct rn_moment some[400];

		memcpy(some, truth, n * sizeof(*some));
		CHECK(read_one(0, some, n) == RN_OK);
		/* The last calls may differ, because their times depend on the calls after them. */
		for (uint32_t i = 0; i + 8 < n; i++)
			CHECK(some[i].start == got[i].start && some[i].end == got[i].end);
	}
	CHECK(read_one(0, got, out.n[0] + 1) == RN_E_DATA);
}

static void test_damage(void)
{
	struct rn_grain g;

	grain_of("bins:1.2,MPI_Send=1.5", &g);
	length = 0;
	fill(NESTED, 0, 1000, 0);
	write_all(&g, 0);
	memcpy(got, truth, length * sizeof(*got));
	for (unsigned i = 0; i < 4000; i++) {
		size_t at = tap_below((uint32_t)(i % 2 ? 12 : out.where[1]));
		unsigned char old = out.bytes.data[at];
		uint32_t n;

		out.bytes.data[at] = (unsigned char)tap_rand();
		n = rn_moments_length(out.bytes.data, out.where[1]);
		if (n && n <= length)
			read_one(0, got, n);
		out.bytes.data[at] = old;
	}
	for (size_t len = 0; len < 20; len++)
		CHECK(rn_moments_read(&reader, &mem, out.bytes.data, len, got, length, NULL) < 0);
}

/* ---- lists ---- */

static void test_list(void)
{
	static const struct rn_chunk chunk[] = { { (const unsigned char *)"abc", 3 },
						 { (const unsigned char *)"defgh", 5 } };
	static const uint64_t head[] = { RN_GRAIN_BASE, 77 };
	struct rn_chunk_stream m = { 10, head, chunk, 2, 2 };
	const struct rn_chunk_stream *back;
	struct rn_chunk_list a, b, c;
	struct rn_buf bytes = { 0 };
	struct rn_reader in;

	rn_chunk_list_init(&a, &mem);
	rn_chunk_list_init(&b, &mem);
	rn_chunk_list_init(&c, &mem);
	CHECK(rn_chunk_list_add(&a, &m) == RN_OK);
	m.stream = 13;
	CHECK(rn_chunk_list_copy(&a, &m) == RN_OK && rn_chunk_list_add(&a, &m) == RN_E_ARG);
	CHECK(rn_chunk_list_encode(&a, 10, &bytes) == RN_OK);
	in = rn_reader(bytes.data, bytes.len);
	CHECK(rn_chunk_list_decode(&b, &in, 20, 4, NULL) == RN_OK);
	CHECK(rn_chunk_list_merge(&c, &a) == RN_OK && rn_chunk_list_merge(&c, &b) == RN_OK &&
	      c.stream.n == 4);
	back = rn_chunk_list_find(&c, 23);
	CHECK(back && back->heads == 2 && back->head[0] == RN_GRAIN_BASE && back->head[1] == 77 &&
	      back->chunks == 2 && back->chunk[1].len == 5 &&
	      memcmp(back->chunk[1].bytes, "defgh", 5) == 0);
	CHECK(!rn_chunk_list_find(&c, 21));
	in = rn_reader(bytes.data, bytes.len);
	CHECK(rn_chunk_list_decode(&b, &in, 20, 4, NULL) == RN_E_DATA);
	in = rn_reader(bytes.data, bytes.len);
	CHECK(rn_chunk_list_decode(&b, &in, 30, 3, NULL) == RN_E_DATA);
	for (size_t n = 0; n < bytes.len; n++) {
		rn_chunk_list_init(&b, &mem);
		in = rn_reader(bytes.data, n);
		CHECK(rn_chunk_list_decode(&b, &in, 0, 4, NULL) == RN_E_DATA);
	}
	rn_buf_free(&bytes);
}

static void test_no_memory(void)
{
	struct rn_arena little;
	struct rn_grain g;

	for (uint64_t n = 1; n < 4; n++) {
		rn_arena_init(&little, SIZE_MAX);
		little.fail_at = n;
		CHECK(rn_grain_parse(&little, "bins,MPI_Send=1.5", &rn_mpi_vocab, &g, NULL) ==
		      RN_E_NOMEM);
		rn_arena_free(&little);
	}
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_parse();
	ok("what --time says");
	test_levels();
	ok("levels are no farther apart than the base allows");
	test_styles();
	ok("durations and beginnings are off by no more than promised, and never go back");
	test_odd_clocks();
	ok("clocks that go back are put right");
	test_beginning();
	ok("the beginning of a chunk can be read alone");
	test_damage();
	ok("damage is refused or survived");
	test_list();
	ok("lists of streams");
	test_no_memory();
	ok("no memory");
	rn_buf_free(&out.bytes);
	rn_arena_free(&mem);
	return tap_done();
}
