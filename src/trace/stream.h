/*
 * stream.h - what one thread of the program has called so far.
 *
 * One thread at a time: from the 33rd thread on, a stream that its thread has left, by ending, goes
 * to the next new one. So a stream is a lane, and a program that starts threads in every step does
 * not have more and more of them.
 *
 * A stream is a table of distinct calls (as words, encode/call_words.h; those that keep changing
 * with holes, elastic.h), a grammar over their numbers, and the call that the grammar expects next.
 * A wrapper compares with that one while it writes; when they are equal, recording the call is two
 * counters and a step of the grammar's cursor.
 *
 * `top` is where the next call writes its words. A call that is under way has its words below it,
 * so calls made inside a call (from callbacks) have room of their own; and behind them the frame
 * that it was made from and where they begin, so that one that was left by longjmp or an exception
 * is told from one that lasts.
 *
 * While the tracer works on the stream, `top` is NULL. A call that comes then is one of a signal
 * handler that has interrupted the tracer: it goes directly to MPI and is counted as lost.
 *
 * All of this is private memory. `live` and `words` are what the part file has of it
 * (journal/journal_file.h), once there is one: they are written and never read.
 *
 * Memory: an arena of the stream's own. When the streams of the process have as much as they may
 * (--memory), one that is in the part file goes on in a new segment there, with an empty arena; all
 * numbers begin anew, but those of shapes with requests that have not ended. One that is not keeps
 * what it has: a call for which there is no memory is counted as lost and told at the end, never
 * ignored. So is a call of a thread that there is no stream for.
 * Not locked: a thread touches its own stream alone.
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

#define RN_WORDS      32768u /* of all calls under way on a thread */
#define RN_CALL_WORDS 8192u  /* of one */

#define RN_LIVE_WORDS 16384u /* of calls under way that readers of the part file see */

#define RN_NESTED_MAX 32u

struct rn_callstacks;
struct rn_family;
struct rn_holes;
struct rn_order_log;
struct rn_sigs;

struct rn_sig {
	const uint64_t *w; /* what is compared with: its words, or, with holes, what no call has */
	const uint64_t *words;
	uint32_t n, id;
	bool retired;             /* new calls are those of a signature with more holes */
	struct rn_holes *holes;   /* NULL: none */
	struct rn_family *family; /* NULL: not known (elastic.h) */
	uint32_t shape;           /* of the requests it creates, counted from 1; 0: none so far */
	uint8_t request_kind;     /* enum rn_request_kind */
	struct rn_idpool slots;
};

/* Handles lately used, and their words. */
struct rn_handle_cache {
	uint64_t key, word;
	uint32_t generation;
};

#define RN_HANDLE_CACHE 128u

#define RN_NO_RING 16u

/* State of the event log (event_log.h), as the journal reads it. */
struct rn_event_state {
	struct rn_extent extent; /* head of the tail's extent */
	size_t at;               /* bytes of rows in the tail */
	uint32_t chunks;         /* that the tail follows on */
	uint64_t events;
	bool in_file; /* the tail is an extent */
	bool counted; /* the counter is in the part file */
};

struct rn_stream {
	uint64_t *top; /* NULL: the tracer is at work */
	union {
		struct {
			uint8_t off;   /* RN_OFF_* */
			uint8_t marks; /* calls that others were made inside of */
			bool timed;    /* times of single calls are kept: there is a stopwatch */
		};
		uint32_t odd; /* not 0: calls take the long way */
	};
	struct rn_sig *expected;             /* never NULL: `none` when nothing is */
	uint64_t entered, left, calls, lost; /* as in struct rn_live */
	uint32_t *ring;                      /* where the numbers of calls go, for the part file */
	uint64_t ring_mask;
	uint64_t ring_end; /* at so many calls it is looked at */
	uint8_t ends;      /* how often its thread's destructors have been called */
	uint32_t number;
	int64_t lineage; /* lineage of the thread that made the latest calls (thread_lineage.h) */
	struct rn_grammar *grammar;
	struct rn_stopwatch *stopwatch; /* NULL: times of single calls are not kept */
	struct rn_times times;
	struct rn_handle_cache handles[RN_HANDLE_CACHE];
	struct rn_mem_cache places;
	uint64_t gap_entered, gap_left;      /* `entered` and `left` when the gap was valid */
	struct rn_callstacks *stacks;        /* those remembered (callstack.c) */
	const struct rn_event_state *events; /* NULL: none so far */
	struct rn_order_log *order;          /* its events; NULL: none so far (event_log.h) */
	bool making_order;                   /* `order` is being allocated */

