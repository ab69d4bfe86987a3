/*
 * rule_visit.h - goes through the items of a rule in the order in which they are executed, and into
 * those that it is told to.
 *
 * A walker (rules.h) sees symbols; this sees items, and somebody decides about each one whether it
 * is looked into. Depths are the input's: nothing recurses. Memory: O(depth).
 */
#ifndef RN_RULES_RULE_VISIT_H
#define RN_RULES_RULE_VISIT_H

#include <stdint.h>

#include "rules/rules.h"

/* Into which rule, and how often. */
struct rn_descent {
	uint32_t rule;
	uint64_t times;
};

/* What to do next, of which several may be wanted; the time before counts from 0. */
#define RN_VISIT_INTO  1 /* into a rule, that of *into */
#define RN_VISIT_AGAIN 2 /* and then ask again about the same item */

/* Returns these, or an error, which ends the visit. */
typedef int rn_item_fn(void *arg, const struct rn_item *item, uint64_t time,
		       struct rn_descent *into);

/* RN_OK; RN_E_NOMEM; RN_E_RANGE: it takes more than *left steps; or what the function returned.
 * Takes the steps that it took away from *left. */
int rn_rules_visit(const struct rn_rules *r, uint32_t root, uint64_t *left, rn_item_fn *fn,
		   void *arg);

#endif
