/*
 * replay_plan.h - replay plan of one process: its recorded outcomes, laid out for lookup.
 *
 * `rondo replay` writes one plan file per rank from a trace before it starts the program. The file
 * has the byte order and the structure layout of the machine. The process maps it and looks
 * outcomes up without decoding. Offsets are bytes from the start of the file; arrays are aligned to
 * 8 bytes.
 *
 * `match` contains the message that each wildcard receive has to match, by ordinal: the number of
 * the receive in the order in which its thread started them, from 0. `row`, `done` and `value` are
 * those of order/events.h, with the function ids of this program and the communicator names of the
 * plan. Rows that relate threads to each other are converted to `match` and `turn`
 * (analysis/thread_events.h).
 */
#ifndef RN_ORDER_REPLAY_PLAN_H
#define RN_ORDER_REPLAY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "order/events.h"

struct rn_buf;

#define RN_PLAN_MAGIC 0x354e4c504f444e52u /* "RNDOPLN5" */

struct rn_plan_list {
	uint64_t at, n;
};

enum rn_plan_state {
	RN_PLAN_MATCHED,   /* matched a message with this source and tag */
	RN_PLAN_CANCELLED, /* was cancelled without a match */
	RN_PLAN_UNSEEN,    /* unobserved receive: its outcome is unknown */
	RN_PLAN_INFERRED,  /* unobserved receive; its match was inferred from other ranks */
};

struct rn_plan_match {
	int32_t source, tag;
	uint32_t state; /* enum rn_plan_state */
	uint32_t row;   /* row of the event that completed it, plus 1; 0: unknown */
};

/* An operation for which MPI_Cancel was called, by its number (order/events.h). */
struct rn_plan_cancel {
	uint64_t number;
	uint64_t cancelled; /* 0: the operation completed before it could be cancelled */
};

/* The properties of a call that replay compares. Only input parameters count: the first
 * communicator; the first of `dest`, `source` and `root`; the first of `tag` and `sendtag`; and the
 * first of `count`, `sendcount` and `incount`. `source` and `recvtag` are set for a call that both
 * sends and receives. */
struct rn_plan_call {
	uint32_t function;       /* RN_PLAN_NO_FUNCTION: unknown in this program */
	uint32_t comm;           /* name id, from 1; 0: no communicator, or MPI_COMM_NULL */
	int32_t peer, tag;       /* value, or a RN_PLAN_* constant below */
	int64_t count;           /* value, or a RN_PLAN_* constant below */
	int32_t source, recvtag; /* values, or RN_PLAN_* constants below */
};

#define RN_PLAN_NO_FUNCTION UINT32_MAX

#define RN_PLAN_NOTHING INT32_MIN       /* the call has no such parameter */
#define RN_PLAN_UNKNOWN (INT32_MIN + 1) /* the trace has no value for the parameter */
#define RN_PLAN_ANY     (INT32_MIN + 2) /* MPI_ANY_SOURCE, MPI_ANY_TAG */
#define RN_PLAN_NOBODY  (INT32_MIN + 3) /* MPI_PROC_NULL */
#define RN_PLAN_ROOT    (INT32_MIN + 4) /* MPI_ROOT */

/* A communicator of which the rank was a member. A leader is the world rank plus 1 of rank 0 of one
 * side of the communicator; 0: unknown. */
struct rn_plan_member {
	uint64_t name; /* offset of the name */
	uint64_t rank, size, leader;
	uint64_t remote, remote_leader; /* size and leader of the remote group; remote 0:
					   intracommunicator */
};

/* A run of turns of one thread (record/post_order.h). It ends where the next run of the same
 * communicator and kind begins. */
enum rn_plan_turn_of { RN_PLAN_RECEIVES, RN_PLAN_SENDS };

struct rn_plan_turn {
	uint64_t begins; /* first turn of the run, counted from 0 */
	uint32_t comm;   /* name id, from 1 */
	uint32_t of;     /* enum rn_plan_turn_of */
	uint32_t stream; /* stream index in the plan */
	uint32_t unused;
};

/* Progress of the replay of one stream. The process writes it into the file, where `rondo replay`
 * reads it. */
struct rn_plan_progress {
	uint64_t calls;       /* calls replayed with the recorded outcome, failed tests included */
	uint64_t messages;    /* wildcard receives started with a known outcome */
	uint64_t cancelled;   /* those of `messages` that were cancelled */
	uint64_t more, fewer; /* failed tests not in the recording; recorded failed tests that did
				 not occur */
	uint64_t again; /* failed tests of generalized requests that succeeded in the recording */
	uint64_t row;   /* index of the next row */
	uint64_t over;  /* nonzero: the recording has ended; the thread runs freely */
};

