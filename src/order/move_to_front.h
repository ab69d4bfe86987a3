/*
 * move_to_front.h - coding who comes next, of those who came before: sources, indices, sites.
 *
 * A line has the values in the order in which they came last. What the caller thinks is asked for
 * first, then whether it is in the line at all, then the others, the most recent first: is it this
 * one? Contexts are who it is, and how long ago that came. What is not in the line is coded as a
 * number.
 *
 * Cost: a decision for each value that is asked for; memory the caller's. Both directions, as in
 * context_mix.h.
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
	uint32_t n, second; /* the last but one */
};

/* What is known when the question is asked. */
struct rn_recent_at {
	unsigned kind;         /* of decisions; the next two are used as well */
	uint32_t salt;         /* whose line it is */
	uint32_t extra;        /* something that it may depend on */
	bool timed;            /* how long ago it came counts, not who came last */
	uint64_t now;          /* of a clock that goes with how long things take */
	const uint32_t *guess; /* asked for first; or NULL */
	const uint32_t *never; /* what it is known not to be; or NULL */
};

#define RN_RECENT_KINDS 3u

/* Codes v, and puts it in front. */
uint32_t rn_recent_code(struct rn_guess *g, struct rn_recent *r, const struct rn_recent_at *at,
			uint32_t v);

/* Puts v in front: it is known without having been coded. */
void rn_recent_touch(struct rn_recent *r, uint32_t v, uint64_t now);

#endif
