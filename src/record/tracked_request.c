/* tracked_request.c - see tracked_request.h. */
#include "record/tracked_request.h"

#include "base/errno_guard.h"
#include "base/vec.h"
#include "runtime/tracer_state.h"

#include <errno.h>
#include <stdatomic.h>

_Atomic uint32_t rn_tracked_count;

static struct {
	struct rn_seg all; /* struct rn_tracked *; `aux` of a request is its index plus 1 */
	struct rn_tracked *unused;
} tracked = { .all = { .size = sizeof(struct rn_tracked *) } };

static struct rn_tracked *at(uint32_t i)
{
	return *RN_SEG_AT(&tracked.all, struct rn_tracked *, i);
}

static uint64_t handle_of(MPI_Request r)
{
	return (uint64_t)(uintptr_t)r;
}

static bool names_partner(const struct rn_tracked *f)
{
	return f->kind == RN_REQUEST_SEND || f->kind == RN_REQUEST_RECEIVE;
}

/* Returns whether completing calls have to look up this request. */
static bool counts(const struct rn_tracked *f)
{
	return !names_partner(f) || f->state == RN_TRACKED_CANCELLED || f->real != MPI_REQUEST_NULL;
}

/* Called with the tracer lock; other threads only read the counter. */
static void count(uint32_t by)
{
	atomic_store_explicit(&rn_tracked_count, rn_tracked_count + by, memory_order_relaxed);
}

static void recount(struct rn_tracked *f, bool counted)
{
	count((uint32_t)counted - (uint32_t)f->counted);
	f->counted = counted;
}

/* Returns whether another request with this handle may replace this entry. */
static bool is_stale(const struct rn_tracked *f)
{
	return !f->persistent && !counts(f);
}

static struct rn_tracked *take(void)
{
	struct rn_tracked *f = tracked.unused;

	if (f) {
		tracked.unused = f->next;
		*f = (struct rn_tracked){ .number = f->number, .real = MPI_REQUEST_NULL };
		return f;
	}
	if (!rn_seg_reserve(&tracked.all, &rn_tracer.mem, 1) ||
	    !(f = rn_new(&rn_tracer.mem, struct rn_tracked, 1)))
		return NULL;
	*f = (struct rn_tracked){ .number = tracked.all.n, .real = MPI_REQUEST_NULL };
	*RN_SEG_AT(&tracked.all, struct rn_tracked *, tracked.all.n) = f;
	tracked.all.n++;
	return f;
}

static void give(struct rn_tracked *f)
{
	f->starter = NULL;
	f->next = tracked.unused;
	tracked.unused = f;
}

static struct rn_tracked *add(const MPI_Request *request, enum rn_request_kind kind)
{
	struct rn_tracked *f = take();
	struct rn_request r = { .kind = (uint8_t)kind };

	if (!f)
		return NULL;
	r.aux = f->number + 1;
	if (rn_requests_add(&rn_tracer.requests, handle_of(*request), request, &r) == RN_OK)
		return f;
	give(f);
	return NULL;
}

/* Returns the stale entry of the handle, or a new one. Requests with the same handle and variable
 * are found oldest first. The token is therefore not looked up here, where it could be that of
 * another request. */
static struct rn_tracked *entry_of(const MPI_Request *request, enum rn_request_kind kind)
{
	struct rn_request_entry *e =
		rn_requests_peek(&rn_tracer.requests, handle_of(*request), request);
	struct rn_tracked *f = e && e->request.aux ? at(e->request.aux - 1) : NULL;

	if (!f || !is_stale(f))
		return add(request, kind);
	rn_requests_renew(e, request);
	return f;
}

struct rn_tracked *rn_track(const MPI_Request *request, const struct rn_tracked *is)
{
	RN_ERRNO_GUARD;
	struct rn_tracked *f;

