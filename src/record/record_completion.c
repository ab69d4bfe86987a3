/*
 * record_completion.c - records the completions reported by the Wait and Test families, and the
 * messages that wildcard receives among them matched.
 */
#include "record/completion.h"

#include "record/record.h"
#include "record/record_start.h"
#include "runtime/tracer_state.h"
#include "trace/request_names.h"

/* Returns false if the call is not recorded. */
static bool begin(struct rn_completion *b, enum rn_order_kind kind, int n, MPI_Request *q,
		  MPI_Status *status)
{
	b->room.p = NULL;
	if ((kind == RN_ORDER_WAIT && !rn_tracked_count) || !rn_completion_begin(b, n, q))
		return false;
	if (!rn_order_call(&b->c, kind, MPI_COMM_NULL) || !rn_completion_room(b, status)) {
		rn_stream_lost(rn_me);
		return false;
	}
	if (rn_tracer.threaded)
		rn_completion_keep(b);
	return true;
}

/* Stores the requests in the program's variables, after the call. */
static void store_requests(struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct rn_tracked *f = b->now[i] == b->q[i] ? NULL : rn_completion_known(b, i);

		if (f && b->now[i] == MPI_REQUEST_NULL)
			rn_tracked_ends(f);
		b->q[i] = b->now[i];
	}
}

/* Returns the completion of request i. */
static struct rn_order_done completion(struct rn_completion *b, int i, const MPI_Status *s)
{
	struct rn_order_done d = { .index = (uint32_t)i, .late = RN_ORDER_NOT };
	struct rn_tracked *f = rn_completion_known(b, (uint32_t)i);

	if (f && rn_tracked_is_wild(f) && rn_tracked_is_active(f)) {
		d = rn_record_match(&b->c, f, s);
		d.index = (uint32_t)i;
		f->state = RN_TRACKED_INACTIVE;
	} else if (f && f->state == RN_TRACKED_CANCELLED) {
		rn_record_cancellation(&b->c, f, rn_status_cancelled(s));
		rn_tracked_ends(f);
	}
	return d;
}

/* Records that all requests completed. If no wildcard receive is among them, a successful test is
 * an event without flags, and a wait is not an event. */
static void record_all(struct rn_completion *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n && rn_tracked_count; i++) {
		struct rn_order_done d = completion(b, (int)i, &b->s[i]);

		if (d.late != RN_ORDER_NOT || d.flags)
			b->out[n++] = d;
	}
	if (n == 0 && b->c.kind == RN_ORDER_TEST)
		b->out[n++] = (struct rn_order_done){ .late = RN_ORDER_NOT };
	if (n)
		rn_record_completions(&b->c, b->out, n);
}

/* Records the completion of some requests. `n` is MPI_UNDEFINED if all requests are persistent and
 * inactive. */
static void record_some(struct rn_completion *b, int n, const int *indices)
{
	if (n == 0) {
		rn_record_failed_poll(&b->c);
		return;
	}
	for (int i = 0; i < n; i++)
		b->out[i] = completion(b, indices[i], &b->s[i]);
	if (n == MPI_UNDEFINED) {
		b->out[0] = (struct rn_order_done){ .index = RN_ORDER_NOT, .late = RN_ORDER_NOT };
		n = 1;
	}
	rn_record_completions(&b->c, b->out, (uint32_t)n);
}

/* ---- the functions ---- */

static int waited(struct rn_completion *b, int rc)
{
	if (rc == MPI_SUCCESS)
		record_all(b);
	store_requests(b);
	return rc;
}

static int hook_Wait(MPI_Request *q, MPI_Status *status)
{
	RN_COMPLETION(b);

	if (!begin(&b, RN_ORDER_WAIT, 1, q, status))
		return rn_real.MPI_Wait(q, status);
	return waited(&b, rn_real.MPI_Wait(b.now, b.s));
}

static int hook_Waitall(int n, MPI_Request q[], MPI_Status status[])
{
	RN_COMPLETION(b);

	if (!begin(&b, RN_ORDER_WAIT, n, q, status))
		return rn_real.MPI_Waitall(n, q, status);
	return waited(&b, rn_real.MPI_Waitall(n, b.now, b.s));
}

/* A failed test leaves the requests unchanged. */
static int tested(struct rn_completion *b, int rc, const int *flag)
{
	if (rc == MPI_SUCCESS && !*flag) {
		rn_record_failed_poll(&b->c);
		return rc;
	}
	return waited(b, rc);
}

static int hook_Test(MPI_Request *q, int *flag, MPI_Status *status)
{
	RN_COMPLETION(b);
	int rc;

	if (!begin(&b, RN_ORDER_TEST, 1, q, status))
		return rn_real.MPI_Test(q, flag, status);
	rc = rn_real.MPI_Test(b.now, flag, b.s);
	return tested(&b, rc, flag);
}

static int hook_Testall(int n, MPI_Request q[], int *flag, MPI_Status status[])
{
	RN_COMPLETION(b);
	int rc;

	if (!begin(&b, RN_ORDER_TEST, n, q, status))
		return rn_real.MPI_Testall(n, q, flag, status);
	rc = rn_real.MPI_Testall(n, b.now, flag, b.s);
	return tested(&b, rc, flag);
}

static int hook_Request_get_status(MPI_Request q, int *flag, MPI_Status *status)
{
	int rc = rn_real.MPI_Request_get_status(q, flag, status);

	return q == MPI_REQUEST_NULL ? rc : rn_record_poll(rc, flag);
}

static int some(enum rn_order_kind kind, bool tests, rn_complete_some *real, int n, MPI_Request q[],
		int *count, int indices[], MPI_Status status[])
{
	RN_COMPLETION(b);
	int rc;

	(void)tests;
	if (!begin(&b, kind, n, q, status))
		return real(n, q, count, indices, status);
	rc = real(n, b.now, count, indices, b.s);
	if (rc == MPI_SUCCESS)
		record_some(&b, *count, indices);
	if (rc != MPI_SUCCESS || *count != 0)
		store_requests(&b);
	return rc;
}

RN_COMPLETE_SOME(some)

/* Removes an earlier operation with the same handle, so that MPI_Cancel does not find it. */
static int hook_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *done,
			       MPI_Grequest_cancel_function *cancel, void *state,
			       MPI_Request *request)
{
	int rc = rn_real.MPI_Grequest_start(query, done, cancel, state, request);
	struct rn_tracked *f = rc == MPI_SUCCESS ? rn_tracked_any(*request, request) : NULL;

	if (f)
		rn_untrack(f);
	return rc;
}

void rn_record_hook_completions(void)
{
	RN_HOOK_COMPLETIONS();
	RN_HOOK(RN_LINK_OUTCOME, MPI_Grequest_start, hook_Grequest_start);
}
