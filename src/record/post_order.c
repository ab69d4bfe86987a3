/* post_order.c - see post_order.h. */
#include "base/errno_guard.h"
#include "record/post_order.h"

#include "record/event_log.h"
#include "runtime/tracer_state.h"

#include <stdatomic.h>

const struct rn_turn_ops *rn_turns;
static struct rn_post_order *orders; /* protected by the tracer lock */

/* The lock is recursive, because an error handler of the program may post from inside a post. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

static struct rn_post_order *find_order(uint32_t comm, enum rn_plan_turn_of of)
{
	struct rn_post_order *d = orders;

	while (d && (d->comm != comm || d->of != of))
		d = d->next;
	if (d || !(d = rn_new(&rn_tracer.mem, struct rn_post_order, 1)))
		return d;
	d->comm = comm;
	d->of = of;
	init_lock(&d->lock);
	d->next = orders;
	orders = d;
	return d;
}

static struct rn_turn_place *new_place(struct rn_order_thread *o, uint32_t comm,
				       enum rn_plan_turn_of of)
{
	RN_ERRNO_GUARD;
	struct rn_turn_place *p = NULL;
	struct rn_post_order *d;

	rn_tracer_lock();
	d = find_order(comm, of);
	if (d && (p = rn_new(&rn_tracer.mem, struct rn_turn_place, 1))) {
		p->order = d;
		p->next = o->places;
		o->places = p;
	}
	rn_tracer_unlock();
	return p;
}

static struct rn_turn_place *find_place(struct rn_order_thread *o, uint32_t comm,
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

void rn_turn_begin(struct rn_turn *u, const struct rn_order_call *c, enum rn_plan_turn_of of)
{
	*u = (struct rn_turn){ find_place(c->o, c->comm, of), c, .had = true };
	if (u->place)
		rn_turns->begin(u);
}

void rn_turn_end(struct rn_turn *u)
{
	if (u->place)
		rn_turns->end(u);
	else
		rn_stream_lost(u->c->t);
}

/* ---- recording ---- */

static void record_turn(struct rn_turn_place *p, const struct rn_order_call *c)
{
	struct rn_post_order *d = p->order;
	uint64_t now = atomic_load_explicit(&d->over, memory_order_relaxed);
	bool is_first_run = !d->last && c->o->birth == 0;

	if (d->last != c->o && !is_first_run) {
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

static void begin(struct rn_turn *u)
{
	pthread_mutex_lock(&u->place->order->lock);
}

static void end(struct rn_turn *u)
{
	if (u->had)
		record_turn(u->place, u->c);
	pthread_mutex_unlock(&u->place->order->lock);
}

const struct rn_turn_ops rn_turns_recorded = { begin, end };
