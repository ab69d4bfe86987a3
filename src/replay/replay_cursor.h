/*
 * replay_cursor.h - per-thread cursor in the replay plan: the recorded outcome of the next call.
 *
 * The rows of the plan (order/replay_plan.h) are the calls with an outcome, in their order. A
 * cursor is the position of the next row. A call that differs from the next row is a divergence,
 * unless the call or the row is a failed test: the number of failed tests may depend on time and
 * has no effect. Differences in that number are counted. Rows of calls that only complete requests
 * (RN_ORDER_WAIT) are skipped, because `match` contains their outcome by the ordinal of the
 * receive.
 *
 * After the last row, the recording has ended: the recorded run ended here, or crashed. From then
 * on calls are passed on unchanged, and deferred receives are posted. If the program continues, one
 * message reports this.
 */
#ifndef RN_REPLAY_REPLAY_CURSOR_H
#define RN_REPLAY_REPLAY_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "order/replay_plan.h"
#include "record/tracked_request.h"

struct rn_replay; /* opaque: the cursor of one thread */

/* rn_replay_load maps the plan of a rank, once. rn_replay_prepare is called after MPI_Init and
 * compares the plan with the run. */
void rn_replay_load(int rank);
void rn_replay_prepare(void);

/* Returns the value that the recording has for `key` (order/replay_plan.h), or NULL. */
const char *rn_replay_fact(const char *key);

/* rn_replay_thread assigns its plan to a thread that has no outcome yet. rn_replay_rejoin does so
 * for all threads, when the plan is mapped. */
void rn_replay_thread(struct rn_stream *t, struct rn_order_thread *o);
void rn_replay_rejoin(void);

/* rn_replay_nowhere returns a communicator of this process alone, on which nothing is ever sent.
 * rn_replay_post_nowhere posts a receive on it. */
MPI_Comm rn_replay_nowhere(void);
int rn_replay_post_nowhere(MPI_Request *request);

enum rn_fate {
	RN_FATE_FREE, /* no recorded outcome: the call is made as the program made it */
	RN_FATE_FAIL, /* the call fails: no completion */
	RN_FATE_DONE, /* the call has the recorded completions */
};

/* Determines the outcome of the call. `may_fail`: the call can return without a completion. With
 * RN_FATE_DONE, *row and *done are the recorded outcome. */
enum rn_fate rn_replay_next(const struct rn_order_call *c, bool may_fail,
			    const struct rn_order_row **row, const struct rn_order_done **done);

/* Revokes the RN_FATE_DONE that rn_replay_next has just returned. The call fails, and its row is
 * the next row again. */
void rn_replay_again(const struct rn_order_call *c);

/* Like rn_replay_next, for a call with n values as its result. Returns false if none are recorded.
 */
bool rn_replay_value(const struct rn_order_call *c, int64_t *value, uint32_t n);

/* Returns the recorded match of wildcard receive `ordinal` of the thread. Never NULL. */
const struct rn_plan_match *rn_replay_match(const struct rn_replay *r, uint64_t ordinal);
/* Like rn_replay_match, but returns NULL beyond the last recorded receive. */
const struct rn_plan_match *rn_replay_later(const struct rn_replay *r, uint64_t ordinal);
/* Returns the plan of the n-th thread of the process, or NULL after the last thread. *from becomes
 * a lower bound of the ordinals that the thread has not started yet. */
const struct rn_replay *rn_replay_nth(uint32_t n, uint64_t *from);
/* Counts a receive that is being started. */
void rn_replay_start(struct rn_replay *r, const struct rn_plan_match *m);

/* Like rn_replay_match, for a tracked request or NULL. Returns NULL if it is not a wildcard receive
 * or if its thread is not in the recording. */
const struct rn_plan_match *rn_replay_match_of(const struct rn_tracked *f);

/* The recorded result of MPI_Cancel for an operation, by its number (tracked_request.h).
 * RN_CANCEL_NOT: MPI_Cancel was not called for it. */
enum rn_cancel { RN_CANCEL_NOT, RN_CANCEL_DONE, RN_CANCEL_FAILED };
enum rn_cancel rn_replay_cancel(const struct rn_replay *r, uint64_t number);
/* Returns whether the next numbered operation of the thread was cancelled in the recording. Such an
 * operation is not started. A receive without a possible match is posted instead
 * (rn_replay_post_nowhere). */
bool rn_replay_next_cancelled(void);

/* rn_replay_hook_compare: if the recording has all calls, installs hooks before the others that
 * compare each call with the recorded one (replay_call_check.c). rn_replay_comm returns the
 * communicator name of an id of the plan. */
void rn_replay_hook_compare(void);
const char *rn_replay_comm(uint32_t number);

/* Returns whether the receive or probe can match the recorded message, on the recorded communicator
 * if it is known. */
bool rn_replay_accepts(const struct rn_order_call *c, const struct rn_plan_match *m);
/* Returns the event site of the event that completed a receive, or NULL if unknown. */
const struct rn_order_site *rn_replay_match_site(const struct rn_replay *r,
						 const struct rn_plan_match *m);

