/* replay_cursor.c - see replay_cursor.h. */
#include "replay/replay_state.h"

#include "base/bisect.h"
#include "runtime/wait_state.h"
#include "trace/comm_registry.h"

#include <stdio.h>
#include <string.h>

/* Finds the plan by thread lineage; if the recording has no lineages, by stream index. */
static struct rn_replay *plan_of(const struct rn_order_thread *o)
{
	for (uint32_t i = 0; i < rn_replayed.threads; i++) {
		const struct rn_plan_stream *s = rn_replayed.thread[i].s;

		if (s->born ? s->birth == o->birth : i == o->stream)
			return &rn_replayed.thread[i];
	}
	return NULL;
}

void rn_replay_thread(struct rn_stream *t, struct rn_order_thread *o)
{
	(void)t;
	o->replay = plan_of(o);
}

void rn_replay_rejoin(void)
{
	for (struct rn_order_thread *o = rn_order_threads; o; o = o->next)
		o->replay = plan_of(o);
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
	if (n >= rn_replayed.threads)
		return NULL;
	*from = __atomic_load_n(&rn_replayed.thread[n].at->messages, __ATOMIC_RELAXED);
	return &rn_replayed.thread[n];
}

void rn_replay_start(struct rn_replay *r, const struct rn_plan_match *m)
{
	r->at->messages += m->state != RN_PLAN_UNSEEN;
	r->at->cancelled += m->state == RN_PLAN_CANCELLED;
}

const struct rn_plan_match *rn_replay_match_of(const struct rn_tracked *f)
{
	return f && f->starter->replay && rn_tracked_is_wild(f)
		       ? rn_replay_match(f->starter->replay, f->ordinal)
		       : NULL;
}

/* Operations are sorted by number. */
enum rn_cancel rn_replay_cancel(const struct rn_replay *r, uint64_t number)
{
	uint64_t n = r->at->over || r->free ? 0 : r->s->cancel.n;
	struct rn_bisect b = { 0, n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, r->cancels[b.mid].number < number);
	if (b.lo == n || r->cancels[b.lo].number != number)
		return RN_CANCEL_NOT;
	return r->cancels[b.lo].cancelled ? RN_CANCEL_DONE : RN_CANCEL_FAILED;
}

bool rn_replay_next_cancelled(void)
{
	const struct rn_order_thread *o = rn_order_current(rn_me);

	return o && o->replay && rn_replay_cancel(o->replay, o->numbered) == RN_CANCEL_DONE;
}

bool rn_replay_knows_sends(const struct rn_replay *r)
{
	return r->s->call.n > 0;
}

const char *rn_replay_comm(uint32_t number)
{
	return rn_plan_text(rn_replayed.plan, &rn_replayed.plan->comm, (uint64_t)number - 1);
}

void rn_replay_count_unenforced(uint32_t function)
{
	const struct rn_plan_list *l;
	uint64_t *n;

	if (!rn_replayed.plan)
		return;
	l = &rn_replayed.plan->unenforced;
	n = (uint64_t *)(void *)((char *)rn_replayed.plan + l->at);
	if (function < l->n)
		__atomic_fetch_add(&n[function], 1, __ATOMIC_RELAXED);
}

/* ---- posting order of threads ---- */

/* Programs usually create and use communicators in the recorded order, so the search starts at the
 * latest hit. */
const struct rn_plan_turn *rn_replay_turns(const char *comm, enum rn_plan_turn_of of, uint64_t *n)
{
	static uint32_t latest; /* protected by the tracer lock */
	uint32_t number = rn_plan_comm(rn_replayed.plan, comm, latest);

	latest = number ? number : latest;
	return rn_plan_turns(rn_replayed.plan, number, of, n);
}

/* ---- the next event ---- */

static bool is_kind(const struct rn_replay *r, enum rn_order_kind kind)
{
	return r->site[r->rows[r->at->row].site].kind == (uint32_t)kind;
}

static void pass_row(struct rn_replay *r)
{
	const struct rn_order_row *row = &r->rows[r->at->row];

	if (rn_order_has_numbers(&r->site[row->site]))
		r->value += row->done;
	else
		r->done += row->done;
	r->events += row->fails + (row->done > 0);
	r->at->row++;
	r->fails = 0;
}

/* Skips to the next row that a call is compared with. Returns false at the end. */
static bool find_row(struct rn_replay *r)
{
	while (r->at->row < r->s->row.n && !rn_order_in_order(&r->site[r->rows[r->at->row].site]))
		pass_row(r);
	return r->at->row < r->s->row.n;
}

bool rn_replay_has_events(const struct rn_replay *r)
{
	if (r->at->over)
		return false;
	for (uint64_t i = r->at->row; i < r->s->row.n; i++) {
		const struct rn_order_site *s = &r->site[r->rows[i].site];

		if (r->rows[i].done && s->kind != RN_ORDER_VALUE && rn_order_in_order(s))
			return true;
	}
	return r->at->messages < r->s->known;
}

static uint64_t earlier(uint64_t row, uint64_t other_plus_1)
{
	return other_plus_1 && other_plus_1 <= row ? other_plus_1 - 1 : row;
}

