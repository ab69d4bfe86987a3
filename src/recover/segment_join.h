/*
 * segment_join.h - streams that are in segments (journal_file.h) become whole; for journal_read.c.
 *
 * Tables are put together, in which each call, text and array is once, grammars one behind the
 * other, and times are added up. Shapes of requests, of which a stream in segments may have several
 * for one call, are those of the whole stream: the n-th distinct call that makes requests. As other
 * threads' streams name them too, all streams of a process are done together.
 *
 * Trusts no number in the words and shapes. Cost: linear in the segments, not in the calls.
 */
#ifndef RN_RECOVER_SEGMENT_JOIN_H
#define RN_RECOVER_SEGMENT_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "encode/reintern.h"
#include "encode/time_stats.h"
#include "journal/journal_file.h"

struct rn_arena;
struct rn_grammar;
struct rn_recorded_stream;
struct rn_rules;

/* Values of an elastic slot before those of the checkpoint. */
struct value_piece {
	struct rn_fact_values of;
	const unsigned char *bytes;
	size_t len;
};

struct rn_segment {
	struct rn_tables tables;
	struct rn_seg holes;        /* struct rn_holes *, by call */
	struct rn_seg piece;        /* struct value_piece, of the journal */
	struct rn_seal seal;        /* of a closed segment */
	struct rn_grammar *grammar; /* the calls after those of the rules; NULL: none */
	struct rn_rules *rules;
	uint32_t root;
	struct rn_times times; /* settled */
	bool lost; /* its calls are unknown; its tables remain, for requests of other segments */
};

/* A segment without calls. NULL when there is no memory. */
struct rn_segment *rn_segment_new(struct rn_arena *mem);

/* Stores the segment as the stream. */
void rn_segment_give(const struct rn_segment *s, struct rn_recorded_stream *out);

struct rn_shape {
	uint32_t segment, call;
};

/* Of one stream. */
struct rn_segment_list {
	struct rn_seg segment; /* struct rn_segment * */
	struct rn_seg shape;   /* struct rn_shape */
};

/* RN_OK, RN_E_NOMEM, or RN_E_RANGE: there are more calls than can be. */
int rn_join(struct rn_arena *mem, const struct rn_segment_list *of, uint32_t streams,
	    struct rn_recorded_stream *out);

#endif
