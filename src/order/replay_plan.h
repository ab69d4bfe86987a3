/*
 * replay_plan.h - what one process is to do again: the events of its threads, made ready for `rondo
 * replay`.
 *
 * Made from a trace before the program starts, one file for each rank, in the byte order and with
 * the structures of the machine; the process maps it and looks things up without decoding. Offsets
 * are bytes from the beginning of the file, of arrays that are aligned to 8.
 *
 * `match` says by the number of a wildcard receive, counted from 0 as they are started on the
 * thread, what it has to receive. `row`, `done` and `value` are those of order/events.h, in which
 * functions are numbers of this program's own table and communicators are names of the plan; what
 * threads say of each other is not among them, but in `match` and `turn`
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
	RN_PLAN_MATCHED,   /* with this source and tag */
	RN_PLAN_CANCELLED, /* it was, and had not matched */
	RN_PLAN_UNSEEN,    /* nobody has seen what it received, if it did */
	RN_PLAN_INFERRED,  /* nor this; but it follows from what others did */
};

struct rn_plan_match {
	int32_t source, tag;
	uint32_t state; /* enum rn_plan_state */
	uint32_t row;   /* row of the event that completed it, plus 1; 0: unknown */
};

/* An operation that somebody tried to cancel, by its number (order/events.h). */
struct rn_plan_cancel {
	uint64_t number;
	uint64_t cancelled; /* 0: it was too late */
};

/* What is compared of a call: of its parameters that go in, the first communicator; the first of
 * `dest`, `source` and `root` that there is; of `tag` and `sendtag`; of `count`, `sendcount` and
 * `incount`. A call that both sends and receives also has `source` and `recvtag`. */
struct rn_plan_call {
	uint32_t function;       /* RN_PLAN_NO_FUNCTION: this program does not know it */
	uint32_t comm;           /* name, counted from 1; 0: it has none, or MPI_COMM_NULL */
	int32_t peer, tag;       /* or one of those below */
	int64_t count;           /* the same */
	int32_t source, recvtag; /* the same */
};

#define RN_PLAN_NO_FUNCTION UINT32_MAX

#define RN_PLAN_NOTHING INT32_MIN       /* it has none */
#define RN_PLAN_UNKNOWN (INT32_MIN + 1) /* it has one that the trace does not tell */
#define RN_PLAN_ANY     (INT32_MIN + 2) /* MPI_ANY_SOURCE, MPI_ANY_TAG */
#define RN_PLAN_NOBODY  (INT32_MIN + 3) /* MPI_PROC_NULL */
#define RN_PLAN_ROOT    (INT32_MIN + 4) /* MPI_ROOT */

/* A communicator that the rank was in. Leaders are the ranks of the world, from 1 on, that are rank
 * 0 of its sides; 0: not known. */
struct rn_plan_member {
	uint64_t name; /* where it is */
	uint64_t rank, size, leader;
	uint64_t remote, remote_leader; /* size of the other side; 0: there is none */
};

/* A thread's run of turns (record/post_order.h), which ends where the next one of the same
 * communicator and kind begins. */
enum rn_plan_turn_of { RN_PLAN_RECEIVES, RN_PLAN_SENDS };

struct rn_plan_turn {
	uint64_t begins; /* with this turn, counted from 0 */
	uint32_t comm;   /* name, counted from 1 */
	uint32_t of;     /* enum rn_plan_turn_of */
	uint32_t stream; /* of the plan */
	uint32_t unused;
};

/* How far the process has come; it writes this into the file, for who waits for it. */
struct rn_plan_progress {
	uint64_t calls;       /* that came out as recorded, failed tests included */
	uint64_t messages;    /* wildcard receives that were given what they got */
	uint64_t cancelled;   /* ... which was nothing */
	uint64_t more, fewer; /* failed tests that were not recorded; that did not come up */
	uint64_t again;       /* tests of generalised requests that failed, and did not */
	uint64_t row;         /* the next one */
	uint64_t over;        /* the record is, and the thread goes on */
};

struct rn_plan_stream {
	struct rn_plan_progress progress; /* zero */
	struct rn_plan_list site;         /* struct rn_order_site */
	struct rn_plan_list row;          /* struct rn_order_row */
	struct rn_plan_list done;         /* struct rn_order_done */
	struct rn_plan_list value;        /* int64_t */
	struct rn_plan_list match;        /* struct rn_plan_match */
	struct rn_plan_list cancel;       /* struct rn_plan_cancel, by number */
	struct rn_plan_list call;         /* struct rn_plan_call; empty: only events are recorded */
	uint64_t last_row;                /* number of rows up to the last that a call waits for */
	uint64_t known;                   /* number of wildcard receives with a known outcome */
	uint64_t born;                    /* its thread has this birth (preload/thread_lineage.h) */
	int64_t birth;
};

