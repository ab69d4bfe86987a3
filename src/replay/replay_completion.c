/*
 * replay_completion.c - enforces the recorded completions in the Wait and Test families.
 *
 * The requests that completed in the recorded run are completed one after the other, in the
 * recorded order. After the end of the recording the call is made as the program made it, but on
 * the real requests of placeholders (tracked_request.h).
 */
#include "record/completion.h"

#include "replay/replay_start.h"
#include "replay/replay_state.h"
#include "runtime/tracer_config.h"

/* Returns whether another request receives instead of the program's. */
static bool is_placeholder(const struct rn_tracked *f)
{
	return f && f->real != MPI_REQUEST_NULL;
}

/* Replaces placeholders with their real requests. */
static void use_real_requests(struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n && rn_tracked_count; i++) {
		const struct rn_tracked *f = rn_completion_known(b, i);

		b->now[i] = is_placeholder(f) ? f->real : b->q[i];
	}
}

/* Returns false if the call has no outcome to enforce. */
static bool begin(struct rn_completion *b, enum rn_order_kind kind, int n, MPI_Request *q,
		  MPI_Status *status)
{
	b->room.p = NULL;
	if ((kind == RN_ORDER_WAIT && !rn_tracked_count) || !rn_completion_begin(b, n, q))
		return false;
	if (rn_order_call(&b->c, kind, MPI_COMM_NULL) && rn_completion_room(b, status))
		return true;
	rn_stream_lost(rn_me);
	return false;
}

/* Completes a placeholder whose real request is complete. */
static void end_placeholder(struct rn_tracked *f, MPI_Request *q)
{
	if (!f->persistent) {
		if (!f->keep_own)
			rn_real.MPI_Cancel(q);
		rn_real.MPI_Wait(q, MPI_STATUS_IGNORE);
	}
	rn_tracked_ends(f);
}

/* Stores the requests in the program's variables, after the call. */
static void store_requests(struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct rn_tracked *f = b->now[i] == b->q[i] ? NULL : rn_completion_known(b, i);

		if (is_placeholder(f)) {
			if (b->now[i] == MPI_REQUEST_NULL)
				end_placeholder(f, &b->q[i]);
			else
				f->real = b->now[i];
			continue;
		}
		if (f && b->now[i] == MPI_REQUEST_NULL)
			rn_tracked_ends(f);
		b->q[i] = b->now[i];
	}
}

/* Posts the deferred receives among the requests, those of other threads included, because the
 * recording of this thread has ended. */
static void unpark(struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n && rn_tracked_count; i++) {
		struct rn_tracked *f = rn_completion_known(b, i);

		if (f && f->state == RN_TRACKED_DEFERRED)
			rn_replay_unpark(f);
	}
}

/* Returns the recorded match of request i, or one without source and tag. */
static const struct rn_plan_match *awaited(const struct rn_tracked *f)
{
	static const struct rn_plan_match nothing = { RN_PLAN_NOTHING, RN_PLAN_NOTHING, 0, 0 };

	const struct rn_plan_match *m = rn_replay_match_of(f);

	return m ? m : &nothing;
}

static bool is_send(MPI_Request q)
{
	const struct rn_tracked *f = rn_tracked_any(q, NULL);

	return f && f->kind == RN_REQUEST_SEND;
}

/* Returns the description of the wait for a send that a recorded test found complete; otherwise
 * NULL. */
static const char *send_at_once(const struct rn_completion *b, MPI_Request q)
{
	return b->c.kind != RN_ORDER_WAIT && is_send(q)
		       ? "a send to complete: buffering differs from the record (eager limit?)"
		       : NULL;
}

/* Waits until request i is complete, without completing it. Returns false if the thread was
 * released. */
