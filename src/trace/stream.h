/*
 * stream.h - stream: the sequence of calls of one thread, while it is being recorded.
 *
 * One thread uses a stream at a time. From the 33rd thread on, a stream whose thread has ended is
 * reused by the next new thread. A program that starts threads in every step therefore does not
 * accumulate streams.
 *
 * A stream has a table of signatures (as call words, encode/call_words.h; parameters whose values
 * vary become elastic slots, elastic.h), a grammar over their ids, and the call that the grammar
 * predicts. A wrapper compares each word that it writes with the predicted call. If all are equal,
 * recording the call costs two counters and one step of the grammar's cursor.
 *
 * The next call writes its words at `top`. The words of calls in flight are below `top`, so nested
 * calls (made from callbacks) have separate space. Two words follow the words of a call in flight:
 * the stack frame that made the call, and the start of its words. The frame distinguishes a call
 * that is still in flight from one that was left by longjmp or an exception.
 *
 * While the tracer works on the stream, `top` is NULL. A call made then comes from a signal handler
 * that interrupted the tracer. It is forwarded to MPI and counted as lost.
 *
 * The tables and the grammar are in private memory. `live` and `words_in_file` are mapped from the
 * journal (journal/journal_file.h) once it exists; they are written and never read.
 *
 * Memory: each stream has an arena. When the streams of the process reach the memory limit
 * (--memory), a stream that is in the journal starts a new segment there, with an empty arena. All
 * ids start again at 0, except those of creators whose requests are still open. A stream that is
 * not in the journal retains its tables. A call that cannot be recorded because memory is exhausted
 * is counted as lost, and the count is reported at the end. A call of a thread that has no stream
 * is also counted as lost.
 *
 * Locking: none. A thread accesses only its own stream.
 */
#ifndef RN_TRACE_STREAM_H
#define RN_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/tick_clock.h"
#include "base/vec.h"
#include "encode/call_words.h"
#include "encode/elastic_slots.h"
#include "encode/time_stats.h"
#include "grammar/grammar.h"
#include "journal/journal_copy.h"
#include "journal/journal_file.h"
#include "trace/call_timer.h"
#include "track/id_pool.h"
#include "track/memory.h"

#define RN_WORDS      32768u /* words of all calls in flight of a thread */
#define RN_CALL_WORDS 8192u  /* words of one call */

#define RN_LIVE_WORDS 16384u /* words of calls in flight in the journal */

#define RN_NESTED_MAX 32u

struct rn_callstacks;
struct rn_family;
struct rn_holes;
struct rn_order_log;
struct rn_sigs;

struct rn_sig {
	const uint64_t *w; /* compared with a new call: its words, or words that no call has if it
			      has elastic slots */
	const uint64_t *words;
	uint32_t n, id;
	bool retired;             /* new calls use a signature with more elastic slots */
	struct rn_holes *holes;   /* NULL: no elastic slots */
	struct rn_family *family; /* NULL: not a member (elastic.h) */
	uint32_t shape;       /* creator number of its requests, from 1; 0: it has created none */
	uint8_t request_kind; /* enum rn_request_kind */
	struct rn_idpool slots;
};

/* Call words of the handles used recently. */
struct rn_handle_cache {
	uint64_t key, word;
	uint32_t generation;
};

#define RN_HANDLE_CACHE 128u

#define RN_NO_RING 16u

/* State of the event log (event_log.h), as the journal reads it. */
struct rn_event_state {
	struct rn_extent extent; /* head of the extent of the event tail */
	size_t at;               /* bytes of rows in the tail */
	uint32_t chunks;         /* number of chunks before the tail */
	uint64_t events;
	bool in_file; /* the tail is in a journal extent */
	bool counted; /* the event counter is in the journal */
};