uint64_t rn_replay_pending_row(const struct rn_replay *r)
{
	uint64_t row = r->at->row;

	while (row < r->s->row.n && !rn_order_in_order(&r->site[r->rows[row].site]))
		row++;
	return row;
}

uint64_t rn_replay_next_row(const struct rn_order_thread *o)
{
	const struct rn_replay *r = o->replay;

	return earlier(rn_replay_pending_row(r), rn_replay_match(r, o->started)->row);
}

uint64_t rn_replay_row_of(const struct rn_order_call *c)
{
	return earlier(rn_replay_next_row(c->o), c->row);
}

uint64_t rn_replay_event(const struct rn_replay *r, uint64_t row)
{
	uint64_t event = r->events + (row == r->at->row ? r->fails : 0);

	for (uint64_t i = r->at->row; i < row && i < r->s->row.n; i++)
		event += r->rows[i].fails + (r->rows[i].done > 0);
	for (uint64_t i = row; i < r->at->row; i++)
		event -= r->rows[i].fails + (r->rows[i].done > 0);
	return event;
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

static bool same_site(const struct rn_order_site *s, const struct rn_order_call *c)
{
	return s->function == c->function && same_comm(s->comm, c->comm);
}

/* Returns whether the call is that of the next row and can match the message of this row. */
static bool is_same(const struct rn_replay *r, const struct rn_order_call *c)
{
	const struct rn_order_row *row = &r->rows[r->at->row];
	const struct rn_order_site *s = &r->site[row->site];
	const struct rn_order_done *d = &r->dones[r->done];

	return same_site(s, c) &&
	       (s->kind != RN_ORDER_PROBE || !row->done || rn_order_asks_for(c, d->source, d->tag));
}

const struct rn_order_site *rn_replay_match_site(const struct rn_replay *r,
						 const struct rn_plan_match *m)
{
	return m->row && m->row <= r->s->row.n ? &r->site[r->rows[m->row - 1].site] : NULL;
}

bool rn_replay_accepts(const struct rn_order_call *c, const struct rn_plan_match *m)
{
	const struct rn_order_site *s = rn_replay_match_site(c->o->replay, m);

	return rn_order_asks_for(c, m->source, m->tag) && (!s || same_comm(s->comm, c->comm));
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

static void name_next_call(struct rn_replay *r, const struct rn_order_call *c)
{
	uint64_t row = rn_replay_row_of(c);
	const char *name = row < r->s->row.n ? rn_replay_name(r->site[r->rows[row].site].function)
					     : "a receive";

	snprintf(r->next_call, sizeof(r->next_call), "%s, the next call in the recording", name);
	r->patience.what = r->next_call;
}

bool rn_replay_polls_long(const struct rn_order_thread *o)
{
	return o->replay && o->replay->patience.spins + 1 >= RN_PATIENCE_LOOKS;
}

/* Handles a failed test that was not recorded: the next recorded event belongs to another call, or
 * the test cannot match its message. */
static enum rn_fate fail_more(struct rn_replay *r, const struct rn_order_call *c)
{
	r->at->more++;
	if (r->patience.spins == 0)
		name_next_call(r, c);
	r->patience.row = rn_replay_row_of(c) + 1;
	if (rn_replay_wait(&r->patience, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING))
		return RN_FATE_FREE;
	if (!r->patience.told)
		return RN_FATE_FAIL;
	rn_replay_diverges(c, "and the program makes no other call");
	return RN_FATE_FREE;
}

/* Handles a call when the recording has no more rows, but receives that are not started yet. */
static enum rn_fate more_to_receive(struct rn_replay *r, const struct rn_order_call *c,
				    bool may_fail)
{
	if (may_fail)
		return fail_more(r, c);
	rn_replay_diverges(c, NULL);
	return RN_FATE_FREE;
}

static enum rn_fate succeed(struct rn_replay *r, const struct rn_order_row **row,
			    const struct rn_order_done **done)
{
	*row = &r->rows[r->at->row];
	*done = &r->dones[r->done];
	r->at->fewer += (*row)->fails - r->fails;
	r->at->calls++;
	if (r->patience.spins)
		rn_wait_describe("", "");
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

		/* Failed polls are counted per event site, whatever message they asked for. */
		if (may_fail && r->fails < next->fails && same_site(&r->site[next->site], c))
			return fail_again(r);
		if (is_same(r, c)) {
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
	if (!r->at->over && r->at->messages < r->s->known)
		return more_to_receive(r, c, may_fail);
	rn_replay_over(c);
	return RN_FATE_FREE;
}

/* The failed polls of the row have been counted already. */
void rn_replay_again(const struct rn_order_call *c)
{
	struct rn_replay *r = c->o->replay;
	const struct rn_order_row *row = &r->rows[--r->at->row];

	r->events -= row->fails + (row->done > 0);
	r->done -= row->done;
	r->fails = row->fails;
	r->at->calls--;
	r->at->again++;
	if (r->again_row != r->at->row || !r->again.what)
		r->again = (struct rn_patience){ .what = "a generalised request, which the record "
							 "says will be complete" };
	r->again_row = r->at->row;
	r->again.row = r->at->row + 1;
	rn_replay_wait(&r->again, c, RN_PLAN_NOTHING, RN_PLAN_NOTHING);
}

/* Skips failed tests that were recorded and do not occur now. Returns whether the next row is a
 * value. */
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
