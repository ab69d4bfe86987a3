/*
 * order_complete.c - hooks for what completes requests.
 *
 * The calls are made on a copy of the requests, so that what they were is known afterwards.
 *
 * Recording: which of them are done, and what the wildcard receives among them got.
 *
 * Replaying: those that were done are waited for, one after the other, in the order in which they
 * were told. When nothing is known any more the call is made as it is, but on the requests that
 * stand behind shadows (order.h).
 *
 * A call that is given nothing but MPI_REQUEST_NULL is determined, and no event.
 */
#include "intercept/directed.h"

#include "intercept/config.h"
#include "intercept/replay.h"
#include "intercept/request_life.h"
#include "intercept/tracer_state.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define FEW 64

/* The requests of one call. */
struct batch {
	struct rn_order_call c;
	uint32_t n;
	MPI_Request *q;                 /* the program's */
	MPI_Request *now, now_few[FEW]; /* what the call is made on */
	MPI_Status *s, s_few[FEW];      /* where statuses go */
	struct rn_order_done *out, out_few[FEW];
	struct rn_followed **kept, *kept_few[FEW];
	bool keeps; /* `kept` is what is known of them */
	/* Replaying: what is to happen. */
	const struct rn_order_row *row;
	const struct rn_order_done *done;
};

static bool any(const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->q[i] != MPI_REQUEST_NULL)
			return true;
	return false;
}

/* What the requests are before the call; false when there is none. */
static bool copy(struct batch *b)
{
	bool some = false;

	for (uint32_t i = 0; i < b->n; i++) {
		b->now[i] = b->q[i];
		some |= b->q[i] != MPI_REQUEST_NULL;
	}
	return some;
}

/* Room for many, which the thread keeps. */
static bool make_room(struct batch *b)
{
	size_t bytes =
		b->n * (sizeof(*b->now) + sizeof(*b->s) + sizeof(*b->out) + sizeof(*b->kept));
	struct rn_order_thread *o = b->c.o;

	if (bytes > o->room_bytes) {
		int saved = errno;
		void *p = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		if (p != MAP_FAILED && o->room)
			munmap(o->room, o->room_bytes);
		errno = saved;
		if (p == MAP_FAILED)
			return false;
		o->room = p;
		o->room_bytes = 2 * bytes;
	}
	b->kept = o->room;
	b->now = (MPI_Request *)(void *)(b->kept + b->n);
	b->s = (MPI_Status *)(void *)(b->now + b->n + b->n % 2);
	b->out = (struct rn_order_done *)(void *)(b->s + b->n);
	return copy(b);
}

static bool is_ignored(const MPI_Status *s)
{
	return s == MPI_STATUS_IGNORE || s == MPI_STATUSES_IGNORE;
}

/* Whether something receives in its place. */
static bool is_shadow(const struct rn_followed *f)
{
	return f && (f->flags & RN_FOLLOWED_SHADOW) && f->real != MPI_REQUEST_NULL;
}

/* What is known of request i, by what it was before the call. */
static struct rn_followed *known(const struct batch *b, uint32_t i)
{
	return b->keeps ? b->kept[i] : rn_followed(b->q[i], &b->q[i]);
}

/* Where there are threads, a request that ends in the call may be another's before it is looked
 * for. */
static void keep(struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->kept[i] = rn_followed(b->q[i], &b->q[i]);
	b->keeps = true;
}

/* The call is made on what stands behind shadows. */
static void lift(struct batch *b)
{
	for (uint32_t i = 0; i < b->n && rn_followed_shadows; i++) {
		const struct rn_followed *f = known(b, i);

		b->now[i] = is_shadow(f) ? f->real : b->q[i];
	}
}

