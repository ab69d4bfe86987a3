/* events_from_calls.c - see events_from_calls.h. */
#include "analysis/events_from_calls.h"

#include <string.h>

#include "analysis/call_args.h"
#include "analysis/request_follow.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "read/calls.h"
#include "read/trace.h"

#define NONE RN_FOLLOW_NONE

/* A call that is not nested. */
struct call {
	const struct rn_call *c;
	const struct rn_arg_function *f;
	uint32_t comm; /* communicator number; 0: none */
	bool failed;
};

struct rn_outcomes {
	const struct rn_trace *t;
	const struct rn_arg_function *function; /* by function number of the trace */
	struct rn_arg_words words;
	struct rn_calls *calls_of;
	struct rn_sigs *comm;    /* communicator names, zero-terminated; id = number - 1 */
	struct rn_buf comm_name; /* const char *, by id */
	uint32_t *comm_of_sig;   /* communicator number + 1, by signature; 0: not yet determined */
	/* State of the current stream. */
	struct rn_follow f;
	struct rn_buf thread;         /* struct rn_outcome_thread */
	struct rn_buf site;           /* struct rn_order_site */
	struct rn_buf row;            /* struct rn_order_row */
	struct rn_buf done;           /* struct rn_order_done */
	struct rn_buf value;          /* int64_t */
	size_t first_row;             /* index of the thread's first row */
	const struct rn_value *given; /* request values of the current call */
	struct rn_sigs *site_ids;
	struct rn_plan_call *call;
	size_t calls;
};

#define ADD(o, b, type, ...) rn_follow_add(&(o)->f, b, &(type)__VA_ARGS__, sizeof(type))

static void *keep(struct rn_outcomes *o, const struct rn_buf *b, struct rn_arena *mem)
{
	void *p = rn_alloc(mem, 1, _Alignof(max_align_t), b->len + 1);

	if (!p)
		o->f.rc = RN_E_NOMEM;
	else if (b->len)
		memcpy(p, b->data, b->len);
	return p;
}

static size_t dones(const struct rn_outcomes *o)
{
	return RN_BUF_COUNT(&o->done, struct rn_order_done);
}

/* ---- events ---- */

static uint32_t find_site(struct rn_outcomes *o, const struct rn_order_site *s)
{
	uint32_t i = 0;

	if (rn_sigs_intern(o->site_ids, s, sizeof(*s), &i) < 0)
		o->f.rc = RN_E_NOMEM;
	else if (i == RN_BUF_COUNT(&o->site, struct rn_order_site))
		rn_follow_add(&o->f, &o->site, s, sizeof(*s));
	return i;
}

/* Adds an event: an operation on which MPI_Cancel was called has ended. */
static void add_cancel(struct rn_outcomes *o, const struct rn_follow_request *r, bool cancelled)
{
	struct rn_order_site s = { .kind = RN_ORDER_CANCELLATION,
				   .function = RN_ORDER_NO_FUNCTION };

	ADD(o, &o->row, struct rn_order_row, { .site = find_site(o, &s), .done = 1 });
	ADD(o, &o->value, int64_t, { (int64_t)(r->directed << 1 | cancelled) });
}

/* ---- traits ---- */

/* The value of a parameter, or NULL. */
static const struct rn_value *arg(const struct call *c, uint8_t param)
{
	return param == RN_NO_PARAM ? NULL : rn_arg(c->f, c->c, param);
}

static int32_t number_of(const struct rn_outcomes *o, const struct call *c, uint8_t param)
{
	return rn_arg_number(&o->words, arg(c, param));
}

static bool is(const struct call *c, uint32_t traits)
{
	return c->f->traits->is & traits;
}

/* The messages of partitioned operations are not tracked. */
static bool sends(const struct call *c)
{
	return is(c, RN_IS_sends) && !is(c, RN_IS_partitioned);
}

static bool receives(const struct call *c)
{
	return is(c, RN_IS_receives) && !is(c, RN_IS_partitioned);
}

/* Whether the arguments name the message that the call sends or receives. MPI_Mrecv has a message
 * handle instead. */
static bool names_message(const struct call *c)
{
	return (sends(c) || receives(c)) &&
	       (c->f->traits->dest != RN_NO_PARAM || c->f->traits->source != RN_NO_PARAM);
}

