/*
 * replay_leave.c - the record counts no more: it is over, the program does something else, or
 * another rank does; and what people are told of that, and of long waits.
 */
#include "base/plural.h"
#include "intercept/replay_record.h"

#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/order_turn.h"
#include "intercept/tracer.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#define DIVERGED  71
#define SPINS     100 /* before time is given away */
#define LOOK_EACH 256 /* spins between looks at the clock */

/* ---- going on freely ---- */

void rn_replay_unpark(struct rn_followed *f)
{
	bool parked;

	rn_tracer_lock();
	parked = (f->flags & RN_FOLLOWED_PARKED) && !(f->flags & RN_FOLLOWED_CANCELLED);
	f->flags &= ~(uint32_t)RN_FOLLOWED_PARKED;
	rn_tracer_unlock();
	if (parked)
		rn_receive_post(&f->receive, &f->real);
}

/* Receives that were parked are free. */
static void post_parked(struct rn_order_thread *o)
{
	for (struct rn_followed *f = o->parked, *next; f; f = next) {
		next = f->next;
		f->flags &= ~(uint32_t)RN_FOLLOWED_LISTED;
		rn_replay_unpark(f);
	}
	o->parked = NULL;
	o->parked_end = &o->parked;
}

static void set_free(struct rn_order_thread *o)
{
	o->replay->free = true;
	o->replay->at->over = true;
	rn_turns_release();
	rn_order_loosen(o);
	post_parked(o);
}

bool rn_replay_is_free(const struct rn_order_thread *o)
{
	return o->replay && o->replay->free;
}

bool rn_replay_gets_free(struct rn_order_thread *o)
{
	if (o->replay && !o->replay->free && rn_config.diverges_on && rn_replayed.job &&
	    rn_job_first(rn_replayed.job) >= 0)
		set_free(o);
	return rn_replay_is_free(o);
}

/* ---- divergence ---- */

static const char *place_of(uint32_t place)
{
	const uint64_t *at = rn_plan_at(rn_replayed.plan, rn_replayed.plan->place.at);

	return place && place <= rn_replayed.plan->place.n
		       ? rn_plan_at(rn_replayed.plan, at[place - 1])
		       : "?";
}

/* Launchers that end a run may lose what is said, so who waits for it says it; unless the launcher
 * ends that one as well, or it cannot see what we have mapped. */
static bool rondo_tells(void)
{
	return rn_replayed.own && !rn_config.alone && !rn_config.diverges_on &&
	       rn_job_is_near(rn_replayed.own);
}

/* Is this process the first to find that something is wrong? The others are likely to have been led
 * astray by it. */
static bool is_first(const char *text)
{
	bool first = !rn_replayed.job || rn_job_diverges(rn_replayed.job, rn_tracer.world_rank);

	if (rn_replayed.own && rn_replayed.own != rn_replayed.job)
		rn_job_diverges(rn_replayed.own, rn_tracer.world_rank);
	if (first && rondo_tells())
		rn_job_tell(rn_replayed.own, text);
	return first;
}

/* With a moment for launchers to pass on what was said. */
static void end_run(void)
{
	static const struct timespec moment = { 0, 100000000 };

	if (rn_config.alone)
		nanosleep(&moment, NULL);
	rn_real.MPI_Abort(MPI_COMM_WORLD, DIVERGED);
}

static void leave_the_record(struct rn_order_thread *o, const char *text)
{
	bool first = is_first(text);

	if (first && !rondo_tells())
		rn_say("the program does not do what was recorded: %s", text);
	if (!rn_config.diverges_on)
		end_run();
	if (first)
		rn_say("from here on the run goes on freely, since rank %d has diverged",
		       rn_tracer.world_rank);
	set_free(o);
}

int rn_replay_diverges(const struct rn_order_call *c, const char *why)
{
	const struct rn_replay *r = c->o->replay;
	char text[600], recorded[300] = "nothing more";

	if (r->at->messages < r->known)
		snprintf(recorded, sizeof(recorded), "a receive");
	if (r->at->row < r->s->row.n) {
		const struct rn_order_site *s = &r->site[r->rows[r->at->row].site];

		snprintf(recorded, sizeof(recorded), "%s%s%s", rn_replay_name(s->function),
			 s->place ? " at " : "", s->place ? place_of(s->place) : "");
	}
	snprintf(text, sizeof(text), "rank %d, event %" PRIu64 ": now %s, recorded was %s%s%s",
		 rn_tracer.world_rank, r->at->calls, rn_replay_name(c->function), recorded,
		 why ? "; " : "", why ? why : "");
	leave_the_record(c->o, text);
	return MPI_ERR_OTHER;
}

void rn_replay_differs(struct rn_order_thread *o, uint64_t k, const char *now, const char *recorded)
{
	char text[600];

	snprintf(text, sizeof(text), "rank %d, call %" PRIu64 ": now %s, recorded was %s",
		 rn_tracer.world_rank, k, now, recorded);
	leave_the_record(o, text);
}