/* Returns whether events of the thread remain in the recording, other than failed tests and values.
 */
bool rn_replay_has_events(const struct rn_replay *r);
/* Returns the row of the next event that a call is compared with, or the number of rows if none
 * remains. */
uint64_t rn_replay_pending_row(const struct rn_replay *r);
/* Returns the row of the next event that the thread replays, or the number of rows if none remains.
 */
uint64_t rn_replay_next_row(const struct rn_order_thread *o);
/* Like rn_replay_next_row, for a call that may complete a request of an earlier row. */
uint64_t rn_replay_row_of(const struct rn_order_call *c);
/* Returns the number of the event in a row, as `rondo dump` prints it. */
uint64_t rn_replay_event(const struct rn_replay *r, uint64_t row);

/* Called in MPI_Finalize if the recording contains events. Reports a divergence if events remain on
 * any thread. */
void rn_replay_check_end(struct rn_order_thread *o);

/* Counts a call whose outcome cannot be enforced. */
void rn_replay_count_unenforced(uint32_t function);

/* Returns whether the recording has all calls. If so, an unobserved receive whose match cannot be
 * inferred has received nothing. */
bool rn_replay_knows_sends(const struct rn_replay *r);

/* Reports that the call differs from the recording, and ends the run. If the run continues after a
 * divergence, the thread is released. */
void rn_replay_diverges(const struct rn_order_call *c, const char *why);
/* Like rn_replay_diverges, for the recorded event in this row. */
void rn_replay_diverges_at(const struct rn_order_call *c, uint64_t row, const char *why);
/* Like rn_replay_diverges, if the call cannot match the recorded message. */
void rn_replay_unasked(const struct rn_order_call *c, const struct rn_plan_match *m);
/* Like rn_replay_diverges; `now` and `recorded` describe the difference. */
void rn_replay_departs(struct rn_order_thread *o, const char *now, const char *recorded);

/* Returns whether the communicator contains the sender of the message. If not, reports a
 * divergence. */
bool rn_replay_reaches(const struct rn_order_call *c, MPI_Comm comm, int source);

/* Returns whether the thread follows the recording. *more becomes whether recorded calls or events
 * remain. */
bool rn_replay_is_on(struct rn_replay *r, bool *more);

/* Ends the recording of the thread and posts its deferred receives. If threads take turns, it first
 * waits until the other threads have replayed their plans, because a free receive may match a
 * message recorded for them. If events remain in the recording, the call is a divergence instead.
 */
void rn_replay_over(const struct rn_order_call *c);

/* The call waits for an unobserved receive that `starter` started: ends the recording, as
 * rn_replay_over does. If the recording has later receives and events, the receive returned an
 * error when it was recorded, and only this call runs freely. */
void rn_replay_unobserved(const struct rn_order_call *c, const struct rn_replay *starter,
			  uint64_t ordinal);
/* Posts a deferred receive, unless another thread does so. */
void rn_replay_unpark(struct rn_tracked *f);

/* Cancels *q and posts the receive with the program's arguments, unless *q has matched a message
 * already. Returns the MPI error code. */
int rn_receive_again(const struct rn_receive *r, MPI_Request *q);

/* Lets MPI make progress, with no other effect. */
void rn_replay_progress(void);

/* State of a wait for a recorded message or call; used in a polling loop. */
struct rn_patience {
	uint64_t since; /* start of the wait, in seconds; 0: not started */
	uint32_t spins;
	bool told;
	const char *what; /* description of the awaited event; NULL: a message, or a request */
	/* Row of the awaited event, plus 1. 0: the last row that rn_replay_next returned; unknown
	 * for calls without their own row. */
	uint64_t row;
};
#define RN_PATIENCE_LOOKS 256 /* polls between readings of the clock */
/* Returns whether the thread's tests have failed for some time without recorded failures. */
bool rn_replay_polls_long(const struct rn_order_thread *o);
/* Yields or sleeps briefly. Returns true once, when the wait exceeds rn_config.stall seconds. Ends
 * the run if `rondo replay` has found that it stalls. */
bool rn_replay_tires(struct rn_patience *p);
/* Like rn_replay_tires, and prints the awaited event when the wait is too long. Returns true if the
 * thread was released, so that the event need not occur any more. */
bool rn_replay_wait(struct rn_patience *p, const struct rn_order_call *c, int source, int tag);

/* rn_replay_is_free returns whether the thread was released: this or another rank has diverged and
 * the run continues (--on-divergence=continue). rn_replay_gets_free is called for the calling
 * thread. It also checks for divergences of other ranks, and releases the thread and its receives.
 */
bool rn_replay_is_free(const struct rn_order_thread *o);
bool rn_replay_gets_free(struct rn_order_thread *o);

/* Posting order of threads (post_order.h). rn_replay_turns returns the runs of turns on a
 * communicator. rn_replay_tell_turn reports that the call waits for the turn of a thread. */
const struct rn_plan_turn *rn_replay_turns(const char *comm, enum rn_plan_turn_of of, uint64_t *n);
void rn_replay_tell_turn(const struct rn_order_call *c, uint32_t stream, enum rn_plan_turn_of of);

#endif
