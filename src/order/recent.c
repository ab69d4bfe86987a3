/* recent.c - see recent.h. */
#include "order/recent.h"

#include <string.h>

#include "order/guess.h"

static uint32_t find(const struct rn_recent *r, uint32_t v)
{
	uint32_t i = 0;

	while (i < r->n && r->one[i].value != v)
		i++;
	return i;
}

/* Where it is kept what came after the last two. */
static uint32_t *after(struct rn_recent *r)
{
	return &r->after[rn_guess_mix(r->one[0].value, r->second) % RN_RECENT_AFTER];
}

void rn_recent_touch(struct rn_recent *r, uint32_t v, uint64_t now)
{
	uint32_t i = find(r, v);

	if (r->n) {
		*after(r) = v;
		r->second = r->one[0].value;
	}
	if (i == r->n && r->n < RN_RECENT_MAX)
		r->n++;
	if (i == RN_RECENT_MAX)
		i--;
	memmove(r->one + 1, r->one, i * sizeof(r->one[0]));
	r->one[0] = (struct rn_recent_one){ v, now };
}

/* How long ago, in steps of about a quarter. */
static uint32_t age(uint64_t t)
{
	uint32_t digits = 63u - (uint32_t)__builtin_clzll(t | 1);

	return digits < 2 ? (uint32_t)t : digits * 4 + (uint32_t)(t >> (digits - 2) & 3);
}

static bool ask(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		uint32_t i, uint32_t rank, bool yes)
{
	const struct rn_recent_one *one = &r->one[i];
	uint32_t who = rn_guess_mix(at->salt, one->value), first = r->one[0].value;
	uint32_t pair = rn_guess_mix(who, first);
	struct rn_guess_on on = { .kind = at->kind, .n = 6 };

	on.context[0] = rn_guess_mix(at->salt, rank);
	on.context[1] = rn_guess_mix(rn_guess_mix(at->salt, age(at->now - one->when)), rank);
	on.context[2] = who + 1;
	on.context[3] = rn_guess_mix(who, at->extra);
	on.context[4] = pair + 1;
	on.context[5] = rn_guess_mix(pair, r->second);
	return rn_guess_bit(g, &on, yes);
}

/* Which of the line, but for `guess`: the last one needs no question. */
static uint32_t choose(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		       uint32_t guess, uint32_t which)
{
	uint32_t left = r->n - (guess < r->n), rank = 1;

	for (uint32_t i = 0; i < r->n; i++) {
		if (i == guess)
			continue;
		if (left-- == 1 || ask(g, r, at, i, rank++, which == i))
			return i;
	}
	return 0;
}

/* Whether it is in the line at all. */
static bool ask_there(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		      bool is)
{
	struct rn_guess_on on = { .kind = at->kind + 1,
				  .n = 2,
				  .context = { at->salt, rn_guess_mix(at->salt, r->n) } };

	return rn_guess_bit(g, &on, is);
}

static uint32_t code_number(struct rn_guess *g, const struct rn_recent_at *at, uint32_t v)
{
	struct rn_guess_on on = { .kind = at->kind + 2,
				  .n = 2,
				  .context = { at->salt, rn_guess_mix(at->salt, at->extra) } };

	return rn_guess_number(g, &on, v, UINT32_MAX);
}

static uint32_t code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
		     uint32_t v)
{
	uint32_t i = rn_guess_writes(g) ? find(r, v) : 0;
	uint32_t guess = r->n ? find(r, at->guess ? *at->guess : *after(r)) : 0;

	if (guess < r->n && ask(g, r, at, guess, 0, i == guess))
		return r->one[guess].value;
	if (r->n > (guess < r->n) && ask_there(g, r, at, i < r->n))
		return r->one[choose(g, r, at, guess, i)].value;
	return code_number(g, at, v);
}

uint32_t rn_recent_code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
			uint32_t v)
{
	v = code(g, r, at, v);
	rn_recent_touch(r, v, at->now);
	return v;
}
