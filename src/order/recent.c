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

/* `rank`: how many were asked for before. */
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

	return rn_guess_bit(g, &on, yes);
}

/* Those that are likely: what the caller thinks, and what followed the last two before. Behind the
 * line: none. */
struct guesses {
	uint32_t at[2];
	uint32_t never; /* and one that it cannot be */
};

static struct guesses guesses(struct rn_recent *r, const struct rn_recent_at *at)
{
	struct guesses g = { { r->n, r->n ? find(r, *after(r)) : 0 },
			     at->never ? find(r, *at->never) : r->n };

	if (at->guess)
		g.at[0] = find(r, *at->guess);
	if (g.at[0] == g.at[1])
		g.at[1] = r->n;
	for (uint32_t k = 0; k < 2; k++)
		if (g.at[k] == g.never)
			g.at[k] = r->n;
	return g;
}

/* Which of the line, but for those: the last one needs no question. */
static uint32_t choose(struct rn_guess *g, const struct rn_recent *r, const struct rn_recent_at *at,
		       struct guesses asked, uint32_t left, uint32_t which)
{
	uint32_t rank = 2;

	for (uint32_t i = 0; i < r->n; i++) {
		if (i == asked.at[0] || i == asked.at[1] || i == asked.never)
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

static uint32_t code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
		     uint32_t v)
{
	uint32_t i = rn_guess_writes(g) ? find(r, v) : 0, left = r->n;
	struct guesses likely = guesses(r, at);

	left -= likely.never < r->n;
	for (uint32_t k = 0; k < 2; k++) {
		if (likely.at[k] >= r->n)
			continue;
		if (ask(g, r, at, likely.at[k], k, i == likely.at[k]))
			return r->one[likely.at[k]].value;
		left--;
	}
	if (left && ask_there(g, r, at, i < r->n))
		return r->one[choose(g, r, at, likely, left, i)].value;
	return code_number(g, at, v);
}

uint32_t rn_recent_code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
			uint32_t v)
{
	v = code(g, r, at, v);
	rn_recent_touch(r, v, at->now);
	return v;
}