static bool comes(const struct rn_completion *b, uint32_t i)
{
	struct rn_patience patience = { .what = send_at_once(b, b->q[i]) };
	int flag;

	for (;;) {
		const struct rn_tracked *f = rn_completion_known(b, i);
		const struct rn_plan_match *m = awaited(f);

		patience.row = m->row;
		if (rn_real.MPI_Request_get_status(is_placeholder(f) ? f->real : b->q[i], &flag,
						   MPI_STATUS_IGNORE) != MPI_SUCCESS ||
		    flag)
			return true;
		if (rn_replay_wait(&patience, &b->c, m->source, m->tag))
			return false;
	}
}

/* Waits for all requests that the call has to complete. A thread that is released must not have
 * completed only some of them. */
static bool all_come(const struct rn_completion *b)
{
	bool each = b->c.kind == RN_ORDER_TEST;
	uint32_t n = each ? b->n : b->row->done;

	for (uint32_t i = 0; i < n; i++)
		if (!comes(b, each ? i : b->done[i].index))
			return false;
	return true;
}

/* Returns why the request at the recorded index cannot have the recorded completion; NULL if it
 * can. */
static const char *is_unlike(const struct rn_completion *b, const struct rn_order_done *d)
{
	const struct rn_tracked *f;
	const struct rn_plan_match *m;

	/* A successful test in which no wildcard receive completed: there is no index. */
	if (b->c.kind == RN_ORDER_TEST && d->late == RN_ORDER_NOT && !d->flags)
		return NULL;
	if (d->index >= b->n)
		return "in which the call has more requests";
	f = rn_completion_known(b, d->index);
	if (b->q[d->index] == MPI_REQUEST_NULL || (f && !rn_tracked_is_active(f)))
		return "which completed a request that is not active now";
	m = rn_replay_match_of(f);
	return m && m->state == RN_PLAN_MATCHED && (d->flags & RN_ORDER_MATCHED) &&
			       (m->source != d->source || m->tag != d->tag)
		       ? "which completed another receive"
		       : NULL;
}

/* Returns whether the requests can complete as recorded. If not, reports a divergence. */
static bool can_complete(const struct rn_completion *b)
{
	const struct rn_replay *r = b->c.o->replay;
	const char *why = NULL;

	if (b->c.kind == RN_ORDER_ANY && b->row->done > 1)
		why = "which completed several requests";
	else if (b->c.kind == RN_ORDER_SOME &&
		 b->row->done > b->n) /* the output arrays have n elements */
		why = "in which the call has more requests";
	for (uint32_t i = 0; i < b->row->done && !why; i++)
		why = is_unlike(b, &b->done[i]);
	if (why)
		rn_replay_diverges_at(&b->c, (uint64_t)(b->row - r->rows), why);
	return !why;
}

/* Returns whether request i is a generalized request that the program has not completed. */
static bool is_awaited(const struct rn_completion *b, uint32_t i)
{
	const struct rn_tracked *f = i < b->n ? rn_completion_known(b, i) : NULL;

	return f && f->kind == RN_REQUEST_GENERALIZED && f->state != RN_TRACKED_COMPLETED;
}

/* Returns whether one of the recorded completions is such a request. */
static bool awaits(const struct rn_completion *b)
{
	bool all = b->c.kind == RN_ORDER_TEST;
	uint32_t n = all ? b->n : b->row->done;

	for (uint32_t i = 0; i < n && rn_tracked_count; i++)
		if (is_awaited(b, all ? i : b->done[i].index))
			return true;
	return false;
}

/* Returns the row of the first event that completed one of the receives, plus 1; 0: unknown. */
static uint64_t first_row(const struct rn_completion *b)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t row = awaited(rn_completion_known(b, i))->row;

		if (row && (!first || row < first))
			first = row;
	}
	return first;
}

/* Determines the outcome of a call. `may_fail`: it can return without a completion. */
static enum rn_fate fate(struct rn_completion *b, bool may_fail)
{
	enum rn_fate is;

