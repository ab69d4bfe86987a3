/* order_turn.c - see order_turn.h. */
#include "intercept/order_turn.h"

#include "intercept/birth.h"
#include "intercept/comm.h"
#include "intercept/order_log.h"
#include "intercept/replay.h"
#include "intercept/site.h"
#include "intercept/tracer_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hand.h"

#define PROGRESS_EACH 64 /* looks at whose turn it is */

/* The turns of one communicator, of one kind. Never freed: the symbol of a communicator that is
 * freed may be used again, and the count goes on. */
struct order {
	struct order *next; /* of all */
	uint32_t comm;      /* word */
	enum rn_plan_turn_of of;
	pthread_mutex_t lock;               /* recording: for the turn, and what follows */
	const struct rn_order_thread *last; /* who had one */
	_Atomic uint64_t over;              /* so many are */
	const struct rn_plan_turn *run;     /* replaying: as they were */
	uint64_t runs;
};

/* A thread's in them. */
struct rn_turn_place {
	struct rn_turn_place *next; /* of the thread, the one used last first */
	struct order *order;
	uint64_t begun;     /* recording: with which turn its latest run has */
	uint64_t run, used; /* replaying: where it is, and how many turns of that it has had */
};

bool rn_turns;
static atomic_bool released;
static struct order *orders; /* with the tracer's lock */

void rn_turns_begin(void)
{
	rn_turns =
		rn_tracer.threaded && (rn_order_mode == RN_ORDER_RECORDS || rn_replay_has_turns());
	if (!rn_turns)
		return;
	rn_order_hook_turns();
	rn_site_forget();
}

void rn_turns_release(void)
{
	atomic_store(&released, true);
}

bool rn_turns_released(void)
{
	return atomic_load_explicit(&released, memory_order_relaxed);
}

/* ---- whose they are ---- */

/* An error handler of the program may post from inside a post. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

static struct order *find_order(uint32_t comm, enum rn_plan_turn_of of)
{
	struct order *d = orders;

	while (d && (d->comm != comm || d->of != of))
		d = d->next;
	if (d || !(d = rn_new(&rn_tracer.mem, struct order, 1)))
		return d;
	d->comm = comm;
	d->of = of;
	init_lock(&d->lock);
	if (rn_order_mode == RN_ORDER_REPLAYS)
		d->run = rn_replay_turns(rn_comm_get(comm)->name, of, &d->runs);
	d->next = orders;
	orders = d;
	return d;
}

static struct rn_turn_place *new_place(struct rn_order_thread *o, uint32_t comm,
				       enum rn_plan_turn_of of)
{
	int saved = errno;
	struct rn_turn_place *p = NULL;
	struct order *d;

	rn_tracer_lock();
	d = find_order(comm, of);
	if (d && (p = rn_new(&rn_tracer.mem, struct rn_turn_place, 1))) {
		p->order = d;
		p->next = o->places;
		o->places = p;
	}
	rn_tracer_unlock();
	errno = saved;
	return p;
}

static struct rn_turn_place *place_of(struct rn_order_thread *o, uint32_t comm,
				      enum rn_plan_turn_of of)
{
	struct rn_turn_place **at = &o->places, *p;

	while ((p = *at) && (p->order->comm != comm || p->order->of != of))
		at = &p->next;
	if (!p)
		return new_place(o, comm, of);
	*at = p->next;
	p->next = o->places;
	o->places = p;
	return p;
}

/* ---- recording ---- */

static void record(struct rn_turn_place *p, const struct rn_order_call *c)
{
	struct order *d = p->order;
	uint64_t now = atomic_load_explicit(&d->over, memory_order_relaxed);
	bool goes_without_saying = !d->last && c->o->birth == 0;

	if (d->last != c->o && !goes_without_saying) {
		enum rn_order_kind kind =
			d->of == RN_PLAN_SENDS ? RN_ORDER_SEND_RUN : RN_ORDER_RECEIVE_RUN;

		rn_order_log_value(c->t,
				   rn_order_log_site(c->t, kind, RN_ORDER_NO_FUNCTION, d->comm, 0),
				   (int64_t)(now - p->begun));
		p->begun = now;
	}
	d->last = c->o;
	atomic_store_explicit(&d->over, now + 1, memory_order_relaxed);
}

/* ---- replaying ---- */

/* The thread's next one; past the record, one behind all of which the end is known. */
static uint64_t next_turn(struct rn_turn_place *p, const struct rn_order_thread *o)
{
	const struct order *d = p->order;

	for (; p->run < d->runs; p->run++, p->used = 0) {
		const struct rn_plan_turn *r = &d->run[p->run];
		bool last = p->run + 1 == d->runs;

		if (rn_replay_is(o->replay, r->stream) &&
		    (last || p->used < r[1].begins - r->begins))
			return r->begins + p->used;
	}
	return d->runs && o->replay ? d->run[d->runs - 1].begins : 0;
}

/* Whose it is now. */
static uint32_t whose(const struct order *d, uint64_t turn)
{
	uint64_t i = 0;

	while (i + 1 < d->runs && d->run[i + 1].begins <= turn)
		i++;
	return d->run[i].stream;
}

static void await(const struct rn_turn *u)
{
	const struct order *d = u->place->order;
	struct rn_patience patience = { 0 };
	uint64_t over;

	while ((over = atomic_load_explicit(&d->over, memory_order_acquire)) < u->number &&
	       !rn_turns_released() && !rn_replay_gets_free(u->c->o)) {
		if (patience.spins % PROGRESS_EACH == PROGRESS_EACH - 1)
			rn_replay_progress();
		if (rn_replay_tires(&patience))
			rn_replay_tell_turn(u->c, whose(d, over), d->of);
	}
}

/* ---- both ---- */

void rn_turn_begin(struct rn_turn *u, const struct rn_order_call *c, enum rn_plan_turn_of of)
{
	*u = (struct rn_turn){ .place = place_of(c->o, c->comm, of), .c = c };
	if (!u->place)
		return;
	if (rn_order_mode == RN_ORDER_RECORDS) {
		pthread_mutex_lock(&u->place->order->lock);
	} else {
		u->number = next_turn(u->place, c->o);
		await(u);
	}
}

/* A turn that others do not wait for, behind the record or after a release, leaves the count as it
 * is. */
void rn_turn_end(struct rn_turn *u, bool had)
{
	struct rn_turn_place *p = u->place;
	uint64_t number = u->number;

	if (!p) {
		rn_stream_lost(u->c->t);
	} else if (rn_order_mode == RN_ORDER_RECORDS) {
		if (had)
			record(p, u->c);
		pthread_mutex_unlock(&p->order->lock);
	} else if (had && p->run < p->order->runs) {
		p->used++;
		atomic_compare_exchange_strong(&p->order->over, &number, number + 1);
	}
}
