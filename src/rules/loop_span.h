/* loop_span.h - a span of a stream with loops (internal): used by walkers and searches. */
#ifndef RN_RULES_LOOP_SPAN_H
#define RN_RULES_LOOP_SPAN_H

#include "rules/loop_stream.h"

/* The occurrences of one unit inside a span. */
struct rn_part {
	uint32_t unit;
	uint64_t times;  /* of a rule: occurrences; of a loop: executions */
	uint64_t bodies; /* of a rule: same as times; of a loop: iterations */
};

struct rn_stretch {
	struct rn_flow flow;
	uint64_t length;
	struct rn_part *part; /* outer units first */
	uint32_t parts;
	uint64_t left; /* units and their items that may still be visited */
	/* Scratch of the measurement: */
	uint64_t *times; /* by unit: occurrences found so far */
	uint32_t *heap;
	uint32_t heaped;
};

/* Measures the span of n repeats of an item with loops. The span begins after done[k] executions of
 * each loop k (done NULL: none) or, if `back`, ends after them. Returns false if the stream has no
 * such span, or if s->left is exceeded. */
bool rn_stretch_measure(struct rn_stretch *s, const uint64_t *done, const struct rn_item *it,
			uint64_t n, bool back);

/* Adds the executions of the measured span to done[] or, if `back`, subtracts them. */
void rn_stretch_move(const struct rn_stretch *s, uint64_t *done, bool back);

/* Calls fn for the items without loops of the measured span. */
void rn_stretch_each(const struct rn_stretch *s, rn_fixed_fn *fn, void *arg);

#endif
