/*
 * bench_finish.c - measures the CPU time of merging the ranks of a run.
 *
 *	bench_finish
 *
 * The run has 64 virtual ranks that send and receive as an AMR code does. Each has new neighbors
 * and new message lengths every 10 steps (t/prog/changing.c), so almost no data is equal on two
 * ranks. The recorded data is then processed as in MPI_Finalize: rank parameters are sent up the
 * tree, rank expressions down the tree, partial traces up the tree, and the file is written. The
 * time is the sum over all ranks.
 */
#include "bench/bench.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "bench/rank_merge.h"
#include "bench/worded.h"
#include "encode/rank_expr.h"
#include "file/trace_writer.h"
#include "merge/partial_trace.h"
#include "merge/process_trace.h"
#include "model/payload.h"

#define RANKS      64
#define STEPS      1000
#define NEIGHBOURS 4
#define LONGEST    4096
#define REQUESTS   (2 * NEIGHBOURS) /* receives and sends */
#define SHAPES_MAX 1024

static struct rank {
	struct worded w;
	struct rn_arena mem;
	int64_t rank;
	uint32_t changes;                      /* number of neighbor changes so far */
	uint32_t shape_of[SHAPES_MAX], shapes; /* signature id + 1, by creator */
	struct rn_recorded_stream stream;
	struct rn_recorded rec;
	struct rn_bundle bundle;
} ranks[RANKS];

static struct rn_arena scratch;
static uint32_t f_irecv, f_isend, f_waitall, w_world, w_char;

static void need(int rc)
{
	if (rc < 0) {
		fprintf(stderr, "bench_finish: error %d\n", rc);
		exit(1);
	}
}

/* ---- recording ---- */

/* Neighbor changes before elastic slots are used. A tracer stores 32 signatures that differ only in
 * numbers; further ones get elastic slots (trace/elastic.h). All receives, and all sends, differ
 * only in numbers. */
#define CHANGES (32 / NEIGHBOURS)

/* Returns the creator index of the requests that the signature `call` creates. */
static uint32_t shape_of(struct rank *r, uint32_t call)
{
	uint32_t k = 0;

	while (k < r->shapes && r->shape_of[k] != call + 1)
		k++;
	if (k == r->shapes && k < SHAPES_MAX)
		r->shape_of[r->shapes++] = call + 1;
	return k;
}

static void observe(struct rank *r, uint32_t call)
{
	rn_times_add(&r->w.times, call, 300 + bench_below(2000), 100 + bench_below(5000));
}

/* Records an Irecv or an Isend. Returns the creator index of its request. */
static uint32_t start(struct rank *r, bool sends, unsigned k, int64_t peer, int64_t length)
{
	static const uint16_t length_and_peer[] = { 3, 5 };
	uint32_t id;

	worded_begin(&r->w, sends ? f_isend : f_irecv);
	worded_data(&r->w, sends, k * LONGEST, length, w_char);
	worded_put(&r->w, peer);
	worded_put(&r->w, k);
	worded_constant(&r->w, w_world);
	worded_put(&r->w, 2);
	if (r->changes < CHANGES)
		need(worded_end(&r->w, &id));
	else
		need(worded_end_holes(&r->w, length_and_peer + !sends, 1 + sends, &id));
	observe(r, id);
	return shape_of(r, id);
}

static void wait_all(struct rank *r, const uint32_t *shape)
{
	uint32_t id;

	worded_begin(&r->w, f_waitall);
	worded_put(&r->w, REQUESTS);
	worded_put(&r->w, REQUESTS << 2 | RN_RAW_HERE);
	for (int i = 0; i < REQUESTS; i++)
		worded_put(&r->w, (int64_t)(RN_RAW_REQUEST(0, shape[i], 0) | RN_RAW_GONE));
	worded_put(&r->w, REQUESTS << 2 | RN_RAW_HERE);
	for (int i = 0; i < REQUESTS; i++)
		worded_put(&r->w, RN_STATUS_NOTHING);
	need(worded_end(&r->w, &id));
	observe(r, id);
}

/* Sets to[r] to the destination of rank r: a permutation, so each rank also has one source. */
static void shuffle(int64_t *to)
{
	for (int i = 0; i < RANKS; i++)
		to[i] = i;
	for (uint32_t i = RANKS - 1; i > 0; i--) {
		uint32_t k = bench_below(i + 1);
		int64_t x = to[i];

		to[i] = to[k];
		to[k] = x;
	}
}

static int64_t source(const int64_t *to, int64_t rank)
{
	int64_t from = 0;

	while (to[from] != rank)
		from++;
	return from;
}

