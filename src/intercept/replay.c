/* replay.c - see replay.h. */
#include "intercept/replay.h"

#include "base/arena.h"
#include "encode/raw.h"
#include "file/writer.h"
#include "intercept/clock.h"
#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/order_turn.h"
#include "intercept/site.h"
#include "intercept/setting.h"
#include "intercept/tracer.h"
#include "order/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIVERGED  71
#define SPINS     100 /* before time is given away */
#define LOOK_EACH 256 /* spins between looks at the clock */
#define PATH_ROOM (sizeof(rn_config.replay) + 32)

struct rn_replay {
	struct rn_plan_stream *s;
	struct rn_plan_progress *at;
	const struct rn_order_site *site;
	const struct rn_order_row *rows;
	const struct rn_order_done *dones;
	const int64_t *values;
	const struct rn_plan_match *matches;
	const struct rn_plan_cancel *cancels;
	uint64_t done, value, call;  /* the next ones */
	uint32_t fails;              /* of the row, that have been used */
	struct rn_patience patience; /* while tests fail that did not */
	bool free;                   /* the record counts no more */
	struct rn_patience again;    /* while a row is not to be, yet: */
	uint64_t again_row;
};

static struct rn_plan_head *plan;
/* Who waits for this process has the one, and all that can be reached have the other; NULL: nothing
 * is known of them. */
static struct rn_job *own, *job;
static struct rn_replay *threads;
static uint32_t nthreads;
static MPI_Comm nowhere = MPI_COMM_NULL;

/* ---- the plan ---- */

static void plan_path(char path[PATH_ROOM], int rank)
{
	snprintf(path, PATH_ROOM, "%s/rank-%d.plan", rn_config.replay, rank);
}

static void *map_plan(const char *path, size_t *len)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		*len = (size_t)st.st_size;
		p = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static void open_thread(struct rn_replay *r, struct rn_plan_stream *s)
{
	r->s = s;
	r->at = &s->progress;
	r->site = rn_plan_at(plan, s->site.at);
	r->rows = rn_plan_at(plan, s->row.at);
	r->dones = rn_plan_at(plan, s->done.at);
	r->values = rn_plan_at(plan, s->value.at);
	r->matches = rn_plan_at(plan, s->match.at);
	r->cancels = rn_plan_at(plan, s->cancel.at);
}

void rn_replay_load(int rank)
{
	int saved = errno;
	char path[PATH_ROOM];
	static bool told;
	struct rn_plan_stream *s;
	size_t len;

	if (plan)
		return;
	own = job = rn_job_map(rn_config.replay);
	plan_path(path, rank);
	plan = map_plan(path, &len);
	if (plan && !rn_plan_valid(plan, len))
		plan = NULL;
	threads = plan ? rn_new(&rn_tracer.mem, struct rn_replay, plan->stream.n) : NULL;
	if (!threads && !told) {
		told = true;
		rn_say("rank %d runs freely: %s", rank,
		       plan ? "there is no memory for its plan" : "nothing was recorded of it");
	} else if (threads) {
		s = (void *)((char *)plan + plan->stream.at);
		nthreads = (uint32_t)plan->stream.n;
		for (uint32_t i = 0; i < nthreads; i++) {
			s[i].progress = (struct rn_plan_progress){ 0 };
			open_thread(&threads[i], &s[i]);
		}
		rn_replay_hook_compare();
		rn_site_forget();
	}
	errno = saved;
}

/* Where the record does not tell threads apart by their births, streams are what it has. */
struct rn_replay *rn_replay_thread(const struct rn_order_thread *o)
{
	for (uint32_t i = 0; i < nthreads; i++) {
		const struct rn_plan_stream *s = threads[i].s;

		if (s->born ? s->birth == o->birth : i == o->stream)
			return &threads[i];
	}
	return NULL;
}

const char *rn_replay_fact(const char *key)
{
	return plan ? rn_plan_fact(plan, key) : NULL;
}

/* Where each rank has a rondo of its own, that of rank 0 has the job. */
static void share_job(char folder[sizeof(rn_config.replay)])
{
	struct rn_job *first;

	if (rn_real.MPI_Bcast(folder, sizeof(rn_config.replay), MPI_CHAR, 0, MPI_COMM_WORLD) !=
	    MPI_SUCCESS)
		return;
	first = rn_tracer.world_rank > 0 ? rn_job_map(folder) : NULL;
	if (first && rn_job_is_near(first))
		job = first;
}

/* Everybody has what is in the folder: it goes now, for who knows how the run will end. The plan of
 * a program that has one rank, which a debugger can run again, stays. */
