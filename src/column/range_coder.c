/*
 * range_coder.c - see range_coder.h.
 *
 * The arithmetic is that of a range coder with carries: the interval is low .. low + range. Each
 * decision narrows it, and bytes are shifted out while its width is below 2^24.
 */
#include "column/range_coder.h"

#include <assert.h>

#include "base/buf.h"

#define TOP  ((uint32_t)1 << 24)
#define HALF 32768
/* The probability of a decision is at least this and at most 65536 minus this, of 65536. */
#define LEAST 64
/* A probability moves toward the decision by 2 / (2 * seen + 5) of the distance; `seen` is at most
 * this. */
#define SEEN_MAX 60
/* bytes of the lower end of the interval */
#define TAIL 4u

void rn_coder_write(struct rn_coder *c, struct rn_buf *out)
{
	*c = (struct rn_coder){ .out = out, .range = UINT32_MAX };
}

static void read_byte(struct rn_coder *c)
{
	c->code = c->code << 8 | (c->at < c->len ? c->in[c->at] : 0);
	c->at++;
}

void rn_coder_read(struct rn_coder *c, const void *bytes, size_t len)
{
	*c = (struct rn_coder){ .range = UINT32_MAX, .in = bytes, .len = len };
	for (unsigned i = 0; i < TAIL; i++)
		read_byte(c);
}

/* Shifts out the highest byte of low, unless a carry could still change it. The very first byte is
 * always 0 and is not written. */
static void shift_out(struct rn_coder *c)
{
	if (c->low < 0xff000000 || c->low > UINT32_MAX) {
		unsigned char carry = (unsigned char)(c->low >> 32);

		if (c->begun)
			rn_buf_byte(c->out, (unsigned char)(c->cache + carry));
		for (; c->waiting; c->waiting--)
			rn_buf_byte(c->out, (unsigned char)(0xff + carry));
		c->begun = true;
		c->cache = (unsigned char)(c->low >> 24);
	} else {
		c->waiting++;
	}
	c->low = (c->low & 0xffffff) << 8;
}

static void normalise(struct rn_coder *c)
{
	while (c->range < TOP) {
		c->range <<= 8;
		if (c->out)
			shift_out(c);
		else
			read_byte(c);
	}
}

/* Narrows the interval to from .. from + width. */
static void narrow(struct rn_coder *c, uint32_t from, uint32_t width)
{
	assert(width > 0 && width <= c->range && from <= c->range - width);
	if (c->out)
		c->low += from;
	else
		c->code -= from;
	c->range = width;
	normalise(c);
}

static void learn(struct rn_chance *p, bool bit)
{
	int32_t to = bit ? HALF - LEAST : LEAST - HALF;

	p->lean = (int16_t)(p->lean + (to - p->lean) * 2 / (2 * p->seen + 5));
	if (p->seen < SEEN_MAX)
		p->seen++;
}

bool rn_coder_weighed(struct rn_coder *c, uint32_t ones, bool bit)
{
	assert(ones > 0 && ones < 2 * HALF);
	ones *= c->range >> 16;
	if (c->bad)
		return false;
	if (!c->out)
		bit = c->code < ones;
	if (bit)
		narrow(c, 0, ones);
	else
		narrow(c, ones, c->range - ones);
	return bit;
}

bool rn_coder_bit(struct rn_coder *c, struct rn_chance *p, bool bit)
{
	bit = rn_coder_weighed(c, (uint32_t)(p->lean + HALF), bit);
	if (!c->bad)
		learn(p, bit);
	return bit;
}

uint32_t rn_coder_even(struct rn_coder *c, uint32_t v, uint32_t n)
{
	uint32_t unit;

	assert(n > 0 && n <= 2 * HALF && (!c->out || v < n));
	unit = c->range / n;
	if (c->bad)
		return 0;
	if (!c->out) {
		v = c->code / unit;
		c->bad = v >= n; /* no value is assigned to the rest of the interval */
		if (c->bad)
			return 0;
	}
	narrow(c, v * unit, unit);
	return v;
}

/* Index of the context for n digits; long numbers share the last one. */
static unsigned length_class(unsigned n)
{
	return n < RN_CODER_LENGTHS ? n : RN_CODER_LENGTHS - 1;
}

/* Codes v + 1 as the number of its binary digits after the leading one, and then these digits,
 * highest first. */
uint64_t rn_coder_number(struct rn_coder *c, struct rn_number *m, uint64_t v, uint64_t max)
{
	unsigned n = 0, digits = c->out ? 63u - (unsigned)__builtin_clzll(v + 1) : 0;
	struct rn_chance *top;
	uint64_t x = 1;

	assert(max < UINT64_MAX && (!c->out || v <= max));
	while (n < 63 && rn_coder_bit(c, &m->length[length_class(n)], n < digits))
		n++;
	top = m->top[length_class(n)];
	for (unsigned i = n; i-- > 0;) {
		bool bit = (v + 1) >> i & 1;

		if (i + 1 == n)
			bit = rn_coder_bit(c, &top[0], bit);
		else if (i + 2 == n)
			bit = rn_coder_bit(c, &top[1 + (x & 1)], bit);
		else
			bit = rn_coder_even(c, bit, 2);
		x = x << 1 | bit;
	}
	c->bad |= x - 1 > max;
	return c->bad ? 0 : x - 1;
}

uint64_t rn_coder_small(struct rn_coder *c, struct rn_small *m, uint64_t v, uint64_t max)
{
	uint64_t n = 0;

	assert(!c->out || v <= max);
	while (n < RN_CODER_SMALL && n < max && rn_coder_bit(c, &m->more[n], n < v))
		n++;
	if (n == RN_CODER_SMALL && n < max)
		n += rn_coder_number(c, &m->rest, v - n, max - n);
	return c->bad ? 0 : n;
}

/* Writes the number of the interval that ends in the most zero bytes. Trailing zero bytes are
 * omitted, because a reader adds them. */
static void finish(struct rn_coder *c)
{
	uint64_t last = c->low + c->range - 1, mask = UINT32_MAX;

	while ((last & ~mask) < c->low)
		mask >>= 8;
	c->low = last & ~mask;
	for (unsigned i = 0; i < TAIL + 1; i++)
		shift_out(c);
	if (rn_buf_status(c->out) < 0)
		return;
	for (unsigned i = 0; i < TAIL && c->out->data[c->out->len - 1] == 0; i++)
		c->out->len--;
}

bool rn_coder_past(const struct rn_coder *c)
{
	return c->at > c->len && c->at - c->len > TAIL;
}

bool rn_coder_end(struct rn_coder *c)
{
	if (!c->out)
		return !c->bad && c->at >= c->len && !rn_coder_past(c);
	finish(c);
	return true;
}
