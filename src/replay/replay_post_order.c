/* replay_post_order.c - enforces the recorded posting order of threads (post_order.h). */
#include "replay/replay_start.h"
#include "replay/replay_state.h"

#include "record/post_order.h"
#include "runtime/tracer_state.h"
#include "trace/comm_registry.h"

#include <stdatomic.h>

#define PROGRESS_EACH 64 /* polls of the number of turns */

static void load_runs(struct rn_post_order *d)
{
	rn_tracer_lock();
	if (!d->loaded)
		d->run = rn_replay_turns(rn_comm_get(d->comm)->name, d->of, &d->runs);
	d->loaded = true;
	rn_tracer_unlock();
}

/* Returns the thread's next turn. Beyond the recorded turns of the thread, it is the first turn of
 * the last run, so that the thread waits for all earlier runs. */
static uint64_t next_turn(struct rn_turn_place *p, const struct rn_order_thread *o)
{
	const struct rn_post_order *d = p->order;

	for (; p->run < d->runs; p->run++, p->used = 0) {
		const struct rn_plan_turn *r = &d->run[p->run];
		bool last = p->run + 1 == d->runs;

		if (o->replay == &rn_replayed.thread[r->stream] &&
		    (last || p->used < r[1].begins - r->begins))
			return r->begins + p->used;
	}
	return d->runs && o->replay ? d->run[d->runs - 1].begins : 0;
}

/* Returns the stream that has this turn. */
static uint32_t stream_of(const struct rn_post_order *d, uint64_t turn)
{
	uint64_t i = 0;

	while (i + 1 < d->runs && d->run[i + 1].begins <= turn)
		i++;
	return d->run[i].stream;
}

static void await(const struct rn_turn *u)
{
	const struct rn_post_order *d = u->place->order;
	struct rn_patience patience = { 0 };
	uint64_t over;

	while ((over = atomic_load_explicit(&d->over, memory_order_acquire)) < u->number &&
	       !rn_replayed.released && !rn_replay_gets_free(u->c->o)) {
		if (patience.spins % PROGRESS_EACH == PROGRESS_EACH - 1)
			rn_replay_progress();
		if (rn_replay_tires(&patience))
			rn_replay_tell_turn(u->c, stream_of(d, over), d->of);
	}
}

static void begin(struct rn_turn *u)
{
	if (!u->place->order->loaded)
		load_runs(u->place->order);
	u->number = next_turn(u->place, u->c->o);
	await(u);
}

/* A turn that other threads do not wait for, beyond the recording or after a release, leaves the
 * count unchanged. */
static void end(struct rn_turn *u)
{
	struct rn_turn_place *p = u->place;
	uint64_t number = u->number;

	if (u->had && p->run < p->order->runs) {
		p->used++;
		atomic_compare_exchange_strong(&p->order->over, &number, number + 1);
	}
}

const struct rn_turn_ops rn_turns_replayed = { begin, end };
