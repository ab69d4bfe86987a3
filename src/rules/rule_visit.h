/*
 * rule_visit.h - visits the items of a rule in execution order. A callback selects the items to
 * descend into.
 *
 * A walker (rules.h) returns symbols; a visit passes items to the callback. The input determines
 * the depth, so nothing recurses. Memory: O(depth).
 */
#ifndef RN_RULES_RULE_VISIT_H
#define RN_RULES_RULE_VISIT_H

#include <stdint.h>

#include "rules/rules.h"

/* A rule to descend into, and the number of times. */
struct rn_descent {
	uint32_t rule;
	uint64_t times;
};

/* Results of the callback, which may be combined. `time` is the number of preceding calls for the
 * same item. */
#define RN_VISIT_INTO  1 /* descend into the rule *into */
#define RN_VISIT_AGAIN 2 /* afterward call the callback for the same item again */

/* Returns a combination of these flags, or a negative error, which ends the visit. */
typedef int rn_item_fn(void *arg, const struct rn_item *item, uint64_t time,
		       struct rn_descent *into);

/* Returns RN_OK; RN_E_NOMEM; RN_E_RANGE if it requires more than *left steps; or the error that the
 * callback returned. Subtracts the number of steps from *left. */
int rn_rules_visit(const struct rn_rules *r, uint32_t root, uint64_t *left, rn_item_fn *fn,
		   void *arg);

#endif