/* False: the call is MPI's alone. */
static bool begin(struct batch *b, enum rn_order_kind kind, int n, MPI_Request *q,
		  MPI_Status *status)
{
	b->n = n > 0 && q ? (uint32_t)n : 0;
	b->q = q;
	b->now = b->now_few;
	b->s = b->s_few;
	b->out = b->out_few;
	b->kept = b->kept_few;
	b->keeps = false;
	if (b->n > FEW ? !any(b) : !copy(b))
		return false;
	if (!rn_order_call(&b->c, kind, MPI_COMM_NULL) || (b->n > FEW && !make_room(b))) {
		rn_stream_lost(rn_me);
		return false;
	}
	if (!is_ignored(status))
		b->s = status;
	if (rn_tracer.threaded && rn_order_mode == RN_ORDER_RECORDS)
		keep(b);
	lift(b);
	return true;
}

static bool is_active(const struct rn_followed *f)
{
	return !(f->flags & RN_FOLLOWED_PERSISTENT) || (f->flags & RN_FOLLOWED_ACTIVE);
}

/* ---- shadows ---- */

/* What stood for the program's request is complete. */
static void end_shadow(struct rn_followed *f, MPI_Request *q)
{
	if (!(f->flags & RN_FOLLOWED_PERSISTENT)) {
		if (!(f->flags & (RN_FOLLOWED_TAKEN_BACK | RN_FOLLOWED_HALF)))
			rn_real.MPI_Cancel(q);
		rn_real.MPI_Wait(q, MPI_STATUS_IGNORE);
	}
	f->real = MPI_REQUEST_NULL;
	rn_followed_ends(f);
}

/* After the call: the program sees what became of its requests. */
static void give_back(struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct rn_followed *f = b->now[i] == b->q[i] ? NULL : known(b, i);

		if (is_shadow(f)) {
			f->real = b->now[i];
			if (f->real == MPI_REQUEST_NULL)
				end_shadow(f, &b->q[i]);
			continue;
		}
		if (f && b->now[i] == MPI_REQUEST_NULL)
			rn_followed_ends(f);
		b->q[i] = b->now[i];
	}
}

/* The same, if there is anything to see: a test that fails leaves requests alone. */
static void give_back_unless(struct batch *b, bool fails)
{
	if (!fails || rn_followed_shadows)
		give_back(b);
}

/* ---- recording ---- */

/* Request i is done. */
static struct rn_order_done note(struct batch *b, int i, const MPI_Status *s)
{
	struct rn_order_done d = { .index = (uint32_t)i, .late = RN_ORDER_NOT };
	struct rn_followed *f = known(b, (uint32_t)i);
	uint64_t late;

	if (f && (f->flags & RN_FOLLOWED_DIRECTED))
		rn_directed_ended(&b->c, f, rn_status_cancelled(s));
	if (!f || !rn_followed_is_wild(f) || !is_active(f))
		return d;
	if (f->starter == b->c.o) {
		rn_tracer_lock();
		if (rn_ordinals_done(&b->c.o->open, &rn_tracer.mem, f->ordinal, &late))
			d.late = (uint32_t)late;
		rn_tracer_unlock();
	}
	if (rn_status_cancelled(s)) {
		d.flags = RN_ORDER_CANCELLED;
	} else {
		d.flags = RN_ORDER_MATCHED;
		d.source = s->MPI_SOURCE;
		d.tag = s->MPI_TAG;
	}
	if (f->starter != b->c.o)
		rn_order_came_out_other(&b->c, f->starter, f->ordinal, &d);
	f->flags &= ~(uint32_t)RN_FOLLOWED_ACTIVE;
	return d;
}

/* All are. Where no wildcard receive is among them, a test has been true, and a wait is not worth a
 * word. */
static void note_all(struct batch *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n && rn_followed_count; i++) {
		struct rn_order_done d = note(b, (int)i, &b->s[i]);

		if (d.late != RN_ORDER_NOT || d.flags)
			b->out[n++] = d;
	}
	if (n == 0 && b->c.kind == RN_ORDER_TEST)
		b->out[n++] = (struct rn_order_done){ .late = RN_ORDER_NOT };
	if (n)
		rn_order_came_out(&b->c, b->out, n);
}

