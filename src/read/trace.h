/*
 * trace.h - a trace file, opened: everything decoded once, calls read lazily.
 *
 * Opening reads the file, verifies the container and decodes every section, so that afterwards no
 * byte of the file can do harm: numbers lead to what they should, signatures are well formed,
 * lengths add up. What a reader does not depend on is left to check.h.
 *
 * Each thread of a rank has a stream of calls. Streams are numbered rank * threads + thread, where
 * `threads` is what the rank with the most of them has; those that do not exist are empty. A stream
 * is never expanded as a whole, its loops (rules/flow.h) included: a cursor walks the rules, and
 * starts anywhere in O(depth), or where there are loops by a search.
 *
 * Memory: one arena, O(file), plus the stack of each cursor. Immutable after opening.
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

/* One stream as it stands: calls in the order of their ends, and markers (nesting.h). Who wants
 * them in the order of entry, and by their numbers, uses printer.h. */
struct rn_cursor {
	const struct rn_trace *t;
	uint64_t stream;
	uint32_t group;
	struct rn_walk walk;
};

/* At the beginning of a stream. RN_E_RANGE when there is no such stream. The stack is in mem. */
int rn_cursor_init(struct rn_cursor *c, const struct rn_trace *t, uint64_t stream,
		   struct rn_arena *mem);

/* The same when the group is known (rn_rank_iter). */
int rn_cursor_init_group(struct rn_cursor *c, const struct rn_trace *t, uint64_t stream,
			 uint32_t group, struct rn_arena *mem);

/* How many calls and markers there are. */
uint64_t rn_cursor_calls(const struct rn_cursor *c);

/* Before the k-th of them, or behind the last one: RN_OK or RN_E_RANGE. */
int rn_cursor_seek(struct rn_cursor *c, uint64_t k);

/* The next of them: its place in the stream, and its signature. False at the end. */
bool rn_cursor_next(struct rn_cursor *c, uint64_t *seq, uint32_t *sig);

#endif
