/*
 * order.h - calls whose outcome is not determined: recorded (`rondo trace --only=order`), or made
 * to come out as they did (`rondo replay`).
 *
 * Hooks between the wrappers and MPI (RN_LINK_OUTCOME, real.h) exist for the functions that start
 * wildcard receives (order_post.c), that probe for messages (order_probe.c), that complete requests
 * (order_complete.c) and that return a value (order_value.c). Each does one thing while recording
 * and another while replaying; what they have in common is here: which requests are wildcard
 * receives, and how many were started on a thread, by which both know them (order/events.h).
 *
 *   recording     the real call; then its outcome goes to the log (order_log.h)
 *   replaying     the plan (order/plan.h, replay.h) says what it was, and the call is made so that
 *                 it comes out like that: a receive with the source and tag that it matched, a test
 *                 that was true as a wait, one that was false not at all
 *
 * In a replay the program may hold a request that is not the one that receives its message: a
 * shadow. A persistent wildcard receive is never started, a fresh receive is instead; and one that
 * nobody saw the end of is parked where no message comes until the record is over.
 */
#ifndef RN_INTERCEPT_ORDER_H
#define RN_INTERCEPT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intercept/real.h"
#include "intercept/stream.h"
#include "order/events.h"
#include "order/ordinals.h"
#include "order/plan.h"
#include "track/request.h"

enum rn_order_mode { RN_ORDER_OFF, RN_ORDER_RECORDS, RN_ORDER_REPLAYS };

extern enum rn_order_mode rn_order_mode;

/* Puts the hooks in place, if the configuration wants them. When the real functions are known. */
void rn_order_start(void);
/* After MPI_Init: which rank this is, and what threads may do, is known. */
void rn_order_begin(void);
void rn_order_hook_posts(void);
void rn_order_hook_asks(void);
void rn_order_hook_probes(void);
void rn_order_hook_completions(void);
void rn_order_hook_values(void);
void rn_order_hook_sends(void);
/* What posts in turns and is not hooked otherwise (order_turn.h). */
void rn_order_hook_turns(void);
void rn_order_hook_libc(void);

/* What hooks know of a thread. A stream may have several, one after the other. */
struct rn_order_thread {
	struct rn_order_thread *next; /* of all */
	uint32_t stream;
	int64_t birth;
	uint64_t started;        /* wildcard receives so far */
	uint64_t directed;       /* operations that name their partner (directed.h) */
	struct rn_ordinals open; /* of them */
	void *room;              /* for arrays of requests */
	size_t room_bytes;
	struct rn_replay *replay;                 /* NULL: nothing to go by */
	struct rn_followed *parked, **parked_end; /* as they were started */
	struct rn_turn_place *places;             /* order_turn.h */
	struct rn_order_thread *other;            /* recording: whose receive it completed last */
};

/* No other thread has called anything that concerns us. */
bool rn_order_alone(void);

/* The calling thread's. NULL when there is no memory. */
struct rn_order_thread *rn_order_thread(struct rn_stream *t);

/* The call that is being made: what, and where from. */
struct rn_order_call {
	struct rn_stream *t;
	struct rn_order_thread *o;
	uint32_t function, place;
	enum rn_order_kind kind;
	uint32_t comm;   /* word; 0: none */
	int source, tag; /* source and tag that it asks for; RN_PLAN_NOTHING: none */
	uint64_t row;    /* row of the event that completed a request of it, plus 1; 0: unknown */
};

/* Whether the call asks for a message with this source and tag. */
static inline bool rn_order_asks_for(const struct rn_order_call *c, int source, int tag)
{
	return (c->source == RN_PLAN_NOTHING || c->source == MPI_ANY_SOURCE ||
		c->source == source) &&
	       (c->tag == RN_PLAN_NOTHING || c->tag == MPI_ANY_TAG || c->tag == tag);
}

/* From the words of the call that is under way. False when there is no memory. */
bool rn_order_call(struct rn_order_call *c, enum rn_order_kind kind, MPI_Comm comm);

/* Recording: it found nothing; or so many things done. */
void rn_order_failed(const struct rn_order_call *c);
void rn_order_came_out(const struct rn_order_call *c, const struct rn_order_done *d, uint32_t n);

/* The same of a receive of another thread, so that its match is known when it is started again. */
void rn_order_came_out_other(const struct rn_order_call *c, struct rn_order_thread *starter,
			     uint64_t ordinal, const struct rn_order_done *d);

/* Functions whose outcome depends on other processes in ways that no hook can reach. */
bool rn_order_is_loose(uint32_t function);
/* Counts a completed call of a function whose outcome no hook can reach, when recording and when
 * replaying. `head` is the first word of the call. */
