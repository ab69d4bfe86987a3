/*
 * report_events.h - the message-order part of the report (analysis/nondeterminism.h).
 *
 * For an event trace (--only=order) it is the whole report. For a trace that has every call, all
 * calls must be read. This is done only if the trace has nondeterministic functions or wildcards,
 * and at most CALLS calls (report_events.c), or any number if `all` is set.
 */
#ifndef RN_REPORT_REPORT_EVENTS_H
#define RN_REPORT_REPORT_EVENTS_H

#include <stdbool.h>

struct rn_buf;
struct rn_err;
struct rn_trace;

/* Appends the message-order part, or nothing if it is empty. `all`: the numbers of calls and sites
 * are not limited. `notes` receives messages for the user (base/notes.h). Returns RN_OK or a
 * negative code. */
int report_order(const struct rn_trace *t, const char *file, bool all, struct rn_buf *out,
		 struct rn_buf *notes, struct rn_err *err);

#endif
