/*
 * bench_moments.c - measures call times: their size in a trace, and the cost of storing them.
 *
 * The input is ten million calls of a stencil of 16 ranks. Each step has several posted receives
 * and sends, a wait that lasts until the neighbors are done, and computation. Occasionally the
 * machine is interrupted. For each call the tracer stores the times and, in batches, encodes them.
 */
#include "bench.h"

#include "base/arena.h"
#include "base/buf.h"
#include "encode/call_times.h"
#include "encode/call_words.h"

enum { RANKS = 16, CALLS = 625000, REPS = 3 };

static struct rn_moment m[CALLS], back[RN_MOMENTS_CHUNK];
static struct rn_moment_writer writer;
static struct rn_moment_reader reader;
static size_t bytes;

/* Returns a random time around `mean`. Like a real duration it has a lower bound and is sometimes
 * much longer. */
static uint64_t about(uint32_t mean)
{
	uint64_t v = mean - mean / 8 + bench_below(mean / 4 + 1);

	while (bench_below(8) == 0)
		v += bench_below(mean) + 1;
	return bench_below(2000) ? v : v + bench_below(4000000);
}

/* One tick is half a nanosecond. */
static void fill(void)
{
	enum { IRECV, ISEND, WAITALL, ALLREDUCE };
	uint64_t now = 0;

	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t k = i % 91 == 90 ? 9 : i % 91 % 9;
		uint32_t func = k < 4 ? IRECV : k < 8 ? ISEND : k < 9 ? WAITALL : ALLREDUCE;
		static const uint32_t takes[] = { 120, 500, 16000, 9000 };

		now += about(k == 0 ? 24000 : 120);
		m[i].start = now;
		now += about(takes[func]);
		m[i].end = now;
		m[i].func = func;
		m[i].kind = RN_MOMENT_CALL;
	}
}

static void write_stream(const struct rn_grain *g, struct rn_buf *out)
{
	memset(&writer, 0, sizeof(writer));
	rn_moments_begin(&writer, g, m[0].start);
	for (uint32_t i = 0, n; i < CALLS; i += n) {
		n = CALLS - i < RN_MOMENTS_BATCH ? CALLS - i : RN_MOMENTS_BATCH;
		if (rn_moments_add(&writer, &m[i], n) || i + n == CALLS)
			rn_moments_close(&writer, out);
	}
}

/* Reads one chunk. Returns the CPU time per call in nanoseconds. */
static double read_ns(struct rn_arena *mem, const struct rn_buf *b)
{
	uint32_t n = rn_moments_length(b->data, b->len);
	double a = bench_cpu();

	for (uint32_t i = 0; i < n; i++)
		back[i] = m[i];
	reader.grain_bytes = NULL;
	if (n == 0 || rn_moments_read(&reader, mem, b->data, b->len, back, n, NULL) < 0)
		printf("WRONG: read\n");
	return (bench_cpu() - a) / n;
}

static void first_chunk(const struct rn_grain *g, struct rn_buf *out)
{
	memset(&writer, 0, sizeof(writer));
	rn_moments_begin(&writer, g, m[0].start);
	for (uint32_t i = 0; !rn_moments_add(&writer, &m[i], RN_MOMENTS_BATCH);)
		i += RN_MOMENTS_BATCH;
	rn_moments_close(&writer, out);
}

static void run(const char *how, double bar)
{
	double ns[REPS], reading[REPS];
	struct rn_buf out = { 0 };
	struct rn_grain g;
	struct rn_arena mem;
	char what[80];

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_grain_parse(&mem, how, &rn_mpi_vocab, &g, NULL) < 0)
		exit(1);
	bytes = 0;
	for (int rank = 0; rank < RANKS; rank++) {
		double a;

		fill();
		rn_buf_clear(&out);
		a = bench_cpu();
		write_stream(&g, &out);
		ns[rank % REPS] = (bench_cpu() - a) / CALLS;
		bytes += out.len;
		rn_buf_clear(&out);
		first_chunk(&g, &out);
		reading[rank % REPS] = read_ns(&mem, &out);
	}
	snprintf(what, sizeof(what), "%s, duration and interval", how);
	bench_row(what, (double)bytes / ((double)RANKS * CALLS), "B/call", bar, NULL);
	snprintf(what, sizeof(what), "%s, writing a call", how);
	bench_row(what, bench_median(ns, REPS), "ns", 0, NULL);
	snprintf(what, sizeof(what), "%s, reading a call", how);
	bench_row(what, bench_median(reading, REPS), "ns", 0, NULL);
	rn_buf_free(&out);
	rn_arena_free(&mem);
}

int main(void)
{
	printf("moments: a stencil of %d million calls\n", RANKS * CALLS / 1000000);
	run("bins:1.2", 1.0);
	run("bins:1.05", 0);
	run("exact", 5.0);
	return bench_done();
}
