/*
 * trace_check.h - every invariant of a trace that opening it does not already verify.
 *
 * Opening refuses what could harm a reader; this finds what is merely wrong: a rank in two groups
 * or in none, rules and signatures that nothing uses, words that no signature uses, functions or
 * words of the same name, tables that are not in normal form, communicators whose ranks do not
 * agree, ranks relative to one that is not known, markers of calls inside calls that do not fit,
 * requests that nobody created. O(ranks log groups + file), O(ranks) for each communicator that
 * something is relative to, and per group O(rules and signatures) and what following its requests
 * takes (request_numbering.h), up to a limit: beyond it they are taken to be right.
 */
#ifndef RN_READ_TRACE_CHECK_H
#define RN_READ_TRACE_CHECK_H

#include "base/err.h"

struct rn_trace;

/* RN_OK; RN_E_DATA with the first violation in words; RN_E_NOMEM. */
int rn_trace_check(const struct rn_trace *t, struct rn_err *err);

#endif
