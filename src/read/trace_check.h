/*
 * trace_check.h - checks every invariant of a trace that opening it does not verify.
 *
 * Opening rejects data that could harm a reader. This module finds data that are merely wrong: a
 * rank in two stream groups or in none; unused rules, signatures and keywords; functions or
 * keywords with equal names; tables that are not in normal form; communicators whose ranks
 * disagree; ranks relative to an unknown rank; markers of nested calls that do not match; requests
 * that no call created.
 *
 * Cost: O(ranks log groups + file); O(ranks) for each communicator that a value is relative to; for
 * each stream group, O(rules and signatures) and the cost of following its requests
 * (request_numbering.h). Following requests has a limit. Requests beyond it are not checked.
 */
#ifndef RN_READ_TRACE_CHECK_H
#define RN_READ_TRACE_CHECK_H

#include "base/err.h"

struct rn_trace;

/* Checks a trace. Returns RN_OK, RN_E_DATA with a description of the first violation, or
 * RN_E_NOMEM. */
int rn_trace_check(const struct rn_trace *t, struct rn_err *err);

#endif