void rn_replay_departs(struct rn_order_thread *o, const char *now, const char *recorded)
{
	const struct rn_replay *r = o->replay;
	bool calls = r->s->call.n > 0;
	char text[600];

	snprintf(text, sizeof(text), "rank %d, %s %" PRIu64 ": now %s, recorded was %s",
		 rn_tracer.world_rank, calls ? "call" : "event",
		 calls ? r->call - (r->call > 0) : r->at->calls, now, recorded);
	leave_the_record(o, text);
}

static int size_of(MPI_Comm comm)
{
	int inter = 0, n = 0;

	rn_real.MPI_Comm_test_inter(comm, &inter);
	if (inter)
		rn_real.MPI_Comm_remote_size(comm, &n);
	else
		rn_real.MPI_Comm_size(comm, &n);
	return n;
}

bool rn_replay_reaches(const struct rn_order_call *c, MPI_Comm comm, int source)
{
	char now[100], recorded[100];
	int n;

	if ((int)rn_replayed.plan->ranks == rn_tracer.world_size || source < (n = size_of(comm)))
		return true;
	snprintf(now, sizeof(now), "%s, on a communicator of %d rank%s",
		 rn_replay_name(c->function), n, rn_plural((uint64_t)n));
	snprintf(recorded, sizeof(recorded), "a message from rank %d", source);
	rn_replay_departs(c->o, now, recorded);
	return false;
}

/* ---- waiting ---- */

static void tell_stall(const struct rn_patience *p, const struct rn_order_call *c, int source,
		       int tag)
{
	char what[128];

	if (p->what)
		snprintf(what, sizeof(what), "%s", p->what);
	else if (source != RN_PLAN_NOTHING)
		snprintf(what, sizeof(what),
			 "a message from rank %d with tag %d, which the record says will come",
			 source, tag);
	else
		snprintf(what, sizeof(what), "a request, which the record says will come");
	rn_say("rank %d has waited %u second%s in %s for %s", rn_tracer.world_rank, rn_config.stall,
	       rn_plural(rn_config.stall), rn_replay_name(c->function), what);
}

bool rn_replay_tires(struct rn_patience *p)
{
	static const struct timespec moment = { 0, 20000 };
	struct timespec now;

	if (p->spins++ < SPINS)
		sched_yield();
	else
		nanosleep(&moment, NULL);
	if (p->told || p->spins % LOOK_EACH)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (p->since == 0)
		p->since = (uint64_t)now.tv_sec;
	p->told = (uint64_t)now.tv_sec - p->since > rn_config.stall;
	return p->told;
}

bool rn_replay_wait(struct rn_patience *p, const struct rn_order_call *c, int source, int tag)
{
	bool tires = rn_replay_tires(p);

	if (rn_replay_gets_free(c->o))
		return true;
	if (tires)
		tell_stall(p, c, source, tag);
	return false;
}

void rn_replay_tell_turn(const struct rn_order_call *c, uint32_t stream, enum rn_plan_turn_of of)
{
	char who[32] = "the first thread";
	int64_t birth = rn_replayed.thread[stream].s->birth;

	if (birth)
		snprintf(who, sizeof(who), "thread %" PRId64, birth);
	rn_say("rank %d has waited %u second%s in %s for %s to %s on %s, which it did first when "
	       "this was recorded",
	       rn_tracer.world_rank, rn_config.stall, rn_plural(rn_config.stall),
	       rn_replay_name(c->function), who, of == RN_PLAN_SENDS ? "send" : "receive or probe",
	       rn_comm_get(c->comm)->name);
}

/* ---- the end of the record ---- */

/* In vain, where something else has to happen first that nobody has recorded. */
static void await_others(const struct rn_replay *r)
{
	struct rn_patience patience = { 0 };

	for (uint32_t i = 0; i < rn_replayed.threads; i++)
		while (&rn_replayed.thread[i] != r && !rn_replayed.thread[i].at->over &&
		       !rn_turns_released() &&
		       !rn_plan_done(rn_replayed.plan, rn_replayed.thread[i].s)) {
			if (rn_replay_tires(&patience))
				return;
			rn_replay_progress();
		}
}

void rn_replay_over(const struct rn_order_call *c)
{
	struct rn_replay *r = c->o->replay;
	uint64_t messages;

	if (rn_turns && !r->at->over)
		await_others(r);
	messages = r->at->messages - r->at->cancelled;
	if (!r->at->over)
		rn_say("rank %d: the record ends here, in %s, after %" PRIu64
		       " message%s and %" PRIu64
		       " call%s with an outcome: from now on the program runs freely",
		       rn_tracer.world_rank, rn_replay_name(c->function), messages,
		       rn_plural(messages), r->at->calls, rn_plural(r->at->calls));
	r->at->over = true;
	post_parked(c->o);
}
