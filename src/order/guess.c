/* guess.c - see guess.h. */
#include "order/guess.h"

#include <math.h>

#include "base/arena.h"
#include "base/buf.h"

/* How many levels of "how much has the last context seen" there are. */
#define LEVELS 4u
/* ln(p / (1 - p)) is in units of 1 / 256 and stays between these. */
#define FAR 2816
#define ONE 65536
/* No decision is held for more certain than this, of 65536. */
#define LEAST 32
/* A context's chance moves by 1 / (seen + 1.5) of the way, seen being at most this. */
#define SEEN 150u
#define FINE 4096u
/* Weights: 65536 is 1. */
#define START     20000
#define SLOTS_MIN 10u
#define SLOTS_MAX 18u

struct slot {
	uint16_t chance, seen;
};

struct weights {
	int32_t of[RN_GUESS_CONTEXTS];
	uint32_t seen;
};

struct rn_guess {
	struct rn_coder coder;
	struct slot *slot;
	unsigned shift;
	double *ideal;
	uint32_t step[SEEN + 1];
	int16_t stretch[FINE]; /* ln(p / (1 - p)) by p */
	struct weights weights[RN_GUESS_KINDS][LEVELS];
};

/* 65536 / (1 + e^-x), for x from -12 on in halves. */
static const uint16_t logistic[] = {
	0,     1,     1,     2,     3,     5,     8,     13,    22,    36,    60,    98,    162,
	267,   439,   720,   1179,  1921,  3108,  4971,  7812,  11955, 17625, 24743, 32768, 40793,
	47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476,
	65500, 65514, 65523, 65528, 65531, 65533, 65534, 65535, 65535, 65535,
};

static uint32_t squash(int32_t x)
{
	uint32_t at, part, p;

	x = x > FAR ? FAR : x < -FAR ? -FAR : x;
	at = (uint32_t)(x + 12 * 256) >> 7;
	part = (uint32_t)(x + 12 * 256) & 127;
	p = (logistic[at] * (128 - part) + logistic[at + 1] * part) >> 7;
	return p < LEAST ? LEAST : p > ONE - LEAST ? ONE - LEAST : p;
}

/* The inverse of squash, to 1 / 4096. */
static void fill_stretch(struct rn_guess *g)
{
	uint32_t p = 0;

	for (int32_t x = -FAR; x <= FAR; x++)
		for (uint32_t to = squash(x) / (ONE / FINE); p <= to; p++)
			g->stretch[p] = (int16_t)x;
	for (; p < FINE; p++)
		g->stretch[p] = FAR;
}

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
	for (uint32_t n = 0; n <= SEEN; n++)
		g->step[n] = 2 * ONE / (2 * n + 3);
	for (unsigned k = 0; k < RN_GUESS_KINDS * LEVELS; k++)
		for (unsigned i = 0; i < RN_GUESS_CONTEXTS; i++)
			g->weights[k / LEVELS][k % LEVELS].of[i] = START;
	fill_stretch(g);
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

bool rn_guess_end(struct rn_guess *g)
{
	return rn_coder_end(&g->coder);
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

static struct weights *weights_for(struct rn_guess *g, unsigned kind, unsigned seen)
{
	return &g->weights[kind][seen == 0 ? 0 : seen < 4 ? 1 : seen < 20 ? 2 : 3];
}

static inline void learn_slot(const struct rn_guess *g, struct slot *s, bool bit)
{
	int32_t to = bit ? ONE - 1 : 0, move = (int32_t)g->step[s->seen];

	s->chance = (uint16_t)(s->chance + (((to - s->chance) * (int64_t)move) >> 16));
	s->seen = (uint16_t)(s->seen + (s->seen < SEEN));
}

/* Weights move fast at first. */
static inline void learn_weights(struct weights *w, const int32_t *opinion, unsigned n,
				 int32_t miss)
{
	int32_t rate = w->seen < 64 ? 40 : w->seen < 1024 ? 20 : 8;
	int64_t by = (int64_t)rate * miss;

	w->seen++;
	for (unsigned i = 0; i < n; i++) /* bytes that do not mean it could make it overflow */
		w->of[i] = (int32_t)((uint32_t)w->of[i] +
				     (uint32_t)((opinion[i] * by + (1 << 19)) >> 20));
}

/* n is known where this is called, so that its loops are none. */
static inline __attribute__((always_inline)) bool decide_by(struct rn_guess *g,
							    const struct rn_guess_on *on,
							    unsigned n, uint32_t node, bool bit)
{
	struct slot *slot[RN_GUESS_CONTEXTS];
	int32_t opinion[RN_GUESS_CONTEXTS];
	struct weights *w;
	int64_t sum = 0;
	uint32_t ones;

	node = node * 0x85ebca6bu + on->kind * 0xc2b2ae35u;
	for (unsigned i = 0; i < n; i++) {
		slot[i] = &g->slot[((on->context[i] ^ (node + i)) * 0x9e3779b1u) >> g->shift];
		opinion[i] = g->stretch[slot[i]->chance / (ONE / FINE)];
	}
	w = weights_for(g, on->kind, slot[n - 1]->seen);
	for (unsigned i = 0; i < n; i++)
		sum += (int64_t)w->of[i] * opinion[i];
	sum >>= 16;
	ones = squash(sum > FAR ? FAR : sum < -FAR ? -FAR : (int32_t)sum);
	bit = rn_guess_weighed(g, ones, bit);
	learn_weights(w, opinion, n, (bit ? ONE : 0) - (int32_t)ones);
	for (unsigned i = 0; i < n; i++)
		learn_slot(g, slot[i], bit);
	return bit;
}

/* The node is where in a decision of several parts this one stands. */
static bool decide(struct rn_guess *g, const struct rn_guess_on *on, uint32_t node, bool bit)
{
	switch (on->n) {
	case 2:
		return decide_by(g, on, 2, node, bit);
	case 3:
		return decide_by(g, on, 3, node, bit);
	case 4:
		return decide_by(g, on, 4, node, bit);
	default:
		return decide_by(g, on, RN_GUESS_CONTEXTS, node, bit);
	}
}

bool rn_guess_bit(struct rn_guess *g, const struct rn_guess_on *on, bool bit)
{
	return decide(g, on, 0, bit);
}

uint32_t rn_guess_number(struct rn_guess *g, const struct rn_guess_on *on, uint32_t v, uint32_t max)
{
	uint64_t up = (uint64_t)v + 1, x = 1;
	unsigned n = 0, digits = 63u - (unsigned)__builtin_clzll(up);

	while (n < 32 && decide(g, on, 1 + n, n < digits))
		n++;
	for (unsigned i = n; i-- > 0;)
		x = x << 1 | decide(g, on, 64 + (n << 26 ^ (uint32_t)x), up >> i & 1);
	if (x - 1 > max)
		rn_guess_refuse(g);
	return g->coder.bad ? 0 : (uint32_t)(x - 1);
}
