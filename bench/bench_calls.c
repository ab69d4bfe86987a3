/*
 * bench_calls.c - measures how fast the calls of a stream are read, with all arguments decoded.
 *
 * The stream is that of one rank of a stencil. Each step has four receives, four sends and a wait
 * for all of them, with ranks relative to the caller and with request names. All values of all
 * calls are summed. The baseline of the same run is a walk of the rules alone, which every reader
 * needs. A stream with ten times the number of calls must not require more memory.
 */
#include "bench.h"

#include <sys/resource.h>

#include "base/arena.h"
#include "base/intern.h"
#include "model/merged_streams.h"
#include "read/calls.h"
#include "read/trace.h"
#include "rules/loop_stream.h"
#include "t/unit/call_writer.h"

enum { PEERS = 4, STEPS = 100000, REPS = 7 };
enum { IRECV, ISEND, WAITALL };
enum { WORLD, DOUBLE, NEW, GONE, HEAP };

static const unsigned char message_dirs[] = { RN_DIR_IN, RN_DIR_IN, RN_DIR_IN, RN_DIR_IN,
					      RN_DIR_IN, RN_DIR_IN, RN_DIR_OUT };
static const unsigned char wait_dirs[] = { RN_DIR_IN, RN_DIR_IN, RN_DIR_OUT };
static const char *const recv_params[] = { "buf", "count", "datatype", "source",
					   "tag", "comm",  "request" };
static const char *const send_params[] = { "buf", "count", "datatype", "dest",
					   "tag", "comm",  "request" };
static const char *const wait_params[] = { "count", "array_of_requests", "array_of_statuses" };
static const struct rn_func funcs[] = {
	{ IRECV, "MPI_Irecv", recv_params, 7, message_dirs },
	{ ISEND, "MPI_Isend", send_params, 7, message_dirs },
	{ WAITALL, "MPI_Waitall", wait_params, 3, wait_dirs },
};
static const struct rn_word words[] = { { WORLD, "MPI_COMM_WORLD" },
					{ DOUBLE, "MPI_DOUBLE" },
					{ NEW, "request+" },
					{ GONE, "request-" },
					{ HEAP, "heap" } };
static const struct rn_vocab vocab = { funcs, words, 3, 5 };

static struct rn_arena mem;
static struct rn_sigs *sigs;
static struct rn_item step[2 * PEERS + 1];
static uint64_t sum;

static void fail(const char *what)
{
	fprintf(stderr, "bench_calls: %s\n", what);
	exit(1);
}

static void add_call(unsigned i, struct rn_buf *w, const unsigned char *bytes)
{
	size_t len;
	uint32_t id;

	if (call_end(w, 0, &len) < 0 || !rn_call_valid(bytes, len, &vocab) ||
	    rn_sigs_intern(sigs, bytes, len, &id) < 0)
		fail("a call cannot be written");
	step[i] = (struct rn_item){ .id = id, .kind = RN_KIND_TERMINAL, .count = 1 };
}

static void add_message(unsigned i)
{
	static const int to[PEERS] = { -1, 1, -64, 64 };
	unsigned char bytes[CALL_BUFFER];
	struct rn_buf w;

	call_begin(&w, bytes, sizeof(bytes), i < PEERS ? IRECV : ISEND);
	rn_call_place(&w, HEAP, 1, 8 * (int64_t)i);
	rn_call_num(&w, RN_V_INT, 1024);
	rn_call_const(&w, DOUBLE);
	rn_call_num(&w, RN_V_REL, to[i % PEERS]);
	rn_call_num(&w, RN_V_INT, i % PEERS);
	rn_call_const(&w, WORLD);
	rn_call_const(&w, NEW);
	add_call(i, &w, bytes);
}

