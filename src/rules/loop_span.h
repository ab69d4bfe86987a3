/* loop_span.h - inside loop_stream.h: pieces of a stream with loops, for walkers and searches. */
#ifndef RN_RULES_LOOP_SPAN_H
#define RN_RULES_LOOP_SPAN_H

#include "rules/loop_stream.h"

/* What a piece has of a unit. */
struct rn_part {
	uint32_t unit;
	uint64_t times;  /* of a loop: executions */
	uint64_t bodies; /* of a loop: rounds; of a rule the same as times */
};

struct rn_stretch {
	struct rn_flow flow;
	uint64_t length;
	struct rn_part *part; /* outer ones first */
	uint32_t parts;
	uint64_t left; /* parts that may still be looked at */
	/* While it is measured. */
	uint64_t *times; /* by unit */
	uint32_t *heap;
	uint32_t heaped;
};

/* n times an item with loops, which begins after done[] executions of each loop (NULL: none), or,
 * backwards, ends after them. False: the stream has no such piece. */
bool rn_stretch_measure(struct rn_stretch *s, const uint64_t *done, const struct rn_item *it,
			uint64_t n, bool back);

/* Adds the executions of the piece that was measured to done[], or takes them away. */
void rn_stretch_move(const struct rn_stretch *s, uint64_t *done, bool back);

/* Its items without loops. */
void rn_stretch_each(const struct rn_stretch *s, rn_fixed_fn *fn, void *arg);

#endif