struct rn_stream {
	uint64_t *top; /* NULL: the tracer is working on the stream */
	union {
		struct {
			uint8_t off;   /* RN_OFF_* */
			uint8_t marks; /* number of calls in flight that have nested calls */
			bool timed;    /* call times are recorded: `stopwatch` is not NULL */
		};
		uint32_t odd; /* 0: calls use the fast path */
	};
	struct rn_sig *expected;             /* never NULL; `none`: no prediction */
	uint64_t entered, left, calls, lost; /* as in struct rn_live */
	uint32_t *ring; /* call ring: signature ids of the latest calls, for the journal */
	uint64_t ring_mask;
	uint64_t ring_end; /* value of `calls` at which a checkpoint is due next */
	uint8_t ends;      /* number of times the thread's TLS destructor has run */
	uint32_t number;
	int64_t lineage; /* lineage of the thread that made the latest calls (thread_lineage.h) */
	struct rn_grammar *grammar;
	struct rn_stopwatch *stopwatch; /* NULL: call times are not recorded */
	struct rn_times times;
	struct rn_handle_cache handles[RN_HANDLE_CACHE];
	struct rn_mem_cache places;
	/* `entered` and `left` when the gap of `places` was found. */
	uint64_t gap_entered, gap_left;
	struct rn_callstacks *stacks;        /* stacks that the thread has cached (callstack.c) */
	const struct rn_event_state *events; /* NULL: no events */
	struct rn_order_log *order;          /* event log; NULL: no events (event_log.h) */
	bool making_order;                   /* `order` is being allocated */

	struct rn_sig none;
	struct rn_arena mem;
	struct rn_sigs *words; /* signatures, as call words */
	struct rn_sigs *blobs; /* arrays too long for call words */
	struct rn_sigs *texts;
	struct rn_sigs *families; /* masked words */
	struct rn_seg family;     /* struct rn_family *, by id */
	struct rn_seg holes;      /* struct rn_holes *, by signature id */
	struct rn_seg sig;        /* struct rn_sig *, by signature id */
	/* struct rn_sig *, by creator number - 1. Of earlier segments, only the creators that have
	 * open requests. */
	struct rn_seg shape;
	size_t looked_at; /* arena bytes at the latest check of the memory limit */
	size_t counted;   /* this stream's share of rn_tracer.recorded, bytes */
	size_t least;     /* `counted` when the segment began */
	bool busy;        /* atomic: the owner is replacing the tables; other threads wait */
	/* uint64_t, call words of its requests that ended in other streams; protected by the
	 * tables' lock. */
	struct rn_seg ended;
	uint64_t late;   /* calls made while the trace was written: counted, not recorded */
	uint64_t merged; /* number of calls in the trace */
	/* End of the words of each call in flight that has nested calls, outermost first. */
	uint64_t *mark[RN_NESTED_MAX];
	uint64_t marked[RN_NESTED_MAX]; /* when each of these calls began, ticks */
	struct rn_stream *next;         /* next stream of the process */
	uint64_t *scratch;
	size_t scratch_words;
	bool spooled;     /* the stream is in the journal (stream_journal.c) */
	uint64_t segment; /* number of segments closed */
	struct rn_log log;
	struct rn_mapped in_file; /* the extent of `live` */
	struct rn_mapped tail, values_tail, area[2], times_area[2];
	struct rn_seal seal[2];  /* the latest two checkpoints, as in the journal */
	unsigned sealed;         /* index in `seal` of the latest checkpoint */
	uint64_t limit;          /* maximum number of calls in the journal */
	unsigned char *snapshot; /* a snapshot, before it is written to the journal */
	size_t snapshot_room;
	/* Pages of the ring exist up to call `ready`; `unready` entries have no page yet. */
	uint64_t ready, unready;
	struct rn_copied copied; /* state of the copy, if the journal is copied */
	/* Time of the next copy, and interval between copies; nanoseconds. */
	uint64_t copy_next, copy_period;
	uint32_t no_ring[RN_NO_RING];
	/* Ring of elastic values, for the journal. `values_at`: number of values added. The ring is
	 * full when it reaches `values_end`. */
	int64_t *values;
	uint64_t values_mask, values_at, values_end;
	uint64_t pieces; /* number of RN_FACT_VALUES records of this segment */
	int64_t no_values[RN_HOLES_MAX];
	uint64_t masked[RN_HOLES_WORDS]; /* copy of call words in which slots are masked */
	uint64_t buffer[RN_WORDS];
	struct rn_live live __attribute__((aligned(RN_SPILL_PAGE)));
	uint64_t words_in_file[RN_LIVE_WORDS]; /* words of the calls in flight; follows `live` */
};

