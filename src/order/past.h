/*
 * past.h - what came in a context when it was there before: expected once it has come twice in a
 * row.
 *
 * A context is a number, hashed by the caller, as in guess.h. Contexts share places where their
 * hashes meet: what is expected then is wrong more often, and costs size.
 */
#ifndef RN_ORDER_PAST_H
#define RN_ORDER_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_PAST_PLACES 1024u

struct rn_past {
	struct rn_past_place {
		uint32_t value;
		bool again; /* not for the first time */
	} place[RN_PAST_PLACES];
};

/* NULL: nothing is expected. */
static inline const uint32_t *rn_past_expects(const struct rn_past *p, uint32_t context)
{
	const struct rn_past_place *at = &p->place[context % RN_PAST_PLACES];

	return at->again ? &at->value : NULL;
}

static inline void rn_past_learn(struct rn_past *p, uint32_t context, uint32_t value)
{
	struct rn_past_place *at = &p->place[context % RN_PAST_PLACES];

	at->again = at->value == value;
	at->value = value;
}

#endif
