/*
 * events.h - order events of one thread: the outcomes that could have been different in another
 * run.
 *
 * A wildcard receive could have matched another message, and a test could have completed at another
 * time. Everything else in a run follows from these outcomes. Calls of the same function from the
 * same call site belong to one event site. The events of a thread are rows, in the order of its
 * calls:
 *
 *   site 3, fails 12, done 2    at event site 3, twelve consecutive polls failed; the next call
 *                               reported two completions, the next two elements of `done`
 *   site 5, fails 4, done 0     four polls failed; then the thread called something else
 *
 * In a completion, `index` is the position of the request in the array of the call (0 for a single
 * request). Wildcard receives have ordinals, in the order in which this thread started them. `late`
 * is the number of receives with lower ordinals that are still open: 0 if receives complete in
 * order. The calls that start receives are therefore not recorded. `source` and `tag` are those of
 * the message that a wildcard receive or a wildcard probe matched. The source is a rank of the
 * communicator.
 *
 * Definitions:
 *
 *   wildcard    the source is MPI_ANY_SOURCE; or the tag is MPI_ANY_TAG and the source is not
 *               MPI_PROC_NULL. The outcome of a receive from MPI_PROC_NULL is always the same
 *   ordinals    from 0: each call of a wildcard Recv, Irecv, Sendrecv, Sendrecv_replace, Isendrecv
 *               and Isendrecv_replace, and each successful Start of a wildcard Recv_init (Startall:
 *               in the order of its array). Probes, Mrecv and Imrecv have no ordinals
 *   completion  a wildcard receive is complete with the first call of this thread that reports its
 *               outcome, MPI_Request_get_status included. After that, its request is treated like
 *               any other. A receive that is freed, or that another thread completes, is never
 *               complete. The other thread's events contain its completion with late
 *               RN_ORDER_NOT, and as numbers (analysis/thread_events.h)
 *   late        for several completions of one call: counted after the completions before it
 *   row         for a call that returned MPI_SUCCESS, or MPI_ERR_IN_STATUS if it reported
 *               completions. Calls that are not events do not end a row. Calls made inside other
 *               calls are not events
 *
 *   kind    calls                                    completions
 *   WAIT    Wait, Waitall, Recv, Sendrecv,           one per wildcard receive, in the order of the
 *           Sendrecv_replace                         array; no row if there is none
 *   TEST    Test, Testall, Request_get_status,       the same; if there is no wildcard receive, one
 *           Parrived, Win_test                       with index 0, late RN_ORDER_NOT and no flags
 *   ANY     Waitany, Testany                         one: the request, of any kind
 *   SOME    Waitsome, Testsome                       one per request, as in array_of_indices
 *   PROBE   Iprobe, Improbe unless of MPI_PROC_NULL; one: the message, with index 0, late
 *           wildcard Probe, Mprobe                   RN_ORDER_NOT and flag RN_ORDER_MATCHED
 *
 * A call without an active request (index or outcount MPI_UNDEFINED, or a true flag without a
 * completed request) is not an event. RN_ORDER_MATCHED is set only for wildcard receives and
 * probes. RN_ORDER_CANCELLED is set for each request that is known to be cancelled. Source and tag
 * are 0 without RN_ORDER_MATCHED.
 *
 * Rows of some kinds (rn_order_kinds) have numbers in `value` instead of completions in `done`: as
 * many as the field `done` of the row states. Kind VALUE is the result of a call. The other kinds
 * are not calls: their event sites have neither a function nor a call site.
 *
 *   kind           number
 *   VALUE          result of the call, for example of MPI_Wtime
 *   THREAD         lineage of the thread (preload/thread_lineage.h) that made the following calls.
 *                  The calls before the first such row are those of the first thread, lineage 0
 *   RECEIVE_RUN,   with a communicator: a run of turns of this thread begins (posting order,
 *   SEND_RUN       record/post_order.h). Number of turns since its previous run at this site
 *                  began; for the first run, since the first turn. The first thread has the turns
 *                  before the first run
 *   ADOPTION       a wildcard receive that another thread started completed in this thread. Three
 *                  numbers: the ordinal of the receive, its source (-1: it was cancelled) and tag.
 *                  They follow the number -1 - (lineage of the other thread), which is omitted if
 *                  it equals that of the previous adoption
 *   CANCELLATION   an operation for which MPI_Cancel was called is complete: its number times two,
 *                  plus one if it was cancelled. The row precedes that of the completing call
 *
 * The numbers in CANCELLATION count the operations with a named partner: each Isend, Ibsend,
 * Issend, Irsend, Irecv, Isendrecv and Isendrecv_replace, and each Start of such an operation, by
 * the rules for ordinals of wildcard receives.
 *
 * No kind depends on the recorded calls of a trace. A trace with every call can therefore also
 * store its outcomes as events.
 */