/* What there was were persistent requests that are not active. */
static void note_nothing(struct batch *b)
{
	b->out[0] = (struct rn_order_done){ .index = RN_ORDER_NOT, .late = RN_ORDER_NOT };
	rn_order_came_out(&b->c, b->out, 1);
}

static void note_some(struct batch *b, int n, const int *indices)
{
	if (n == MPI_UNDEFINED) {
		note_nothing(b);
	} else if (n == 0) {
		rn_order_failed(&b->c);
	} else {
		for (int i = 0; i < n; i++)
			b->out[i] = note(b, indices[i], &b->s[i]);
		rn_order_came_out(&b->c, b->out, (uint32_t)n);
	}
}

static bool records(int rc)
{
	return rn_order_mode == RN_ORDER_RECORDS && rc == MPI_SUCCESS;
}

/* ---- replaying ---- */

/* The record of this thread is over: what others have parked is posted, too. */
static void unpark(struct batch *b)
{
	for (uint32_t i = 0; i < b->n && rn_followed_shadows; i++) {
		struct rn_followed *f = known(b, i);

		if (f && (f->flags & RN_FOLLOWED_PARKED))
			rn_replay_unpark(f);
	}
}

/* What is waited for in the place of request i. */
static const struct rn_plan_match *awaited(const struct rn_followed *f)
{
	static const struct rn_plan_match nothing = { RN_PLAN_NOTHING, RN_PLAN_NOTHING, 0, 0 };

	const struct rn_plan_match *m = rn_replay_match_of(f);

	return m ? m : &nothing;
}

/* What to say when a send is not complete that a test has found to be. */
static const char *send_at_once(const struct batch *b, MPI_Request q)
{
	return b->c.kind != RN_ORDER_WAIT && rn_directed_sends(q)
		       ? "a send to complete: buffering differs from the record (eager limit?)"
		       : NULL;
}

/* Request i is complete, and will say so to who asks; false: the record counts no more. */
static bool comes(const struct batch *b, uint32_t i)
{
	struct rn_patience patience = { .what = send_at_once(b, b->q[i]) };
	int flag;

	for (;;) {
		const struct rn_followed *f = known(b, i);
		const struct rn_plan_match *m = awaited(f);

		patience.row = m->row;
		if (rn_real.MPI_Request_get_status(is_shadow(f) ? f->real : b->q[i], &flag,
						   MPI_STATUS_IGNORE) != MPI_SUCCESS ||
		    flag)
			return true;
		if (rn_replay_wait(&patience, &b->c, m->source, m->tag))
			return false;
	}
}

/* All that the call is to find done. Who goes on without the record must not have completed half
 * of it. */
static bool all_come(const struct batch *b)
{
	bool each = b->c.kind == RN_ORDER_TEST;
	uint32_t n = each ? b->n : b->row->done;

	for (uint32_t i = 0; i < n; i++)
		if (!comes(b, each ? i : b->done[i].index))
			return false;
	return true;
}

/* Why the request at the recorded index cannot have the recorded completion; NULL: it can. */
static const char *is_unlike(const struct batch *b, const struct rn_order_done *d)
{
	const struct rn_followed *f;
	const struct rn_plan_match *m;

	/* A successful test in which no wildcard receive completed: there is no index. */
	if (b->c.kind == RN_ORDER_TEST && d->late == RN_ORDER_NOT && !d->flags)
		return NULL;
	if (d->index >= b->n)
		return "in which the call has more requests";
	f = known(b, d->index);
	if (b->q[d->index] == MPI_REQUEST_NULL || (f && !is_active(f)))
		return "which completed a request that is not active now";
	m = rn_replay_match_of(f);
	return m && m->state == RN_PLAN_MATCHED && (d->flags & RN_ORDER_MATCHED) &&
			       (m->source != d->source || m->tag != d->tag)
		       ? "which completed another receive"
		       : NULL;
}