static enum rn_order_kind kind_of(const struct call *c)
{
	return is(c, RN_IS_probes)  ? RN_ORDER_PROBE
	       : is(c, RN_IS_any)   ? RN_ORDER_ANY
	       : is(c, RN_IS_some)  ? RN_ORDER_SOME
	       : is(c, RN_IS_tests) ? RN_ORDER_TEST
				    : RN_ORDER_WAIT;
}

/* ---- rows ---- */

/* The row that a call of this event site continues. It has no completions yet. */
static struct rn_order_row *row_of(struct rn_outcomes *o, const struct call *c)
{
	struct rn_order_site s = { kind_of(c), c->f->number, c->comm, c->c->args->site };
	uint32_t site = find_site(o, &s);
	size_t n = RN_BUF_COUNT(&o->row, struct rn_order_row);
	struct rn_order_row *last = NULL;

	if (n > o->first_row && o->f.rc == RN_OK)
		last = RN_BUF_AT(&o->row, struct rn_order_row, n - 1);
	if (last && last->site == site && !last->done && last->fails < UINT32_MAX)
		return last;
	ADD(o, &o->row, struct rn_order_row, { .site = site });
	return o->f.rc == RN_OK ? RN_BUF_AT(&o->row, struct rn_order_row, n) : NULL;
}

static void add_failure(struct rn_outcomes *o, const struct call *c)
{
	struct rn_order_row *r = row_of(o, c);

	if (r)
		r->fails++;
}

/* Ends the call's row. Its completions are the last n that were added. */
static void add_row(struct rn_outcomes *o, const struct call *c, size_t n)
{
	struct rn_order_row *r = n ? row_of(o, c) : NULL;

	if (r)
		r->done = (uint32_t)n;
}

static void add_done(struct rn_outcomes *o, uint32_t index, uint32_t late,
		     const struct rn_arg_status *s, bool matches)
{
	struct rn_order_done d = { .index = index, .late = late };

	if (s && s->cancelled) {
		d.flags = RN_ORDER_CANCELLED;
	} else if (s && s->known && matches) {
		d.source = s->source;
		d.tag = s->tag;
		d.flags = RN_ORDER_MATCHED;
	}
	rn_follow_add(&o->f, &o->done, &d, sizeof(d));
}

/* Adds the completion of a wildcard receive at index `index` of its call. */
static void add_received(struct rn_outcomes *o, uint32_t index, uint32_t recv,
			 const struct rn_arg_status *s)
{
	add_done(o, index, rn_follow_match(&o->f, recv, s), s, true);
}

/* ---- calls that send and receive ---- */

/* The status of a blocking receive or of a probe. Such a message cannot have been cancelled,
 * although MPICH may set the flag in the status of a probe. */
static struct rn_arg_status came(struct rn_outcomes *o, const struct call *c)
{
	struct rn_arg_status s = rn_arg_status(&o->words, arg(c, c->f->traits->status));

	s.cancelled = false;
	return s;
}

static struct rn_message message_of(struct rn_outcomes *o, const struct call *c, uint8_t peer,
				    uint8_t tag)
{
	const struct rn_template_comm *m = &c->c->args->comm_of[0];

	return (struct rn_message){ c->comm, c->comm && m->known ? (int32_t)m->rank : -1,
				    number_of(o, c, peer), number_of(o, c, tag) };
}

static struct rn_message outgoing(struct rn_outcomes *o, const struct call *c)
{
	return message_of(o, c, c->f->traits->dest, c->f->traits->tag);
}

static struct rn_message incoming(struct rn_outcomes *o, const struct call *c)
{
	return message_of(o, c, c->f->traits->source, c->f->traits->recvtag);
}

static void take_message(struct rn_outcomes *o, const struct call *c)
{
	struct rn_message out = outgoing(o, c), in = incoming(o, c);
	uint32_t send = sends(c) ? rn_follow_send(&o->f, &out, dones(o)) : NONE;
	uint32_t recv = receives(c) ? rn_follow_recv(&o->f, &in, true) : NONE;
	struct rn_arg_status s;

	if (c->failed)
		return;
	rn_follow_end_send(&o->f, send, is(c, RN_IS_synchronous), false);
	if (recv == NONE)
		return;
	s = came(o, c);
	if (rn_follow_is_numbered(&o->f, recv)) {
		add_received(o, 0, recv, &s);
		add_row(o, c, 1);
	}
	rn_follow_end_recv(&o->f, recv, &s);
}