	struct rn_sig none;
	struct rn_arena mem;
	struct rn_sigs *words; /* bytes of the calls */
	struct rn_sigs *blobs; /* arrays too long for a call */
	struct rn_sigs *texts;
	struct rn_sigs *families; /* words with all holes that there can be */
	struct rn_seg family;     /* struct rn_family *, by number */
	struct rn_seg holes;      /* struct rn_holes *, by number of the call */
	struct rn_seg sig;        /* struct rn_sig *, by number */
	struct rn_seg shape; /* struct rn_sig *, by shape - 1; of earlier segments those in use */
	size_t looked_at;    /* how much its arena had when that was last looked at */
	size_t counted;      /* of rn_tracer.recorded, its own */
	size_t least;        /* the same when the segment began */
	bool busy;           /* is starting a segment, and in nobody else's hands */
	struct rn_seg
		ended;   /* uint64_t, words of its requests that ended elsewhere; tables' lock */
	uint64_t late;   /* calls that came when the trace was being written */
	uint64_t merged; /* so many are in the trace */
	uint64_t *mark[RN_NESTED_MAX]; /* ends of the words of calls that others were made inside of
					*/
	uint64_t marked[RN_NESTED_MAX]; /* when they began */
	struct rn_stream *next;         /* of all streams */
	uint64_t *scratch;
	size_t scratch_words;
	bool spooled;     /* it is in the part file (stream_journal.c) */
	uint64_t segment; /* so many are over */
	struct rn_log log;
	struct rn_mapped in_file; /* the extent of `live` */
	struct rn_mapped tail, values_tail, area[2], times_area[2];
	struct rn_seal seal[2];  /* as in the file */
	unsigned sealed;         /* which of the two counts */
	uint64_t limit;          /* calls that the file has at most */
	unsigned char *snapshot; /* room to make one, before it goes into the file */
	size_t snapshot_room;
	uint64_t ready, unready; /* the ring's pages are made up to this call; places to go */
	struct rn_copied copied; /* of it, if the file is copied */
	uint64_t copy_next, copy_period; /* when again, and how far apart; nanoseconds */
	uint32_t no_ring[RN_NO_RING];
	/* Where the numbers in holes go, for the part file; so many have come, and at `end` there
	 * is no room for more. */
	int64_t *values;
	uint64_t values_mask, values_at, values_end;
	uint64_t pieces; /* of them, that are in the log, of this segment */
	int64_t no_values[RN_HOLES_MAX];
	uint64_t masked[RN_HOLES_WORDS]; /* words that are being given holes */
	uint64_t buffer[RN_WORDS];
	struct rn_live live __attribute__((aligned(RN_SPILL_PAGE)));
	uint64_t words_in_file[RN_LIVE_WORDS]; /* of calls under way; follows `live` */
};

/* This thread's. NULL before its first call and when tracing is over. */
extern _Thread_local struct rn_stream *rn_me __attribute__((tls_model("initial-exec")));

/* Words that no call has: what is compared with once the expected call is known to be another. */
extern const uint64_t rn_no_words[RN_CALL_WORDS];

/* Allocates a stream without calls, which has no number yet. NULL when there is no memory. */
struct rn_stream *rn_stream_new(void);
void rn_stream_free(struct rn_stream *t);

/* Adds a marker: the calls that follow were made by the thread with this lineage
 * (thread_lineage.h). */
void rn_stream_set_thread(struct rn_stream *t, int64_t lineage);

/* Ends all calls in flight: the thread has left them. */
void rn_stream_unwind(struct rn_stream *t);

/* The signature of these words, which is made if there is none. NULL when there is no memory. */
struct rn_sig *rn_stream_intern(struct rn_stream *t, const uint64_t *w, size_t n, bool holes);

void rn_stream_lost(struct rn_stream *t);

/* Something that is no call, between those that are (model/markers.h). No call is under way but
 * those that the current one was made in. */
void rn_stream_marker(struct rn_stream *t, const uint64_t *w, size_t n);

