/* move_to_front.c - see move_to_front.h. */
#include "order/move_to_front.h"

#include <assert.h>
#include <string.h>

#include "order/context_mix.h"

static uint32_t find(const struct rn_recent *r, uint32_t v)
{
	uint32_t i = 0;

	while (i < r->n && r->one[i].value != v)
		i++;
	return i;
}

void rn_recent_touch(struct rn_recent *r, uint32_t v, uint64_t now)
{
	uint32_t i = find(r, v);

	assert(r->n <= RN_RECENT_MAX && i <= r->n);
	if (r->n)
		r->second = r->one[0].value;
	if (i == r->n && r->n < RN_RECENT_MAX)
		r->n++;
	if (i == RN_RECENT_MAX)
		i--;
	memmove(r->one + 1, r->one, i * sizeof(r->one[0]));
	r->one[0] = (struct rn_recent_one){ v, now };
}

/* Size class of a time, in steps of about a quarter. */
static uint32_t age(uint64_t t)
{
	uint32_t digits = 63u - (uint32_t)__builtin_clzll(t | 1);

	return digits < 2 ? (uint32_t)t : digits * 4 + (uint32_t)(t >> (digits - 2) & 3);
}

/* Decides whether the value is entry i. `rank` is the number of entries that were tried before. */
static bool ask(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		uint32_t i, uint32_t rank, bool yes)
{
	const struct rn_recent_one *one = &r->one[i];
	uint32_t since =
		at->timed ? rn_guess_mix(age(at->now - one->when), rank)
			  : rn_guess_mix(rn_guess_mix(one->value, r->one[0].value), r->second);
	struct rn_guess_on on = {
		.kind = at->kind,
		.general = rn_guess_mix(rn_guess_mix(at->salt, one->value), at->extra),
		.specific = rn_guess_mix(at->salt, since),
	};

	assert(i < r->n);
	return rn_guess_bit(g, &on, yes);
}

/* Returns the position of a value that the caller supplied; r->n if it is not in the list. */
static uint32_t place_of(const struct rn_recent *r, const uint32_t *value)
{
	return value ? find(r, *value) : r->n;
}

/* Returns the position of the value among the entries other than `asked` and `never`. The last
 * remaining entry needs no decision. */
static uint32_t choose(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		       uint32_t asked, uint32_t never, uint32_t left, uint32_t which)
{
	uint32_t rank = 1;

	assert(left > 0 && left <= r->n);
	for (uint32_t i = 0; i < r->n; i++) {
		if (i == asked || i == never)
			continue;
		if (left-- == 1 || ask(g, r, at, i, rank++, which == i))
			return i;
	}
	return 0;
}

/* Decides whether the value is in the list. */
static bool ask_there(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		      bool is)
{
	struct rn_guess_on on = { .kind = at->kind + 1,
				  .general = at->salt,
				  .specific = rn_guess_mix(at->salt, r->n) };

	return rn_guess_bit(g, &on, is);
}

static uint32_t code_number(struct rn_guess *g, const struct rn_recent_at *at, uint32_t v)
{
	struct rn_guess_on on = { .kind = at->kind + 2,
				  .general = at->salt,
				  .specific = rn_guess_mix(at->salt, at->extra) };

	return rn_guess_number(g, &on, v, UINT32_MAX);
}

static uint32_t code(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		     uint32_t v)
{
	uint32_t i = rn_guess_writes(g) ? find(r, v) : 0;
	uint32_t never = place_of(r, at->never), likely = place_of(r, at->guess), left = r->n;

	left -= never < r->n;
	if (likely < r->n && likely != never) {
		if (ask(g, r, at, likely, 0, i == likely))
			return r->one[likely].value;
		left--;
	}
	if (left && ask_there(g, r, at, i < r->n))
		return r->one[choose(g, r, at, likely, never, left, i)].value;
	return code_number(g, at, v);
}

uint32_t rn_recent_code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
			uint32_t v)
{
	v = code(g, r, at, v);
	rn_recent_touch(r, v, at->now);
	return v;
}