/* Whether the requests can complete as recorded. If not, reports a divergence. */
static bool can_complete(const struct batch *b)
{
	const struct rn_replay *r = b->c.o->replay;
	const char *why = NULL;

	if (b->c.kind == RN_ORDER_ANY && b->row->done > 1)
		why = "which completed several requests";
	for (uint32_t i = 0; i < b->row->done && !why; i++)
		why = is_unlike(b, &b->done[i]);
	if (why)
		rn_replay_diverges_at(&b->c, rn_replay_row(r, b->row), why);
	return !why;
}

/* It is a generalised request, and the program has not completed it. */
static bool is_awaited(const struct batch *b, uint32_t i)
{
	const struct rn_followed *f = i < b->n ? known(b, i) : NULL;

	return f && (f->flags & RN_FOLLOWED_GENERAL) && !(f->flags & RN_FOLLOWED_COMPLETE);
}

/* Whether one of those that were done is. */
static bool awaits(const struct batch *b)
{
	bool all = b->c.kind == RN_ORDER_TEST;
	uint32_t n = all ? b->n : b->row->done;

	for (uint32_t i = 0; i < n && rn_followed_count; i++)
		if (is_awaited(b, all ? i : b->done[i].index))
			return true;
	return false;
}

/* The row of the first event that completed one of the receives, plus 1; 0: unknown. */
static uint64_t first_row(const struct batch *b)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t row = awaited(known(b, i))->row;

		if (row && (!first || row < first))
			first = row;
	}
	return first;
}

/* What is to become of a call that may find nothing, or not. */
static enum rn_fate fate(struct batch *b, bool may_fail)
{
	enum rn_fate is;

	if (!b->c.o->replay)
		return RN_FATE_FREE;
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
		is = RN_FATE_FREE; /* nothing was active: MPI says so at once */
	if (is == RN_FATE_DONE && (!can_complete(b) || (rn_config.diverges_on && !all_come(b))))
		is = RN_FATE_FREE;
	if (is == RN_FATE_FREE) {
		unpark(b);
		lift(b); /* again: what was parked has been posted, if this is the record's end */
	}
	return is;
}

/* The request completes, however long that takes. */
static int finish(struct batch *b, uint32_t i, MPI_Status *s)
{
	struct rn_followed *f = known(b, i);
	MPI_Request *q = &b->q[i], *real = q;
	const struct rn_plan_match *m = awaited(f);
	struct rn_patience patience = { .what = send_at_once(b, *q), .row = m->row };
	int flag = 0, rc = MPI_SUCCESS;

	while (rc == MPI_SUCCESS && !flag) {
		real = is_shadow(f) ? &f->real
				    : q; /* it may be posted anew, also by another thread */
		rc = rn_real.MPI_Test(real, &flag, s);
		if (rc == MPI_SUCCESS && !flag)
			rn_replay_wait(&patience, &b->c, m->source, m->tag);
	}
	if (f && real == &f->real)
		end_shadow(f, q);
	else if (f)
		rn_followed_ends(f);
	return rc;
}

static int finish_all(struct batch *b)
{
	int rc = MPI_SUCCESS;

	for (uint32_t i = 0; i < b->n && rc == MPI_SUCCESS; i++)
		rc = finish(b, i, &b->s[i]);
	return rc;
}

static int finish_some(struct batch *b, int *indices)
{
	int rc = MPI_SUCCESS;

	for (uint32_t i = 0; i < b->row->done && rc == MPI_SUCCESS; i++) {
		indices[i] = (int)b->done[i].index;
		rc = finish(b, b->done[i].index, &b->s[i]);
	}
	return rc;
}

/* An unobserved receive among them, or NULL. */
static const struct rn_followed *find_unobserved(const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct rn_followed *f = known(b, i);
		const struct rn_plan_match *m = rn_replay_match_of(f);

		if (m && is_active(f) && !rn_replay_is_free(f->starter) &&
		    m->state == RN_PLAN_UNSEEN)
			return f;
	}
	return NULL;
}