struct rn_plan_head {
	uint64_t magic, bytes;
	uint32_t rank, ranks;
	struct rn_plan_list stream; /* struct rn_plan_stream */
	struct rn_plan_list comm;   /* uint64_t: where the name of communicator i, from 1 on, is */
	struct rn_plan_list place;  /* uint64_t: where the text of call site i, from 1 on, is */
	struct rn_plan_list member; /* struct rn_plan_member, ascending by their names */
	struct rn_plan_list fact; /* uint64_t: where a key is, and behind it, where its value is */
	struct rn_plan_list turn; /* struct rn_plan_turn, by communicator, kind and beginning */
	/* uint64_t, by function: number of calls in the replay whose outcome cannot be enforced.
	 * Written by the replayed process. */
	struct rn_plan_list unenforced;
};

/* What a plan is made of: of each thread. */
struct rn_plan_part {
	struct rn_order order;
	const struct rn_plan_match *match; /* NULL: as rn_plan_matches has them */
	size_t matches;
	const struct rn_plan_call *call;
	size_t calls;
	bool born;
	int64_t birth;
};

struct rn_plan_membership {
	uint64_t world_rank; /* rank of the member in the world */
	const char *name;    /* of the communicator */
	struct rn_plan_member in;
};

struct rn_plan_source {
	uint32_t rank, ranks;
	const struct rn_plan_part *part;
	uint32_t parts;
	const char *const *comm, *const *place; /* names, the first one is number 1 */
	uint32_t comms, places;
	const char *const *fact; /* of the record: keys and values in turn, of so many */
	uint32_t facts;
	const struct rn_plan_membership *member; /* by name */
	uint64_t members;
	const struct rn_plan_turn *turn;
	size_t turns;
};

/* Appends the bytes of a plan. RN_OK; RN_E_NOMEM; or RN_E_DATA, from rn_plan_matches. */
int rn_plan_write(const struct rn_plan_source *s, struct rn_buf *out);

/* Whether this is a plan as a whole: everything that an offset leads to is there, and the rows have
 * as many things done as there are. */
bool rn_plan_valid(const void *bytes, size_t len);

/* Whether the thread has replayed its part of the plan: it has started all receives whose outcome
 * is known, and the remaining rows are calls that only complete requests. */
bool rn_plan_done(const struct rn_plan_stream *s);

/* What the wildcard receives of a thread matched, from its events: by number, those that no event
 * tells of unseen. RN_OK, RN_E_NOMEM, or RN_E_DATA: the numbers make no sense. */
struct rn_arena;
int rn_plan_matches(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_match **match,
		    size_t *n);

/* What the record says of this, or NULL. */
const char *rn_plan_fact(const struct rn_plan_head *p, const char *key);

/* The communicator of this name, or NULL. */
const struct rn_plan_member *rn_plan_member(const struct rn_plan_head *p, const char *name);

/* The number of that name, or 0. It is looked for from number `hint` on, or from the first one: who
 * asks for one after the other in the order of the plan does not pay for all of them each time. */
uint32_t rn_plan_comm(const struct rn_plan_head *p, const char *name, uint32_t hint);

/* Who had turns of this kind there, n runs. */
const struct rn_plan_turn *rn_plan_turns(const struct rn_plan_head *p, uint32_t comm,
					 enum rn_plan_turn_of of, uint64_t *n);

/* The operations that somebody tried to cancel, sorted. RN_OK or RN_E_NOMEM. */
int rn_plan_cancels(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_cancel **cancel,
		    size_t *n);

static inline const void *rn_plan_at(const struct rn_plan_head *p, uint64_t at)
{
	return (const char *)p + at;
}

/* Text i of a list of names; NULL if it has no such text. */
static inline const char *rn_plan_text(const struct rn_plan_head *p, const struct rn_plan_list *l,
				       uint64_t i)
{
	const uint64_t *at = (const uint64_t *)rn_plan_at(p, l->at);

	return i < l->n ? (const char *)rn_plan_at(p, at[i]) : NULL;
}

#endif