	rn_tracer_lock();
	f = entry_of(request, is->kind);
	if (f) {
		uint32_t number = f->number;
		bool counted = f->counted;

		*f = *is;
		f->number = number;
		f->counted = counted;
		f->handle = *request;
		recount(f, counts(f));
	}
	rn_tracer_unlock();
	if (!f)
		rn_stream_lost(rn_me);
	return f;
}

static bool number(struct rn_order_thread *o, enum rn_request_kind kind, const MPI_Request *request)
{
	int saved = errno;
	struct rn_tracked *f = entry_of(request, kind);

	errno = saved;
	if (!f)
		return false;
	f->ordinal = o->numbered - 1;
	f->starter = o;
	f->kind = kind;
	f->state = RN_TRACKED_ACTIVE;
	f->real = MPI_REQUEST_NULL;
	if (__builtin_expect(f->counted, 0))
		recount(f, false);
	return true;
}

int rn_track_numbered(enum rn_request_kind kind, int rc, const MPI_Request *request)
{
	struct rn_order_thread *o = rn_order_current(rn_me);
	bool kept;

	if (!o)
		return rc;
	o->numbered++;
	if (rc != MPI_SUCCESS)
		return rc;
	rn_tracer_lock();
	kept = number(o, kind, request);
	rn_tracer_unlock();
	if (__builtin_expect(!kept, 0))
		rn_stream_lost(rn_me);
	return rc;
}

void rn_tracked_restarts(struct rn_tracked *f, struct rn_order_thread *o)
{
	f->ordinal = rn_tracked_is_wild(f) ? o->started++ : o->numbered++;
	f->starter = o;
	rn_tracked_set(f, RN_TRACKED_ACTIVE, f->real);
}

struct rn_tracked *rn_tracked_any(MPI_Request handle, const MPI_Request *variable)
{
	struct rn_tracked *f = NULL;
	struct rn_request_token token;
	const struct rn_request *r;

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	rn_tracer_lock();
	token = rn_requests_find(&rn_tracer.requests, handle_of(handle), variable);
	r = rn_requests_get(&rn_tracer.requests, token);
	if (r && r->aux) {
		f = at(r->aux - 1);
		f->token = token;
	}
	rn_tracer_unlock();
	return f;
}

struct rn_tracked *rn_tracked_find(MPI_Request handle, const MPI_Request *variable)
{
	struct rn_tracked *f = rn_tracked_count ? rn_tracked_any(handle, variable) : NULL;

	return f && counts(f) ? f : NULL;
}

void rn_untrack(struct rn_tracked *f)
{
	rn_tracer_lock();
	if (rn_requests_remove(&rn_tracer.requests, f->token)) {
		recount(f, false);
		give(f);
	}
	rn_tracer_unlock();
}

void rn_tracked_set(struct rn_tracked *f, enum rn_tracked_state state, MPI_Request real)
{
	rn_tracer_lock();
	f->state = state;
	f->real = real;
	recount(f, counts(f));
	rn_tracer_unlock();
}

void rn_tracked_ends(struct rn_tracked *f)
{
	if (f->persistent)
		rn_tracked_set(f, RN_TRACKED_INACTIVE, MPI_REQUEST_NULL);
	else
		rn_untrack(f);
}

static bool is_open(const struct rn_tracked *f, bool deferred)
{
	return rn_tracked_is_wild(f) && rn_tracked_is_active(f) &&
	       (!deferred || f->state == RN_TRACKED_DEFERRED);
}

struct rn_tracked *rn_tracked_next(const struct rn_order_thread *o, uint64_t from, bool deferred)
{
	struct rn_tracked *first = NULL;

	rn_tracer_lock();
	for (uint32_t i = 0; i < tracked.all.n; i++) {
		struct rn_tracked *f = at(i);

		if (f->starter == o && is_open(f, deferred) && f->ordinal >= from &&
		    (!first || f->ordinal < first->ordinal))
			first = f;
	}
	rn_tracer_unlock();
	return first;
}
