/*
 * move_to_front.h - move-to-front coding of values that tend to recur: sources, indices, event
 * sites.
 *
 * A list has the values in the order of their last occurrence, the latest first. The coder first
 * decides whether the value equals the caller's guess, then whether it is in the list. Then it
 * decides for each value of the list, the latest first, whether it is the one. Contexts are the
 * value and the time since its last occurrence. A value that is not in the list is coded as a
 * number.
 *
 * Cost: one decision per candidate. Memory: the caller's. The same function encodes and decodes, as
 * in context_mix.h.
 */
#ifndef RN_ORDER_MOVE_TO_FRONT_H
#define RN_ORDER_MOVE_TO_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct rn_guess;

#define RN_RECENT_MAX 32u

struct rn_recent {
	struct rn_recent_one {
		uint32_t value;
		uint64_t when;
	} one[RN_RECENT_MAX];
	uint32_t n, second; /* value of the last occurrence but one */
};

/* Context of a coding step. */
struct rn_recent_at {
	unsigned kind;         /* kind of decision; the next two kinds are also used */
	uint32_t salt;         /* identifies the list in the hashes */
	uint32_t extra;        /* an additional context value */
	bool timed;            /* context: time since the last occurrence, not the last value */
	uint64_t now;          /* current time, of a clock that advances with the number of polls */
	const uint32_t *guess; /* value tried first; or NULL */
	const uint32_t *never; /* value that v is known to differ from; or NULL */
};

#define RN_RECENT_KINDS 3u

/* Codes v and moves it to the front. */
uint32_t rn_recent_code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
			uint32_t v);

/* Moves v to the front without coding it. */
void rn_recent_touch(struct rn_recent *r, uint32_t v, uint64_t now);

#endif
