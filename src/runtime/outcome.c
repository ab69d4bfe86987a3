/* outcome.c - see outcome.h. */
#include "runtime/outcome.h"

const struct rn_outcome_ops *rn_outcome_ops;
