/*
 * post_order.h - the order in which the threads of a process post on a communicator, with
 * MPI_THREAD_MULTIPLE.
 *
 * If two threads post receives on one communicator, the first receive may match the message that
 * either could match; and messages that two threads send to one rank arrive in the order in which
 * they were sent. One post is a turn. Recording, a thread holds the lock of the communicator while
 * it posts, and the turns are counted. Replaying (replay_post_order.c), it waits until all turns
 * are over that came before its own. A call that blocks is made of a post and a wait after the
 * turn. A probe that finds a message has a turn, too: no other thread can have received the message
 * before. Receives and sends have turns of their own.
 *
 * Consecutive turns of one thread are a run. A run is an event where it begins (order/events.h),
 * unless it is the first run of all and of the first thread (preload/thread_lineage.h). A run ends
 * where another one begins.
 *
 * A turn in a replay waits only for turns that were over in the recorded run before it began. If
 * the program does what it did, no two threads wait for each other.
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

/* Record; replay is in replay_post_order.c. */
extern const struct rn_turn_ops rn_turns_recorded;

/* NULL: no turns are taken. Set after MPI_Init. */
extern const struct rn_turn_ops *rn_turns;

/* The place of a thread in the turns of one communicator, of one kind. */
struct rn_turn_place {
	struct rn_turn_place *next; /* of the thread, the one used last first */
	struct rn_post_order *order;
	uint64_t begun;     /* recording: the turn with which its latest run began */
	uint64_t run, used; /* replaying: its run, and how many turns of it are over */
};

/* The turns of one communicator, of one kind. Never freed: the symbol of a communicator that is
 * freed may be used again, and the count goes on. */
struct rn_post_order {
	struct rn_post_order *next; /* of all */
	uint32_t comm;              /* word */
	enum rn_plan_turn_of of;
	pthread_mutex_t lock;               /* recording: for the turn, and `last` */
	const struct rn_order_thread *last; /* the thread that had the last turn */
	_Atomic uint64_t over;              /* number of turns that are over */
	const struct rn_plan_turn *run;     /* replaying: the recorded runs */
	uint64_t runs;
	_Atomic bool loaded; /* `run` is set */
};

/* A turn of the calling thread. */
struct rn_turn {
	struct rn_turn_place *place; /* NULL: there is no memory, and no order */
	const struct rn_order_call *c;
	uint64_t number; /* replaying */
	bool had;        /* it has posted, or has found a message; otherwise this was no turn */
};

/* Between the two, the thread may post on the communicator of the call. */
void rn_turn_begin(struct rn_turn *u, const struct rn_order_call *c, enum rn_plan_turn_of of);
void rn_turn_end(struct rn_turn *u);

/* A turn from here to the end of the block. */
#define RN_TURN(u, c, of)                                       \
	struct rn_turn u __attribute__((cleanup(rn_turn_end))); \
	rn_turn_begin(&(u), c, of)

#endif