/* Stream of the calling thread. NULL before the thread's first call and after tracing has ended. */
extern _Thread_local struct rn_stream *rn_me __attribute__((tls_model("initial-exec")));

/* Words that no call has. They replace the words of the predicted call once a mismatch is known. */
extern const uint64_t rn_no_words[RN_CALL_WORDS];

/* Allocates a stream that has no calls and no id. NULL if out of memory. */
struct rn_stream *rn_stream_new(void);
void rn_stream_free(struct rn_stream *t);

/* Adds a marker: the calls that follow were made by the thread with this lineage
 * (thread_lineage.h). */
void rn_stream_set_thread(struct rn_stream *t, int64_t lineage);

/* Ends all calls in flight, because the thread has left them. */
void rn_stream_unwind(struct rn_stream *t);

/* Returns the signature with these words, and adds it if it is new. `holes`: the words contain
 * elastic slots. NULL if out of memory, or if a parameter value cannot be distinguished from an
 * elastic slot. */
struct rn_sig *rn_stream_intern(struct rn_stream *t, const uint64_t *w, size_t n, bool holes);

void rn_stream_lost(struct rn_stream *t);

/* Appends a marker to the stream (model/markers.h). The only calls in flight are those that the
 * current call is nested in. */
void rn_stream_marker(struct rn_stream *t, const uint64_t *w, size_t n);

/* Returns the id of a string, or of the words of a long array. RN_RAW_UNSET if out of memory. */
uint64_t rn_stream_text(struct rn_stream *t, const char *s, size_t n);
uint64_t rn_stream_blob(struct rn_stream *t, const uint64_t *w, size_t n);

/* Returns a buffer of n words, which is valid until the next call of this function. NULL if out of
 * memory. */
uint64_t *rn_stream_scratch(struct rn_stream *t, size_t n);
/* Returns a scratch buffer of n words per element for an array of the program with `len` elements
 * of `bytes` bytes each. NULL if out of memory, or if the array is not entirely mapped: MPI rejects
 * some lengths before it reads the array. */
uint64_t *rn_stream_room(struct rn_stream *t, const void *array, size_t len, size_t bytes,
			 size_t n);
/* Returns a buffer that was detached from the stream (t->scratch = NULL) as its scratch buffer. */
void rn_stream_scratch_back(struct rn_stream *t, uint64_t *scratch, size_t words);

static inline void rn_stream_expect(struct rn_stream *t)
{
	uint32_t id = rn_grammar_expect(t->grammar);

	t->expected = id == RN_EXPECT_NONE ? &t->none : *RN_SEG_AT(&t->sig, struct rn_sig *, id);
}

/* Stores the id of the predicted call in the journal, so that the words of that call need not be
 * written there. Valid only if no call is in flight. */
static inline void rn_stream_show_expected(struct rn_stream *t)
{
	t->live.expected = t->expected->id;
}

/* Writes the words of all calls in flight to the journal. Those of the innermost call are
 * base..end. */
void rn_stream_show(struct rn_stream *t, const uint64_t *base, const uint64_t *end);

/* Sets or clears a reason (RN_OFF_*) for which calls are not recorded. */
void rn_stream_turn(struct rn_stream *t, uint8_t off, bool on);

/* stream_journal.h: the ring is full, or a checkpoint is due. */
void rn_spool_due(struct rn_stream *t);

