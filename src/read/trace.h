/*
 * trace.h - a trace file, opened: everything decoded once, calls read lazily.
 *
 * Opening reads the file, verifies the container and decodes every section, so that afterwards no
 * byte of the file can do harm: numbers lead to what they should, signatures are well formed,
 * lengths add up. What a reader does not depend on is left to check.h. The calls of a rank are
 * never expanded as a whole: a cursor walks the rules, and starts anywhere in O(depth).
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
#include "merge/merged.h"
#include "rules/rules.h"

struct rn_container;

struct rn_trace {
	struct rn_arena mem;
	struct rn_buf file;
	struct rn_container *container;
	struct rn_meta meta;
	struct rn_vocab vocab;
	struct rn_streams streams;
};

/* RN_OK; RN_E_SYS, RN_E_DATA or RN_E_NOMEM with one line that names the file. After a failure
 * there is nothing to close. */
int rn_trace_open(struct rn_trace *t, const char *path, struct rn_err *err);

/* The same for a file that is in memory already and outlives the trace. */
int rn_trace_parse(struct rn_trace *t, const void *bytes, size_t len, struct rn_err *err);

void rn_trace_close(struct rn_trace *t);

/* One rank's calls, in order. */
struct rn_cursor {
	const struct rn_trace *t;
	uint64_t rank;
	uint32_t group;
	struct rn_walk walk;
};

/* At the first call of a rank. RN_E_RANGE when there is no such rank. The stack is in mem. */
int rn_cursor_init(struct rn_cursor *c, const struct rn_trace *t, uint64_t rank,
		   struct rn_arena *mem);

/* The same when the group is known (rn_rank_iter). */
int rn_cursor_init_group(struct rn_cursor *c, const struct rn_trace *t, uint64_t rank,
			 uint32_t group, struct rn_arena *mem);

/* How many calls the rank made. */
uint64_t rn_cursor_calls(const struct rn_cursor *c);

/* Before call k, or behind the last one: RN_OK or RN_E_RANGE. */
int rn_cursor_seek(struct rn_cursor *c, uint64_t k);

/* The next call: its number on this rank, and its signature. False at the end. */
bool rn_cursor_next(struct rn_cursor *c, uint64_t *seq, uint32_t *sig);

#endif
