/*
 * segment_join.h - joins the segments (journal_file.h) of a stream into one; for journal_read.c.
 *
 * The tables are merged, so that each call, text and array occurs once. The grammars are
 * concatenated, and the time statistics are added. A divided stream may have several creators of
 * requests for one call. They are replaced with the creators of the whole stream: the n-th distinct
 * call that creates requests. The streams of other threads refer to them, so all streams of a
 * process are joined together.
 *
 * The ids in call words and creators are untrusted. Cost: linear in the segments, not in the calls.
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

/* Elastic values of one slot that precede those of the checkpoint. */
struct value_piece {
	struct rn_fact_values of;
	const unsigned char *bytes;
	size_t len;
};

struct rn_segment {
	struct rn_tables tables;
	struct rn_seg holes;        /* struct rn_holes * by call */
	struct rn_seg piece;        /* struct value_piece, in the journal */
	struct rn_seal seal;        /* of a closed segment */
	struct rn_grammar *grammar; /* the calls that follow those of `rules`; NULL: none */
	struct rn_rules *rules;
	uint32_t root;
	struct rn_times times; /* in nanoseconds */
	/* The calls are unknown. The tables remain, for requests of other segments. */
	bool lost;
};

/* Returns a segment without calls. NULL if out of memory. */
struct rn_segment *rn_segment_new(struct rn_arena *mem);

/* Stores the tables, rules and times of the segment in `out`. */
void rn_segment_give(const struct rn_segment *s, struct rn_recorded_stream *out);

struct rn_shape {
	uint32_t segment, call;
};

/* The segments of one stream, and the creators of its requests. */
struct rn_segment_list {
	struct rn_seg segment; /* struct rn_segment * */
	struct rn_seg shape;   /* struct rn_shape */
};

/* Joins the segments of each stream into `out`. Returns RN_OK, RN_E_NOMEM, or RN_E_RANGE if there
 * are too many calls. */
int rn_join(struct rn_arena *mem, const struct rn_segment_list *of, uint32_t streams,
	    struct rn_recorded_stream *out);

#endif
