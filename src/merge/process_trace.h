/*
 * process_trace.h - what one process has recorded, on its way into a trace.
 *
 * Its streams as they are while the program runs: tables of words, grammars, times in ticks. In the
 * process itself when it is over, or from what it left in a part file (recover/journal_read.h).
 * First its slots are collected, with those of all others; when it is settled how each is
 * expressed, a bundle is made of it (merge/partial_trace.h).
 */
#ifndef RN_MERGE_PROCESS_TRACE_H
#define RN_MERGE_PROCESS_TRACE_H

#include <stdint.h>

#include "base/err.h"
#include "encode/process_table.h"
#include "merge/canonicalize.h"
#include "model/event_list.h"

struct rn_arena;
struct rn_bundle;
struct rn_choices;
struct rn_comms;
struct rn_grammar;
struct rn_peers;
struct rn_rules;

#define RN_NO_MAKER UINT32_MAX

/* The call times of one stream: as in the trace, nanoseconds per tick, times 2^32; the
 * start of the stream in nanoseconds of its host's clock; and chunks (encode/call_times.h). */
struct rn_moments {
	uint64_t head[2];
	const struct rn_chunk *chunk;
	uint32_t chunks;
};

struct rn_recorded_stream {
	struct rn_stream_calls calls;
	/* By shape of requests: the call that makes them, or RN_NO_MAKER; only for RN_SALVAGE_NOW.
	 */
	const uint32_t *maker;
	uint32_t makers;
	const struct rn_grammar *grammar;
	const struct rn_rules *rules; /* instead of the grammar, if there are any: */
	uint32_t root;                /* this one is the stream */
	uint64_t lost;
	struct rn_moments moments;  /* times of single calls; without chunks: none */
	struct rn_order_part order; /* events; without chunks: none */
};

struct rn_recorded {
	struct rn_process_table process;
	const struct rn_recorded_stream *stream;
	uint32_t streams;
	bool times;            /* are kept */
	uint64_t scale;        /* of their ticks (encode/time_stats.h); 0: they are settled */
	int64_t offset, drift; /* of its clock (encode/time_stats.h) */
};

/* Adds the slots of all streams. RN_OK or RN_E_NOMEM. */
int rn_recorded_slots(const struct rn_recorded *r, struct rn_peers *p);

/* The bundle, in `mem`, of `threads` streams; those that the process does not have are empty. The
 * streams are not changed. The tally has what is lost; the rest is the caller's. RN_OK,
 * RN_E_NOMEM or RN_E_DATA. */
int rn_recorded_bundle(const struct rn_recorded *r, const struct rn_choices *choices,
		       uint32_t threads, struct rn_arena *mem, struct rn_arena *scratch,
		       struct rn_bundle *out);

#endif