/* elastic.h: removes the elastic values of a call that could not be appended. */
void rn_elastic_undo(struct rn_stream *t, uint32_t id);

/* Appends a call with this signature, or a marker. False if it is lost. */
static inline bool rn_stream_number(struct rn_stream *t, uint32_t id)
{
	bool there = __builtin_expect(rn_grammar_append(t->grammar, id) >= 0, 1);
	uint64_t calls = t->calls;

	if (!there) {
		rn_elastic_undo(t, id);
		rn_stream_lost(t);
	} else {
		t->ring[calls++ & t->ring_mask] = id;
		t->calls = calls;
		/* The id is stored before the counter, for readers of the journal. */
		__atomic_store_n(&t->live.calls, calls, __ATOMIC_RELEASE);
		if (__builtin_expect(calls == t->ring_end, 0))
			rn_spool_due(t);
	}
	rn_stream_expect(t);
	return there;
}

/* Appends a call that has returned, with signature s. Returns whether it is recorded. */
static inline bool rn_stream_append(struct rn_stream *t, const struct rn_sig *s, uint64_t t0,
				    uint64_t t1)
{
	rn_times_add(&t->times, s->id, t1 - t0, t0 > t->left ? t0 - t->left : 0);
	t->live.left = t->left = t1;
	return rn_stream_number(t, s->id);
}

/* Marks the stream as in use by the tracer. Returns where the words of the next call begin; NULL if
 * the tracer was already working on the stream. */
static inline uint64_t *rn_stream_enter(struct rn_stream *t)
{
	uint64_t *base = t->top;

	t->top = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return base;
}

/* Ends the tracer's use of the stream, before control returns to the program or passes to MPI. */
static inline void rn_stream_leave(struct rn_stream *t, uint64_t *top)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->top = top;
}

/* Handles a call that begins in this stack frame while another call appears to be in flight. Calls
 * that were left are ended; for a call in flight an `enter` marker is appended if it has none.
 * False if there is no space or the tracer is working on the stream; the call is then lost. */
bool rn_stream_nested(struct rn_stream *t, const void *frame);
/* Whether the call whose words begin at `base` is not recorded, because of a bit of `off`. */
bool rn_stream_silent(const struct rn_stream *t, const uint64_t *base);

/* Words of the innermost call in flight. */
static inline const uint64_t *rn_stream_under_way(const struct rn_stream *t)
{
	return (const uint64_t *)(uintptr_t)t->top[-1];
}

/* rn_stream_call for streams where `odd` is not 0: calls disabled, nested or timed. */
struct rn_sig *rn_stream_call_odd(struct rn_stream *t, struct rn_sig *s, uint64_t *base,
				  uint64_t *w, uint64_t t0, uint64_t t1);

/* Returns the signature of a call that has returned and was not predicted. The signature may be
 * new. The words begin at `base` and may be changed by a new segment. NULL if out of memory; the
 * call is then lost. */
struct rn_sig *rn_stream_other(struct rn_stream *t, uint64_t *base, size_t n);

/* Records the call with the words base..w. s is the signature, or NULL if it is not the predicted
 * one. Returns the signature, or NULL if the call is lost. The tracer works on the stream until
 * rn_stream_leave. Six parameters all fit into registers. */
static inline struct rn_sig *rn_stream_call(struct rn_stream *t, struct rn_sig *s, uint64_t *base,
					    uint64_t *w, uint64_t t0, uint64_t t1)
{
	t->live.top = (uint64_t)(uintptr_t)base;
	if (__builtin_expect(t->odd != 0, 0))
		return rn_stream_call_odd(t, s, base, w, t0, t1);
	if (__builtin_expect(!s, 0) && !(s = rn_stream_other(t, base, (size_t)(w - base))))
		return NULL;
	rn_stream_append(t, s, t0, t1);
	rn_stream_show_expected(t);
	return s;
}

#endif
