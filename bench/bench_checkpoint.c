/*
 * bench_checkpoint.c - measures checkpoints of a stream that does not compress.
 *
 * First, the cost of one checkpoint of a grammar of 100,000 nodes: it is encoded in private memory,
 * hashed, and written to a file. Second, the fraction of the run time spent in checkpoints. Random
 * symbols are appended as in the tracer, and a checkpoint is written whenever the call ring is
 * full. The size of the last checkpoint determines the capacity of the ring
 * (trace/stream_checkpoint.c). In the tracer the fraction is smaller, because an append also
 * processes the call words.
 */
#include "bench.h"

#include "base/arena.h"
#include "base/buf.h"
#include "grammar/grammar.h"
#include "journal/journal_file.h"
#include "rules/rules.h"

#include <fcntl.h>
#include <unistd.h>

enum { REPS = 5, RING = 16384, RING_SCALE = 8, NODES = 100000, ROOM = 64 << 20 };

static unsigned char room[ROOM];
static uint64_t sink;

struct file {
	int fd;
	uint64_t at;
};

static struct file new_file(void)
{
	char path[] = "/var/tmp/rondo-bench.XXXXXX";
	struct file f = { .fd = mkstemp(path) };

	unlink(path);
	return f;
}

/* Writes after the previous checkpoint, so the pages of the file are new each time. Returns the
 * size in bytes. */
static size_t checkpoint(struct file *f, const struct rn_grammar *g)
{
	struct rn_buf b = rn_buf_over(room, sizeof(room));
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	if (rn_rules_encode_grammar(g, &scratch, &b) < 0 ||
	    posix_fallocate(f->fd, (off_t)f->at, (off_t)b.len) != 0 ||
	    rn_spill_write(f->fd, b.data, b.len, f->at) != 0)
		printf("WRONG: checkpoint\n");
	rn_arena_free(&scratch);
	sink += rn_hash_seeded(b.data, b.len, 1);
	f->at += b.len;
	return b.len;
}

static double milliseconds(uint64_t symbols)
{
	struct file f = new_file();
	struct rn_arena mem;
	struct rn_grammar *g;
	double began;

	rn_arena_init(&mem, SIZE_MAX);
	g = rn_grammar_new(&mem, NULL);
	while (rn_grammar_nodes(g) < NODES)
		rn_grammar_append(g, bench_below((uint32_t)symbols));
	checkpoint(&f, g);
	began = bench_cpu();
	checkpoint(&f, g);
	began = bench_cpu() - began;
	rn_arena_free(&mem);
	close(f.fd);
	return began / 1e6;
}

static double share(uint64_t symbols)
{
	struct rn_grammar_opts opts = { .literal_limit = RN_LITERAL_LIMIT };
	struct file f = new_file();
	uint64_t places = RING, next = RING;
	double began, spent = 0, all;
	struct rn_arena mem;
	struct rn_grammar *g;

	rn_arena_init(&mem, SIZE_MAX);
	g = rn_grammar_new(&mem, &opts);
	all = bench_cpu();
	for (uint64_t i = 1; i <= symbols; i++) {
		rn_grammar_append(g, bench_below(1000));
		if (i < next)
			continue;
		began = bench_cpu();
		for (size_t n = checkpoint(&f, g); places * sizeof(uint32_t) < RING_SCALE * n;)
			places *= 2;
		spent += bench_cpu() - began;
		next = i + places;
	}
	all = bench_cpu() - all;
	rn_arena_free(&mem);
	close(f.fd);
	return spent / (all - spent) * 100;
}

static void report(const char *form, uint64_t n, const char *unit, double (*measure)(uint64_t))
{
	double result[REPS];
	char what[64];

	for (int rep = 0; rep < REPS; rep++)
		result[rep] = measure(n);
	snprintf(what, sizeof(what), form, (unsigned long long)n);
	bench_row(what, bench_median(result, REPS), unit, 10, NULL);
}

int main(void)
{
	printf("checkpoints: CPU time, median of %d runs\n", REPS);
	report("of 100000 nodes, random of %llu", 1000, "ms", milliseconds);
	report("of 100000 nodes, random of %llu", 20, "ms", milliseconds);
	printf("share of that of encoding\n");
	report("random of 1000, %llu symbols", 1000000, "%", share);
	report("random of 1000, %llu symbols", 4000000, "%", share);
	report("random of 1000, %llu symbols", 10000000, "%", share);
	return bench_done() | (sink == 42);
}
