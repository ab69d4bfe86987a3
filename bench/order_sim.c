/* order_sim.c - see order_sim.h. */
#include "order_sim.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

#define RANKS ORDER_SIM_RANKS
#define SIDE  4
#define OPEN  6u /* open receives per rank */
#define COMM  1u
#define TAG   7

/* Particles of each rank at the start of a step, probability that a particle is absorbed after it
 * was processed, and mean times. They are chosen so that failed tests, sources and completions per
 * call have about the entropy of the recording in doc/design/0011-order-codecs.md. */
#define PARTICLES 20u
#define ABSORBED  0.1
#define WORK      0.5
#define LATENCY   0.6
#define JITTER    0.5
#define POLL      0.055
#define SYNC      2.0

struct message {
	double at;
	int32_t from;
};

struct inbox {
	struct message m[RANKS * PARTICLES];
	size_t n;
};

struct receive {
	uint32_t slot, number;
	bool done;
};

struct rank {
	double now;
	unsigned particles;
	uint32_t fails;
	struct inbox in;           /* sorted by arrival */
	double last[RANKS];        /* by sender: arrival of its last message */
	struct receive open[OPEN]; /* sorted by ordinal */
	uint32_t started;
	struct rn_order_row *row;
	struct rn_order_done *done;
	struct rn_order_send *send;
	size_t rows, dones, sends;
};

