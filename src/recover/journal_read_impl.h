/*
 * journal_read_impl.h - a stream while it is read from its extents; for the files that do it:
 *
 *   journal_read_log.c      the records of logs, into the tables of each segment
 *   journal_read_checkpoint.c     a segment's snapshots, and the rings behind them
 *   journal_read_stream.c   calls under way, and the stream as a whole
 *   journal_read_events.c    events
 *   journal_read_live.c      where a stream is, of a program that runs
 *
 * What returns false has found that something is damaged, or, with s->failed, no memory.
 */
#ifndef RN_RECOVER_JOURNAL_READ_IMPL_H
#define RN_RECOVER_JOURNAL_READ_IMPL_H

#include "base/vec.h"
#include "encode/reintern.h"
#include "model/markers.h"
#include "recover/journal_read_stream.h"
#include "recover/segment_join.h"

struct rn_recorded_stream;

/* What a stream becomes; process_trace.h has it read-only. */
struct salvaged {
	struct rn_arena *mem;
	struct rn_founds f;
	struct rn_stream_facts *facts;
	struct rn_segment_list *pieces; /* the segments up to the one that is being read */
	uint32_t segments;              /* in the log */
	struct rn_segment *segment;     /* the one that is being read */
	uint64_t before;                /* calls in those before it */
	uint64_t hash_limit;            /* bytes of snapshots that may still be hashed */
	uint64_t replay_limit; /* calls of checkpoints that may still be appended to a grammar */
	uint64_t lost;         /* calls of segments whose snapshots are damaged */
	struct rn_markers markers;
	const unsigned char *memory; /* the extent that begins with `live` */
	size_t memory_len;
	struct rn_live live;
	unsigned char *under_way;  /* copy of the words of calls in flight */
	size_t words_len;          /* bytes of words for which the extent has room */
	struct rn_seg chunks;      /* struct rn_chunk */
	uint64_t zero;             /* when they begin */
	struct rn_seg order_site;  /* struct rn_order_site */
	struct rn_seg order_chunk; /* struct rn_chunk */
	bool failed;               /* no memory */
	/* Of the calls in the grammar. */
	uint64_t open;       /* have begun, had calls inside, and have not ended */
	enum rn_marker last; /* the latest of them */
};

static inline const struct rn_sigs *rn_salvage_words(const struct salvaged *s)
{
	return s->segment->tables.words;
}

/* ---- logs ---- */

/* The next segment of the log begins. */
bool rn_salvage_add_segment(struct salvaged *s);
/* One record of a stream's log (rn_fact_fn). */
bool rn_salvage_fact(void *arg, uint32_t type, const void *bytes, size_t len);

/* ---- events ---- */

bool rn_salvage_order_site(struct salvaged *s, const void *bytes, size_t len);
/* Adds a copy of the bytes to an array of struct rn_chunk. */
bool rn_salvage_chunk(struct salvaged *s, struct rn_seg *to, const void *bytes, size_t len);
/* All elements, one after the other. NULL with s->failed. */
void *rn_salvage_flatten(struct salvaged *s, const struct rn_seg *seg);
/* The log is read: gives the chunks that count, and the tail as one more; and how many events are
 * missing. */
bool rn_salvage_order(struct salvaged *s, struct rn_recorded_stream *out);

/* ---- snapshots and rings ---- */

/* NULL when there is none. */
const struct rn_found *rn_salvage_extent(struct rn_founds f, enum rn_extent_kind kind,
					 uint64_t page);
enum rn_marker rn_salvage_marker(const struct salvaged *s, uint32_t id);

/* Whether a seal, and what it is about, is what was written. */
bool rn_salvage_sound(struct salvaged *s, const struct rn_seal *seal);
bool rn_salvage_restore(struct salvaged *s, const struct rn_seal *seal);
/* One more call, or a marker. */
bool rn_salvage_append(struct salvaged *s, uint32_t id);
/* The calls upto .. end. */
bool rn_salvage_ring(struct salvaged *s, const struct rn_seal *seal, uint64_t end);

/* ---- the stream ---- */

/* An empty grammar, with the options of the recording process. NULL when there is no memory. */
struct rn_grammar *rn_salvage_grammar(const struct salvaged *s);

/* Calls inside calls that are looked at; deeper ones are of a program that does nothing else. */
#define RN_SALVAGE_DEEP 64u

struct under_way {
	size_t from, to; /* byte offsets in salvaged.under_way */
};

/* Stores the calls in flight, innermost first. Returns their number. */
uint32_t rn_salvage_under_way(struct salvaged *s, struct under_way *out);

/* The stream's own memory: false when there is none. */
bool rn_salvage_live(struct salvaged *s);
/* Where a stream whose log is read is. RN_OK or RN_E_NOMEM. */
int rn_salvage_look(struct salvaged *s, struct rn_recorded_stream *out, struct rn_now *now);
/* Gives the last segment, and with it the stream if it is the only one. RN_OK or RN_E_NOMEM. */
int rn_salvage_give(struct salvaged *s, struct rn_recorded_stream *out);

#endif
