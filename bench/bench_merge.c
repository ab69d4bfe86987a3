/*
 * bench_merge.c - merges a 2D stencil of up to 1,048,576 virtual ranks into one file.
 *
 *	bench_merge [--quick]
 *
 * Every rank is built and merged separately. In the plain rows each call of 100 steps is encoded,
 * hashed and appended. In the rows marked "repeat" one step is encoded and rn_grammar_append_repeat
 * appends it 10,000 times. The file is then opened as by any reader, and all calls of sampled ranks
 * are compared with the generator. Each run is a separate process, so that its peak memory can be
 * measured.
 */
#include "bench/bench.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/intern.h"
#include "bench/rank_merge.h"
#include "bench/virtual.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "model/merged_streams.h"
#include "model/payload.h"
#include "read/trace.h"

struct result {
	double cpu_s, rss_mib;
	uint64_t calls, bytes;
	uint64_t checked; /* number of calls compared with the generator; 0: a call differed */
};

static int build(const struct virtual_run *v, bool repeat, const char *path, uint64_t *calls)
{
	static struct rank_merge link;
	const struct rn_meta_entry entry = { "program", v->pattern->name };
	const struct rn_meta meta = { &entry, 1 };
	struct rn_arena mem, of_rank;
	struct rn_streams s;
	struct rn_sigs *sigs;
	struct rn_grammar *g;
	int rc = RN_OK;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&of_rank, SIZE_MAX);
	rank_merge_init(&link);
	g = rn_grammar_new(&mem, NULL);
	for (uint64_t r = 0; r < v->ranks && rc == RN_OK; r++) {
		rn_arena_rewind(&of_rank, (struct rn_arena_mark){ 0 });
		sigs = rn_sigs_new(&of_rank);
		rc = (repeat ? virtual_feed_repeat : virtual_feed)(v, r, sigs, g, calls);
		if (rc == RN_OK)
			rc = rank_merge_add(&link, sigs, g);
	}
	rn_arena_free(&of_rank);
	if (rc == RN_OK)
		rc = rank_merge_finish(&link, &mem, &s);
	if (rc == RN_OK)
		rc = rank_merge_write(path, &s, &virtual_vocab, &meta, NULL);
	rank_merge_free(&link);
	rn_arena_free(&mem);
	return rc;
}

struct compare {
	const struct rn_trace *t;
	struct rn_walk walk;
	uint64_t calls;
};

static int compare_call(void *arg, const unsigned char *sig, size_t len)
{
	struct compare *c = arg;
	uint32_t id;
	size_t n;
	const void *bytes;

	if (rn_walk_next(&c->walk, &id) <= 0)
		return RN_E_DATA;
	c->calls++;
	bytes = rn_sigs_get(c->t->streams.sigs, id, &n);
	return n == len && memcmp(bytes, sig, n) == 0 ? RN_OK : RN_E_DATA;
}

/* Compares ranks in the corners, along the edges and inside the grid with the generator. Returns
 * the number of compared calls. */
static uint64_t verify(const struct virtual_run *v, const char *path)
{
	struct rn_trace t;
	struct rn_arena mem;
	uint64_t sum = 0;
	bool good = rn_trace_open(&t, path, NULL) == RN_OK;

	if (!good)
		return 0;
	rn_arena_init(&mem, SIZE_MAX);
	for (uint64_t i = 0; i < 64 && good; i++) {
		struct compare c = { .t = &t };
		uint64_t rank = i < 4 ? (i & 1) * (v->grid[0] - 1) +
						(i >> 1) * v->grid[0] * (v->grid[1] - 1)
				      : i * 0x9e3779b97f4a7c15u % v->ranks;

		uint32_t group;
		struct rn_flow flow;

		good = rn_streams_find(&t.streams, rank, &group) == RN_OK;
		flow = rn_streams_flow(&t.streams, good ? group : 0);
		good = good && rn_walk_flow(&c.walk, &flow, &mem) == RN_OK &&
		       virtual_calls(v, rank, compare_call, &c) == RN_OK && c.calls == flow.length;
		sum += c.calls;
	}
	rn_arena_free(&mem);
	rn_trace_close(&t);
	return good ? sum : 0;
}

static struct result measure(const struct virtual_run *v, bool repeat, const char *path)
{
	struct result r = { 0 };
	double start = bench_cpu();
	struct rusage ru;
	struct rn_trace t;

	if (build(v, repeat, path, &r.calls) < 0)
		return r;
	r.cpu_s = (bench_cpu() - start) / 1e9;
	getrusage(RUSAGE_SELF, &ru);
	r.rss_mib = (double)ru.ru_maxrss / 1024;
	if (rn_trace_open(&t, path, NULL) < 0)
		return r;
	r.bytes = t.file.len;
	rn_trace_close(&t);
	r.checked = verify(v, path);
	return r;
}

/* Runs measure() in a child process, which returns the result through a pipe. */
static struct result run(uint64_t side, uint64_t steps, bool repeat)
{
	char path[] = "/tmp/bench_merge.XXXXXX";
	struct result r = { 0 };
	struct virtual_run v;
	int ends[2], fd = mkstemp(path);
	pid_t child;

	if (fd < 0 || pipe(ends) < 0 ||
	    virtual_init_grid(&v, "stencil2d", (const uint64_t[]){ side, side, 1 }, steps) < 0)
		exit(1);
	close(fd);
	child = fork();
	if (child == 0) {
		r = measure(&v, repeat, path);
		_exit(write(ends[1], &r, sizeof(r)) != sizeof(r));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &r, sizeof(r)) != sizeof(r))
		r = (struct result){ 0 };
	close(ends[0]);
	waitpid(child, NULL, 0);
	unlink(path);
	return r;
}

/* The bars apply to 1,048,576 ranks. Smaller runs only show the growth. */
static struct result rows(uint64_t side, uint64_t steps, bool repeat, double cpu_bar)
{
	struct result r = run(side, steps, repeat);
	bool full = side == 1024;
	char what[80], note[80];

	snprintf(what, sizeof(what), "%" PRIu64 " ranks x %" PRIu64 " steps%s", side * side, steps,
		 repeat ? " (repeat)" : "");
	snprintf(note, sizeof(note), "%.3g calls, %.1f ns each", (double)r.calls,
		 r.calls ? r.cpu_s * 1e9 / (double)r.calls : 0);
	bench_row(what, r.cpu_s, "CPU s", full ? cpu_bar : 0, note);
	bench_row("  peak memory", r.rss_mib, "MiB", full ? 256 : 0, "");
	bench_row("  file", (double)r.bytes, "bytes", full ? 1536 : 0, "");
	bench_row("  calls read back and found right", (double)r.checked, "calls", -1, "");
	return r;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	struct result small, large = { 0 };

	puts("2D 5-point stencil, not periodic; every rank built and merged separately");
	small = rows(32, 100, false, 0);
	for (uint64_t side = 64; side <= (quick ? 128 : 1024); side *= quick ? 2 : 4)
		large = rows(side, 100, false, 30);
	bench_row("growth of the file from 1024 ranks",
		  small.bytes ? (double)large.bytes / (double)small.bytes : 1e9, "x", 1.1, "");
	rows(32, 10000, true, 0);
	rows(quick ? 128 : 1024, 10000, true, 15);
	return bench_done();
}