void rn_order_count_loose(struct rn_stream *t, uint64_t head);
/* The same of any call. */
void rn_order_passes(struct rn_stream *t, uint64_t head);

static inline bool rn_order_is_wild(int source, int tag)
{
	return source == MPI_ANY_SOURCE || (tag == MPI_ANY_TAG && source != MPI_PROC_NULL);
}

/* ---- requests that are followed ---- */

enum rn_followed_flag {
	RN_FOLLOWED_PERSISTENT = 1,
	RN_FOLLOWED_ACTIVE = 2,
	RN_FOLLOWED_SHADOW = 4, /* `real` is what receives; MPI_REQUEST_NULL: nothing does yet */
	RN_FOLLOWED_PARKED = 8, /* it is to be posted when the record is over */
	RN_FOLLOWED_CANCELLED = 16,
	RN_FOLLOWED_PLAIN = 32,   /* no wildcard receive: it persists, and is started in turns */
	RN_FOLLOWED_SENDS = 64,   /* such a one that sends */
	RN_FOLLOWED_LISTED = 128, /* it is, or was, parked */
	RN_FOLLOWED_TAKEN_BACK = 256, /* the program's own request is cancelled and complete */
	RN_FOLLOWED_DIRECTED = 512,   /* no wildcard, but it is cancelled (directed.h) */
	RN_FOLLOWED_GENERAL = 1024,   /* a generalised request: the program itself completes it */
	RN_FOLLOWED_COMPLETE = 2048,  /* ... and has */
	RN_FOLLOWED_HALF = 4096,      /* the program's own request sends, too */
};

/* How a receive is posted. */
struct rn_receive {
	void *buf;
	int64_t count;
	MPI_Datatype type;
	int source, tag;
	MPI_Comm comm;
};

static inline int rn_receive_post(const struct rn_receive *r, MPI_Request *q)
{
#if MPI_VERSION >= 4
	return rn_real.MPI_Irecv_c(r->buf, r->count, r->type, r->source, r->tag, r->comm, q);
#else
	return rn_real.MPI_Irecv(r->buf, (int)r->count, r->type, r->source, r->tag, r->comm, q);
#endif
}

/* MPI_Isend, in turn. */
int rn_order_isend(const void *buf, int64_t count, MPI_Datatype type, int dest, int tag,
		   MPI_Comm comm, MPI_Request *q);

struct rn_followed {
	uint64_t ordinal;
	struct rn_order_thread *starter; /* NULL: it is not used */
	uint32_t flags;
	MPI_Request real;
	MPI_Request handle;        /* the program's */
	struct rn_receive receive; /* as the program has it; known while replaying */
	uint32_t comm;             /* word; of one that persists */
	struct rn_followed *next;  /* of those that are not used, or are parked */
	struct rn_request_token token;
	uint32_t number;
};

/* How many there are, and how many of them are shadows: if none, there is nothing to look for. */
extern _Atomic uint32_t rn_followed_count, rn_followed_shadows;

int rn_followed_init(void);

/* NULL when there is no memory: then the program's receive is none that we know. */
struct rn_followed *rn_follow(const MPI_Request *request, const struct rn_followed *is);

/* That of a handle that is, or was, in a variable; or NULL. Wildcard receives; and all of them. */
struct rn_followed *rn_followed(MPI_Request handle, const MPI_Request *variable);
struct rn_followed *rn_followed_any(MPI_Request handle, const MPI_Request *variable);

/* Not all are wildcard receives. */
static inline bool rn_followed_is_wild(const struct rn_followed *f)
{
	return !(f->flags & (RN_FOLLOWED_PLAIN | RN_FOLLOWED_DIRECTED | RN_FOLLOWED_GENERAL));
}

/* It is complete: a persistent wildcard receive stays. */
void rn_followed_ends(struct rn_followed *f);
void rn_unfollow(struct rn_followed *f);

/* It is one of these from now on. */
void rn_followed_becomes_shadow(struct rn_followed *f);

/* Calls fn for those that a thread has started and that are not complete, as they were started.
 * Without memory, for none of them, and something is lost. */
void rn_followed_each_open(const struct rn_order_thread *o, void (*fn)(struct rn_followed *f));

/* The record counts no more: what a thread has started gets what the program asked for, in the same
 * order; but for what has matched already. */
void rn_order_loosen(struct rn_order_thread *o);

/* The request receives, as the program has it, what comes, unless it has matched already. */
int rn_receive_again(const struct rn_receive *r, MPI_Request *q);

#endif
