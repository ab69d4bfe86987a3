/*
 * test_order_clocks.c - computed clocks equal those that messages would have carried; tables move
 * the fewest receives.
 */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "order/cdc_tables.h"
#include "order/event_codec.h"
#include "order/lamport.h"

#define THREADS 8u
#define MOST    4000u
#define TAGS    3u

static struct rn_arena mem;
static struct rn_order_site site = { .kind = RN_ORDER_WAIT };

/* A thread of a run in which messages carry clocks. */
struct carrier {
	struct rn_order_row row[MOST];
	struct rn_order_done done[MOST];
	struct rn_order_send send[MOST];
	uint64_t carried[MOST], now;
	size_t dones, sends;
	/* Queues of the clocks of messages that were sent to this thread and not received, by
	 * sender and tag. */
	uint64_t queue[THREADS][TAGS][MOST];
	size_t in[THREADS][TAGS], out[THREADS][TAGS];
};

static struct carrier world[THREADS];

static void send_one(uint32_t from)
{
	struct carrier *c = &world[from];
	uint32_t to = (uint32_t)tap_below(THREADS), tag = (uint32_t)tap_below(TAGS);
	size_t *n = &world[to].in[from][tag];

	c->send[c->sends++] =
		(struct rn_order_send){ c->dones, 1, (int32_t)from, (int32_t)to, (int32_t)tag };
	world[to].queue[from][tag][(*n)++] = c->now++;
}

static void receive_one(uint32_t me)
{
	struct carrier *c = &world[me];
	uint32_t from = (uint32_t)tap_below(THREADS), tag = (uint32_t)tap_below(TAGS);
	uint64_t clock;

	if (c->in[from][tag] == c->out[from][tag])
		return;
	clock = c->queue[from][tag][c->out[from][tag]++];
	c->row[c->dones] = (struct rn_order_row){ .done = 1 };
	c->done[c->dones] = (struct rn_order_done){ .source = (int32_t)from,
						    .tag = (int32_t)tag,
						    .flags = RN_ORDER_MATCHED };
	c->carried[c->dones++] = clock;
	c->now = (c->now > clock ? c->now : clock) + 1;
}

static void run_world(struct rn_order *o, int32_t *rank)
{
	memset(world, 0, sizeof(world));
	for (size_t i = 0; i < THREADS * MOST / 2; i++) {
		uint32_t who = (uint32_t)tap_below(THREADS);

		if (world[who].sends < MOST && world[who].dones < MOST)
			tap_below(2) ? send_one(who) : receive_one(who);
	}
	for (uint32_t t = 0; t < THREADS; t++) {
		struct carrier *c = &world[t];

		rank[t] = (int32_t)t;
		o[t] = (struct rn_order){ .site = &site, .sites = 1, .row = c->row };
		o[t].rows = o[t].dones = c->dones;
		o[t].done = c->done;
		o[t].send = c->send;
		o[t].sends = c->sends;
	}
}

static void test_carried(uint32_t comm)
{
	struct rn_order o[THREADS];
	int32_t rank[THREADS];

	site.comm = comm;
	run_world(o, rank);
	CHECK(rn_order_clocks(&mem, o, rank, THREADS) == RN_OK);
	for (uint32_t t = 0; t < THREADS; t++)
		CHECK(memcmp(o[t].clock, world[t].carried, o[t].dones * sizeof(uint64_t)) == 0);
}

/* Some sends are missing from the events. Others never precede the receives that wait for them. */
static void test_wrong(void)
{
	struct rn_order o[THREADS];
	int32_t rank[THREADS];

	for (int i = 0; i < 20; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);

		run_world(o, rank);
		o[3].sends /= 2;
		o[4].sends = 0;
		for (size_t k = 0; k < o[5].sends; k++)
			world[5].send[k].at = o[5].dones;
		for (size_t k = 0; k < o[6].sends; k++)
			world[6].send[k].dest = (int32_t)tap_below(THREADS);
		CHECK(rn_order_clocks(&mem, o, rank, THREADS) == RN_OK);
		for (uint64_t n = 1; n < 6; n++) {
			mem.fail_at = n;
			CHECK(rn_order_clocks(&mem, o, rank, THREADS) == RN_E_NOMEM);
		}
		mem.fail_at = 0;
		rn_arena_rewind(&mem, mark);
	}
}