#ifndef RN_ORDER_EVENTS_H
#define RN_ORDER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_ORDER_NOT UINT32_MAX /* late: not a wildcard receive */

enum rn_order_kind {
	RN_ORDER_TEST,  /* tests that complete or fail: Test, Testall, Request_get_status, ... */
	RN_ORDER_ANY,   /* one of several requests: Waitany, Testany */
	RN_ORDER_SOME,  /* some of several requests: Waitsome, Testsome */
	RN_ORDER_WAIT,  /* all requests: Wait, Waitall, Recv, Sendrecv, ... */
	RN_ORDER_PROBE, /* Probe, Iprobe, Mprobe, Improbe */
	RN_ORDER_VALUE, /* a number as the result of a call */
	RN_ORDER_LOOSE, /* unreplayable calls; each counts in `fails`, and none has completions */
	RN_ORDER_THREAD,
	RN_ORDER_RECEIVE_RUN,
	RN_ORDER_SEND_RUN,
	RN_ORDER_ADOPTION,
	RN_ORDER_CANCELLATION,
	RN_ORDER_KINDS,
};

/* Properties of an event kind. */
struct rn_order_kind_row {
	const char *name; /* NULL: the function's name is used */
	bool call;        /* event sites have a function, and may have a call site */
	bool numbers;     /* rows have numbers in `value` and no completions in `done` */
	bool in_order;    /* a replay reproduces the rows in their order */
};

extern const struct rn_order_kind_row rn_order_kinds[RN_ORDER_KINDS];

#define RN_ORDER_NO_FUNCTION UINT32_MAX /* function of an event site that is not a call */

struct rn_order_site {
	uint32_t kind;     /* enum rn_order_kind */
	uint32_t function; /* function id of the vocabulary, or RN_ORDER_NO_FUNCTION */
	uint32_t comm;     /* communicator id; 0: none, or that of the requests */
	uint32_t place;    /* call site id, from 1; 0: unknown */
};

static inline bool rn_order_has_numbers(const struct rn_order_site *s)
{
	return rn_order_kinds[s->kind].numbers;
}

static inline bool rn_order_in_order(const struct rn_order_site *s)
{
	return rn_order_kinds[s->kind].in_order;
}

struct rn_order_row {
	uint32_t site;
	uint32_t fails;
	uint32_t done;
};

enum rn_order_flag {
	RN_ORDER_CANCELLED = 1, /* the operation was cancelled; source and tag have no meaning */
	RN_ORDER_MATCHED = 2,   /* source and tag are valid */
};

struct rn_order_done {
	uint32_t index;
	uint32_t late;
	int32_t source, tag;
	uint32_t flags;
};

/* A sent message, recorded only if Lamport clocks are needed. `at` is the number of completions
 * before the send. Ranks are those of the communicator; `me` is the sender's rank. */
struct rn_order_send {
	uint64_t at;
	uint32_t comm;
	int32_t me, dest, tag;
};

/* The order events of one thread. */
struct rn_order {
	const struct rn_order_site *site;
	struct rn_order_row *row;
	struct rn_order_done *done;
	int64_t *value;
	struct rn_order_send *send;
	/* Per completion: Lamport clock (order/lamport.h), or position in the reference order of
	 * receives, ascending per site (order/cdc_tables.h), as the codec `clock` stores it. NULL:
	 * unknown. */
	uint64_t *clock;
	size_t sites, rows, dones, values, sends;
};

#endif
