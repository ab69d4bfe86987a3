/* order.c - see order.h: what the hooks have in common. */
#include "intercept/order.h"

#include "base/which_mpi.h"
#include "encode/raw.h"
#include "intercept/birth.h"
#include "intercept/config.h"
#include "intercept/handle.h"
#include "intercept/order_log.h"
#include "intercept/order_turn.h"
#include "intercept/replay.h"
#include "intercept/tracer_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "hand.h"

enum rn_order_mode rn_order_mode;
_Atomic uint32_t rn_followed_count, rn_followed_shadows;

static struct rn_requests requests; /* whose `aux` is a number of `all` */
static struct rn_seg all;           /* struct rn_followed * */
static struct rn_followed *unused;
static struct rn_order_thread *threads;
static _Thread_local struct rn_order_thread *mine __attribute__((tls_model("initial-exec")));

void rn_order_start(void)
{
	rn_order_mode = rn_config.replay[0] ? RN_ORDER_REPLAYS
			: rn_config.order   ? RN_ORDER_RECORDS
					    : RN_ORDER_OFF;
	if (rn_order_mode == RN_ORDER_OFF || rn_followed_init() < 0)
		return;
	rn_order_hook_posts();
	rn_order_hook_probes();
	rn_order_hook_asks();
	rn_order_hook_completions();
	rn_order_hook_values();
	rn_order_hook_sends();
	rn_order_hook_libc();
	/* Some programs ask for the time before MPI_Init. */
	if (rn_order_mode == RN_ORDER_REPLAYS && rn_rank_of(environ, -1) >= 0)
		rn_replay_load(rn_rank_of(environ, -1));
}

static void begin_replay(void)
{
	rn_replay_load(rn_tracer.world_rank);
	rn_replay_begin();
	for (struct rn_order_thread *o = threads; o; o = o->next)
		o->replay = rn_replay_thread(o);
}

void rn_order_begin(void)
{
	if (rn_order_mode == RN_ORDER_REPLAYS)
		begin_replay();
	rn_turns_begin();
}

/* Who it is, is the first thing that is recorded of it; of the first thread that goes without
 * saying. */
static void record_birth(struct rn_stream *t, const struct rn_order_thread *o)
{
	if (o->birth)
		rn_order_log_value(
			t, rn_order_log_site(t, RN_ORDER_THREAD, RN_ORDER_NO_FUNCTION, 0, 0),
			o->birth);
}

bool rn_order_alone(void)
{
	return !threads || !threads->next;
}

struct rn_order_thread *rn_order_thread(struct rn_stream *t)
{
	struct rn_order_thread *o = mine;

	if (__builtin_expect(o != NULL, 1))
		return o;
	rn_tracer_lock();
	o = rn_new(&rn_tracer.mem, struct rn_order_thread, 1);
	if (o) {
		o->stream = t->number;
		o->birth = rn_birth();
		o->parked_end = &o->parked;
		o->next = threads;
		threads = o;
	}
	rn_tracer_unlock();
	mine = o;
	if (o && rn_order_mode == RN_ORDER_REPLAYS)
		o->replay = rn_replay_thread(o);
	else if (o)
		record_birth(t, o);
	return o;
}

bool rn_order_call(struct rn_order_call *c, enum rn_order_kind kind, MPI_Comm comm)
{
	struct rn_stream *t = rn_me;
	uint64_t head = rn_stream_under_way(t)[0];

	*c = (struct rn_order_call){ .t = t,
				     .o = rn_order_thread(t),
				     .function = RN_RAW_FUNCTION(head),
				     .place = RN_RAW_SITE(head),
				     .kind = kind,
				     .source = RN_PLAN_NOTHING,
				     .tag = RN_PLAN_NOTHING };
	if (comm != MPI_COMM_NULL)
		c->comm = (uint32_t)rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)comm);
	return c->o != NULL;
}

void rn_order_failed(const struct rn_order_call *c)
{
	rn_order_log_fails(c->t, rn_order_log_site(c->t, c->kind, c->function, c->comm, c->place));
}

void rn_order_came_out(const struct rn_order_call *c, const struct rn_order_done *d, uint32_t n)
{
	rn_order_log_done(c->t, rn_order_log_site(c->t, c->kind, c->function, c->comm, c->place), d,
			  n);
}

/* Numbers, as analyse/turns.h has them. */
void rn_order_came_out_other(const struct rn_order_call *c, struct rn_order_thread *starter,
			     uint64_t ordinal, const struct rn_order_done *d)
{
	bool matched = d->flags & RN_ORDER_MATCHED;
	const int64_t says[] = { -1 - starter->birth, (int64_t)ordinal, matched ? d->source : -1,
				 d->tag };
	uint32_t site = rn_order_log_site(c->t, RN_ORDER_ADOPTION, RN_ORDER_NO_FUNCTION, 0, 0);

	for (size_t i = starter == c->o->other; i < sizeof(says) / sizeof(*says); i++)
		rn_order_log_value(c->t, site, says[i]);
	c->o->other = starter;
}

bool rn_order_is_loose(uint32_t function)
{
	uint32_t unreplayable = RN_IS_external | RN_IS_unreplayable;

	if (rn_config.values == RN_VALUES_NONE)
		unreplayable |= RN_IS_value;
	return rn_mpi_protos[function].traits.is & unreplayable;
}

void rn_order_count_loose(struct rn_stream *t, uint64_t head)
{
	if (rn_order_mode == RN_ORDER_RECORDS)
		rn_order_log_fails(t, rn_order_log_site(t, RN_ORDER_LOOSE, RN_RAW_FUNCTION(head), 0,
							RN_RAW_SITE(head)));
	else
		rn_replay_count_unenforced(RN_RAW_FUNCTION(head));
}

