/* directed.c - see directed.h. */
#include "intercept/directed.h"

#include "intercept/order_log.h"
#include "intercept/replay.h"
#include "intercept/tracer_state.h"

#include <errno.h>

#include "hand.h"

#define LEAST 256u /* slots */

/* The operation that a handle was given to last. */
struct slot {
	uint64_t handle;
	struct rn_order_thread *o; /* that started it; NULL: the slot is empty */
	uint64_t number;
	bool sends;
};

/* Under the tracer's lock. Open addressing; at most half of the slots are used. */
static struct slot *slots;
static uint32_t cap, used;

static struct slot *place_of(struct slot *in, uint32_t n, uint64_t handle)
{
	uint32_t at = (uint32_t)(rn_requests_hash(handle, 0) >> 32) & (n - 1);

	while (in[at].o && in[at].handle != handle)
		at = (at + 1) & (n - 1);
	return &in[at];
}

static bool grow(void)
{
	int saved = errno;
	uint32_t n = cap ? 2 * cap : LEAST;
	struct slot *larger = rn_new(&rn_tracer.mem, struct slot, n);

	errno = saved;
	if (!larger)
		return false;
	for (uint32_t i = 0; i < cap; i++)
		if (slots[i].o)
			*place_of(larger, n, slots[i].handle) = slots[i];
	slots = larger;
	cap = n;
	return true;
}

static bool keep(const struct slot *is)
{
	struct slot *s;

	if (__builtin_expect(2 * used >= cap, 0) && !grow())
		return false;
	s = place_of(slots, cap, is->handle);
	used += !s->o;
	*s = *is;
	return true;
}

/* What its handle was given to last; without an `o`, nothing that we know. */
static struct slot find(MPI_Request request)
{
	struct slot s = { 0 };

	rn_tracer_lock();
	if (cap)
		s = *place_of(slots, cap, (uint64_t)(uintptr_t)request);
	rn_tracer_unlock();
	return s;
}

bool rn_directed_sends(MPI_Request request)
{
	return find(request).sends;
}

/* ---- starting ---- */

bool rn_directed_next_cancelled(void)
{
	const struct rn_order_thread *o = rn_order_thread(rn_me);

	return o && o->replay && rn_replay_cancel(o->replay, o->directed) == RN_CANCEL_DONE;
}

int rn_directed_end(struct rn_directed d, int rc, const MPI_Request *request)
{
	struct rn_order_thread *o = rn_order_thread(rn_me);
	bool kept;

	if (!o)
		return rc;
	o->directed++;
	if (rc != MPI_SUCCESS)
		return rc;
	rn_tracer_lock();
	kept = keep(&(struct slot){ (uint64_t)(uintptr_t)*request, o, o->directed - 1, d.sends });
	rn_tracer_unlock();
	if (__builtin_expect(!kept, 0))
		rn_stream_lost(rn_me);
	return rc;
}

/* What was cancelled is not started: something that can be cancelled stands in its place. */
static int shadow(MPI_Request *request)
{
	struct rn_followed is = { .starter = rn_order_thread(rn_me),
				  .flags = RN_FOLLOWED_DIRECTED | RN_FOLLOWED_PERSISTENT |
					   RN_FOLLOWED_ACTIVE | RN_FOLLOWED_SHADOW };
	int rc = rn_replay_post_nowhere(&is.real);

	if (rc == MPI_SUCCESS)
		rn_follow(request, &is);
	return rc;
}

int rn_directed_restart(MPI_Request *request)
{
	struct rn_directed d = rn_directed_begin(false); /* or it does: who knows */
	int rc = d.cancelled ? shadow(request) : rn_real.MPI_Start(request);

	return rc == MPI_SUCCESS ? rn_directed_end(d, rc, request) : rc;
}

/* ---- cancelling ---- */

/* So that the end of it is noticed. */
static void watch(const MPI_Request *request, const struct slot *s)
{
	const struct rn_followed is = { .ordinal = s->number,
					.starter = s->o,
					.flags = RN_FOLLOWED_DIRECTED,
					.real = MPI_REQUEST_NULL };

	rn_follow(request, &is);
}

int rn_directed_cancel(MPI_Request *request, struct rn_followed *f)
{
	struct slot s = find(*request);
	int rc;

	if (f && (f->flags & RN_FOLLOWED_SHADOW))
		return rn_real.MPI_Cancel(&f->real);
	if (!f && s.o && s.o->replay && rn_replay_cancel(s.o->replay, s.number) == RN_CANCEL_FAILED)
		return MPI_SUCCESS;
	rc = rn_real.MPI_Cancel(request);
	if (rc == MPI_SUCCESS && !f && s.o && rn_order_mode == RN_ORDER_RECORDS)
		watch(request, &s);
	return rc;
}

/* Numbers are those of a thread, so another's would mean something else. */
void rn_directed_ended(const struct rn_order_call *c, struct rn_followed *f, bool cancelled)
{
	if (f->starter == c->o)
		rn_order_log_value(
			c->t,
			rn_order_log_site(c->t, RN_ORDER_CANCELLATION, RN_ORDER_NO_FUNCTION, 0, 0),
			(int64_t)(f->ordinal << 1 | cancelled));
	rn_unfollow(f);
}
