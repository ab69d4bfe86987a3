/*
 * journal_read_impl.h - state of one stream while it is read from its extents.
 *
 *   journal_read_log.c         log records, into the tables of each segment
 *   journal_read_checkpoint.c  the snapshots of a segment, and the rings that follow them
 *   journal_read_stream.c      the calls in flight, and the stream as a whole
 *   journal_read_events.c      order events
 *   journal_read_live.c        the live position of a stream of a running program
 *
 * A function that returns false has found damaged data; or, with s->failed set, is out of memory.
 */
#ifndef RN_RECOVER_JOURNAL_READ_IMPL_H
#define RN_RECOVER_JOURNAL_READ_IMPL_H

#include "base/vec.h"
#include "encode/reintern.h"
#include "model/markers.h"
#include "recover/journal_read_stream.h"
#include "recover/segment_join.h"

struct rn_recorded_stream;

/* A stream that is being read. The result is in struct rn_recorded_stream, whose members
 * (process_trace.h) are read-only. */
struct salvaged {
	struct rn_arena *mem;
	struct rn_founds f;
	struct rn_stream_facts *facts;
	struct rn_segment_list *pieces; /* the segments up to the one being read */
	uint32_t segments;              /* number of segments in the log */
	struct rn_segment *segment;     /* the segment being read */
	uint64_t before;                /* number of calls in the segments before it */
	uint64_t hash_limit;            /* remaining budget of snapshot bytes to hash */
	/* Remaining budget of calls of checkpoints to append to a grammar. */
	uint64_t replay_limit;
	uint64_t lost; /* number of calls of segments whose snapshots are damaged */
	struct rn_markers markers;
	const unsigned char *memory; /* the extent whose head is `live` */
	size_t memory_len;
	struct rn_live live;
	unsigned char *under_way; /* copy of the words of calls in flight */
	size_t words_len;         /* bytes of call words that fit in the extent */
	struct rn_seg chunks;     /* struct rn_chunk */
	uint64_t zero; /* start of the stream, in nanoseconds; the time 0 of the chunks */
	struct rn_seg order_site;  /* struct rn_order_site */
	struct rn_seg order_chunk; /* struct rn_chunk */
	bool failed;               /* out of memory */
	uint64_t open;             /* number of `enter` markers in the grammar without `leave` */
	enum rn_marker last;       /* marker at the end of the grammar, or RN_MARKER_NONE */
};

static inline const struct rn_sigs *rn_salvage_words(const struct salvaged *s)
{
	return s->segment->tables.words;
}

/* ---- logs ---- */

/* Begins the next segment of the log. */
bool rn_salvage_add_segment(struct salvaged *s);
/* Decodes one record of a stream's log (rn_fact_fn). */
bool rn_salvage_fact(void *arg, uint32_t type, const void *bytes, size_t len);

/* ---- events ---- */

bool rn_salvage_order_site(struct salvaged *s, const void *bytes, size_t len);
/* Appends a copy of the bytes to an array of struct rn_chunk. */
bool rn_salvage_chunk(struct salvaged *s, struct rn_seg *to, const void *bytes, size_t len);
/* Returns all elements as one array. NULL with s->failed. */
void *rn_salvage_flatten(struct salvaged *s, const struct rn_seg *seg);
/* Called when the log has been read. Stores the valid chunks, and the tail as one more chunk, in
 * `out`. Adds the number of missing events to out->lost. */
bool rn_salvage_order(struct salvaged *s, struct rn_recorded_stream *out);

/* ---- snapshots and rings ---- */

/* The extent of a kind that begins at `page`; NULL if it does not exist. */
const struct rn_found *rn_salvage_extent(struct rn_founds f, enum rn_extent_kind kind,
					 uint64_t page);
enum rn_marker rn_salvage_marker(const struct salvaged *s, uint32_t id);

/* Whether a checkpoint and its snapshot of the calls are valid. */
bool rn_salvage_sound(struct salvaged *s, const struct rn_seal *seal);
bool rn_salvage_restore(struct salvaged *s, const struct rn_seal *seal);
/* Appends a call or a marker to the grammar. */
bool rn_salvage_append(struct salvaged *s, uint32_t id);
/* Appends the calls upto .. end from the call ring. False if some of them are missing. */
bool rn_salvage_ring(struct salvaged *s, const struct rn_seal *seal, uint64_t end);

/* ---- the stream ---- */

/* Returns an empty grammar with the options of the recording process. NULL if out of memory. */
struct rn_grammar *rn_salvage_grammar(const struct salvaged *s);

/* Maximum depth of nested calls in flight. If they are nested deeper, none of them is read. Only a
 * program that does nothing else is expected to nest deeper. */
#define RN_SALVAGE_DEEP 64u

struct under_way {
	size_t from, to; /* byte offsets in salvaged.under_way */
};

/* Stores the calls in flight, innermost first. Returns their number. */
uint32_t rn_salvage_under_way(struct salvaged *s, struct under_way *out);

/* Reads the stream's extent RN_EXTENT_LIVE. False if the stream has no such extent. */
bool rn_salvage_live(struct salvaged *s);
/* Stores the live position of a stream whose log has been read. RN_OK or RN_E_NOMEM. */
int rn_salvage_look(struct salvaged *s, struct rn_recorded_stream *out, struct rn_now *now);
/* Completes the last segment and stores it in `out`, as the stream if it is the only segment. RN_OK
 * or RN_E_NOMEM. */
int rn_salvage_give(struct salvaged *s, struct rn_recorded_stream *out);

#endif
