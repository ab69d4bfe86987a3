/*
 * check.h - every invariant of a trace that opening it does not already verify.
 *
 * Opening refuses what could harm a reader; this finds what is merely wrong: a rank in two groups
 * or in none, rules and signatures that nothing uses, words that no signature uses, functions or
 * words of the same name, tables that are not in normal form. O(ranks log groups + file).
 */
#ifndef RN_READ_CHECK_H
#define RN_READ_CHECK_H

#include "base/err.h"

struct rn_trace;

/* RN_OK; RN_E_DATA with the first violation in words; RN_E_NOMEM. */
int rn_trace_check(struct rn_trace *t, struct rn_err *err);

#endif
