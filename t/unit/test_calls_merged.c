/*
 * test_calls_merged.c - the calls of all streams in order of end time, compared with each stream
 * alone.
 */
#include "base/arena.h"
#include "model/chunk_list.h"
#include "read/calls.h"
#include "read/calls_merged.h"
#include "read/trace.h"
#include "tap.h"

#define CALLS_MAX 4096

struct known {
	uint64_t rank, thread, seq, start, end;
};

static struct rn_trace t;
static struct rn_arena mem;
static struct known known[CALLS_MAX];
static unsigned calls;

/* Reads all calls, one stream after the other. */
static void read_streams(void)
{
	struct rn_err err = { 0 };
	struct rn_calls *c = rn_calls_new(&mem, &t, NULL);
	struct rn_call call;
	uint32_t group;

	CHECK(rn_calls_times(c, &err) == RN_OK);
	for (uint32_t i = 0; i < t.moments->stream.n; i++) {
		uint64_t s = RN_SEG_AT(&t.moments->stream, struct rn_chunk_stream, i)->stream;

		CHECK(rn_streams_find(&t.streams, s, &group) == RN_OK);
		CHECK(rn_calls_begin(c, s, group, 0, UINT64_MAX) == RN_OK);
		while (rn_calls_next(c, &call) > 0)
			if (call.marker == RN_MARKER_NONE && CHECK(call.timed && calls < CALLS_MAX))
				known[calls++] = (struct known){ call.rank, call.thread, call.seq,
								 call.start, call.end };
	}
	rn_calls_free(c);
}

/* The iterator returns each call that ends at `from` or later exactly once, in order of end
 * time. */
static void check_from(struct rn_calls_merged *m, uint64_t from)
{
	static bool seen[CALLS_MAX];
	const struct rn_call *c;
	uint64_t last = from;
	unsigned want = 0, n = 0, k;

	for (k = 0; k < calls; k++) {
		seen[k] = false;
		want += known[k].end >= from;
	}
	while (rn_calls_merged_next(m, &c) > 0) {
		for (k = 0; k < calls; k++)
			if (known[k].rank == c->rank && known[k].thread == c->thread &&
			    known[k].seq == c->seq)
				break;
		if (!CHECK(k < calls && !seen[k]))
			return;
		CHECK(known[k].start == c->start && known[k].end == c->end && c->end >= last);
		seen[k] = true;
		last = c->end;
		n++;
	}
	CHECK(n == want && rn_calls_merged_next(m, &c) == 0);
}

static void test_order(struct rn_calls_merged *m)
{
	CHECK(calls > 100);
	check_from(m, 0);
}

static void test_seek(struct rn_calls_merged *m)
{
	uint64_t last = 0;

	for (unsigned k = 0; k < calls; k++)
		last = known[k].end > last ? known[k].end : last;
	for (unsigned i = 0; i < 50; i++) {
		uint64_t from = i < 2 ? i * (last + 1) : known[tap_below(calls)].end + i % 3 - 1;

		CHECK(rn_calls_merged_seek(m, from) == RN_OK);
		check_from(m, from);
	}
}

int main(void)
{
	struct rn_calls_merged *m;
	struct rn_err err = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	if (!CHECK(rn_trace_open(&t, "t/golden/2.0-elastic.rondo", &err) == RN_OK && t.moments))
		return 1;
	read_streams();
	CHECK(rn_calls_merged_new(&mem, &t, &m, &err) == RN_OK);
	test_order(m);
	ok("the calls of all streams come in the order of their end times");
	test_seek(m);
	ok("reading from any time delivers the calls that end from then on");
	rn_calls_merged_free(m);
	rn_trace_close(&t);
	rn_arena_free(&mem);
	return tap_done();
}