/* Adds a message that a probe found. A probe that returns the message handle has received the
 * message. */
static void take_probe(struct rn_outcomes *o, const struct call *c)
{
	struct rn_message m = incoming(o, c);
	bool once = is(c, RN_IS_tests);
	struct rn_arg_status s;

	if (c->failed || m.peer == RN_PLAN_NOBODY)
		return;
	if (once && !rn_arg_true(arg(c, c->f->traits->flag))) {
		add_failure(o, c);
		return;
	}
	s = came(o, c);
	if (once || rn_message_is_wild(&m)) {
		add_done(o, 0, RN_ORDER_NOT, &s, true);
		add_row(o, c, 1);
	}
	if (receives(c))
		rn_follow_end_recv(&o->f, rn_follow_recv(&o->f, &m, false), &s);
}

/* ---- requests ---- */

/* A call that creates a request. If the trace does not contain the request, its operation still has
 * an ordinal. */
static void take_maker(struct rn_outcomes *o, const struct call *c)
{
	struct rn_follow_request r = { .sends = sends(c),
				       .synchronous = is(c, RN_IS_synchronous),
				       .receives = receives(c),
				       .out = outgoing(o, c),
				       .in = incoming(o, c),
				       .persistent = is(c, RN_IS_prepares),
				       .send = NONE,
				       .recv = NONE };
	const struct rn_value *v = arg(c, c->f->traits->request);

	if (!r.persistent)
		rn_follow_start(&o->f, &r, dones(o));
	if (v->kind == RN_V_REQUEST && v->id == RN_REQUEST_CREATED)
		rn_follow_new(&o->f, &r, (uint64_t)v->num);
}

/* Finds the requests of a call, which are single values. Returns their number. */
static size_t list_given(struct rn_outcomes *o, const struct call *c)
{
	const struct rn_value *v = arg(c, c->f->traits->request);
	bool list = v && v->kind == RN_V_LIST;

	o->given = list ? v + 1 : v;
	return list ? (size_t)v->num : v != NULL;
}

static struct rn_follow_request *given_request(const struct rn_outcomes *o, size_t i)
{
	return rn_follow_find(&o->f, &o->given[i]);
}

static void take_start(struct rn_outcomes *o, const struct call *c)
{
	size_t n = c->failed ? 0 : list_given(o, c);

	for (size_t i = 0; i < n && o->f.rc == RN_OK; i++) {
		struct rn_follow_request *r = given_request(o, i);

		if (r && r->persistent)
			rn_follow_start(&o->f, r, dones(o));
		else
			o->f.directed++; /* a request that is not followed is not a receive */
	}
}

/* Marks the requests that MPI_Cancel was called for, except wildcard receives, which are identified
 * by their ordinals. */
static void take_cancel(struct rn_outcomes *o, const struct call *c)
{
	size_t n = c->failed ? 0 : list_given(o, c);

	for (size_t i = 0; i < n; i++) {
		struct rn_follow_request *r = given_request(o, i);

		if (r && r->active && !rn_follow_is_numbered(&o->f, r->recv) &&
		    (r->sends || r->receives))
			r->cancel = true;
	}
}

/* Removes the requests that the call has freed. */
static void forget_gone(struct rn_outcomes *o, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rn_follow_request *r = NULL;

		if (o->given[i].id == RN_REQUEST_ENDED)
			r = given_request(o, i);
		if (r)
			rn_follow_forget(&o->f, r);
	}
}

/* ---- calls that complete requests ---- */

/* Whether the request is an active wildcard receive whose outcome is in no event yet. */
static bool is_unseen(const struct rn_outcomes *o, const struct rn_follow_request *r)
{
	return r && r->active && !r->told && rn_follow_is_numbered(&o->f, r->recv);
}

/* Records that the call completed request i. Returns the number of completions added, 0 or 1.
 * `all`: a completion is added even if the request is not a wildcard receive. The trace contains
 * the source and tag of a completed wildcard receive even if the program ignored the status. A
 * status without them therefore means that the receive was cancelled. */
static size_t complete(struct rn_outcomes *o, const struct call *c, size_t i,
		       struct rn_arg_status s, bool all)
{
	struct rn_follow_request *r = given_request(o, i);

