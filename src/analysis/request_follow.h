/*
 * request_follow.h - follows the messages and requests of one stream from start to completion.
 *
 * Sends, receives and the matches of wildcard receives are arrays in the order in which the
 * operations were started. A request refers to its operation. The ordinals of wildcard receives and
 * of other operations (order/events.h) are counted per thread.
 *
 * Requests that were created in another stream or by a nested call are not followed. They count as
 * active requests that are not receives. Requests that an earlier thread of the same stream created
 * are followed: their matches are known, but they have no ordinal on the thread that completes
 * them.
 *
 * The owner of the structure initializes and releases its arena, and empties and releases its
 * arrays. A failed allocation sets `rc`; every later operation then has no effect. Memory:
 * O(messages + live requests). Not locked.
 */
#ifndef RN_ANALYSIS_REQUEST_FOLLOW_H
#define RN_ANALYSIS_REQUEST_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/call_args.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "order/ordinal_set.h"
#include "order/replay_plan.h"

#define RN_FOLLOW_NONE UINT32_MAX

/* The envelope of a message, as passed to a send or receive. */
struct rn_message {
	uint32_t comm;
	int32_t me; /* rank in the communicator; -1: unknown */
	int32_t peer, tag;
};

/* The state of a message on the sender's side. */
enum rn_outcome_sent {
	RN_SENT_OPEN, /* the completion of the send was not observed */
	RN_SENT_DONE, /* the message is in flight, or was received */
	RN_SENT_SURE, /* the message was received: a synchronous send is complete */
	RN_SENT_NOT,  /* the send was cancelled */
};

enum rn_outcome_got {
	RN_GOT_OPEN,    /* the completion was not observed */
	RN_GOT_MESSAGE, /* received a message with this source and tag */
	RN_GOT_NOTHING, /* was cancelled or failed */
};

/* A receive, or a probe that returns an MPI_Message. */
struct rn_outcome_recv {
	uint32_t comm;
	int32_t source, tag; /* as posted, RN_PLAN_ANY included; after completion, as received */
	uint32_t number;     /* index of its match; RN_ORDER_NOT: no ordinal */
	uint32_t got;        /* enum rn_outcome_got */
};

struct rn_follow_request {
	uint64_t number;                   /* id of the request (read/request_numbering.h) */
	bool sends, synchronous, receives; /* message directions: `out` is sent, `in` is received */
	bool persistent, active;
	bool told;   /* an event contains its match */
	bool cancel; /* MPI_Cancel was called for it */
	struct rn_message out, in;
	size_t thread;       /* index in the stream of the thread that started it */
	uint64_t directed;   /* ordinal of the active operation, if it is not a wildcard receive */
	uint32_t send, recv; /* indices of the active request's messages, or RN_FOLLOW_NONE */
	uint32_t next;       /* next unused element, if this one is unused */
};

struct rn_follow {
	int rc; /* RN_OK or RN_E_NOMEM */
	struct rn_arena scratch;
	struct rn_buf send;  /* struct rn_order_send */
	struct rn_buf sent;  /* unsigned char: enum rn_outcome_sent of each send */
	struct rn_buf recv;  /* struct rn_outcome_recv */
	struct rn_buf match; /* struct rn_plan_match of each wildcard receive */
	size_t thread;       /* number of the current thread, from 1 */
	size_t first_match;  /* index of the current thread's first match */
	struct rn_ordinals open;
	uint64_t directed; /* operations started by the thread, except wildcard receives */
	struct rn_map request_of;
	struct rn_seg request; /* struct rn_follow_request */
	uint32_t unused;       /* index of the first unused request, or RN_FOLLOW_NONE */
};

/* Begins a stream and its first thread. The arrays must be empty. */
void rn_follow_begin(struct rn_follow *f);
/* Begins the next thread of the stream. */
void rn_follow_begin_thread(struct rn_follow *f);

/* Appends an element to an array. */
void rn_follow_add(struct rn_follow *f, struct rn_buf *b, const void *item, size_t size);

/* Adds a send that starts after `done` completions. Returns its index, or RN_FOLLOW_NONE if the
 * message has no destination or the sender's rank is unknown. */
uint32_t rn_follow_send(struct rn_follow *f, const struct rn_message *m, uint64_t done);
void rn_follow_end_send(struct rn_follow *f, uint32_t send, bool synchronous, bool cancelled);

/* Adds a receive. Returns its index, or RN_FOLLOW_NONE for MPI_PROC_NULL. `numbered`: a wildcard
 * receive gets an ordinal. */
uint32_t rn_follow_recv(struct rn_follow *f, const struct rn_message *m, bool numbered);
/* Records the completion of a receive. A receive with a named source and tag has received that
 * message even if its status is ignored. */
void rn_follow_end_recv(struct rn_follow *f, uint32_t recv, const struct rn_arg_status *s);

bool rn_message_is_wild(const struct rn_message *m);
/* Whether `recv` is a wildcard receive with an ordinal. */
bool rn_follow_is_numbered(const struct rn_follow *f, uint32_t recv);
/* Stores the match of such a receive. Returns the number of receives that it has overtaken, or
 * RN_ORDER_NOT if another thread started it. */
uint32_t rn_follow_match(struct rn_follow *f, uint32_t recv, const struct rn_arg_status *s);

/* The followed request of a request value, or NULL. */
struct rn_follow_request *rn_follow_find(const struct rn_follow *f, const struct rn_value *v);
/* Adds a request that a call has created. */
void rn_follow_new(struct rn_follow *f, const struct rn_follow_request *is, uint64_t number);
void rn_follow_forget(struct rn_follow *f, struct rn_follow_request *r);
/* Starts the operation of the request, after `done` completions. */
void rn_follow_start(struct rn_follow *f, struct rn_follow_request *r, uint64_t done);

/* Whether a call can complete a request with this value. Requests that are not followed count as
 * active. */
bool rn_follow_is_active(const struct rn_follow *f, const struct rn_value *v);

#endif