	if (!b->c.o->replay) {
		use_real_requests(b);
		return RN_FATE_FREE;
	}
	if (may_fail && rn_replay_polls_long(b->c.o))
		b->c.row = first_row(b);
	is = rn_replay_next(&b->c, may_fail, &b->row, &b->done);
	if (is == RN_FATE_DONE && may_fail && awaits(b)) {
		rn_replay_again(&b->c);
		is = RN_FATE_FAIL;
	}
	if (is == RN_FATE_FAIL)
		rn_replay_progress();
	if (is == RN_FATE_DONE && b->done->index == RN_ORDER_NOT)
		is = RN_FATE_FREE; /* no request was active: MPI returns at once */
	if (is == RN_FATE_DONE && (!can_complete(b) || (rn_config.diverges_on && !all_come(b))))
		is = RN_FATE_FREE;
	if (is == RN_FATE_FREE) {
		unpark(b);
		use_real_requests(b);
	}
	return is;
}

/* Completes the request. Waits as long as necessary. */
static int finish(struct rn_completion *b, uint32_t i, MPI_Status *s)
{
	struct rn_tracked *f = rn_completion_known(b, i);
	MPI_Request *q = &b->q[i], *real = q;
	const struct rn_plan_match *m = awaited(f);
	struct rn_patience patience = { .what = send_at_once(b, *q), .row = m->row };
	int flag = 0, rc = MPI_SUCCESS;

	while (rc == MPI_SUCCESS && !flag) {
		real = is_placeholder(f)
			       ? &f->real
			       : q; /* the receive may be posted again, also by another thread */
		rc = rn_real.MPI_Test(real, &flag, s);
		if (rc == MPI_SUCCESS && !flag)
			rn_replay_wait(&patience, &b->c, m->source, m->tag);
	}
	if (f && real == &f->real)
		end_placeholder(f, q);
	else if (f)
		rn_tracked_ends(f);
	return rc;
}

static int finish_all(struct rn_completion *b)
{
	int rc = MPI_SUCCESS;

	for (uint32_t i = 0; i < b->n && rc == MPI_SUCCESS; i++)
		rc = finish(b, i, &b->s[i]);
	return rc;
}

static int finish_some(struct rn_completion *b, int *indices)
{
	int rc = MPI_SUCCESS;

	for (uint32_t i = 0; i < b->row->done && rc == MPI_SUCCESS; i++) {
		indices[i] = (int)b->done[i].index;
		rc = finish(b, b->done[i].index, &b->s[i]);
	}
	return rc;
}

/* Returns an unobserved receive among the requests, or NULL. */
static const struct rn_tracked *find_unobserved(const struct rn_completion *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct rn_tracked *f = rn_completion_known(b, i);
		const struct rn_plan_match *m = rn_replay_match_of(f);

		if (m && rn_tracked_is_active(f) && !rn_replay_is_free(f->starter) &&
		    m->state == RN_PLAN_UNSEEN)
			return f;
	}
	return NULL;
}

static int wait_all(struct rn_completion *b)
{
	const struct rn_tracked *f = find_unobserved(b);

	if (f) {
		rn_replay_unobserved(&b->c, f->starter->replay, f->ordinal);
		unpark(b);
	}
	return finish_all(b);
}

/* ---- the functions ---- */

static int hook_Wait(MPI_Request *q, MPI_Status *status)
{
	RN_COMPLETION(b);
	int rc;

	if (!begin(&b, RN_ORDER_WAIT, 1, q, status))
		return rn_real.MPI_Wait(q, status);
	if (b.c.o->replay)
		return wait_all(&b);
	use_real_requests(&b);
	rc = rn_real.MPI_Wait(b.now, b.s);
	store_requests(&b);
	return rc;
}

static int hook_Waitall(int n, MPI_Request q[], MPI_Status status[])
{
	RN_COMPLETION(b);
	int rc;

	if (!begin(&b, RN_ORDER_WAIT, n, q, status))
		return rn_real.MPI_Waitall(n, q, status);
	if (b.c.o->replay)
		return wait_all(&b);
	use_real_requests(&b);
	rc = rn_real.MPI_Waitall(n, b.now, b.s);
	store_requests(&b);
	return rc;
}

