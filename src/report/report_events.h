/*
 * report_events.h - the part of the report that says how non-deterministic the program was
 * (analysis/nondeterminism.h).
 *
 * Of a trace of --only=order that is all there is to report. One that has every call is read call
 * by call for it, so that is only done where calls could have come out otherwise, and where there
 * are not too many.
 */
#ifndef RN_REPORT_REPORT_EVENTS_H
#define RN_REPORT_REPORT_EVENTS_H

#include <stdbool.h>

struct rn_buf;
struct rn_err;
struct rn_trace;

/* Appends it; nothing where there is nothing to say. `all`: however many calls and sites there are.
 * Notes are messages for the user (base/notes.h). Returns RN_OK or a negative code. */
int report_order(const struct rn_trace *t, const char *file, bool all, struct rn_buf *out,
		 struct rn_buf *notes, struct rn_err *err);

#endif