	if (s.pending || o->f.rc < 0)
		return 0;
	if (is_unseen(o, r)) {
		s.cancelled |= s.ignored;
		add_received(o, (uint32_t)i, r->recv, &s);
		r->told = all = true;
	} else if (all) {
		add_done(o, (uint32_t)i, RN_ORDER_NOT, &s, false);
	}
	if (r && r->active) {
		if (r->cancel && !s.ignored && is(c, RN_IS_completes) && r->thread == o->f.thread)
			add_cancel(o, r, s.cancelled);
		rn_follow_end_send(&o->f, r->send, r->synchronous, s.cancelled);
		rn_follow_end_recv(&o->f, r->recv, &s);
		r->active = !is(c, RN_IS_completes);
	}
	return all;
}

/* Records that all n requests of the call completed. */
static void take_all(struct rn_outcomes *o, const struct call *c, size_t n)
{
	bool tests = is(c, RN_IS_tests), active = c->f->traits->request == RN_NO_PARAM;
	struct rn_arg_statuses l = rn_arg_statuses(arg(c, c->f->traits->status));
	size_t done = 0;

	if (tests && !c->failed && !rn_arg_true(arg(c, c->f->traits->flag))) {
		add_failure(o, c);
		return;
	}
	for (size_t i = 0; i < n && !active; i++)
		active = rn_follow_is_active(&o->f, &o->given[i]);
	for (size_t i = 0; i < n; i++)
		done += complete(o, c, i, rn_arg_status_next(&o->words, &l), false);
	if (tests && active && done == 0) {
		add_done(o, 0, RN_ORDER_NOT, NULL, false);
		done = 1;
	}
	add_row(o, c, done);
}

static bool is_index(const struct rn_value *v, size_t n)
{
	return v->kind == RN_V_INT && v->num >= 0 && (uint64_t)v->num < n;
}

static void take_any(struct rn_outcomes *o, const struct call *c, size_t n)
{
	const struct rn_value *index = arg(c, c->f->traits->index);

	if (c->failed)
		return;
	if (is(c, RN_IS_tests) && !rn_arg_true(arg(c, c->f->traits->flag)))
		add_failure(o, c);
	else if (is_index(index, n))
		add_row(o, c,
			complete(o, c, (size_t)index->num,
				 rn_arg_status(&o->words, arg(c, c->f->traits->status)), true));
}

static void take_some(struct rn_outcomes *o, const struct call *c, size_t n)
{
	const struct rn_value *count = arg(c, c->f->traits->index);
	const struct rn_value *indices = arg(c, c->f->traits->indices), *v = indices + 1;
	struct rn_arg_statuses l = rn_arg_statuses(arg(c, c->f->traits->status));
	size_t done = 0;

	if (count->kind == RN_V_INT && count->num == 0)
		add_failure(o, c);
	if (indices->kind != RN_V_LIST)
		return;
	for (int64_t i = 0; i < indices->num; i++, v += v->span) {
		struct rn_arg_status s = rn_arg_status_next(&o->words, &l);

		if (is_index(v, n))
			done += complete(o, c, (size_t)v->num, s, true);
	}
	add_row(o, c, done);
}

/* A call that failed may have completed requests. Its statuses then say so. */
static void take_completion(struct rn_outcomes *o, const struct call *c)
{
	size_t n = list_given(o, c);

	if (!c->failed || rn_arg_statuses(arg(c, c->f->traits->status)).left > 0) {
		if (is(c, RN_IS_any))
			take_any(o, c, n);
		else if (is(c, RN_IS_some))
			take_some(o, c, n);
		else
			take_all(o, c, n);
	}
	forget_gone(o, n);
}

/* ---- the stream ---- */

static void take_call(struct rn_outcomes *o, const struct call *c)
{
	if (is(c, RN_IS_probes)) {
		take_probe(o, c);
	} else if (is(c, RN_IS_prepares) || (is(c, RN_IS_starts) && names_message(c))) {
		take_maker(o, c);
	} else if (names_message(c)) {
		take_message(o, c);
	} else if (is(c, RN_IS_activates)) {
		take_start(o, c);
	} else if (is(c, RN_IS_completes | RN_IS_tests)) {
		take_completion(o, c);
	} else if (is(c, RN_IS_cancels)) {
		take_cancel(o, c);
	} else if (is(c, RN_IS_frees)) {
		forget_gone(o, list_given(o, c));
	}
}

