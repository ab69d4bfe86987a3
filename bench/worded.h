/*
 * worded.h - virtual ranks that record call words, as a tracer does (encode/call_words.h).
 *
 * worded_begin() begins a call, the put functions append its words, and worded_end() appends the
 * call to the stream of the rank. worded_end_holes() also creates elastic slots
 * (encode/elastic_slots.h). The result is merged as at the end of a run (merge/process_trace.h).
 */
#ifndef RN_BENCH_WORDED_H
#define RN_BENCH_WORDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "encode/time_stats.h"
#include "merge/canonicalize.h"

struct rn_arena;
struct rn_grammar;
struct rn_sigs;

#define WORDED_MAX 64

struct worded {
	struct rn_arena *mem;
	struct rn_sigs *words, *blobs, *texts;
	struct rn_grammar *g;
	struct rn_times times;
	struct rn_seg holes; /* struct rn_holes *, by signature id; NULL: no elastic slots */
	uint64_t call[WORDED_MAX];
	size_t n;
};

/* Return the MPI function or keyword with a name. An unknown name ends the program. */
uint32_t worded_function(const char *name);
uint32_t worded_word(const char *name);

/* The functions below that return int return RN_OK or RN_E_NOMEM. */
int worded_init(struct worded *r, struct rn_arena *mem);

void worded_begin(struct worded *r, uint32_t function);
void worded_put(struct worded *r, int64_t value);
void worded_constant(struct worded *r, uint32_t word);
/* Appends a buffer: `n` elements of a type at byte `at` of a heap block. */
void worded_data(struct worded *r, int64_t block, int64_t at, int64_t n, uint32_t type);
/* Ends a call that returned 0. Sets *id to the id of its signature. */
int worded_end(struct worded *r, uint32_t *id);
/* worded_end() with elastic slots at these `holes` word positions, which are ascending. */
int worded_end_holes(struct worded *r, const uint16_t *at, uint32_t holes, uint32_t *id);

/* Returns the calls in the form of the merge. Refers to *r and *process, which must outlive it. */
struct rn_stream_calls worded_calls(const struct worded *r, const struct rn_process_table *process);

#endif
