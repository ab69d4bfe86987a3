/*
 * trace.h - opens a trace file and decodes all of it except the calls.
 *
 * Opening reads the file, verifies the container and decodes every section. Afterwards no byte of
 * the file can cause an invalid access: ids are in range, signatures are well formed, lengths are
 * consistent. Invariants that no reader depends on are checked by trace_check.h.
 *
 * Each thread of a rank has a stream of calls. Streams are numbered rank * threads + thread, where
 * `threads` is the maximum number of threads of a rank. Streams of threads that do not exist are
 * empty. A stream and its loops (rules/loop_stream.h) are never expanded as a whole; calls.h reads
 * the calls.
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

/* Opens a trace file. Returns RN_OK, or RN_E_SYS, RN_E_DATA or RN_E_NOMEM with one line that names
 * the file. After a failure the trace must not be closed. */
int rn_trace_open(struct rn_trace *t, const char *path, struct rn_err *err);

/* Opens a trace file that is already in memory. The bytes must outlive the trace. */
int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err);

/* Returns which data of the trace are approximate (model/lossy.h). Each stream still has all calls
 * that were made, but their order or their elastic values may be inexact. */
struct rn_lossy rn_trace_lossy(const struct rn_trace *t);

#endif