/* Test and Testall. */
#define TEST(b, flag, real)           \
	switch (fate(b, true)) {      \
		int rc_;              \
	case RN_FATE_FAIL:            \
		*(flag) = 0;          \
		return MPI_SUCCESS;   \
	case RN_FATE_DONE:            \
		*(flag) = 1;          \
		return finish_all(b); \
	default:                      \
		rc_ = real;           \
		store_requests(b);    \
		return rc_;           \
	}

static int hook_Test(MPI_Request *q, int *flag, MPI_Status *status)
{
	RN_COMPLETION(b);

	if (!begin(&b, RN_ORDER_TEST, 1, q, status))
		return rn_real.MPI_Test(q, flag, status);
	TEST(&b, flag, rn_real.MPI_Test(b.now, flag, b.s))
}

static int hook_Testall(int n, MPI_Request q[], int *flag, MPI_Status status[])
{
	RN_COMPLETION(b);

	if (!begin(&b, RN_ORDER_TEST, n, q, status))
		return rn_real.MPI_Testall(n, q, flag, status);
	TEST(&b, flag, rn_real.MPI_Testall(n, b.now, flag, b.s))
}

/* Repeats MPI_Request_get_status until the request is complete. The call does not complete the
 * request. */
static int ask_until(struct rn_completion *b, int *flag)
{
	struct rn_patience patience = { 0 };
	int rc;

	use_real_requests(b);
	for (;;) {
		rc = rn_real.MPI_Request_get_status(*b->now, flag, b->s);
		if (rc != MPI_SUCCESS || *flag)
			return rc;
		rn_replay_wait(&patience, &b->c, RN_PLAN_NOTHING, RN_PLAN_NOTHING);
	}
}

static int hook_Request_get_status(MPI_Request q, int *flag, MPI_Status *status)
{
	RN_COMPLETION(b);

	if (!begin(&b, RN_ORDER_TEST, 1, &q, status))
		return rn_real.MPI_Request_get_status(q, flag, status);
	switch (fate(&b, true)) {
	case RN_FATE_FAIL:
		*flag = 0;
		return MPI_SUCCESS;
	case RN_FATE_DONE:
		return ask_until(&b, flag);
	default:
		return rn_real.MPI_Request_get_status(*b.now, flag, b.s);
	}
}

/* Waitany, Testany, Waitsome and Testsome. */
static int some(enum rn_order_kind kind, bool tests, rn_complete_some *real, int n, MPI_Request q[],
		int *count, int indices[], MPI_Status status[])
{
	RN_COMPLETION(b);
	int rc;

	if (!begin(&b, kind, n, q, status))
		return real(n, q, count, indices, status);
	switch (fate(&b, tests)) {
	case RN_FATE_FAIL:
		*count = 0;
		return MPI_SUCCESS;
	case RN_FATE_DONE:
		*count = (int)b.row->done;
		return finish_some(&b, indices);
	default:
		rc = real(n, b.now, count, indices, b.s);
		store_requests(&b);
		return rc;
	}
}

RN_COMPLETE_SOME(some)

/* ---- generalized requests ---- */

/* The state of a generalized request is unknown until the program completes it, possibly in this
 * thread, and only after a test has failed. */
static int hook_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *done,
			       MPI_Grequest_cancel_function *cancel, void *state,
			       MPI_Request *request)
{
	int rc = rn_real.MPI_Grequest_start(query, done, cancel, state, request);
	struct rn_tracked is = { .starter = rn_order_current(rn_me),
				 .kind = RN_REQUEST_GENERALIZED,
				 .real = MPI_REQUEST_NULL };

	if (rc == MPI_SUCCESS && is.starter)
		rn_track(request, &is);
	return rc;
}

static int hook_Grequest_complete(MPI_Request request)
{
	struct rn_tracked *f = rn_tracked_find(request, NULL);

	if (f)
		f->state = RN_TRACKED_COMPLETED;
	return rn_real.MPI_Grequest_complete(request);
}

void rn_replay_hook_completions(void)
{
	RN_HOOK_COMPLETIONS();
	RN_HOOK(RN_LINK_OUTCOME, MPI_Grequest_start, hook_Grequest_start);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Grequest_complete, hook_Grequest_complete);
}