static void leave_folder(const char *common)
{
	char path[PATH_ROOM];

	if (!plan || !own || !rn_job_is_near(own) || plan->ranks < 2)
		return;
	plan_path(path, rn_tracer.world_rank);
	unlink(path);
	if (rn_config.alone)
		unlink(rn_config.status);
	if (own != job)
		rn_job_remove(rn_config.replay);
	if (rn_job_arrive(job) < plan->ranks)
		return;
	unlink(rn_config.status);
	rn_job_remove(common);
}

/* Nobody has said yet that ranks are elsewhere. */
static bool is_first_moved(void)
{
	return !job || rn_job_moves(job);
}

void rn_replay_begin(void)
{
	static char common[sizeof(rn_config.replay)];
	int saved = errno;

	rn_setting_read(rn_replay_fact(RN_META_ONLY) != NULL);
	if (plan && rn_tracer.world_rank == 0 && (int)plan->ranks != rn_tracer.world_size)
		rn_say("the program has %d ranks, but what is replayed was recorded with %u",
		       rn_tracer.world_size, plan->ranks);
	if (rn_tracer.world_rank == 0)
		rn_setting_compare();
	if (plan && rn_tracer.world_rank == 0 && rn_tracer.threaded && nthreads > 1 &&
	    rn_replay_knows_sends(&threads[1]))
		rn_say("which of several threads posts first is as it comes: only a trace of "
		       "--only=order has that");
	memcpy(common, rn_config.replay, sizeof(common));
	if (rn_config.alone)
		share_job(common);
	if (plan && (int)plan->ranks == rn_tracer.world_size)
		rn_setting_compare_node(is_first_moved);
	leave_folder(common);
	rn_real.MPI_Comm_dup(MPI_COMM_SELF, &nowhere);
	rn_real.MPI_Comm_set_errhandler(nowhere, MPI_ERRORS_RETURN);
	errno = saved;
}

MPI_Comm rn_replay_nowhere(void)
{
	return nowhere;
}

int rn_replay_post_nowhere(MPI_Request *request)
{
	return rn_real.MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, nowhere, request);
}

/* Programs that test again and again, in a row, do not have to drive it each time. */
#define RESTS 4000 /* ticks of the clock: a microsecond or two, where it is quick */

void rn_replay_progress(void)
{
	static _Thread_local uint64_t last __attribute__((tls_model("initial-exec")));
	uint64_t now = rn_clock_now();
	int flag;

	if (now - last < RESTS)
		return;
	last = now;
	rn_real.MPI_Iprobe(0, 0, nowhere, &flag, MPI_STATUS_IGNORE);
}

const struct rn_plan_match *rn_replay_match(const struct rn_replay *r, uint64_t ordinal)
{
	static const struct rn_plan_match unseen = { .state = RN_PLAN_UNSEEN };

	return ordinal < r->s->match.n ? &r->matches[ordinal] : &unseen;
}

const struct rn_plan_match *rn_replay_later(const struct rn_replay *r, uint64_t ordinal)
{
	return ordinal < r->s->match.n ? &r->matches[ordinal] : NULL;
}

const struct rn_replay *rn_replay_nth(uint32_t n, uint64_t *from)
{
	if (n >= nthreads)
		return NULL;
	*from = __atomic_load_n(&threads[n].at->messages, __ATOMIC_RELAXED);
	return &threads[n];
}

const struct rn_plan_match *rn_replay_start(struct rn_replay *r, uint64_t ordinal)
{
	const struct rn_plan_match *m = rn_replay_match(r, ordinal);

	r->at->messages += m->state != RN_PLAN_UNSEEN;
	return m;
}

const struct rn_plan_match *rn_replay_match_of(const struct rn_followed *f)
{
	return f && f->starter->replay && rn_followed_is_wild(f)
		       ? rn_replay_match(f->starter->replay, f->ordinal)
		       : NULL;
}

/* They are sorted. */
enum rn_cancel rn_replay_cancel(const struct rn_replay *r, uint64_t number)
{
	uint64_t from = 0, to = r->at->over || r->free ? 0 : r->s->cancel.n;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (r->cancels[middle].number < number)
			from = middle + 1;
		else if (r->cancels[middle].number > number)
			to = middle;
		else
			return r->cancels[middle].cancelled ? RN_CANCEL_DONE : RN_CANCEL_FAILED;
	}
	return RN_CANCEL_NOT;
}

bool rn_replay_knows_sends(const struct rn_replay *r)
{
	return r->s->call.n > 0;
}

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
	if (o->replay && !o->replay->free && rn_config.diverges_on && job && rn_job_first(job) >= 0)
		set_free(o);
	return rn_replay_is_free(o);
}

/* ---- what people are told ---- */

static const char *name_of(uint32_t function)
{
	return function < rn_mpi_vocab.funcs ? rn_mpi_protos[function].name : "?";
}