/* The messages have different signatures, so each request has index 0 of its creator. */
static void add_wait(void)
{
	unsigned char bytes[CALL_BUFFER];
	struct rn_buf w;

	call_begin(&w, bytes, sizeof(bytes), WAITALL);
	rn_call_num(&w, RN_V_INT, 2 * PEERS);
	rn_call_list(&w, 2 * PEERS);
	for (unsigned i = 0; i < 2 * PEERS; i++)
		rn_call_place(&w, GONE, i, 0);
	rn_call_list(&w, 2 * PEERS);
	for (unsigned i = 0; i < 2 * PEERS; i++)
		rn_call_status(&w, RN_STATUS_NOTHING);
	add_call(2 * PEERS, &w, bytes);
}

/* Makes a trace of one stream with the given number of steps. */
static void make_trace(uint64_t steps, struct rn_trace *t, struct rn_stream_group *group)
{
	struct rn_rules *rules = rn_rules_new(&mem);
	struct rn_item all = { .kind = RN_KIND_RULE, .count = steps };

	if (!rules || rn_rules_add(rules, step, 2 * PEERS + 1, &all.id) < 0 ||
	    rn_rules_add(rules, &all, 1, &group->root) < 0)
		fail("no memory");
	*t = (struct rn_trace){ .vocab = vocab,
				.streams = { .sigs = sigs,
					     .rules = rules,
					     .group = group,
					     .groups = 1,
					     .ranks = 1 },
				.ranks = 4096,
				.threads = 1 };
}

static double walk_all(const struct rn_trace *t)
{
	struct rn_flow flow = rn_streams_flow(&t->streams, 0);
	struct rn_walk w;
	uint64_t n = 0;
	uint32_t sig;
	double a;

	if (rn_walk_flow(&w, &flow, &mem) < 0)
		fail("no memory");
	a = bench_cpu();
	for (; rn_walk_next(&w, &sig) > 0; n++)
		sum += sig;
	return (bench_cpu() - a) / (double)n;
}

static double read_all(struct rn_calls *calls, uint64_t want)
{
	double a = bench_cpu();
	struct rn_call c;
	uint64_t n = 0;

	if (rn_calls_begin(calls, 0, 0, 0, UINT64_MAX) < 0)
		fail("the stream cannot be read");
	for (; rn_calls_next(calls, &c) > 0; n++)
		for (uint32_t i = 0; i < c.args->n; i++)
			sum += (uint64_t)c.args->value[i].num;
	if (n != want)
		fail("calls are missing");
	return (bench_cpu() - a) / (double)n;
}

/* Reads a stream of `steps` steps. Returns the peak resident memory of the process in KiB. */
static double memory_after(uint64_t steps)
{
	struct rn_stream_group group = { 0 };
	struct rn_trace t;
	struct rn_calls *calls;
	struct rusage used;

	make_trace(steps, &t, &group);
	calls = rn_calls_new(&mem, &t, NULL);
	if (!calls)
		fail("no memory");
	read_all(calls, steps * (2 * PEERS + 1));
	rn_calls_free(calls);
	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_maxrss;
}

int main(void)
{
	struct rn_stream_group group = { 0 };
	double walk[REPS], read[REPS], ns, before;
	struct rn_calls *calls;
	struct rn_trace t;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = rn_sigs_new(&mem);
	for (unsigned i = 0; sigs && i < 2 * PEERS; i++)
		add_message(i);
	add_wait();
	make_trace(STEPS, &t, &group);
	calls = rn_calls_new(&mem, &t, NULL);
	if (!calls)
		fail("no memory");
	for (int i = 0; i < REPS; i++) {
		walk[i] = walk_all(&t);
		read[i] = read_all(calls, (uint64_t)STEPS * (2 * PEERS + 1));
	}
	ns = bench_median(read, REPS);
	bench_row("calls per second, all arguments decoded", 1e3 / ns, "M/s", -12, "");
	bench_row("  CPU time per call", ns, "ns", 0, "");
	bench_row("  walking the rules alone", bench_median(walk, REPS), "ns", 0, "");
	bench_row("  ratio", ns / bench_median(walk, REPS), "", 16, "");
	before = memory_after(STEPS / 10);
	bench_row("more memory for 10 times as many calls", memory_after(STEPS) - before, "KiB",
		  256, sum ? "" : "nothing was read");
	rn_calls_free(calls);
	rn_arena_free(&mem);
	return bench_done();
}
