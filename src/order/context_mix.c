/* context_mix.c - see context_mix.h. */
#include "order/context_mix.h"

#include <assert.h>
#include <math.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define ONE 65536u
/* Minimum probability of an outcome, in units of 1/65536. */
#define LEAST 32u
/* The probability of a context moves towards the outcome by 1 / (seen + 1.5) of the distance.
 * `seen` is the number of decisions of the context, at most SEEN. */
#define SEEN 250u
/* The weight of the specific context is seen / (seen + DOUBT). */
#define DOUBT     10u
#define SLOTS_MIN 10u
#define SLOTS_MAX 18u

struct slot {
	uint16_t chance, seen;
};

struct rn_guess {
	struct rn_coder coder;
	struct slot *slot;
	unsigned shift;
	double *ideal;
	/* By the number of decisions seen: step of the probability, and weight; in units of
	 * 1/65536. */
	uint32_t step[SEEN + 1], trust[SEEN + 1];
};

static struct rn_guess *make(struct rn_arena *mem, uint64_t decisions)
{
	struct rn_guess *g = rn_new(mem, struct rn_guess, 1);
	unsigned bits = SLOTS_MIN;

	while (bits < SLOTS_MAX && (uint64_t)1 << bits < decisions)
		bits++;
	if (g)
		g->slot = rn_new(mem, struct slot, (size_t)1 << bits);
	if (!g || !g->slot)
		return NULL;
	g->shift = 32 - bits;
	for (size_t i = 0; i < (size_t)1 << bits; i++)
		g->slot[i].chance = ONE / 2;
	for (uint32_t n = 0; n <= SEEN; n++) {
		g->step[n] = 2 * ONE / (2 * n + 3);
		g->trust[n] = n * ONE / (n + DOUBT);
	}
	return g;
}

struct rn_guess *rn_guess_write(struct rn_arena *mem, uint64_t decisions, struct rn_buf *out,
				double *ideal)
{
	struct rn_guess *g = make(mem, decisions);

	if (!g)
		return NULL;
	g->ideal = ideal;
	rn_coder_write(&g->coder, out);
	return g;
}

struct rn_guess *rn_guess_read(struct rn_arena *mem, uint64_t decisions, const void *bytes,
			       size_t len)
{
	struct rn_guess *g = make(mem, decisions);

	if (g)
		rn_coder_read(&g->coder, bytes, len);
	return g;
}

int rn_guess_end(struct rn_guess *g)
{
	bool good = rn_coder_end(&g->coder);

	if (g->coder.out)
		return rn_buf_status(g->coder.out);
	return good ? RN_OK : RN_E_DATA;
}

bool rn_guess_writes(const struct rn_guess *g)
{
	return g->coder.out != NULL;
}

bool rn_guess_bad(const struct rn_guess *g)
{
	return g->coder.bad || (!g->coder.out && rn_coder_past(&g->coder));
}

void rn_guess_refuse(struct rn_guess *g)
{
	g->coder.bad = true;
}

bool rn_guess_weighed(struct rn_guess *g, uint32_t ones, bool bit)
{
	bit = rn_coder_weighed(&g->coder, ones, bit);
	if (g->ideal)
		*g->ideal -= log2((bit ? ones : ONE - ones) / (double)ONE);
	return bit;
}

static inline void learn(const struct rn_guess *g, struct slot *s, bool bit)
{
	int32_t to = bit ? ONE - 1 : 0, move = (int32_t)g->step[s->seen];

	assert(s->seen <= SEEN);
	s->chance = (uint16_t)(s->chance + (((to - s->chance) * (int64_t)move) >> 16));
	s->seen = (uint16_t)(s->seen + (s->seen < SEEN));
}

/* Codes one binary decision. `node` identifies it among the binary decisions of one value. */
static bool decide(struct rn_guess *g, const struct rn_guess_on *on, uint32_t node, bool bit)
{
	const uint32_t salt = node * 0x85ebca6bu + on->kind * 0xc2b2ae35u;
	struct slot *all = &g->slot[((on->general ^ salt) * 0x9e3779b1u) >> g->shift];
	struct slot *some = &g->slot[((on->specific ^ (salt + 1)) * 0x9e3779b1u) >> g->shift];
	int64_t more = ((int64_t)some->chance - all->chance) * g->trust[some->seen];
	uint32_t ones = (uint32_t)(all->chance + (more >> 16));

	assert(ones < ONE);
	ones = ones < LEAST ? LEAST : ones > ONE - LEAST ? ONE - LEAST : ones;
	bit = rn_guess_weighed(g, ones, bit);
	learn(g, all, bit);
	learn(g, some, bit);
	return bit;
}

bool rn_guess_bit(struct rn_guess *g, const struct rn_guess_on *on, bool bit)
{
	return decide(g, on, 0, bit);
}

uint32_t rn_guess_number(struct rn_guess *g, const struct rn_guess_on *on, uint32_t v, uint32_t max)
{
	uint64_t up = (uint64_t)v + 1, x = 1;
	unsigned n = 0, digits = 63u - (unsigned)__builtin_clzll(up);

	assert(!rn_guess_writes(g) || v <= max);
	while (n < 32 && decide(g, on, 1 + n, n < digits))
		n++;
	for (unsigned i = n; i-- > 0;)
		x = x << 1 | decide(g, on, 64 + (n << 26 ^ (uint32_t)x), up >> i & 1);
	if (x - 1 > max)
		rn_guess_refuse(g);
	return g->coder.bad ? 0 : (uint32_t)(x - 1);
}

#define WIDE_LEARNED 20u

/* Codes a length as seven decisions of a binary tree. */
static unsigned code_length(struct rn_guess *g, const struct rn_guess_on *on, unsigned length)
{
	uint32_t x = 1;

	assert(length <= 64);
	for (unsigned i = 7; i-- > 0;)
		x = x << 1 | decide(g, on, x, length >> i & 1);
	if (x - 128 > 64)
		rn_guess_refuse(g);
	return g->coder.bad ? 0 : x - 128;
}

uint64_t rn_guess_wide(struct rn_guess *g, const struct rn_guess_on *on, uint64_t v)
{
	unsigned n = code_length(g, on, v ? 64u - (unsigned)__builtin_clzll(v) : 0);
	uint64_t x = n > 0;

	for (unsigned i = n; i-- > 1;) {
		bool bit = v >> (i - 1) & 1;

		if (n - i < WIDE_LEARNED)
			bit = decide(g, on, 128 + (n << 24 ^ (uint32_t)x), bit);
		else
			bit = rn_guess_weighed(g, ONE / 2, bit);
		x = x << 1 | bit;
	}
	return g->coder.bad ? 0 : x;
}