void rn_order_passes(struct rn_stream *t, uint64_t head)
{
	if (rn_order_is_loose(RN_RAW_FUNCTION(head)))
		rn_order_count_loose(t, head);
}

/* ---- requests ---- */

int rn_followed_init(void)
{
	rn_seg_init(&all, sizeof(struct rn_followed *));
	return rn_requests_init(&requests, &rn_tracer.mem);
}

static struct rn_followed *take(void)
{
	struct rn_followed *f = unused;

	if (f) {
		unused = f->next;
		return f;
	}
	if (!rn_seg_reserve(&all, &rn_tracer.mem, 1) ||
	    !(f = rn_new(&rn_tracer.mem, struct rn_followed, 1)))
		return NULL;
	f->number = all.n;
	*RN_SEG_AT(&all, struct rn_followed *, all.n) = f;
	all.n++;
	return f;
}

static uint64_t handle_of(MPI_Request r)
{
	return (uint64_t)(uintptr_t)r;
}

/* With the lock: others only read it. */
static void add(_Atomic uint32_t *n, uint32_t by)
{
	atomic_store_explicit(n, *n + by, memory_order_relaxed);
}

static void count(const struct rn_followed *f, uint32_t by)
{
	add(&rn_followed_count, by);
	if (f->flags & RN_FOLLOWED_SHADOW)
		add(&rn_followed_shadows, by);
}

/* Those with the same handle and variable are found oldest first, so the token is not asked for
 * here, where it could be another's. */
struct rn_followed *rn_follow(const MPI_Request *request, const struct rn_followed *is)
{
	int saved = errno;
	struct rn_followed *f;

	rn_tracer_lock();
	f = take();
	if (f) {
		struct rn_request r = { .aux = f->number };
		uint32_t number = f->number;

		*f = *is;
		f->number = number;
		f->handle = *request;
		if (rn_requests_add(&requests, handle_of(*request), request, &r) < 0) {
			f->next = unused;
			unused = f;
			f = NULL;
		} else {
			count(f, 1);
		}
	}
	rn_tracer_unlock();
	if (!f)
		rn_stream_lost(rn_me);
	errno = saved;
	return f;
}

struct rn_followed *rn_followed_any(MPI_Request handle, const MPI_Request *variable)
{
	struct rn_followed *f = NULL;
	struct rn_request_token token;
	const struct rn_request *r;

	if (!rn_followed_count || handle == MPI_REQUEST_NULL)
		return NULL;
	rn_tracer_lock();
	token = rn_requests_find(&requests, handle_of(handle), variable);
	r = rn_requests_get(&requests, token);
	if (r) {
		f = *RN_SEG_AT(&all, struct rn_followed *, r->aux);
		f->token = token;
	}
	rn_tracer_unlock();
	return f;
}

struct rn_followed *rn_followed(MPI_Request handle, const MPI_Request *variable)
{
	struct rn_followed *f = rn_followed_any(handle, variable);

	return f && !(f->flags & RN_FOLLOWED_PLAIN) ? f : NULL;
}

void rn_unfollow(struct rn_followed *f)
{
	rn_tracer_lock();
	if (rn_requests_remove(&requests, f->token)) {
		count(f, (uint32_t)-1);
		f->starter = NULL;
		if (f->flags & RN_FOLLOWED_LISTED) { /* stays in that list */
			f->flags = 0;
		} else {
			f->next = unused;
			unused = f;
		}
	}
	rn_tracer_unlock();
}

void rn_followed_ends(struct rn_followed *f)
{
	if ((f->flags & RN_FOLLOWED_PERSISTENT) && rn_followed_is_wild(f))
		f->flags &= ~(uint32_t)RN_FOLLOWED_ACTIVE;
	else
		rn_unfollow(f);
}

void rn_followed_becomes_shadow(struct rn_followed *f)
{
	rn_tracer_lock();
	add(&rn_followed_shadows, !(f->flags & RN_FOLLOWED_SHADOW));
	f->flags |= RN_FOLLOWED_SHADOW;
	rn_tracer_unlock();
}

static bool is_open(const struct rn_followed *f, const struct rn_order_thread *o)
{
	return f->starter == o && rn_followed_is_wild(f) &&
	       (!(f->flags & RN_FOLLOWED_PERSISTENT) || (f->flags & RN_FOLLOWED_ACTIVE));
}

static int by_ordinal(const void *a, const void *b)
{
	const struct rn_followed *x = *(struct rn_followed *const *)a,
				 *y = *(struct rn_followed *const *)b;

	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* With the lock. */
static size_t list_open(const struct rn_order_thread *o, struct rn_followed **open)
{
	size_t n = 0;

	for (uint32_t i = 0; i < all.n; i++) {
		struct rn_followed *f = *RN_SEG_AT(&all, struct rn_followed *, i);

		if (is_open(f, o))
			open[n++] = f;
	}
	return n;
}

/* Another thread may have completed it meanwhile. */
static bool is_still_open(const struct rn_followed *f, const struct rn_order_thread *o)
{
	bool is;

	rn_tracer_lock();
	is = is_open(f, o);
	rn_tracer_unlock();
	return is;
}

void rn_followed_each_open(const struct rn_order_thread *o, void (*fn)(struct rn_followed *f))
{
	struct rn_followed **open = NULL;
	size_t n = 0;

	rn_tracer_lock();
	if (all.n)
		open = rn_new(&rn_tracer.mem, struct rn_followed *, all.n);
	if (open)
		n = list_open(o, open);
	else if (all.n)
		rn_stream_lost(rn_me);
	rn_tracer_unlock();
	if (n)
		qsort(open, n, sizeof(struct rn_followed *), by_ordinal);
	for (size_t i = 0; i < n; i++)
		if (is_still_open(open[i], o))
			fn(open[i]);
}
