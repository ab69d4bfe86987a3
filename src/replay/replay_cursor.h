/*
 * replay_cursor.h - what the plan (order/replay_plan.h) says of a thread's next call.
 *
 * The rows of the plan are the calls whose outcome was not determined, in their order; a cursor is
 * before the next one. A call that is not the one in the row is a divergence, unless one of them
 * found nothing: how often a test fails may depend on time, and it makes no difference; such are
 * counted. Rows of calls that only complete what was started (RN_ORDER_WAIT) are passed over: what
 * there is to know of them is in `match`, by the number of the receive.
 *
 * When all rows are used, the record is over: the recorded run ended here, or crashed. From then on
 * calls are made as they are; what was parked is posted. One line says so, if the program goes on.
 */
#ifndef RN_REPLAY_REPLAY_CURSOR_H
#define RN_REPLAY_REPLAY_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "order/replay_plan.h"
#include "record/tracked_request.h"

struct rn_replay; /* opaque: of a thread */

/* Reads the plan of a rank, once; and, after MPI_Init, compares it with the run. */
void rn_replay_load(int rank);
void rn_replay_prepare(void);

/* What the record says of this (order/replay_plan.h), or NULL. */
const char *rn_replay_fact(const char *key);

/* rn_replay_thread: finds the plan of a thread that had no outcome yet. rn_replay_rejoin: does so
 * for all threads, when the plan is known. */
void rn_replay_thread(struct rn_stream *t, struct rn_order_thread *o);
void rn_replay_rejoin(void);

/* A communicator of this process alone, on which nothing is ever sent; and a receive on it. */
MPI_Comm rn_replay_nowhere(void);
int rn_replay_post_nowhere(MPI_Request *request);

enum rn_fate {
	RN_FATE_FREE, /* nothing is known: as the program will have it */
	RN_FATE_FAIL, /* it finds nothing */
	RN_FATE_DONE, /* so it comes out */
};

/* What the call is to do. `may_fail`: it can find nothing and return. */
enum rn_fate rn_replay_next(const struct rn_order_call *c, bool may_fail,
			    const struct rn_order_row **row, const struct rn_order_done **done);

/* What it has just been told is not to be, yet: it was done, and is to be so again later on. */
void rn_replay_again(const struct rn_order_call *c);

/* The same for one that gives a number: false when nothing is known. */
bool rn_replay_value(const struct rn_order_call *c, int64_t *value, uint32_t n);

/* What wildcard receive number `ordinal` of the thread is to receive. Never NULL. */
const struct rn_plan_match *rn_replay_match(const struct rn_replay *r, uint64_t ordinal);
/* The same; NULL behind the last one that anything is known of. */
const struct rn_plan_match *rn_replay_later(const struct rn_replay *r, uint64_t ordinal);
/* The number of the first one that a thread of the process may have to start yet, in *from; NULL
 * behind the last thread. */
const struct rn_replay *rn_replay_nth(uint32_t n, uint64_t *from);
/* Counts a receive that is being started. */
void rn_replay_start(struct rn_replay *r, const struct rn_plan_match *m);

/* The same of a receive that may be none, or no wildcard. NULL: it is none. */
const struct rn_plan_match *rn_replay_match_of(const struct rn_tracked *f);

/* What became of an operation that somebody tried to cancel: by its number
 * (tracked_request.h). */
enum rn_cancel { RN_CANCEL_NOT, RN_CANCEL_DONE, RN_CANCEL_FAILED };
enum rn_cancel rn_replay_cancel(const struct rn_replay *r, uint64_t number);
/* Whether the operation that the thread numbers next was cancelled: it is not started, a receive is
 * posted that matches nothing (rn_replay_post_nowhere). */
bool rn_replay_next_cancelled(void);

/* The record has all calls, and each is compared with them (replay_call_check.c): hooks for that,
 * in front of the others. */
void rn_replay_hook_compare(void);
const char *rn_replay_comm(uint32_t number);

/* Whether the receive or probe asks for the recorded message, on the recorded communicator if it is
 * known. */
bool rn_replay_accepts(const struct rn_order_call *c, const struct rn_plan_match *m);
/* The event site of the event that completed a receive; NULL: unknown. */
const struct rn_order_site *rn_replay_match_site(const struct rn_replay *r,
						 const struct rn_plan_match *m);