static void record_steps(unsigned steps)
{
	int64_t to[NEIGHBOURS][RANKS], length[NEIGHBOURS];

	for (int k = 0; k < NEIGHBOURS; k++) {
		shuffle(to[k]);
		length[k] = bench_below(LONGEST);
	}
	for (struct rank *r = ranks; r < ranks + RANKS; r++) {
		uint32_t shape[REQUESTS];

		for (unsigned i = 0; i < steps; i++) {
			for (unsigned k = 0; k < NEIGHBOURS; k++)
				shape[k] = start(r, false, k, source(to[k], r->rank), LONGEST);
			for (unsigned k = 0; k < NEIGHBOURS; k++)
				shape[NEIGHBOURS + k] =
					start(r, true, k, to[k][r->rank],
					      (length[k] + r->rank * 2333) % LONGEST);
			wait_all(r, shape);
		}
		r->changes++;
	}
}

/* ---- the other data of a process trace ---- */

static void record(void)
{
	for (struct rank *r = ranks; r < ranks + RANKS; r++) {
		rn_arena_init(&r->mem, SIZE_MAX);
		need(worded_init(&r->w, &r->mem));
		r->rank = r - ranks;
	}
	for (unsigned i = 0; i < STEPS; i += 10)
		record_steps(10);
	for (struct rank *r = ranks; r < ranks + RANKS; r++) {
		r->rec = (struct rn_recorded){
			.process = { .rank = r->rank, .size = RANKS },
			.stream = &r->stream,
			.streams = 1,
			.times = true,
			.scale = RN_TIME_SCALE_ONE,
		};
		r->stream.calls = worded_calls(&r->w, &r->rec.process);
		r->stream.grammar = r->w.g;
	}
}

/* ---- the end of the run ---- */

static struct rn_choices *choose(struct rn_arena *mem)
{
	struct rn_peers *p[RANKS];
	struct rn_choices *choices;
	struct rn_buf b = { 0 };

	for (int i = 0; i < RANKS; i++) {
		p[i] = rn_peers_new(mem);
		need(p[i] ? rn_recorded_slots(&ranks[i].rec, p[i]) : RN_E_NOMEM);
	}
	for (int span = 1; span < RANKS; span *= 2)
		for (int i = 0; i + span < RANKS; i += 2 * span) {
			rn_buf_clear(&b);
			need(rn_peers_encode(p[i + span], &b));
			need(rn_peers_absorb(p[i], b.data, b.len, NULL));
		}
	rn_buf_clear(&b);
	need(rn_choices_encode(p[0], &b));
	for (int i = 0; i < RANKS; i++) /* as every rank does */
		need(rn_choices_decode(mem, b.data, b.len, &choices, NULL));
	rn_buf_free(&b);
	return choices;
}

static void merge(const struct rn_choices *choices)
{
	struct rn_buf b = { 0 };

	for (struct rank *r = ranks; r < ranks + RANKS; r++) {
		struct rn_arena_mark mark = rn_arena_mark(&scratch);

		need(rn_recorded_bundle(&r->rec, choices, 1, &r->mem, &scratch, &r->bundle));
		rn_arena_rewind(&scratch, mark);
	}
	for (int span = 1; span < RANKS; span *= 2)
		for (int i = 0; i + span < RANKS; i += 2 * span) {
			rn_buf_clear(&b);
			need(rn_bundle_encode(&ranks[i + span].bundle, &b));
			need(rn_bundle_absorb(&ranks[i].bundle, b.data, b.len, &scratch, NULL));
		}
	rn_buf_free(&b);
}

static void report(const char *what, double *since)
{
	double now = bench_cpu();

	bench_row(what, (now - *since) / 1e9, "CPU s", 0, "");
	*since = now;
}

int main(void)
{
	char path[] = "/tmp/bench_finish.XXXXXX";
	const struct rn_meta meta = { 0 };
	struct rn_written file;
	struct rn_choices *choices;
	struct rn_arena mem;
	double begin, since;
	int fd = mkstemp(path);

	need(fd < 0 ? RN_E_SYS : RN_OK);
	close(fd);
	unlink(path); /* otherwise the writer could keep it as an existing trace */
	f_irecv = worded_function("MPI_Irecv");
	f_isend = worded_function("MPI_Isend");
	f_waitall = worded_function("MPI_Waitall");
	w_world = worded_word("MPI_COMM_WORLD");
	w_char = worded_word("MPI_CHAR");
	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	puts("64 ranks, AMR-like: new neighbours and lengths every 10 of 1000 steps");
	record();
	begin = since = bench_cpu();
	choices = choose(&mem);
	report("how each slot is expressed", &since);
	merge(choices);
	report("bundles, made and merged", &since);
	need(rank_merge_bundle(&ranks[0].bundle, &meta, path, &file, NULL));
	report("the file", &since);
	unlink(path);
	bench_row("all of it", (since - begin) / 1e9, "CPU s", 0.5, "");
	bench_row("the file", (double)file.bytes, "bytes", 0, "");
	return bench_done();
}
