/*
 * divergence.c - divergence from the recording, end of the recording, and stall messages.
 */
#include "base/number_text.h"
#include "replay/replay_state.h"

#include "record/post_order.h"
#include "runtime/message.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "runtime/wait_state.h"
#include "trace/comm_registry.h"
#include "trace/request_names.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#define DIVERGED 71
#define SPINS    100 /* polls before the thread sleeps instead of yielding */

/* ---- releasing threads and receives ---- */

void rn_replay_unpark(struct rn_tracked *f)
{
	bool deferred;

	rn_tracer_lock();
	deferred = f->state == RN_TRACKED_DEFERRED;
	if (deferred)
		f->state = RN_TRACKED_ACTIVE;
	rn_tracer_unlock();
	if (deferred)
		rn_receive_post(&f->receive, &f->real);
}

static void post_deferred(const struct rn_order_thread *o)
{
	struct rn_tracked *f = rn_tracked_count ? rn_tracked_next(o, 0, true) : NULL;

	while (f) {
		uint64_t next = f->ordinal + 1; /* another thread may reuse the entry */

		rn_replay_unpark(f);
		f = rn_tracked_next(o, next, true);
	}
}

/* Cancels the request, so that it can be posted with other arguments. Returns false if it has
 * matched. */
static bool take_back(MPI_Request q)
{
	MPI_Status s;
	int done = 0;

	return rn_real.MPI_Cancel(&q) == MPI_SUCCESS &&
	       rn_real.MPI_Request_get_status(q, &done, &s) == MPI_SUCCESS && done &&
	       rn_status_cancelled(&s);
}

int rn_receive_again(const struct rn_receive *r, MPI_Request *q)
{
	if (!take_back(*q))
		return MPI_SUCCESS;
	rn_real.MPI_Wait(q, MPI_STATUS_IGNORE);
	return rn_receive_post(r, q);
}

/* Posts the receive with the program's arguments, unless it has matched already. */
static void release_receive(struct rn_tracked *f)
{
	if (f->state == RN_TRACKED_CANCELLED)
		return;
	if (f->state == RN_TRACKED_DEFERRED) {
		rn_replay_unpark(f);
	} else if (f->real != MPI_REQUEST_NULL) {
		rn_receive_again(&f->receive, &f->real);
	} else if (!f->keep_own && take_back(f->handle)) {
		f->keep_own = true;
		rn_receive_post(&f->receive, &f->real);
	}
}

/* Releases the thread, and its receives in the order in which the thread started them. */
static void set_free(struct rn_order_thread *o)
{
	struct rn_tracked *f = rn_tracked_next(o, 0, false);

	o->replay->free = true;
	o->replay->at->over = true;
	rn_replayed.released = true;
	while (f) {
		uint64_t next = f->ordinal + 1;

		release_receive(f);
		f = rn_tracked_next(o, next, false);
	}
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
	const char *text =
		rn_plan_text(rn_replayed.plan, &rn_replayed.plan->place, (uint64_t)place - 1);

	return text ? text : "?";
}

/* Returns whether `rondo replay` prints the report of the divergence. Launchers that end a run may
 * lose the output of its processes. This process prints it if the launcher also ends `rondo
 * replay`, or if `rondo replay` cannot see the memory that this process has mapped. */
static bool rondo_tells(void)
{
	return rn_replayed.own && !rn_config.alone && !rn_config.diverges_on &&
	       rn_job_is_near(rn_replayed.own);
}

/* Returns whether this process is the first to diverge. Divergences of other ranks are usually a
 * consequence of the first one. */
static bool is_first(const char *text)
{
	bool first = !rn_replayed.job || rn_job_diverges(rn_replayed.job, rn_tracer.world_rank);

	if (rn_replayed.own && rn_replayed.own != rn_replayed.job)
		rn_job_diverges(rn_replayed.own, rn_tracer.world_rank);
	if (first && rondo_tells())
		rn_job_tell(rn_replayed.own, text);
	return first;
}

/* Aborts the run, after a delay in which launchers can forward the output. */
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

