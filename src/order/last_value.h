/*
 * last_value.h - what came in a context when it was there before: expected once it has come twice
 * in a row.
 *
 * A context is a number, hashed by the caller, as in context_mix.h. Contexts share places where
 * their hashes meet: what is expected then is wrong more often, and costs size.
 */
#ifndef RN_ORDER_LAST_VALUE_H
#define RN_ORDER_LAST_VALUE_H

#include <stddef.h>
#include <stdint.h>

#define RN_PAST_BITS 10u

struct rn_past {
	struct rn_past_place {
		uint32_t value;
		uint32_t times; /* in a row; 2: or more */
	} place[1u << RN_PAST_BITS];
};

/* NULL: nothing is expected. */
static inline const uint32_t *rn_past_expects(const struct rn_past *p, uint32_t context)
{
	const struct rn_past_place *at = &p->place[context >> (32 - RN_PAST_BITS)];

	return at->times > 1 ? &at->value : NULL;
}

static inline void rn_past_learn(struct rn_past *p, uint32_t context, uint32_t value)
{
	struct rn_past_place *at = &p->place[context >> (32 - RN_PAST_BITS)];

	at->times = at->times && at->value == value ? 2 : 1;
	at->value = value;
}

#endif