static const char *place_of(uint32_t place)
{
	const uint64_t *at = rn_plan_at(plan, plan->place.at);

	return place && place <= plan->place.n ? rn_plan_at(plan, at[place - 1]) : "?";
}

/* Launchers that end a run may lose what is said, so who waits for it says it; unless the launcher
 * ends that one as well, or it cannot see what we have mapped. */
static bool rondo_tells(void)
{
	return own && !rn_config.alone && !rn_config.diverges_on && rn_job_is_near(own);
}

/* Is this process the first to find that something is wrong? The others are likely to have been led
 * astray by it. */
static bool is_first(const char *text)
{
	bool first = !job || rn_job_diverges(job, rn_tracer.world_rank);

	if (own && own != job)
		rn_job_diverges(own, rn_tracer.world_rank);
	if (first && rondo_tells())
		rn_job_tell(own, text);
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

	if (r->at->row < r->s->row.n) {
		const struct rn_order_site *s = &r->site[r->rows[r->at->row].site];

		snprintf(recorded, sizeof(recorded), "%s%s%s", name_of(s->function),
			 s->place ? " at " : "", s->place ? place_of(s->place) : "");
	}
	snprintf(text, sizeof(text), "rank %d, event %" PRIu64 ": now %s, recorded was %s%s%s",
		 rn_tracer.world_rank, r->at->calls, name_of(c->function), recorded,
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

const struct rn_plan_member *rn_replay_member(const char *name)
{
	return rn_plan_member(plan, name);
}

const struct rn_plan_call *rn_replay_calls(struct rn_replay *r, uint64_t *n, uint64_t **next)
{
	if (!r || r->at->over || r->s->call.n == 0)
		return NULL;
	*n = r->s->call.n;
	*next = &r->call;
	return rn_plan_at(plan, r->s->call.at);
}

const char *rn_replay_comm(uint32_t number)
{
	const uint64_t *at = rn_plan_at(plan, plan->comm.at);

	return number && number <= plan->comm.n ? rn_plan_at(plan, at[number - 1]) : NULL;
}

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
	rn_say("rank %d has waited %u seconds in %s for %s", rn_tracer.world_rank, rn_config.stall,
	       name_of(c->function), what);
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

/* ---- turns of threads ---- */

static bool same_name(uint32_t of_plan, const char *name)
{
	const char *other = rn_replay_comm(of_plan);

	return other && strcmp(other, name) == 0;
}

bool rn_replay_has_turns(void)
{
	return plan && plan->turn.n;
}

const struct rn_plan_turn *rn_replay_turns(const char *comm, enum rn_plan_turn_of of, uint64_t *n)
{
	const struct rn_plan_turn *t = rn_plan_at(plan, plan->turn.at), *end = t + plan->turn.n;
	const struct rn_plan_turn *first;

	while (t < end && (t->of != of || !same_name(t->comm, comm)))
		t++;
	for (first = t; t < end && t->of == of && t->comm == first->comm;)
		t++;
	*n = (uint64_t)(t - first);
	return first;
}

bool rn_replay_is(const struct rn_replay *r, uint32_t stream)
{
	return r == &threads[stream];
}

void rn_replay_tell_turn(const struct rn_order_call *c, uint32_t stream, enum rn_plan_turn_of of)
{
	char who[32] = "the first thread";
	int64_t birth = threads[stream].s->birth;

	if (birth)
		snprintf(who, sizeof(who), "thread %" PRId64, birth);
	rn_say("rank %d has waited %u seconds in %s for %s to %s on %s, which it did first when "
	       "this was recorded",
	       rn_tracer.world_rank, rn_config.stall, name_of(c->function), who,
	       of == RN_PLAN_SENDS ? "send" : "receive or probe", rn_comm_get(c->comm)->name);
}

/* ---- the end of the record ---- */

/* In vain, where something else has to happen first that nobody has recorded. */
static void await_others(const struct rn_replay *r)
{
	struct rn_patience patience = { 0 };

	for (uint32_t i = 0; i < nthreads; i++)
		while (&threads[i] != r && !threads[i].at->over && !rn_turns_released() &&
		       !rn_plan_done(plan, threads[i].s)) {
			if (rn_replay_tires(&patience))
				return;
			rn_replay_progress();
		}
}

void rn_replay_over(const struct rn_order_call *c)
{
	struct rn_replay *r = c->o->replay;

	if (rn_turns && !r->at->over)
		await_others(r);
	if (!r->at->over)
		rn_say("rank %d: the record ends here, in %s, after %" PRIu64
		       " calls with an outcome: from now on the program runs freely",
		       rn_tracer.world_rank, name_of(c->function), r->at->calls);
	r->at->over = true;
	post_parked(c->o);
}

/* ---- the next event ---- */

static bool is_kind(const struct rn_replay *r, enum rn_order_kind kind)
{
	return r->site[r->rows[r->at->row].site].kind == (uint32_t)kind;
}

static void pass_row(struct rn_replay *r)
{
	const struct rn_order_row *row = &r->rows[r->at->row];

	if (is_kind(r, RN_ORDER_VALUE))
		r->value += row->done;
	else
		r->done += row->done;
	r->at->row++;
	r->fails = 0;
}

/* To a row that a call has to be compared with. False at the end. */
static bool find_row(struct rn_replay *r)
{
	while (r->at->row < r->s->row.n && !rn_plan_site_counts(&r->site[r->rows[r->at->row].site]))
		pass_row(r);
	return r->at->row < r->s->row.n;
}

bool rn_replay_is_on(struct rn_replay *r, bool *more)
{
	if (!r || r->at->over)
		return false;
	*more = r->s->call.n ? r->call < r->s->call.n : find_row(r);
	return true;
}

static bool same_comm(uint32_t of_plan, uint32_t word)
{
	const char *name = rn_replay_comm(of_plan);

	return !name || !word || strcmp(name, rn_comm_get(word)->name) == 0;
}

static bool is_same(const struct rn_replay *r, const struct rn_order_call *c)
{
	const struct rn_order_site *s = &r->site[r->rows[r->at->row].site];

	return s->function == c->function && same_comm(s->comm, c->comm);
}

static enum rn_fate fail_again(struct rn_replay *r)
{
	const struct rn_order_row *row = &r->rows[r->at->row];

	r->fails++;
	r->at->calls++;
	if (r->fails == row->fails && !row->done)
		pass_row(r);
	return RN_FATE_FAIL;
}

/* A test that fails though none did here: the next thing recorded is another call's. */
static enum rn_fate fail_more(struct rn_replay *r, const struct rn_order_call *c)
{
	r->at->more++;
	if (rn_replay_wait(&r->patience, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING))
		return RN_FATE_FREE;
	if (!r->patience.told)
		return RN_FATE_FAIL;
	rn_replay_diverges(c, "nothing else is called any more");
	return RN_FATE_FREE;
}

static enum rn_fate succeed(struct rn_replay *r, const struct rn_order_row **row,
			    const struct rn_order_done **done)
{
	*row = &r->rows[r->at->row];
	*done = &r->dones[r->done];
	r->at->fewer += (*row)->fails - r->fails;
	r->at->calls++;
	r->patience = (struct rn_patience){ 0 };
	pass_row(r);
	return RN_FATE_DONE;
}

enum rn_fate rn_replay_next(const struct rn_order_call *c, bool may_fail,
			    const struct rn_order_row **row, const struct rn_order_done **done)
{
	struct rn_replay *r = c->o->replay;

	if (rn_replay_gets_free(c->o))
		return RN_FATE_FREE;
	while (!r->at->over && find_row(r)) {
		const struct rn_order_row *next = &r->rows[r->at->row];

		if (is_same(r, c)) {
			if (may_fail && r->fails < next->fails)
				return fail_again(r);
			if (next->done)
				return succeed(r, row, done);
		} else if (next->done && may_fail) {
			return fail_more(r, c);
		} else if (next->done) {
			rn_replay_diverges(c, NULL);
			return RN_FATE_FREE;
		}
		r->at->fewer += next->fails - r->fails;
		pass_row(r);
	}
	rn_replay_over(c);
	return RN_FATE_FREE;
}

/* Its failures have been counted. */
void rn_replay_again(const struct rn_order_call *c)
{
	struct rn_replay *r = c->o->replay;
	const struct rn_order_row *row = &r->rows[--r->at->row];

	r->done -= row->done;
	r->fails = row->fails;
	r->at->calls--;
	r->at->again++;
	if (r->again_row != r->at->row || !r->again.what)
		r->again = (struct rn_patience){ .what = "a generalised request, which the record "
							 "says will be complete" };
	r->again_row = r->at->row;
	rn_replay_wait(&r->again, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING);
}

/* Past tests that failed when this was recorded, and now do not come up. */
static bool find_value(struct rn_replay *r)
{
	while (find_row(r) && !is_kind(r, RN_ORDER_VALUE) && !r->rows[r->at->row].done) {
		r->at->fewer += r->rows[r->at->row].fails - r->fails;
		pass_row(r);
	}
	return find_row(r) && is_kind(r, RN_ORDER_VALUE);
}

bool rn_replay_value(const struct rn_order_call *c, int64_t *value, uint32_t n)
{
	struct rn_replay *r = c->o->replay;

	for (uint32_t i = 0; i < n; i++) {
		if (r->at->over || !find_value(r) || !is_same(r, c))
			return false;
		value[i] = r->values[r->value];
		r->at->calls++;
		pass_row(r);
	}
	return true;
}