/* Writes "source any, tag 2, comm:world.0". */
static void describe_query(char *text, size_t cap, const struct rn_order_call *c)
{
	char source[16] = "any", tag[16] = "any";

	if (c->source != MPI_ANY_SOURCE)
		snprintf(source, sizeof(source), "%d", c->source);
	if (c->tag != MPI_ANY_TAG)
		snprintf(tag, sizeof(tag), "%d", c->tag);
	snprintf(text, cap, "source %s, tag %s, %s", source, tag, rn_comm_get(c->comm)->name);
}

static void describe_call(char *text, size_t cap, const struct rn_order_call *c)
{
	char query[200];

	if (c->source == RN_PLAN_NOTHING) {
		snprintf(text, cap, "%s", rn_replay_name(c->function));
		return;
	}
	describe_query(query, sizeof(query), c);
	snprintf(text, cap, "%s(%s)", rn_replay_name(c->function), query);
}

static void describe_row(char *text, size_t cap, const struct rn_replay *r, uint64_t row)
{
	const struct rn_order_site *s;
	char found[100] = "";

	if (row >= r->s->row.n) {
		snprintf(text, cap, "%s",
			 r->at->messages < r->s->known ? "a receive" : "nothing more");
		return;
	}
	s = &r->site[r->rows[row].site];
	if (row == r->at->row && s->kind == RN_ORDER_PROBE && r->rows[row].done)
		snprintf(found, sizeof(found), ", which found a message from rank %d with tag %d",
			 r->dones[r->done].source, r->dones[r->done].tag);
	snprintf(text, cap, "%s%s%s%s", rn_replay_name(s->function), s->place ? " at " : "",
		 s->place ? place_of(s->place) : "", found);
}

/* Reports a divergence, with the number of the last call if calls are recorded, otherwise with the
 * number of the event in this row of `r`, which may be another thread. */
static void diverge(struct rn_order_thread *o, const struct rn_replay *r, uint64_t row,
		    const char *now, const char *recorded)
{
	bool calls = r->s->call.n > 0;
	char text[900];

	snprintf(text, sizeof(text), "rank %d, %s %" PRIu64 ": now %s, recorded was %s",
		 rn_tracer.world_rank, calls ? "call" : "event",
		 calls ? r->call - (r->call > 0) : rn_replay_event(r, row), now, recorded);
	leave_the_record(o, text);
}

void rn_replay_diverges_at(const struct rn_order_call *c, uint64_t row, const char *why)
{
	char now[300], recorded[300], both[600];

	describe_call(now, sizeof(now), c);
	describe_row(recorded, sizeof(recorded), c->o->replay, row);
	snprintf(both, sizeof(both), "%s%s%s", recorded, why ? ", " : "", why ? why : "");
	diverge(c->o, c->o->replay, row, now, both);
}

void rn_replay_diverges(const struct rn_order_call *c, const char *why)
{
	rn_replay_diverges_at(c, rn_replay_row_of(c), why);
}

void rn_replay_unasked(const struct rn_order_call *c, const struct rn_plan_match *m)
{
	const struct rn_order_site *s = rn_replay_match_site(c->o->replay, m);
	const char *comm = s ? rn_replay_comm(s->comm) : NULL;
	char why[200];

	snprintf(why, sizeof(why), "which received a message from rank %d with tag %d%s%.100s",
		 m->source, m->tag, comm ? " on " : "", comm ? comm : "");
	rn_replay_diverges_at(c, m->row ? m->row - 1 : c->o->replay->s->row.n, why);
}

void rn_replay_departs(struct rn_order_thread *o, const char *now, const char *recorded)
{
	diverge(o, o->replay, rn_replay_next_row(o), now, recorded);
}

void rn_replay_check_end(struct rn_order_thread *o)
{
	char recorded[300];

	for (uint32_t i = 0; i < rn_replayed.threads; i++) {
		const struct rn_replay *r = &rn_replayed.thread[i];
		uint64_t row = r == o->replay ? rn_replay_next_row(o) : rn_replay_pending_row(r);

		if (!rn_replay_has_events(r))
			continue;
		describe_row(recorded, sizeof(recorded), r, row);
		diverge(o, r, row, "MPI_Finalize", recorded);
		return;
	}
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

	if (source < (n = size_of(comm)))
		return true;
	snprintf(now, sizeof(now), "%s, on a communicator of %d rank%s",
		 rn_replay_name(c->function), n, rn_plural((uint64_t)n));
	snprintf(recorded, sizeof(recorded), "a message from rank %d", source);
	rn_replay_departs(c->o, now, recorded);
	return false;
}

