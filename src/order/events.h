/*
 * events.h - what was not determined in a run: how calls of one thread came out.
 *
 * A wildcard receive could have matched another message, a test another moment; all else follows
 * from that. Calls that are alike (the same function, called from the same place) are a site. A
 * thread's events are rows, in the order of its calls:
 *
 *   site 3, fails 12, done 2    at site 3 twelve calls in a row found nothing; then one found two
 *                               things done, which are the next two of `done`
 *   site 5, fails 4, done 0     four found nothing, and then something else was called
 *
 * Of what is done, `index` is where it stood in the array of requests that was given (0 where there
 * is one). A wildcard receive has a number, by when it was started on this thread: `late` is how
 * many with lower numbers are not done, so it is 0 where they are done in order. So nothing has to
 * be known of the calls that start receives. Source and tag are what it, or a
 * wildcard probe, has matched, as ranks of the communicator.
 *
 * Exactly:
 *
 *   wildcard    the source is MPI_ANY_SOURCE, or the tag MPI_ANY_TAG and the source not
 *               MPI_PROC_NULL, of whom the outcome is always the same
 *   numbers     from 0: each wildcard Recv, Irecv, Sendrecv, Sendrecv_replace, Isendrecv and
 *               Isendrecv_replace that is called, and each Start of a wildcard Recv_init that
 *               succeeds (Startall: in the order of its array). Not probes, nor Mrecv and Imrecv
 *   done        a wildcard receive is, with the first call of this thread that tells its outcome,
 *               MPI_Request_get_status included; from then on its request is like any other. One
 *               that is freed, or completed by another thread, never is; the latter's events have
 *               it with late RN_ORDER_NOT, and as numbers (analysis/thread_events.h)
 *   late        of several in one call, each as it is when those before it are done
 *   a row       for a call that returned MPI_SUCCESS (or, having completed what it says,
 *               MPI_ERR_IN_STATUS). What is called in between and is no event does not end a row;
 *               calls made inside other calls are no events
 *
 *   kind    calls                                    done: one for each
 *   WAIT    Wait, Waitall, Recv, Sendrecv,           wildcard receive, as they stand in the array;
 *           Sendrecv_replace                         no row if there is none
 *   TEST    Test, Testall, Request_get_status,       the same; and if there is none, just one, with
 *           Parrived, Win_test                       index 0, late RN_ORDER_NOT and no flags
 *   ANY     Waitany, Testany                         request (the one), whatever it is
 *   SOME    Waitsome, Testsome                       request, in the order of array_of_indices
 *   PROBE   Iprobe, Improbe unless of MPI_PROC_NULL; message: index 0, late RN_ORDER_NOT, flag
 *           wildcard Probe, Mprobe                   RN_ORDER_MATCHED
 *
 * Completions with no active request among those given (index or outcount MPI_UNDEFINED, a flag
 * that is true of nothing) are no events. RN_ORDER_MATCHED is set for wildcard receives and probes
 * only, RN_ORDER_CANCELLED for whatever is known to have been cancelled; and source and tag are 0
 * where it is not RN_ORDER_MATCHED.
 *
 * Rows of some kinds (rn_order_kinds) have numbers in `value`, one for each row with one done, and
 * nothing in `done`. The first of them is the result of a call, the others are no calls: their
 * sites have neither function nor place.
 *
 *   kind           number
 *   VALUE          result of the call, for example of MPI_Wtime
 *   THREAD         lineage of the thread (preload/thread_lineage.h) that made the following calls.
 * The calls before the first such row are those of the first thread, of lineage 0 RECEIVE_RUN, with
 * a communicator: a run of turns of this thread begins (posting order, SEND_RUN
 * record/post_order.h): number of turns since its previous run at this site began; for the first
 * run, since the first turn. The first thread has the turns before the first run ADOPTION       a
 * wildcard receive that another thread started completed in this thread: three numbers, the number
 * of the receive, its source (-1: it was cancelled) and tag. Before them, -1 - the lineage of the
 * other thread, unless it is that of the previous adoption CANCELLATION   an operation for which
 * MPI_Cancel was called is complete: its number times two, plus one if it was cancelled. The row
 * precedes that of the completing call
 *
 * The numbers in CANCELLATION count the operations that name their partner: each Isend, Ibsend,
 * Issend, Irsend, Irecv, Isendrecv and Isendrecv_replace, and each Start of such an operation, by
 * the rules for wildcard receives.
 *
 * All kinds are independent of the calls of a trace, so that a trace with every call can store its
 * outcomes as events, too.
 */
#ifndef RN_ORDER_EVENTS_H
#define RN_ORDER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_ORDER_NOT UINT32_MAX /* late: it is no wildcard receive */

enum rn_order_kind {
	RN_ORDER_TEST,  /* done or not: Test, Testall, Request_get_status, ... */
	RN_ORDER_ANY,   /* one of several: Waitany, Testany */
	RN_ORDER_SOME,  /* Waitsome, Testsome */
	RN_ORDER_WAIT,  /* all of them: Wait, Waitall, Recv, Sendrecv, ... */
	RN_ORDER_PROBE, /* Probe, Iprobe, Mprobe, Improbe */
	RN_ORDER_VALUE, /* a number */
	RN_ORDER_LOOSE, /* what no replay can enforce; the calls count as `fails`, nothing is done
			 */
	RN_ORDER_THREAD,
	RN_ORDER_RECEIVE_RUN,
	RN_ORDER_SEND_RUN,
	RN_ORDER_ADOPTION,
	RN_ORDER_CANCELLATION,
	RN_ORDER_KINDS,
};

/* Properties of a kind. */
struct rn_order_kind_row {
	const char *name; /* NULL: the name of the function */
	bool call;        /* sites have a function, and may have a place */
	bool numbers;     /* rows have numbers in `value`, and nothing in `done` */
	bool in_order;    /* a replay reproduces the rows in their order */
};

extern const struct rn_order_kind_row rn_order_kinds[RN_ORDER_KINDS];

#define RN_ORDER_NO_FUNCTION UINT32_MAX /* function of a site that is no call */

struct rn_order_site {
	uint32_t kind;     /* enum rn_order_kind */
	uint32_t function; /* number in the vocabulary, or RN_ORDER_NO_FUNCTION */
	uint32_t comm;     /* symbol of the communicator; 0: none, or that of the requests */
	uint32_t place;    /* call site, counted from 1; 0: not known */
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
	RN_ORDER_CANCELLED = 1, /* it was cancelled: source and tag mean nothing */
	RN_ORDER_MATCHED = 2,   /* source and tag are there */
};

struct rn_order_done {
	uint32_t index;
	uint32_t late;
	int32_t source, tag;
	uint32_t flags;
};

/* A message that was sent, when so many things had been done; only where clocks are wanted. Ranks
 * are those of the communicator, `me` the sender's. */
struct rn_order_send {
	uint64_t at;
	uint32_t comm;
	int32_t me, dest, tag;
};

/* Of one thread. */
struct rn_order {
	const struct rn_order_site *site;
	struct rn_order_row *row;
	struct rn_order_done *done;
	int64_t *value;
	struct rn_order_send *send;
	/* By completion: Lamport clocks (order/lamport.h), or the reference order of receives,
	 * per site ascending (order/cdc_tables.h), as the codec `clock` keeps it; NULL: not known.
	 */
	uint64_t *clock;
	size_t sites, rows, dones, values, sends;
};

#endif