/* The destination parameter; without one the source, and without that the root. */
static uint8_t peer_of(const struct rn_traits *t)
{
	return t->dest != RN_NO_PARAM ? t->dest : t->source != RN_NO_PARAM ? t->source : t->root;
}

static void keep_call(struct rn_outcomes *o, const struct call *c)
{
	const struct rn_traits *t = c->f->traits;
	bool both = sends(c) && receives(c);

	o->call[o->calls++] = (struct rn_plan_call){
		.function = c->f->number,
		.comm = c->comm,
		.peer = number_of(o, c, peer_of(t)),
		.tag = number_of(o, c, t->tag),
		.count = rn_arg_count(arg(c, t->count)),
		.source = both ? number_of(o, c, t->source) : RN_PLAN_NOTHING,
		.recvtag = both ? number_of(o, c, t->recvtag) : RN_PLAN_NOTHING,
	};
}

/* The number of a communicator; 0 if memory is exhausted. */
static uint32_t comm_number(struct rn_outcomes *o, const char *name, size_t len)
{
	char text[256] = "";
	size_t got;
	uint32_t id;

	memcpy(text, name, len < sizeof(text) ? len : sizeof(text) - 1);
	if (rn_sigs_intern(o->comm, text, strlen(text) + 1, &id) < 0)
		o->f.rc = RN_E_NOMEM;
	else if (id == RN_BUF_COUNT(&o->comm_name, const char *))
		ADD(o, &o->comm_name, const char *, { rn_sigs_get(o->comm, id, &got) });
	return o->f.rc == RN_OK ? id + 1 : 0;
}

/* The communicator of a call, if it is an input; otherwise 0. */
static uint32_t comm_of(struct rn_outcomes *o, const struct rn_call *c,
			const struct rn_arg_function *f)
{
	const struct rn_template_comm *m = &c->args->comm_of[0];
	uint32_t *known = &o->comm_of_sig[c->sig];

	if (!*known && c->args->comm < f->ins)
		*known = 1 + comm_number(o, m->name, m->len);
	return *known ? *known - 1 : 0;
}

/* Processes a call, or a marker that closes a request of another stream. */
static void take_any_call(struct rn_outcomes *o, const struct rn_call *c)
{
	const struct rn_arg_function *f = &o->function[c->args->func->number];
	struct call call = { c, f, comm_of(o, c, f), rn_call_failed(&o->words, c) };

	if (o->call && c->marker == RN_MARKER_NONE)
		keep_call(o, &call);
	take_call(o, &call);
}

/* The calls that follow in the stream were made by another thread. */
static void begin_thread(struct rn_outcomes *o, int64_t lineage, bool named)
{
	o->first_row = RN_BUF_COUNT(&o->row, struct rn_order_row);
	ADD(o, &o->thread, struct rn_outcome_thread,
	    { lineage, named, o->first_row, dones(o), RN_BUF_COUNT(&o->value, int64_t),
	      o->f.first_match, o->calls });
}

static int take_thread(struct rn_outcomes *o, const struct rn_call *c)
{
	const struct rn_value *lineage = c->args->value;

	if (c->args->ret == 0 || lineage->kind != RN_V_INT)
		return RN_E_DATA;
	rn_follow_begin_thread(&o->f);
	begin_thread(o, lineage->num, true);
	return o->f.rc;
}

/* A call follows its nested calls in the stream, so calls that are not nested are in the order in
 * which they were entered. Calls in flight at the marker of another thread never returned. */
static int walk(struct rn_outcomes *o)
{
	uint32_t base = 0; /* calls in flight at the last marker of a thread */
	struct rn_call c;
	int rc;

	while ((rc = rn_calls_next(o->calls_of, &c)) > 0) {
		base = base < c.depth ? base : c.depth;
		if (c.marker == RN_MARKER_THREAD) {
			base = c.depth;
			rc = take_thread(o, &c);
		} else if (c.depth == base || c.marker == RN_MARKER_ENDED) {
			take_any_call(o, &c);
			rc = o->f.rc;
		}
		if (rc < 0)
			break;
	}
	return rc;
}

/* ---- */

