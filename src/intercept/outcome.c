/* outcome.c - see outcome.h. */
#include "intercept/outcome.h"

const struct rn_outcome_ops *rn_outcome_ops;
