/*
 * last_value.h - last-value predictor: predicts a value after it followed a context twice in a row.
 *
 * A context is a hash computed by the caller, as in context_mix.h. Contexts whose hashes collide
 * share a slot. Collisions cause wrong predictions, which cost compression.
 */
#ifndef RN_ORDER_LAST_VALUE_H
#define RN_ORDER_LAST_VALUE_H

#include <stddef.h>
#include <stdint.h>

#define RN_PAST_BITS 10u

struct rn_past {
	struct rn_past_place {
		uint32_t value;
		uint32_t times; /* consecutive occurrences; 2: two or more */
	} place[1u << RN_PAST_BITS];
};

/* Returns the predicted value, or NULL if there is no prediction. */
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