struct rn_plan_stream {
	struct rn_plan_progress progress; /* zero when the plan is written */
	struct rn_plan_list site;         /* struct rn_order_site */
	struct rn_plan_list row;          /* struct rn_order_row */
	struct rn_plan_list done;         /* struct rn_order_done */
	struct rn_plan_list value;        /* int64_t */
	struct rn_plan_list match;        /* struct rn_plan_match */
	struct rn_plan_list cancel;       /* struct rn_plan_cancel, ascending by number */
	struct rn_plan_list call; /* struct rn_plan_call; empty: the trace contains only events */
	uint64_t last_row; /* number of rows up to the last one with which a call is compared */
	uint64_t known;    /* number of wildcard receives with a known outcome */
	uint64_t
		born; /* nonzero: `birth` is the lineage of the thread (preload/thread_lineage.h) */
	int64_t birth;
};

struct rn_plan_head {
	uint64_t magic, bytes;
	uint32_t rank, ranks;
	struct rn_plan_list stream; /* struct rn_plan_stream */
	struct rn_plan_list comm;   /* uint64_t: offset of the name of communicator i, from 1 */
	struct rn_plan_list place;  /* uint64_t: offset of the text of call site i, from 1 */
	struct rn_plan_list member; /* struct rn_plan_member, ascending by name */
	struct rn_plan_list fact;   /* uint64_t: offset of a key, then offset of its value */
	struct rn_plan_list turn;   /* struct rn_plan_turn, by communicator, kind and first turn */
	/* uint64_t, by function: number of calls in the replay whose outcome cannot be enforced.
	 * Written by the replayed process. */
	struct rn_plan_list unenforced;
};

/* The part of a plan's source that belongs to one thread. */
struct rn_plan_part {
	struct rn_order order;
	const struct rn_plan_match *match; /* NULL: derived from `order` by rn_plan_matches */
	size_t matches;
	const struct rn_plan_call *call;
	size_t calls;
	bool born;
	int64_t birth;
};

struct rn_plan_membership {
	uint64_t world_rank; /* rank of the member in the world */
	const char *name;    /* communicator name */
	struct rn_plan_member in;
};

struct rn_plan_source {
	uint32_t rank, ranks;
	const struct rn_plan_part *part;
	uint32_t parts;
	const char *const *comm, *const *place; /* names; the first element has id 1 */
	uint32_t comms, places;
	const char *const *fact; /* `facts` pairs of key and value, from the recording */
	uint32_t facts;
	const struct rn_plan_membership *member; /* ascending by name */
	uint64_t members;
	const struct rn_plan_turn *turn;
	size_t turns;
};

/* Appends the bytes of a plan. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA (see rn_plan_matches). */
int rn_plan_write(const struct rn_plan_source *s, struct rn_buf *out);

/* Returns whether the bytes are a complete plan: every offset is inside the file, and the number of
 * completions and values equals the sum over the rows. */
bool rn_plan_valid(const void *bytes, size_t len);

/* Returns whether the thread has replayed its part of the plan: it has started all receives with a
 * known outcome, and the remaining rows are calls that only complete requests. */
bool rn_plan_done(const struct rn_plan_stream *s);

/* Derives the matches of a thread's wildcard receives from its events, by ordinal. A receive
 * without an event is RN_PLAN_UNSEEN. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the ordinals are
 * invalid. */
struct rn_arena;
int rn_plan_matches(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_match **match,
		    size_t *n);

/* Returns the value that the recording has for `key`, or NULL. */
const char *rn_plan_fact(const struct rn_plan_head *p, const char *key);

/* Returns the communicator of this name, or NULL. */
const struct rn_plan_member *rn_plan_member(const struct rn_plan_head *p, const char *name);

/* Returns the id of the communicator of this name, or 0. The search starts at id `hint`, or at the
 * first id if `hint` is 0. Lookups in the order of the plan therefore cost O(1) each. */
uint32_t rn_plan_comm(const struct rn_plan_head *p, const char *name, uint32_t hint);

/* Returns the *n runs of turns of this kind on a communicator. */
const struct rn_plan_turn *rn_plan_turns(const struct rn_plan_head *p, uint32_t comm,
					 enum rn_plan_turn_of of, uint64_t *n);

/* Collects the operations for which MPI_Cancel was called, ascending by number. Returns RN_OK or
 * RN_E_NOMEM. */
int rn_plan_cancels(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_cancel **cancel,
		    size_t *n);

static inline const void *rn_plan_at(const struct rn_plan_head *p, uint64_t at)
{
	return (const char *)p + at;
}

/* Returns text i of a list of names; NULL beyond the end of the list. */
static inline const char *rn_plan_text(const struct rn_plan_head *p, const struct rn_plan_list *l,
				       uint64_t i)
{
	const uint64_t *at = (const uint64_t *)rn_plan_at(p, l->at);

	return i < l->n ? (const char *)rn_plan_at(p, at[i]) : NULL;
}

#endif