/* The arrays of the stream by index; NULL after the last one. */
static struct rn_buf *array(struct rn_outcomes *o, unsigned i)
{
	struct rn_buf *const all[] = { &o->thread, &o->site,   &o->row,    &o->done,    &o->value,
				       &o->f.send, &o->f.sent, &o->f.recv, &o->f.match, NULL };

	return all[i];
}

struct rn_outcomes *rn_outcomes_new(struct rn_arena *mem, const struct rn_trace *t)
{
	struct rn_outcomes *o = rn_new(mem, struct rn_outcomes, 1);

	if (!o)
		return NULL;
	rn_arena_init(&o->f.scratch, SIZE_MAX);
	o->t = t;
	o->words = rn_arg_words_of(&t->vocab);
	o->function = rn_arg_functions(mem, &t->vocab);
	o->comm = rn_sigs_new(mem);
	o->comm_of_sig = rn_new(mem, uint32_t, rn_sigs_count(t->streams.sigs));
	if (o->function && o->comm && o->comm_of_sig && comm_number(o, "MPI_COMM_WORLD", 14) &&
	    comm_number(o, "MPI_COMM_SELF", 13))
		o->calls_of = rn_calls_new(mem, t, NULL);
	if (o->calls_of)
		return o;
	rn_outcomes_free(o);
	return NULL;
}

void rn_outcomes_free(struct rn_outcomes *o)
{
	if (!o)
		return;
	rn_calls_free(o->calls_of);
	rn_arena_free(&o->f.scratch);
	rn_buf_free(&o->comm_name);
	for (unsigned i = 0; array(o, i); i++)
		rn_buf_free(array(o, i));
}

const char *const *rn_outcomes_comms(const struct rn_outcomes *o, uint32_t *n)
{
	*n = (uint32_t)RN_BUF_COUNT(&o->comm_name, const char *);
	return RN_BUF_AT(&o->comm_name, const char *const, 0);
}

static int begin(struct rn_outcomes *o)
{
	for (unsigned i = 0; array(o, i); i++)
		rn_buf_clear(array(o, i));
	rn_follow_begin(&o->f);
	o->call = NULL;
	o->calls = 0;
	begin_thread(o, 0, false);
	o->site_ids = rn_sigs_new(&o->f.scratch);
	return o->site_ids ? o->f.rc : RN_E_NOMEM;
}

static int finish(struct rn_outcomes *o, struct rn_arena *mem, struct rn_outcome *out)
{
	*out = (struct rn_outcome){
		.thread = keep(o, &o->thread, mem),
		.threads = RN_BUF_COUNT(&o->thread, struct rn_outcome_thread),
		.order = { .site = keep(o, &o->site, mem),
			   .row = keep(o, &o->row, mem),
			   .done = keep(o, &o->done, mem),
			   .value = keep(o, &o->value, mem),
			   .send = keep(o, &o->f.send, mem),
			   .sites = RN_BUF_COUNT(&o->site, struct rn_order_site),
			   .rows = RN_BUF_COUNT(&o->row, struct rn_order_row),
			   .dones = dones(o),
			   .values = RN_BUF_COUNT(&o->value, int64_t),
			   .sends = RN_BUF_COUNT(&o->f.send, struct rn_order_send) },
		.sent = keep(o, &o->f.sent, mem),
		.recv = keep(o, &o->f.recv, mem),
		.recvs = RN_BUF_COUNT(&o->f.recv, struct rn_outcome_recv),
		.match = keep(o, &o->f.match, mem),
		.matches = RN_BUF_COUNT(&o->f.match, struct rn_plan_match),
		.call = o->call,
		.calls = o->calls,
	};
	return o->f.rc;
}

int rn_outcomes_read(struct rn_outcomes *o, uint64_t stream, uint32_t group, bool calls,
		     struct rn_arena *mem, struct rn_outcome *out)
{
	uint64_t length = rn_streams_length(&o->t->streams, group);
	int rc = begin(o);

	if (rc == RN_OK)
		rc = rn_calls_begin(o->calls_of, stream, group, 0, UINT64_MAX);
	if (rc < 0)
		return rc;
	if (length > RN_OUTCOMES_CALLS)
		return RN_E_RANGE;
	if (calls && !(o->call = rn_new(mem, struct rn_plan_call, length + 1)))
		return RN_E_NOMEM;
	rc = walk(o);
	return rc == RN_OK ? finish(o, mem, out) : rc;
}