static int wait_all(struct batch *b)
{
	const struct rn_followed *f = find_unobserved(b);

	if (f) {
		rn_replay_unobserved(&b->c, f->starter->replay, f->ordinal);
		unpark(b);
	}
	return finish_all(b);
}

/* ---- the functions ---- */

static int hook_Wait(MPI_Request *q, MPI_Status *status)
{
	struct batch b;
	int rc;

	if (!rn_followed_count || !begin(&b, RN_ORDER_WAIT, 1, q, status))
		return rn_real.MPI_Wait(q, status);
	if (b.c.o->replay)
		return wait_all(&b);
	rc = rn_real.MPI_Wait(b.now, b.s);
	if (records(rc))
		note_all(&b);
	give_back(&b);
	return rc;
}

static int hook_Waitall(int n, MPI_Request q[], MPI_Status status[])
{
	struct batch b;
	int rc;

	if (!rn_followed_count || !begin(&b, RN_ORDER_WAIT, n, q, status))
		return rn_real.MPI_Waitall(n, q, status);
	if (b.c.o->replay)
		return wait_all(&b);
	rc = rn_real.MPI_Waitall(n, b.now, b.s);
	if (records(rc))
		note_all(&b);
	give_back(&b);
	return rc;
}

/* Test and Testall. */
#define TEST(b, flag, real)                                          \
	do {                                                         \
		int rc_;                                             \
		switch (fate(b, true)) {                             \
		case RN_FATE_FAIL:                                   \
			*(flag) = 0;                                 \
			return MPI_SUCCESS;                          \
		case RN_FATE_DONE:                                   \
			*(flag) = 1;                                 \
			return finish_all(b);                        \
		default:                                             \
			break;                                       \
		}                                                    \
		rc_ = real;                                          \
		if (records(rc_) && *(flag))                         \
			note_all(b);                                 \
		else if (records(rc_))                               \
			rn_order_failed(&(b)->c);                    \
		give_back_unless(b, rc_ == MPI_SUCCESS && !*(flag)); \
		return rc_;                                          \
	} while (0)

static int hook_Test(MPI_Request *q, int *flag, MPI_Status *status)
{
	struct batch b;

	if (!begin(&b, RN_ORDER_TEST, 1, q, status))
		return rn_real.MPI_Test(q, flag, status);
	TEST(&b, flag, rn_real.MPI_Test(b.now, flag, b.s));
}

static int hook_Testall(int n, MPI_Request q[], int *flag, MPI_Status status[])
{
	struct batch b;

	if (!begin(&b, RN_ORDER_TEST, n, q, status))
		return rn_real.MPI_Testall(n, q, flag, status);
	TEST(&b, flag, rn_real.MPI_Testall(n, b.now, flag, b.s));
}

/* Nothing ends, so it is asked again until it says so. */
static int ask_until(struct batch *b, int *flag)
{
	struct rn_patience patience = { 0 };
	int rc;

	for (;;) {
		rc = rn_real.MPI_Request_get_status(*b->now, flag, b->s);
		if (rc != MPI_SUCCESS || *flag)
			return rc;
		rn_replay_wait(&patience, &b->c, RN_PLAN_NOTHING, RN_PLAN_NOTHING);
	}
}

static int hook_Request_get_status(MPI_Request q, int *flag, MPI_Status *status)
{
	struct batch b;
	int rc;

	if (!begin(&b, RN_ORDER_TEST, 1, &q, status))
		return rn_real.MPI_Request_get_status(q, flag, status);
	switch (fate(&b, true)) {
	case RN_FATE_FAIL:
		*flag = 0;
		return MPI_SUCCESS;
	case RN_FATE_DONE:
		return ask_until(&b, flag);
	default:
		break;
	}
	rc = rn_real.MPI_Request_get_status(*b.now, flag, b.s);
	b.out[0] = (struct rn_order_done){ .late = RN_ORDER_NOT };
	if (records(rc) && *flag)
		rn_order_came_out(&b.c, b.out, 1);
	else if (records(rc))
		rn_order_failed(&b.c);
	return rc;
}

