/*
 * process_trace.h - the unmerged trace of one process, and its conversion to a partial trace.
 *
 * The streams have the form of the running program: tables of call words, grammars, times in ticks.
 * They are read in the process itself at the end of the run, or from its journal
 * (recover/journal_read.h). First the rank parameters of all processes are collected. After the
 * rank expression of each is chosen, the streams are converted to a bundle (merge/partial_trace.h).
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

/* The call times of one stream in the form of the trace. `head` is nanoseconds per tick, times
 * 2^32, and the start of the stream in nanoseconds of the clock of its host. The chunks are those
 * of encode/call_times.h. */
struct rn_moments {
	uint64_t head[2];
	const struct rn_chunk *chunk;
	uint32_t chunks;
};

struct rn_recorded_stream {
	struct rn_stream_calls calls;
	/* By creator id of requests: the call that creates them, or RN_NO_MAKER. Only for
	 * RN_SALVAGE_NOW. */
	const uint32_t *maker;
	uint32_t makers;
	const struct rn_grammar *grammar;
	const struct rn_rules *rules; /* replaces the grammar if not NULL */
	uint32_t root;                /* start rule in `rules` */
	uint64_t lost;
	struct rn_moments moments;  /* call times; no chunks: not recorded */
	struct rn_order_part order; /* order events; no chunks: none */
};

struct rn_recorded {
	struct rn_process_table process;
	const struct rn_recorded_stream *stream;
	uint32_t streams;
	bool times;     /* time statistics are recorded */
	uint64_t scale; /* ns per tick, times 2^32 (encode/time_stats.h); 0: times are in ns */
	int64_t offset, drift; /* of its clock, in ns and ns per second */
};

/* Adds the rank parameters of all streams. Returns RN_OK or RN_E_NOMEM. */
int rn_recorded_slots(const struct rn_recorded *r, struct rn_peers *p);

/* Converts the process trace to a bundle of `threads` streams, in `mem`. Streams that the process
 * does not have are empty. The process trace is unchanged. Of the tally, only `lost` is set.
 * Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_recorded_bundle(const struct rn_recorded *r, const struct rn_choices *choices,
		       uint32_t threads, struct rn_arena *mem, struct rn_arena *scratch,
		       struct rn_bundle *out);

#endif