/* Length of the longest ascending subsequence, by the obvious algorithm. */
static uint32_t longest(const uint32_t *v, uint32_t n)
{
	static uint32_t best[MOST];
	uint32_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		best[i] = 1;
		for (uint32_t j = 0; j < i; j++)
			if (v[j] < v[i] && best[j] >= best[i])
				best[i] = best[j] + 1;
		most = best[i] > most ? best[i] : most;
	}
	return most;
}

static void test_fewest(void)
{
	static struct rn_order_row row[MOST];
	static struct rn_order_done done[MOST];
	static uint64_t clock[MOST];
	static uint32_t place[MOST];

	for (int turn = 0; turn < 200; turn++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		uint32_t n = (uint32_t)tap_below(200), reach = 1 + (uint32_t)tap_below(40);
		struct rn_order_chunk c = { .site = &site, .sites = 1, .row = row, .done = done };
		struct rn_order_matched_tables t;

		for (uint32_t i = 0; i < n; i++) {
			place[i] = i;
			row[i] = (struct rn_order_row){ .done = 1 };
			done[i] = (struct rn_order_done){ .flags = RN_ORDER_MATCHED };
		}
		for (uint32_t i = 0; i < n / 2; i++) {
			uint32_t a = (uint32_t)tap_below(n), b = a + (uint32_t)tap_below(reach);
			uint32_t was = place[a];

			place[a] = place[b < n ? b : a];
			place[b < n ? b : a] = was;
		}
		for (uint32_t i = 0; i < n; i++)
			clock[i] = place[i];
		c.clock = clock;
		c.rows = n;
		CHECK(rn_order_chunk_begin(&mem, &c));
		rn_order_chunk_count(&c);
		CHECK(rn_order_matched_tables(&mem, &c, 0, &t));
		CHECK(t.moved == n - longest(place, n));
		rn_arena_rewind(&mem, mark);
	}
}

static void make_tables(const struct rn_order *o, struct rn_order_matched_tables *t)
{
	struct rn_order_chunk c = { .site = o->site, .sites = o->sites, .clock = o->clock };

	c.row = o->row;
	c.done = o->done;
	c.rows = (uint32_t)o->rows;
	CHECK(rn_order_chunk_begin(&mem, &c));
	rn_order_chunk_count(&c);
	CHECK(rn_order_matched_tables(&mem, &c, 0, t));
}

/* The decoder finds the same receives out of order as the encoder, which had the sends. */
static void test_kept(void)
{
	struct rn_order o[THREADS];
	int32_t rank[THREADS];
	uint32_t moved = 0;

	run_world(o, rank);
	CHECK(rn_order_clocks(&mem, o, rank, THREADS) == RN_OK);
	for (uint32_t t = 0; t < THREADS; t++) {
		struct rn_order_matched_tables was, is;
		struct rn_buf out = { 0 };
		struct rn_order again;

		CHECK(rn_order_encode(&mem, RN_ORDER_CLOCK, &o[t], &out) == RN_OK);
		CHECK(rn_order_decode(&mem, &site, 1, out.data, out.len, &again, NULL) == RN_OK);
		CHECK(again.clock != NULL);
		make_tables(&o[t], &was);
		make_tables(&again, &is);
		CHECK(was.moved == is.moved && was.matched == is.matched);
		CHECK(memcmp(was.moved_at, is.moved_at, was.moved * sizeof(*was.moved_at)) == 0);
		CHECK(memcmp(was.delay, is.delay, was.moved * sizeof(*was.delay)) == 0);
		moved += is.moved;
		rn_buf_free(&out);
	}
	CHECK(moved > 0);
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_carried(1);
	ok("clocks are those that messages would have carried");
	test_carried(0);
	ok("... where receivers do not know the communicator");
	test_wrong();
	ok("sends that are not there, or not what they were");
	test_fewest();
	ok("the fewest receives are moved");
	test_kept();
	ok("what is coded by clocks keeps the reference order");
	rn_arena_free(&mem);
	return tap_done();
}