static uint64_t state;
static size_t alive; /* number of particles on all ranks */

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double uniform(void)
{
	return ((double)(next_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

static int32_t neighbour(int32_t me, unsigned side)
{
	int32_t x = me % SIDE, y = me / SIDE;

	if (side < 2)
		x = (x + (side ? 1 : SIDE - 1)) % SIDE;
	else
		y = (y + (side == 3 ? 1 : SIDE - 1)) % SIDE;
	return y * SIDE + x;
}

static void deliver(struct rank *all, int32_t from, int32_t to)
{
	struct rank *r = &all[to];
	double at = all[from].now + LATENCY + exponential(JITTER);
	size_t i = r->in.n++;

	at = at > r->last[from] ? at : r->last[from] + 1e-9;
	r->last[from] = at;
	for (; i > 0 && r->in.m[i - 1].at > at; i--)
		r->in.m[i] = r->in.m[i - 1];
	r->in.m[i] = (struct message){ at, from };
}

static void send_on(struct rank *all, int32_t me)
{
	struct rank *r = &all[me];
	int32_t to = neighbour(me, (unsigned)(next_random() >> 20) % 4);

	r->send[r->sends++] = (struct rn_order_send){ r->dones, COMM, me, to, TAG };
	deliver(all, me, to);
}

static uint32_t lowest_open(const struct rank *r)
{
	size_t i = 0;

	while (r->open[i].done)
		i++;
	return r->open[i].number;
}

/* Restarts the completed receives, in the order of the array `slot`. */
static void start_again(struct rank *r, const uint32_t *slot, size_t n)
{
	size_t rest = 0;

	for (size_t i = 0; i < OPEN; i++)
		if (!r->open[i].done)
			r->open[rest++] = r->open[i];
	for (size_t i = 0; i < n; i++)
		r->open[rest++] = (struct receive){ slot[i], r->started++, false };
}

/* The n oldest receives match the n first messages. Testsome reports them in array order. */
static void complete(struct rank *r, size_t n)
{
	uint32_t slot[OPEN];
	size_t k = 0;

	for (uint32_t s = 0; s < OPEN; s++)
		for (size_t i = 0; i < n; i++) {
			struct receive *o = &r->open[i];

			if (o->done || o->slot != s)
				continue;
			r->done[r->dones++] =
				(struct rn_order_done){ s, o->number - lowest_open(r),
							r->in.m[i].from, TAG, RN_ORDER_MATCHED };
			o->done = true;
			slot[k++] = s;
		}
	start_again(r, slot, n);
	r->in.n -= n;
	memmove(r->in.m, r->in.m + n, r->in.n * sizeof(r->in.m[0]));
}

static void poll(struct rank *r)
{
	size_t n = 0;

	while (n < r->in.n && n < OPEN && r->in.m[n].at <= r->now)
		n++;
	if (n == 0) {
		r->fails++;
		return;
	}
	r->row[r->rows++] = (struct rn_order_row){ 0, r->fails, (uint32_t)n };
	r->fails = 0;
	r->particles += (unsigned)n;
	complete(r, n);
}

/* Advances a rank to its next poll. It processes one particle, or idles if it has none. */
static void work(struct rank *all, int32_t me)
{
	struct rank *r = &all[me];

	if (r->particles == 0) {
		r->now += POLL * (0.9 + 0.2 * uniform());
		return;
	}
	r->now += exponential(WORK);
	r->particles--;
	if (uniform() < ABSORBED)
		alive--;
	else
		send_on(all, me);
}

/* All particles are absorbed: all ranks get new ones at the same time. */
static void next_step(struct rank *all)
{
	double start = 0;

	for (size_t i = 0; i < RANKS; i++)
		start = all[i].now > start ? all[i].now : start;
	start += SYNC;
	for (int32_t i = 0; i < (int32_t)RANKS; i++) {
		while (all[i].now < start) {
			poll(&all[i]);
			work(all, i);
		}
		all[i].particles = PARTICLES;
	}
	alive = RANKS * PARTICLES;
}

static int32_t first(const struct rank *all)
{
	int32_t best = 0;

	for (int32_t i = 1; i < (int32_t)RANKS; i++)
		best = all[i].now < all[best].now ? i : best;
	return best;
}

static void make_rank(struct rn_arena *mem, struct rank *r, size_t room)
{
	*r = (struct rank){ .now = uniform() };
	r->row = rn_new(mem, struct rn_order_row, room);
	r->done = rn_new(mem, struct rn_order_done, room);
	r->send = rn_new(mem, struct rn_order_send, room);
	for (uint32_t i = 0; i < OPEN; i++)
		r->open[i] = (struct receive){ i, r->started++, false };
}

static struct rn_order finished(struct rn_arena *mem, struct rank *r, enum rn_order_kind kind)
{
	struct rn_order_site *site = rn_new(mem, struct rn_order_site, 1);

	*site = (struct rn_order_site){ .kind = kind, .place = 1 };
	if (r->fails)
		r->row[r->rows++] = (struct rn_order_row){ 0, r->fails, 0 };
	return (struct rn_order){ .site = site,
				  .sites = 1,
				  .row = r->row,
				  .rows = r->rows,
				  .done = r->done,
				  .dones = r->dones,
				  .send = r->send,
				  .sends = r->sends };
}

void order_sim_particles(struct rn_arena *mem, size_t receives, struct rn_order *thread)
{
	struct rank *all = rn_new(mem, struct rank, RANKS);
	size_t room = receives / 4;

	state = 88172645463325252u;
	alive = 0;
	for (size_t i = 0; i < RANKS; i++)
		make_rank(mem, &all[i], room);
	for (size_t n = 0; n < receives;) {
		int32_t me = first(all);
		size_t before = all[me].dones;

		if (alive == 0)
			next_step(all);
		poll(&all[me]);
		n += all[me].dones - before;
		work(all, me);
	}
	for (size_t i = 0; i < RANKS; i++)
		thread[i] = finished(mem, &all[i], RN_ORDER_SOME);
}

/* The order of the neighbors differs between ranks and is the same in each iteration. */
void order_sim_jacobi(struct rn_arena *mem, size_t iterations, struct rn_order *thread)
{
	static const uint32_t late[4][4] = {
		{ 0, 0, 0, 0 }, { 1, 0, 1, 0 }, { 2, 0, 0, 0 }, { 3, 0, 1, 0 }
	};
	static const uint32_t index[4][4] = {
		{ 0, 1, 2, 3 }, { 1, 0, 3, 2 }, { 2, 0, 1, 3 }, { 3, 0, 2, 1 }
	};

	for (int32_t me = 0; me < (int32_t)RANKS; me++) {
		struct rank r;

		make_rank(mem, &r, 4 * iterations);
		for (size_t i = 0; i < 4 * iterations; i++) {
			uint32_t k = index[me % 4][i % 4];
			int32_t from = neighbour(me, k);

			r.row[r.rows++] = (struct rn_order_row){ .done = 1 };
			r.send[r.sends++] = (struct rn_order_send){ i / 4 * 4, COMM, me,
								    neighbour(me, i % 4), TAG };
			r.done[r.dones++] = (struct rn_order_done){ k, late[me % 4][i % 4], from,
								    TAG, RN_ORDER_MATCHED };
		}
		thread[me] = finished(mem, &r, RN_ORDER_ANY);
	}
}
