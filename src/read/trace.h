/*
 * trace.h - a trace file, opened: everything decoded once, calls read lazily.
 *
 * Opening reads the file, verifies the container and decodes every section, so that afterwards no
 * byte of the file can do harm: numbers lead to what they should, signatures are well formed,
 * lengths add up. What a reader does not depend on is left to trace_check.h.
 *
 * Each thread of a rank has a stream of calls. Streams are numbered rank * threads + thread, where
 * `threads` is what the rank with the most of them has; those that do not exist are empty. A stream
 * is never expanded as a whole, its loops (rules/loop_stream.h) included: calls.h reads its calls.
 *
 * Memory: one arena, O(file). Immutable after opening.
 */
#ifndef RN_READ_TRACE_H
#define RN_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/lossy.h"
#include "model/section_kinds.h"
#include "rules/rules.h"

/* RN_OK; RN_E_SYS, RN_E_DATA or RN_E_NOMEM with one line that names the file. After a failure
 * there is nothing to close. */
int rn_trace_open(struct rn_trace *t, const char *path, struct rn_err *err);

/* The same for a file that is in memory already and outlives the trace. */
int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err);

/* Each stream has the calls that were made, but in an order that may be made up, or with numbers
 * that may be (model/lossy.h). */
struct rn_lossy rn_trace_lossy(const struct rn_trace *t);

#endif