/* The number of a text or of a long array's words. RN_RAW_UNSET when there is no memory. */
uint64_t rn_stream_text(struct rn_stream *t, const char *s, size_t n);
uint64_t rn_stream_blob(struct rn_stream *t, const uint64_t *w, size_t n);

/* Room for n words that is valid until the next call of this; NULL when there is none. */
uint64_t *rn_stream_scratch(struct rn_stream *t, size_t n);
/* The same for an array of the program's: n words for each of len elements of so many bytes. NULL
 * also when the array is not all there: MPI refuses some lengths before it looks. */
uint64_t *rn_stream_room(struct rn_stream *t, const void *array, size_t len, size_t bytes,
			 size_t n);
/* Room that was taken out of the stream (t->scratch = NULL) becomes its scratch again. */
void rn_stream_scratch_back(struct rn_stream *t, uint64_t *scratch, size_t words);

static inline void rn_stream_expect(struct rn_stream *t)
{
	uint32_t id = rn_grammar_expect(t->grammar);

	t->expected = id == RN_EXPECT_NONE ? &t->none : *RN_SEG_AT(&t->sig, struct rn_sig *, id);
}

/* Tells readers of the part file which call is expected, so that it need not have the words of that
 * call. Only where no call is under way. */
static inline void rn_stream_show_expected(struct rn_stream *t)
{
	t->live.expected = t->expected->id;
}

/* Writes the words of all calls under way to the part file; those of the innermost are base..end.
 */
void rn_stream_show(struct rn_stream *t, const uint64_t *base, const uint64_t *end);

/* Sets or clears a reason why calls are not recorded. */
void rn_stream_turn(struct rn_stream *t, uint8_t off, bool on);

/* stream_journal.h: the ring is full, or it is time to look. */
void rn_spool_due(struct rn_stream *t);

/* elastic.h: the call, whose numbers are there, is not. */
void rn_elastic_undo(struct rn_stream *t, uint32_t id);

/* One more call of the signature, or a marker. False when it is lost. */
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
		/* The number is there before it counts, for whoever finds the file. */
		__atomic_store_n(&t->live.calls, calls, __ATOMIC_RELEASE);
		if (__builtin_expect(calls == t->ring_end, 0))
			rn_spool_due(t);
	}
	rn_stream_expect(t);
	return there;
}

/* The call is over: s is its signature. Returns whether it is recorded. */
static inline bool rn_stream_append(struct rn_stream *t, const struct rn_sig *s, uint64_t t0,
				    uint64_t t1)
{
	rn_times_add(&t->times, s->id, t1 - t0, t0 > t->left ? t0 - t->left : 0);
	t->live.left = t->left = t1;
	return rn_stream_number(t, s->id);
}

/* The tracer begins to work on the stream. Returns where the words of the next call begin. */
static inline uint64_t *rn_stream_enter(struct rn_stream *t)
{
	uint64_t *base = t->top;

	t->top = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return base;
}

/* The tracer is done with the stream: the program goes on, or MPI. */
static inline void rn_stream_leave(struct rn_stream *t, uint64_t *top)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->top = top;
}

/* A call begins, in this frame of the stack, while another one seems to be under way: marks where
 * that one began, if not done yet. False when there is no room, or the tracer is at work; the call
 * is lost. */
bool rn_stream_nested(struct rn_stream *t, const void *frame);
/* Something is off: is the call whose words begin at base? */
bool rn_stream_silent(const struct rn_stream *t, const uint64_t *base);

/* The words of the innermost call that is being made. */
static inline const uint64_t *rn_stream_under_way(const struct rn_stream *t)
{
	return (const uint64_t *)(uintptr_t)t->top[-1];
}

/* rn_stream_call, where something is off, nested or timed. */
struct rn_sig *rn_stream_call_odd(struct rn_stream *t, struct rn_sig *s, uint64_t *base,
				  uint64_t *w, uint64_t t0, uint64_t t1);

/* The signature of a call that is over and was not expected, an old one or a new; its words begin
 * at base, and may become others in a new segment. NULL if it is lost, for lack of memory. */
struct rn_sig *rn_stream_other(struct rn_stream *t, uint64_t *base, size_t n);

/* The words of the call are base..w. s is their signature, or NULL if they are not the expected
 * ones. Returns the signature, or NULL when the call is lost. The tracer is at work until
 * rn_stream_leave. With six parameters, all of them are in registers. */
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
