/*
 * trace.h - a trace file, opened: everything decoded once, calls read lazily.
 *
 * Opening reads the file, verifies the container and decodes every section, so that afterwards no
 * byte of the file can do harm: numbers lead to what they should, signatures are well formed,
 * lengths add up. What a reader does not depend on is left to check.h.
 *
 * Each thread of a rank has a stream of calls. Streams are numbered rank * threads + thread, where
 * `threads` is what the rank with the most of them has; those that do not exist are empty. A stream
 * is never expanded as a whole, its loops (rules/flow.h) included: calls.h reads its calls.
 *
 * Memory: one arena, O(file). Immutable after opening.
 */
#ifndef RN_READ_TRACE_H
#define RN_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "encode/call.h"
#include "file/payload.h"
#include "file/sites.h"
#include "file/value_list.h"
#include "merge/blur.h"
#include "merge/fold.h"
#include "merge/merged.h"
#include "rules/rules.h"

struct rn_comms;
struct rn_container;
struct rn_moment_list;
struct rn_order_view;
struct rn_times;

struct rn_trace {
	struct rn_arena mem;
	struct rn_buf file;
	struct rn_container *container;
	struct rn_meta meta;
	struct rn_vocab vocab;
	struct rn_streams streams;      /* which calls ranks what are streams here */
	struct rn_comms *comms;         /* NULL: nothing is known of any communicator */
	struct rn_times *times;         /* NULL: nothing is known of any time */
	struct rn_moment_list *moments; /* of single calls (moment_view.h); NULL: none */
	struct rn_sites sites;          /* where calls were made; empty: that is not known */
	struct rn_value_list values;    /* what stands in holes of signatures (value_view.h) */
	struct rn_order_view *order;    /* events (order_view.h); NULL: it has none */
	uint64_t ranks, threads;
	uint64_t symbols;        /* the items of all rules' bodies */
	struct rn_folded folded; /* the streams as they are in the file */
};

/* RN_OK; RN_E_SYS, RN_E_DATA or RN_E_NOMEM with one line that names the file. After a failure
 * there is nothing to close. */
int rn_trace_open(struct rn_trace *t, const char *path, struct rn_err *err);

/* The same for a file that is in memory already and outlives the trace. */
int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err);

void rn_trace_close(struct rn_trace *t);

/* Each stream has the calls that were made, but in an order that may be made up, or with numbers
 * that may be (merge/blur.h). */
struct rn_lossy rn_trace_lossy(const struct rn_trace *t);

#endif
