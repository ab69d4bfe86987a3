/*
 * worded.h - virtual ranks whose calls are words, as a tracer records them (encode/call_words.h).
 *
 * A call is begun, its words are put one after the other, and ending it appends it to the rank's
 * stream; with holes (encode/elastic_slots.h), if it is told to have some. What comes of it goes
 * the way that everything goes at the end of a run: merge/process_trace.h.
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
	struct rn_seg holes; /* struct rn_holes *, by number */
	uint64_t call[WORDED_MAX];
	size_t n;
};

/* Of MPI, by their names; one that there is not ends the program. */
uint32_t worded_function(const char *name);
uint32_t worded_word(const char *name);

/* All of these give RN_OK or RN_E_NOMEM, if anything. */
int worded_init(struct worded *r, struct rn_arena *mem);

void worded_begin(struct worded *r, uint32_t function);
void worded_put(struct worded *r, int64_t value);
void worded_constant(struct worded *r, uint32_t word);
/* `n` of a type from byte `at` of a block of the heap. */
void worded_data(struct worded *r, int64_t block, int64_t at, int64_t n, uint32_t type);
/* It returns 0. */
int worded_end(struct worded *r, uint32_t *id);
/* The same with the words at these places, ascending, in holes. */
int worded_end_holes(struct worded *r, const uint16_t *at, uint32_t holes, uint32_t *id);

/* The calls, as the end of a run takes them. */
struct rn_stream_calls worded_calls(const struct worded *r, const struct rn_process_table *process);

#endif
