/*
 * bench_snapshot.c - what snapshots of a stream that does not compress cost, beside encoding it.
 *
 * Random symbols are appended to a grammar, as the tracer does, and the grammar is written to a
 * file whenever as many bytes of symbols have come since as the last snapshot has
 * (intercept/spool.c). The time is taken around each snapshot, with its checksum; the rest is the
 * encoding. In the tracer that has more to do (the call's words), so its share is smaller there.
 */
#include "bench.h"

#include "base/arena.h"
#include "base/buf.h"
#include "file/spill.h"
#include "grammar/grammar.h"

#include <fcntl.h>
#include <unistd.h>

enum { REPS = 5, RING = 16384, LITERAL_LIMIT = 1 << 20 };

struct file {
	int fd;
	uint64_t at;
};

static uint64_t sink;

/* Behind the last one: the pages are new each time. */
static size_t snapshot(struct file *f, const struct rn_grammar *g)
{
	struct rn_spill_writer w;
	struct rn_buf b = rn_buf_to(rn_spill_writer_add, &w);
	uint64_t sum;

	rn_spill_writer_begin(&w, f->fd, f->at, 1);
	if (posix_fallocate(f->fd, (off_t)f->at, (off_t)rn_grammar_snapshot_size(g)) != 0 ||
	    rn_grammar_snapshot(g, &b) < 0 || rn_spill_writer_end(&w, &sum) != 0)
		printf("WRONG: snapshot\n");
	f->at += b.len;
	sink += sum;
	return b.len;
}

static double share(uint64_t symbols)
{
	struct rn_grammar_opts opts = { .literal_limit = LITERAL_LIMIT };
	char path[] = "/var/tmp/rondo-bench.XXXXXX";
	struct file f = { .fd = mkstemp(path) };
	uint64_t places = RING, next = RING;
	double began, spent = 0, all;
	struct rn_arena mem;
	struct rn_grammar *g;

	unlink(path);
	rn_arena_init(&mem, SIZE_MAX);
	g = rn_grammar_new(&mem, &opts);
	all = bench_cpu();
	for (uint64_t i = 1; i <= symbols; i++) {
		rn_grammar_append(g, bench_below(1000));
		if (i < next)
			continue;
		began = bench_cpu();
		for (size_t bytes = snapshot(&f, g); places * sizeof(uint32_t) < bytes;)
			places *= 2;
		spent += bench_cpu() - began;
		next = i + places;
	}
	all = bench_cpu() - all;
	rn_arena_free(&mem);
	close(f.fd);
	return spent / (all - spent) * 100;
}

int main(void)
{
	static const uint64_t symbols[] = { 1000000, 4000000, 10000000 };

	printf("snapshots: CPU time, of that of encoding, median of %d runs\n", REPS);
	for (int i = 0; i < 3; i++) {
		double percent[REPS];
		char what[64];

		for (int rep = 0; rep < REPS; rep++)
			percent[rep] = share(symbols[i]);
		snprintf(what, sizeof(what), "random of 1000, %llu symbols",
			 (unsigned long long)symbols[i]);
		bench_row(what, bench_median(percent, REPS), "%", 10, NULL);
	}
	return bench_done() | (sink == 42);
}