/* ---- some of several ---- */

/* How MPI does it: `count` is how many are done, 0, or MPI_UNDEFINED. */
typedef int some_fn(int n, MPI_Request q[], int *count, int indices[], MPI_Status s[]);

/* Waitany, Testany, Waitsome and Testsome; `may_fail` are those that test. */
static int some(enum rn_order_kind kind, bool may_fail, some_fn *real, int n, MPI_Request q[],
		int *count, int indices[], MPI_Status status[])
{
	struct batch b;
	int rc;

	if (!begin(&b, kind, n, q, status))
		return real(n, q, count, indices, status);
	switch (fate(&b, may_fail)) {
	case RN_FATE_FAIL:
		*count = 0;
		return MPI_SUCCESS;
	case RN_FATE_DONE:
		*count = (int)b.row->done;
		return finish_some(&b, indices);
	default:
		break;
	}
	rc = real(n, b.now, count, indices, b.s);
	if (records(rc))
		note_some(&b, *count, indices);
	give_back_unless(&b, rc == MPI_SUCCESS && *count == 0);
	return rc;
}

static int real_Waitany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[])
{
	int rc = rn_real.MPI_Waitany(n, q, index, s);

	*count = *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
	return rc;
}

static int real_Testany(int n, MPI_Request q[], int *count, int index[], MPI_Status s[])
{
	int flag = 0, rc = rn_real.MPI_Testany(n, q, index, &flag, s);

	*count = !flag ? 0 : *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
	return rc;
}

static int hook_Waitany(int n, MPI_Request q[], int *index, MPI_Status *status)
{
	int count;

	return some(RN_ORDER_ANY, false, real_Waitany, n, q, &count, index, status);
}

static int hook_Testany(int n, MPI_Request q[], int *index, int *flag, MPI_Status *status)
{
	int count, rc = some(RN_ORDER_ANY, true, real_Testany, n, q, &count, index, status);

	*flag = count != 0;
	if (count == 0)
		*index = MPI_UNDEFINED;
	return rc;
}

static int hook_Waitsome(int n, MPI_Request q[], int *count, int indices[], MPI_Status status[])
{
	return some(RN_ORDER_SOME, false, rn_real.MPI_Waitsome, n, q, count, indices, status);
}

static int hook_Testsome(int n, MPI_Request q[], int *count, int indices[], MPI_Status status[])
{
	return some(RN_ORDER_SOME, true, rn_real.MPI_Testsome, n, q, count, indices, status);
}

/* ---- generalised requests ---- */

/* Which MPI knows nothing of until the program completes them, maybe in this thread, and not before
 * it has been told that they are not. */
static int hook_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *done,
			       MPI_Grequest_cancel_function *cancel, void *state,
			       MPI_Request *request)
{
	int rc = rn_real.MPI_Grequest_start(query, done, cancel, state, request);
	struct rn_followed is = { .starter = rn_order_thread(rn_me),
				  .flags = RN_FOLLOWED_GENERAL,
				  .real = MPI_REQUEST_NULL };

	if (rc == MPI_SUCCESS && is.starter)
		rn_follow(request, &is);
	return rc;
}

static int hook_Grequest_complete(MPI_Request request)
{
	struct rn_followed *f = rn_followed(request, NULL);

	if (f)
		f->flags |= RN_FOLLOWED_COMPLETE;
	return rn_real.MPI_Grequest_complete(request);
}

void rn_order_hook_completions(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Wait, hook_Wait);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Waitall, hook_Waitall);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Waitany, hook_Waitany);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Waitsome, hook_Waitsome);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Test, hook_Test);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Testall, hook_Testall);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Testany, hook_Testany);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Testsome, hook_Testsome);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Request_get_status, hook_Request_get_status);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Grequest_start, hook_Grequest_start);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Grequest_complete, hook_Grequest_complete);
}