/* Whether events of the thread remain in the recording, other than failed tests and values. */
bool rn_replay_has_events(const struct rn_replay *r);
/* The row of the next event that a call is compared with; the number of rows if none remains. */
uint64_t rn_replay_pending_row(const struct rn_replay *r);
/* The row of the next event that the thread replays; the number of rows if no event remains. */
uint64_t rn_replay_next_row(const struct rn_order_thread *o);
/* Like rn_replay_next_row, for a call that may complete a request of an earlier row. */
uint64_t rn_replay_row_of(const struct rn_order_call *c);
/* The number of the event in a row, as `rondo dump` prints it. */
uint64_t rn_replay_event(const struct rn_replay *r, uint64_t row);

/* Called in MPI_Finalize if the recording contains events. Reports a divergence if events remain on
 * any thread. */
void rn_replay_check_end(struct rn_order_thread *o);

/* Counts a call whose outcome cannot be enforced. */
void rn_replay_count_unenforced(uint32_t function);

/* Whether it has all calls: what no send was left over for has received nothing. */
bool rn_replay_knows_sends(const struct rn_replay *r);

/* The call differs from the recording: reports the first divergence and ends the run. If the run
 * continues after a divergence, the thread is released. */
void rn_replay_diverges(const struct rn_order_call *c, const char *why);
/* Like rn_replay_diverges, for the recorded event in this row. */
void rn_replay_diverges_at(const struct rn_order_call *c, uint64_t row, const char *why);
/* Like rn_replay_diverges, if the call does not ask for the recorded message. */
void rn_replay_unasked(const struct rn_order_call *c, const struct rn_plan_match *m);
/* The same; `now` and `recorded` describe the difference. */
void rn_replay_departs(struct rn_order_thread *o, const char *now, const char *recorded);

/* Whether the communicator contains the sender of the message. If not, reports a divergence. */
bool rn_replay_reaches(const struct rn_order_call *c, MPI_Comm comm, int source);

/* Whether the thread goes by the record; and whether there is more of it to come. */
bool rn_replay_is_on(struct rn_replay *r, bool *more);

/* Nothing more is known of the thread: its parked receives are posted. Where threads take turns it
 * waits for the others to come so far, for what it receives freely may be meant for them. If
 * events remain in the recording, the call is a divergence instead. */
void rn_replay_over(const struct rn_order_call *c);

/* The call waits for a receive that `starter` started and that is unobserved: the recording ends
 * here, as rn_replay_over does. If the recording has later receives and events, the receive
 * returned an error when it was recorded, and only this call runs freely. */
void rn_replay_unobserved(const struct rn_order_call *c, const struct rn_replay *starter,
			  uint64_t ordinal);
/* A receive that is deferred is posted, unless another thread does that. */
void rn_replay_unpark(struct rn_tracked *f);

/* The request receives, as the program has it, unless it has matched a message already. */
int rn_receive_again(const struct rn_receive *r, MPI_Request *q);

/* MPI makes progress, and nothing else happens. */
void rn_replay_progress(void);

/* Waiting for something that the record says will come; called again and again. */
struct rn_patience {
	uint64_t since; /* 0: not begun */
	uint32_t spins;
	bool told;
	const char *what; /* for what; NULL: a message, or some request */
	/* The row of the awaited event, plus 1. 0: the last row that rn_replay_next returned;
	 * unknown for calls without their own row. */
	uint64_t row;
};
#define RN_PATIENCE_LOOKS 256 /* polls between readings of the clock */
/* Whether the thread's tests have failed for some time without recorded failures. */
bool rn_replay_polls_long(const struct rn_order_thread *o);
/* True once, when it takes long. */
bool rn_replay_tires(struct rn_patience *p);
/* Then a line says for what. True: it need not come any more, for the thread is free. */
bool rn_replay_wait(struct rn_patience *p, const struct rn_order_call *c, int source, int tag);

/* Whether the record counts no more for the thread: it, or another rank, has diverged, and the run
 * goes on (--on-divergence=continue). For the calling thread, the other one finds out: what it has
 * started is loosened then. */
bool rn_replay_is_free(const struct rn_order_thread *o);
bool rn_replay_gets_free(struct rn_order_thread *o);

/* Turns of threads (post_order.h). rn_replay_turns: those on a communicator. rn_replay_tell_turn:
 * reports that the call waits for the turn of a thread. */
const struct rn_plan_turn *rn_replay_turns(const char *comm, enum rn_plan_turn_of of, uint64_t *n);
void rn_replay_tell_turn(const struct rn_order_call *c, uint32_t stream, enum rn_plan_turn_of of);

#endif
