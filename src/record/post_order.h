/*
 * post_order.h - records or enforces the order in which threads post on a communicator
 * (MPI_THREAD_MULTIPLE).
 *
 * If two threads post receives on one communicator, the order of the receives determines which one
 * matches a message that both could match. Messages that two threads send to one rank arrive in the
 * order in which they were sent. One post is a turn. When recording, a thread holds the lock of the
 * communicator while it posts, and turns are counted. When replaying (replay_post_order.c), a
 * thread waits until all turns before its own are over. A blocking call is divided into a post and
 * a wait after the turn. A probe that finds a message is also a turn: no other thread can have
 * received the message before. Receives and sends have separate turns.
 *
 * Consecutive turns of one thread are a run. A run is an event at its first turn (order/events.h),
 * unless it is the first run of all and belongs to the first thread (preload/thread_lineage.h). A
 * run ends where another one begins.
 *
 * A turn in a replay waits only for turns that were over in the recorded run before it began. If
 * the program behaves as recorded, no two threads wait for each other.
 *
 * Cost: one uncontended lock per post, and one request per blocking call. None below
 * MPI_THREAD_MULTIPLE.
 */
#ifndef RN_RECORD_POST_ORDER_H
#define RN_RECORD_POST_ORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/outcome_thread.h"

struct rn_post_order;
struct rn_turn;

struct rn_turn_ops {
	void (*begin)(struct rn_turn *u);
	void (*end)(struct rn_turn *u);
};

/* Implementation that records; the one that replays is in replay_post_order.c. */
extern const struct rn_turn_ops rn_turns_recorded;

/* NULL: posting order is not needed. Set after MPI_Init. */
extern const struct rn_turn_ops *rn_turns;

/* The position of a thread in the turns of one communicator and kind. */
struct rn_turn_place {
	struct rn_turn_place *next; /* list of the thread, most recently used first */
	struct rn_post_order *order;
	uint64_t begun;     /* recording: first turn of its latest run */
	uint64_t run, used; /* replaying: index of its run, and number of turns of this run that are
			       over */
};

/* The turns of one communicator and kind. Never freed: the id of a freed communicator may be
 * reused, and the count continues. */
struct rn_post_order {
	struct rn_post_order *next; /* list of all */
	uint32_t comm;              /* communicator id */
	enum rn_plan_turn_of of;
	pthread_mutex_t lock;               /* recording: held during a turn; protects `last` */
	const struct rn_order_thread *last; /* the thread that had the last turn */
	_Atomic uint64_t over;              /* number of turns that are over */
	const struct rn_plan_turn *run;     /* replaying: the recorded runs of turns */
	uint64_t runs;
	_Atomic bool loaded; /* `run` and `runs` are set */
};

/* A turn of the calling thread. */
struct rn_turn {
	struct rn_turn_place *place; /* NULL: no memory, and the order is not recorded */
	const struct rn_order_call *c;
	uint64_t number; /* replaying: index of the turn */
	bool had; /* it has posted or found a message; otherwise it does not count as a turn */
};

/* Begin and end a turn, in which the thread may post on the communicator of the call. */
void rn_turn_begin(struct rn_turn *u, const struct rn_order_call *c, enum rn_plan_turn_of of);
void rn_turn_end(struct rn_turn *u);

/* Declares a turn that ends at the end of the block. */
#define RN_TURN(u, c, of)                                       \
	struct rn_turn u __attribute__((cleanup(rn_turn_end))); \
	rn_turn_begin(&(u), c, of)

#endif