/* ---- waiting ---- */

/* Writes "rank 2" or "any rank", if `word` is "rank". */
static void put_number(char *text, size_t cap, const char *word, int number, int any)
{
	if (number == any)
		snprintf(text, cap, "any %s", word);
	else
		snprintf(text, cap, "%s %d", word, number);
}

static void describe_wait(char *text, size_t cap, const struct rn_patience *p,
			  const struct rn_order_call *c, int source, int tag)
{
	const char *recorded = c->o->replay->at->over ? "" : ", which the record says will come";
	char from[32], with[32];

	if (p->what) {
		snprintf(text, cap, "%s", p->what);
	} else if (source == RN_PLAN_NOTHING) {
		snprintf(text, cap, "a request%s", recorded);
	} else {
		put_number(from, sizeof(from), "rank", source, MPI_ANY_SOURCE);
		put_number(with, sizeof(with), "tag", tag, MPI_ANY_TAG);
		snprintf(text, cap, "a message from %s with %s%s", from, with, recorded);
	}
}

/* Publishes the awaited message or call for the stall check. */
static void publish_wait(const struct rn_patience *p, const struct rn_order_call *c, int source,
			 int tag)
{
	const struct rn_replay *r = c->o->replay;
	uint64_t row = p->row || c->kind == RN_ORDER_WAIT ? p->row : r->at->row;
	char where[32] = "", text[128];

	if (r->s->call.n)
		snprintf(where, sizeof(where), "call %" PRIu64, r->call - (r->call > 0));
	else if (row && !r->at->over)
		snprintf(where, sizeof(where), "event %" PRIu64, rn_replay_event(r, row - 1));
	describe_wait(text, sizeof(text), p, c, source, tag);
	rn_wait_describe(where, text);
}

static void tell_stall(const struct rn_patience *p, const struct rn_order_call *c, int source,
		       int tag)
{
	char text[128];

	describe_wait(text, sizeof(text), p, c, source, tag);
	rn_say("rank %d has waited %u second%s in %s for %s", rn_tracer.world_rank, rn_config.stall,
	       rn_plural(rn_config.stall), rn_replay_name(c->function), text);
}

bool rn_replay_tires(struct rn_patience *p)
{
	static const struct timespec moment = { 0, 20000 };
	struct timespec now;

	if (p->spins++ < SPINS)
		sched_yield();
	else
		nanosleep(&moment, NULL);
	if (p->spins % RN_PATIENCE_LOOKS)
		return false;
	if (rn_replayed.job && __atomic_load_n(&rn_replayed.job->stalled, __ATOMIC_RELAXED))
		end_run();
	if (p->told)
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
	if (p->spins == RN_PATIENCE_LOOKS)
		publish_wait(p, c, source, tag);
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

/* ---- the end of the recording ---- */

/* Waits until the other threads have replayed their plans. Gives up after the stall time, because
 * an unrecorded event may have to happen first. */
static void await_others(const struct rn_replay *r)
{
	struct rn_patience patience = { 0 };

	for (uint32_t i = 0; i < rn_replayed.threads; i++)
		while (&rn_replayed.thread[i] != r && !rn_replayed.thread[i].at->over &&
		       !rn_replayed.released && !rn_plan_done(rn_replayed.thread[i].s)) {
			if (rn_replay_tires(&patience))
				return;
			rn_replay_progress();
		}
}

void rn_replay_over(const struct rn_order_call *c)
{
	struct rn_replay *r = c->o->replay;
	uint64_t messages;

	if (!rn_replay_knows_sends(r) && rn_replay_has_events(r)) {
		rn_replay_diverges(c, NULL);
		return;
	}
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
	post_deferred(c->o);
}

void rn_replay_unobserved(const struct rn_order_call *c, const struct rn_replay *starter,
			  uint64_t ordinal)
{
	if (!rn_replay_later(starter, ordinal) || !rn_replay_has_events(c->o->replay))
		rn_replay_over(c);
}
