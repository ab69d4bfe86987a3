/* value_codec.c - see value_codec.h. The same functions encode and decode, as in range_coder.h. */
#include "order/value_codec.h"

#include <assert.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/varint.h"
#include "order/clock_value.h"
#include "order/context_mix.h"

/* Kinds of decisions of the adaptive model. */
enum { TICKS, EXACT, DIFFERENCE, PLAIN };

/* Forms of the values of a site (doc/format.md, 16.2). */
enum form { CLOCK, SINGLE, PAIR, FORMS };

#define EVEN   32768u /* probability 1/2, in units of 1/65536 */
#define SAMPLE 256u   /* number of readings that determine the tick */

struct site {
	enum form form;
	uint64_t n;
	uint64_t last[2], step[2]; /* previous value and difference; of PAIR, alternating */
};

/* Properties of the values of a site that determine its form. */
struct look {
	bool other;       /* a value is not a clock reading */
	bool moves;       /* a value is not 0 */
	uint64_t bits[2]; /* total bits of the differences, as SINGLE and as PAIR */
};

struct values {
	const struct rn_order *o;
	struct rn_guess *g;
	bool writes;
	uint32_t hz;
	uint64_t ticks, step; /* of the previous clock reading of any site */
	struct site *site;
};

/* Calls fn for each value in order, until decoding fails. */
static void each_value(struct values *x, void *arg,
		       void (*fn)(struct values *x, uint32_t site, int64_t *value, void *arg))
{
	size_t at = 0;

	for (size_t r = 0; r < x->o->rows; r++) {
		const struct rn_order_row *row = &x->o->row[r];

		if (!rn_order_has_numbers(&x->o->site[row->site]))
			continue;
		for (uint32_t i = 0; i < row->done && !rn_guess_bad(x->g); i++) {
			assert(at < x->o->values);
			fn(x, row->site, &x->o->value[at++], arg);
		}
	}
}

/* ---- forms of the sites ---- */

static unsigned bits_of(uint64_t difference)
{
	uint64_t z = rn_zigzag((int64_t)difference);

	return z ? 64u - (unsigned)__builtin_clzll(z) : 0;
}

static void look_at(struct values *x, uint32_t i, int64_t *value, void *arg)
{
	struct look *l = &((struct look *)arg)[i];
	struct site *s = &x->site[i];
	uint64_t v = (uint64_t)*value;

	l->other |= !rn_clock_is_reading(v);
	l->moves |= v != 0;
	l->bits[0] += bits_of(v - s->last[0]);
	l->bits[1] += bits_of(v - s->last[1]);
	s->last[1] = s->last[0];
	s->last[0] = v;
}

/* Determines the tick: 1 us if the readings of the sample are whole microseconds, apart from
 * rounding. */
static void find_hz(struct values *x, uint32_t i, int64_t *value, void *arg)
{
	uint64_t *seen = arg, v = (uint64_t)*value;
	int64_t off;

	if (x->site[i].form != CLOCK || (*seen)++ >= SAMPLE)
		return;
	off = (int64_t)(v - rn_clock_seconds(rn_clock_ticks(v, RN_CLOCK_US), RN_CLOCK_US));
	if (off < -1 || off > 1)
		x->hz = RN_CLOCK_NS;
}

static bool find_forms(struct values *x, struct rn_arena *scratch)
{
	struct look *l = rn_new(scratch, struct look, x->o->sites);
	uint64_t seen = 0;

	if (!l)
		return false;
	each_value(x, l, look_at);
	for (size_t i = 0; i < x->o->sites; i++)
		x->site[i] = (struct site){ .form = !l[i].other && l[i].moves     ? CLOCK
						    : l[i].bits[1] < l[i].bits[0] ? PAIR
										  : SINGLE };
	x->hz = RN_CLOCK_US;
	each_value(x, &seen, find_hz);
	return true;
}

/* ---- encoding and decoding ---- */

static void code_forms(struct values *x)
{
	x->hz = rn_guess_weighed(x->g, EVEN, x->hz == RN_CLOCK_US) ? RN_CLOCK_US : RN_CLOCK_NS;
	for (size_t i = 0; i < x->o->sites; i++) {
		unsigned form = x->site[i].form;

		if (!rn_order_has_numbers(&x->o->site[i]))
			continue;
		form = (unsigned)rn_guess_weighed(x->g, EVEN, form >> 1) << 1 |
		       rn_guess_weighed(x->g, EVEN, form & 1);
		if (form >= FORMS)
			rn_guess_refuse(x->g);
		x->site[i].form = form;
	}
}

/* Codes a difference. The contexts are the size of the previous difference, and this size with the
 * site. */
static uint64_t code_step(struct values *x, unsigned kind, uint32_t of, uint64_t before,
			  uint64_t step)
{
	uint32_t size = bits_of(before);
	struct rn_guess_on on = { kind, rn_guess_mix(size, 1), rn_guess_mix(of, size + 2) };

	return (uint64_t)rn_unzigzag(rn_guess_wide(x->g, &on, rn_zigzag((int64_t)step)));
}

/* Codes the difference between the bits of a reading and those of the nearest double. */
static uint64_t code_rest(struct values *x, uint64_t rest)
{
	uint32_t rounding = rn_clock_rounding(x->ticks, x->hz),
		 part = (uint32_t)(x->ticks % x->hz / (x->hz / 8));
	struct rn_guess_on exact = { EXACT, rounding, rn_guess_mix(rounding, part + 1) };
	struct rn_guess_on off = { DIFFERENCE, rounding, rn_guess_mix(rounding, part + 1) };

	if (rn_guess_bit(x->g, &exact, rest == 0))
		return 0;
	return (uint64_t)rn_unzigzag(rn_guess_wide(x->g, &off, rn_zigzag((int64_t)rest)));
}

static uint64_t code_reading(struct values *x, uint32_t site, uint64_t v)
{
	uint64_t ticks = x->writes ? rn_clock_ticks(v, x->hz) : 0;

	x->step = code_step(x, TICKS, site, x->step, ticks - x->ticks);
	x->ticks += x->step;
	ticks = rn_clock_seconds(x->ticks, x->hz);
	return ticks + code_rest(x, v - ticks);
}

static uint64_t code_plain(struct values *x, uint32_t site, uint64_t v)
{
	struct site *s = &x->site[site];
	unsigned turn = s->form == PAIR && s->n++ & 1;

	assert(s->form < FORMS);
	s->step[turn] = code_step(x, PLAIN, 2 * site + turn, s->step[turn], v - s->last[turn]);
	return s->last[turn] += s->step[turn];
}

static void code_value(struct values *x, uint32_t site, int64_t *value, void *arg)
{
	uint64_t v = x->writes ? (uint64_t)*value : 0;

	(void)arg;
	v = x->site[site].form == CLOCK ? code_reading(x, site, v) : code_plain(x, site, v);
	if (!x->writes)
		*value = (int64_t)v;
}

static bool has_clock(const struct values *x)
{
	for (size_t i = 0; i < x->o->sites; i++)
		if (x->site[i].form == CLOCK)
			return true;
	return false;
}

int rn_order_values_code(struct rn_arena *scratch, struct rn_guess *g, const struct rn_order *o,
			 bool *clock)
{
	struct values x = { .o = o,
			    .g = g,
			    .writes = rn_guess_writes(g),
			    .site = rn_new(scratch, struct site, o->sites) };

	if (!x.site || (x.writes && !find_forms(&x, scratch)))
		return RN_E_NOMEM;
	code_forms(&x);
	each_value(&x, NULL, code_value);
	*clock = has_clock(&x);
	return RN_OK;
}
