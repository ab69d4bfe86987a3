/* outcomes.c - see outcomes.h. */
#include "analyse/outcomes.h"

#include <string.h>

#include "analyse/call_args.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/seg.h"
#include "encode/sigs.h"
#include "order/ordinals.h"
#include "read/calls.h"
#include "read/trace.h"

#define NONE UINT32_MAX

/* A message as it is sent, or asked for. */
struct message {
	uint32_t comm;
	int32_t me; /* rank in it, or -1 */
	int32_t peer, tag;
};

/* A call that is not inside another. */
struct call {
	const struct rn_call *c;
	const struct rn_arg_function *f;
	uint32_t comm; /* the number of its communicator; 0: none */
	bool failed;
};

/* A request that is followed. */
struct request {
	uint64_t number;
	bool sends, synchronous, receives; /* sends `out`, receives `in` */
	struct message out, in;
	bool persistent, active;
	size_t thread;       /* index in the stream of the thread that started it */
	bool seen;           /* what it received has been told */
	uint64_t directed;   /* its number, if it is active and no wildcard receive */
	bool cancel;         /* MPI_Cancel was called for it */
	uint32_t send, recv; /* of the outcome, if it is active; or NONE */
	uint32_t next;       /* of those that are not used */
};

/* A growing array of results. */
struct list {
	struct rn_buf bytes;
	size_t n;
};

struct rn_outcomes {
	const struct rn_trace *t;
	const struct rn_arg_function *function; /* by number */
	struct rn_arg_words words;
	struct rn_calls *calls_of;
	struct rn_sigs *comm;  /* names of communicators, terminated; number - 1 */
	struct list comm_name; /* const char * */
	uint32_t *comm_of_sig; /* the number of its communicator + 1; 0: not known yet */
	/* The stream. */
	struct rn_arena scratch;
	int rc; /* RN_E_NOMEM: of whatever */
	struct list thread, site, row, done, value, send, sent, recv, match;
	size_t first_row, first_match; /* where the thread's rows and matches start */
	struct rn_map site_of;
	struct rn_map request_of;
	struct rn_seg request;   /* struct request */
	uint32_t unused;         /* the first unused request, or NONE */
	struct rn_ordinals open; /* open wildcard receives of the thread */
	uint64_t directed; /* number of operations of the thread so far, except wildcard receives */
	struct rn_plan_call *call;
	size_t calls;
	bool finalized;
	struct list given; /* struct rn_value: the requests of a call */
};

static void no_memory(struct rn_outcomes *o)
{
	o->rc = RN_E_NOMEM;
}

/* ---- lists ---- */

static void add(struct rn_outcomes *o, struct list *l, const void *item, size_t size)
{
	rn_buf_add(&l->bytes, item, size);
	if (l->bytes.failed)
		no_memory(o);
	else
		l->n++;
}

#define ADD(o, l, type, ...)                    \
	do {                                    \
		type new_ = __VA_ARGS__;        \
		add(o, l, &new_, sizeof(new_)); \
	} while (0)

/* Item i, which is there unless memory was short. */
#define AT(l, type, i) (&((type *)(void *)(l)->bytes.data)[i])

static void empty(struct list *l)
{
	rn_buf_clear(&l->bytes);
	l->n = 0;
}

static void *keep(struct rn_outcomes *o, const struct list *l, struct rn_arena *mem)
{
	void *p = rn_alloc(mem, 1, _Alignof(max_align_t), l->bytes.len + 1);

	if (!p)
		no_memory(o);
	else if (l->bytes.len)
		memcpy(p, l->bytes.data, l->bytes.len);
	return p;
}

/* ---- events ---- */

static uint32_t find_site(struct rn_outcomes *o, const struct rn_order_site *s)
{
	uint32_t tag = (uint32_t)rn_hash(s, sizeof(*s)), pos = tag, i;

	while ((i = rn_map_next(rn_map_page(&o->site_of, tag), tag, &pos)) != RN_MAP_NONE)
		if (memcmp(AT(&o->site, struct rn_order_site, i), s, sizeof(*s)) == 0)
			return i;
	if (rn_map_reserve(&o->site_of, tag) < 0) {
		no_memory(o);
		return 0;
	}
	add(o, &o->site, s, sizeof(*s));
	if (o->rc == RN_OK)
		rn_map_insert(&o->site_of, tag, (uint32_t)o->site.n - 1);
	return (uint32_t)o->site.n - 1;
}

/* An operation that somebody tried to cancel has ended. */
static void add_cancel(struct rn_outcomes *o, const struct request *r, bool cancelled)
{
	struct rn_order_site s = { .kind = RN_ORDER_CANCELLATION,
				   .function = RN_ORDER_NO_FUNCTION };

	ADD(o, &o->row, struct rn_order_row, { .site = find_site(o, &s), .done = 1 });
	ADD(o, &o->value, int64_t, (int64_t)(r->directed << 1 | cancelled));
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

/* The row that a call of that site goes on with: one in which nothing is done yet. */
static struct rn_order_row *row_of(struct rn_outcomes *o, const struct call *c)
{
	struct rn_order_site s = { kind_of(c), c->f->number, c->comm, c->c->args->site };
	uint32_t site = find_site(o, &s);
	struct rn_order_row *last = NULL;

	if (o->row.n > o->first_row && o->rc == RN_OK)
		last = AT(&o->row, struct rn_order_row, o->row.n - 1);
	if (last && last->site == site && !last->done && last->fails < UINT32_MAX)
		return last;
	ADD(o, &o->row, struct rn_order_row, { .site = site });
	return o->rc == RN_OK ? AT(&o->row, struct rn_order_row, o->row.n - 1) : NULL;
}

static void add_failure(struct rn_outcomes *o, const struct call *c)
{
	struct rn_order_row *r = row_of(o, c);

	if (r)
		r->fails++;
}

/* So many of the last things done are this call's. */
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
	ADD(o, &o->done, struct rn_order_done, d);
}

/* ---- messages ---- */

/* A message is sent; its number, or NONE. */
static uint32_t begin_send(struct rn_outcomes *o, const struct message *m)
{
	if (m->peer < 0 || m->me < 0)
		return NONE;
	ADD(o, &o->send, struct rn_order_send, { o->done.n, m->comm, m->me, m->peer, m->tag });
	ADD(o, &o->sent, unsigned char, RN_SENT_OPEN);
	return (uint32_t)o->send.n - 1;
}

static void end_send(struct rn_outcomes *o, uint32_t send, bool synchronous, bool cancelled)
{
	if (send != NONE && o->rc == RN_OK)
		*AT(&o->sent, unsigned char, send) = cancelled     ? RN_SENT_NOT
						     : synchronous ? RN_SENT_SURE
								   : RN_SENT_DONE;
}

static bool is_wild(const struct message *m)
{
	return m->peer == RN_PLAN_ANY || (m->tag == RN_PLAN_ANY && m->peer != RN_PLAN_NOBODY);
}

static uint32_t begin_recv(struct rn_outcomes *o, const struct message *m, bool numbered)
{
	uint32_t number = RN_ORDER_NOT;

	if (m->peer == RN_PLAN_NOBODY)
		return NONE;
	if (numbered && is_wild(m)) {
		number = (uint32_t)o->match.n;
		ADD(o, &o->match, struct rn_plan_match, { .state = RN_PLAN_UNSEEN });
	}
	ADD(o, &o->recv, struct rn_outcome_recv, { m->comm, m->peer, m->tag, number, RN_GOT_OPEN });
	return (uint32_t)o->recv.n - 1;
}

static bool is_numbered(const struct rn_outcomes *o, uint32_t recv)
{
	return recv != NONE && o->rc == RN_OK &&
	       AT(&o->recv, struct rn_outcome_recv, recv)->number != RN_ORDER_NOT;
}

/* Stores the match of a wildcard receive. Returns the number of receives that it has overtaken, or
 * RN_ORDER_NOT if another thread started it. */
static uint32_t tell_match(struct rn_outcomes *o, uint32_t number, const struct rn_arg_status *s)
{
	struct rn_plan_match *m = AT(&o->match, struct rn_plan_match, number);
	uint64_t late;

	if (s->cancelled)
		m->state = RN_PLAN_CANCELLED;
	else if (s->known)
		*m = (struct rn_plan_match){ s->source, s->tag, RN_PLAN_MATCHED, 0 };
	if (number < o->first_match)
		return RN_ORDER_NOT;
	if (!rn_ordinals_done(&o->open, &o->scratch, number - o->first_match, &late))
		no_memory(o);
	return (uint32_t)late;
}

/* It has ended: one that names source and tag has got just that, also if the status is ignored. */
static void end_recv(struct rn_outcomes *o, uint32_t recv, const struct rn_arg_status *s)
{
	struct rn_outcome_recv *r;

	if (recv == NONE || o->rc < 0)
		return;
	r = AT(&o->recv, struct rn_outcome_recv, recv);
	r->got = RN_GOT_NOTHING;
	if (s->cancelled)
		return;
	if (s->known) {
		r->source = s->source;
		r->tag = s->tag;
	}
	if (r->source >= 0 && r->tag >= 0)
		r->got = RN_GOT_MESSAGE;
}

/* The wildcard receive is done, as element `index`. */
static void add_received(struct rn_outcomes *o, uint32_t index, uint32_t recv,
			 const struct rn_arg_status *s)
{
	uint32_t number = AT(&o->recv, struct rn_outcome_recv, recv)->number;

	add_done(o, index, tell_match(o, number, s), s, true);
}

/* ---- calls that send and receive ---- */

/* What a call that waits for a message has got. Nobody could have cancelled it, whatever MPICH
 * leaves in the status of a probe. */
static struct rn_arg_status came(struct rn_outcomes *o, const struct call *c)
{
	struct rn_arg_status s = rn_arg_status(&o->words, arg(c, c->f->traits->status));

	s.cancelled = false;
	return s;
}

static struct message message_of(struct rn_outcomes *o, const struct call *c, uint8_t peer,
				 uint8_t tag)
{
	const struct rn_template_comm *m = &c->c->args->comm_of[0];

	return (struct message){ c->comm, c->comm && m->known ? (int32_t)m->rank : -1,
				 number_of(o, c, peer), number_of(o, c, tag) };
}

static struct message outgoing(struct rn_outcomes *o, const struct call *c)
{
	return message_of(o, c, c->f->traits->dest, c->f->traits->tag);
}

static struct message incoming(struct rn_outcomes *o, const struct call *c)
{
	return message_of(o, c, c->f->traits->source, c->f->traits->recvtag);
}

static void take_message(struct rn_outcomes *o, const struct call *c)
{
	struct message out = outgoing(o, c), in = incoming(o, c);
	uint32_t send = sends(c) ? begin_send(o, &out) : NONE;
	uint32_t recv = receives(c) ? begin_recv(o, &in, true) : NONE;
	struct rn_arg_status s;

	if (c->failed)
		return;
	end_send(o, send, is(c, RN_IS_synchronous), false);
	if (recv == NONE)
		return;
	s = came(o, c);
	if (is_numbered(o, recv)) {
		add_received(o, 0, recv, &s);
		add_row(o, c, 1);
	}
	end_recv(o, recv, &s);
}

/* A message that a probe has found; one that gives it out has received it. */
static void take_probe(struct rn_outcomes *o, const struct call *c)
{
	struct message m = incoming(o, c);
	bool once = is(c, RN_IS_tests);
	struct rn_arg_status s;

	if (c->failed || m.peer == RN_PLAN_NOBODY)
		return;
	if (once && !rn_arg_true(arg(c, c->f->traits->flag))) {
		add_failure(o, c);
		return;
	}
	s = came(o, c);
	if (once || is_wild(&m)) {
		add_done(o, 0, RN_ORDER_NOT, &s, true);
		add_row(o, c, 1);
	}
	if (receives(c))
		end_recv(o, begin_recv(o, &m, false), &s);
}

/* ---- requests ---- */

static uint32_t request_tag(uint64_t number)
{
	return (uint32_t)rn_hash_u64(number);
}

static struct request *find_request(const struct rn_outcomes *o, const struct rn_value *v)
{
	uint32_t tag, pos, i;

	if (v->kind != RN_V_REQUEST || v->id == RN_REQUEST_CREATED || v->num == RN_REQUEST_UNKNOWN)
		return NULL;
	tag = pos = request_tag((uint64_t)v->num);
	while ((i = rn_map_next(rn_map_page(&o->request_of, tag), tag, &pos)) != RN_MAP_NONE) {
		struct request *r = RN_SEG_AT(&o->request, struct request, i);

		if (r->number == (uint64_t)v->num)
			return r;
	}
	return NULL;
}

static uint32_t spare_request(struct rn_outcomes *o)
{
	uint32_t i = o->unused;

	if (i != NONE)
		o->unused = RN_SEG_AT(&o->request, struct request, i)->next;
	else if (rn_seg_reserve(&o->request, &o->scratch, 1))
		i = o->request.n++;
	return i;
}

/* The call has made one. */
static void new_request(struct rn_outcomes *o, const struct request *is, uint64_t number)
{
	uint32_t tag = request_tag(number), i = NONE;

	if (rn_map_reserve(&o->request_of, tag) == 0)
		i = spare_request(o);
	if (i == NONE) {
		no_memory(o);
		return;
	}
	*RN_SEG_AT(&o->request, struct request, i) = *is;
	RN_SEG_AT(&o->request, struct request, i)->number = number;
	rn_map_insert(&o->request_of, tag, i);
}

static void forget_request(struct rn_outcomes *o, struct request *r)
{
	uint32_t tag = request_tag(r->number), pos = tag, i;

	while ((i = rn_map_next(rn_map_page(&o->request_of, tag), tag, &pos)) != RN_MAP_NONE)
		if (RN_SEG_AT(&o->request, struct request, i) == r) {
			rn_map_remove(&o->request_of, tag, i);
			r->next = o->unused;
			o->unused = i;
			return;
		}
}

static void start_request(struct rn_outcomes *o, struct request *r)
{
	r->active = true;
	r->seen = false;
	r->thread = o->thread.n;
	r->send = r->sends ? begin_send(o, &r->out) : NONE;
	r->recv = r->receives ? begin_recv(o, &r->in, true) : NONE;
	r->cancel = false;
	if (!is_numbered(o, r->recv) && (r->sends || r->receives || r->persistent))
		r->directed = o->directed++;
}

/* A call that makes a request. One that is not given is there all the same for the count. */
static void take_maker(struct rn_outcomes *o, const struct call *c)
{
	struct request r = { .sends = sends(c),
			     .synchronous = is(c, RN_IS_synchronous),
			     .receives = receives(c),
			     .out = outgoing(o, c),
			     .in = incoming(o, c),
			     .persistent = is(c, RN_IS_prepares),
			     .send = NONE,
			     .recv = NONE };
	const struct rn_value *v = arg(c, c->f->traits->request);

	if (!r.persistent)
		start_request(o, &r);
	if (v->kind == RN_V_REQUEST && v->id == RN_REQUEST_CREATED)
		new_request(o, &r, (uint64_t)v->num);
}

/* The requests that a call was given: `given` has them. */
static void list_given(struct rn_outcomes *o, const struct call *c)
{
	const struct rn_value *v = arg(c, c->f->traits->request);
	int64_t n = v && v->kind == RN_V_LIST ? (v++)->num : v != NULL;

	empty(&o->given);
	for (; n > 0; n--, v += v->span)
		add(o, &o->given, v, sizeof(*v));
}

static const struct rn_value *given(const struct rn_outcomes *o, size_t i)
{
	return AT(&o->given, const struct rn_value, i);
}

static void take_start(struct rn_outcomes *o, const struct call *c)
{
	if (c->failed)
		return;
	list_given(o, c);
	for (size_t i = 0; i < o->given.n && o->rc == RN_OK; i++) {
		struct request *r = find_request(o, given(o, i));

		if (r && r->persistent)
			start_request(o, r);
		else
			o->directed++; /* nothing is known of it, but that it is none of ours */
	}
}

/* Wildcard receives are known by their numbers. */
static void take_cancel(struct rn_outcomes *o, const struct call *c)
{
	list_given(o, c);
	for (size_t i = 0; i < o->given.n && o->rc == RN_OK && !c->failed; i++) {
		struct request *r = find_request(o, given(o, i));

		if (r && r->active && !is_numbered(o, r->recv) && (r->sends || r->receives))
			r->cancel = true;
	}
}

/* ---- calls that complete requests ---- */

/* Whether there is something to complete: what is not followed is taken for active. */
static bool is_active(const struct rn_outcomes *o, const struct rn_value *v)
{
	const struct request *r = find_request(o, v);

	if (r)
		return r->active;
	if (v->kind == RN_V_REQUEST)
		return v->id != RN_REQUEST_CREATED;
	return v->kind == RN_V_PLACE || v->kind == RN_V_NAME;
}

static bool any_active(const struct rn_outcomes *o)
{
	for (size_t i = 0; i < o->given.n; i++)
		if (is_active(o, given(o, i)))
			return true;
	return false;
}

/* Whether its outcome is still to be told. */
static bool is_unseen(const struct rn_outcomes *o, const struct request *r)
{
	return r && r->active && !r->seen && is_numbered(o, r->recv);
}

/* Request i is complete, and the call says so: whether that has been added to what is done.
 * `all`: also if it is no wildcard receive. Of such a receive something is known even if the status
 * is ignored, unless it was cancelled. */
static bool complete(struct rn_outcomes *o, const struct call *c, size_t i, struct rn_arg_status s,
		     bool all)
{
	struct request *r = find_request(o, given(o, i));

	if (s.pending || o->rc < 0)
		return false;
	if (is_unseen(o, r)) {
		s.cancelled |= s.ignored;
		add_received(o, (uint32_t)i, r->recv, &s);
		r->seen = all = true;
	} else if (all) {
		add_done(o, (uint32_t)i, RN_ORDER_NOT, &s, false);
	}
	if (r && r->active) {
		if (r->cancel && !s.ignored && is(c, RN_IS_completes) && r->thread == o->thread.n)
			add_cancel(o, r, s.cancelled);
		end_send(o, r->send, r->synchronous, s.cancelled);
		end_recv(o, r->recv, &s);
		r->active = !is(c, RN_IS_completes);
	}
	return all;
}

/* All that it was given. */
static void take_all(struct rn_outcomes *o, const struct call *c)
{
	bool tests = is(c, RN_IS_tests);
	bool active = any_active(o) || c->f->traits->request == RN_NO_PARAM;
	struct rn_arg_statuses l = rn_arg_statuses(arg(c, c->f->traits->status));
	size_t n = 0;

	if (tests && !c->failed && !rn_arg_true(arg(c, c->f->traits->flag))) {
		add_failure(o, c);
		return;
	}
	for (size_t i = 0; i < o->given.n && o->rc == RN_OK; i++)
		n += complete(o, c, i, rn_arg_status_next(&o->words, &l), false);
	if (tests && active && n == 0) {
		add_done(o, 0, RN_ORDER_NOT, NULL, false);
		n = 1;
	}
	add_row(o, c, n);
}

static bool is_index(const struct rn_outcomes *o, const struct rn_value *v)
{
	return v->kind == RN_V_INT && v->num >= 0 && (uint64_t)v->num < o->given.n;
}

static void take_any(struct rn_outcomes *o, const struct call *c)
{
	const struct rn_value *index = arg(c, c->f->traits->index);

	if (c->failed)
		return;
	if (is(c, RN_IS_tests) && !rn_arg_true(arg(c, c->f->traits->flag)))
		add_failure(o, c);
	else if (is_index(o, index))
		add_row(o, c,
			complete(o, c, (size_t)index->num,
				 rn_arg_status(&o->words, arg(c, c->f->traits->status)), true));
}

static void take_some(struct rn_outcomes *o, const struct call *c)
{
	const struct rn_value *count = arg(c, c->f->traits->index);
	const struct rn_value *indices = arg(c, c->f->traits->indices), *v = indices + 1;
	struct rn_arg_statuses l = rn_arg_statuses(arg(c, c->f->traits->status));
	size_t n = 0;

	if (count->kind == RN_V_INT && count->num == 0)
		add_failure(o, c);
	if (indices->kind != RN_V_LIST)
		return;
	for (int64_t i = 0; i < indices->num; i++, v += v->span) {
		struct rn_arg_status s = rn_arg_status_next(&o->words, &l);

		if (is_index(o, v))
			n += complete(o, c, (size_t)v->num, s, true);
	}
	add_row(o, c, n);
}

/* Requests that are gone with the call. */
static void forget_gone(struct rn_outcomes *o)
{
	for (size_t i = 0; i < o->given.n && o->rc == RN_OK; i++) {
		const struct rn_value *v = given(o, i);
		struct request *r = NULL;

		if (v->kind == RN_V_REQUEST && v->id == RN_REQUEST_ENDED)
			r = find_request(o, v);
		if (r)
			forget_request(o, r);
	}
}

/* One that failed may have completed requests all the same, and then says so in statuses. */
static void take_completion(struct rn_outcomes *o, const struct call *c)
{
	list_given(o, c);
	if (!c->failed || rn_arg_statuses(arg(c, c->f->traits->status)).left > 0) {
		if (is(c, RN_IS_any))
			take_any(o, c);
		else if (is(c, RN_IS_some))
			take_some(o, c);
		else
			take_all(o, c);
	}
	forget_gone(o);
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
		list_given(o, c);
		forget_gone(o);
	} else if (is(c, RN_IS_finalizes)) {
		o->finalized |= !rn_call_unfinished(&o->words, c->c);
	}
}

/* The parameter that is the destination or, if there is none, the source or the root. */
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

/* The number of a communicator; 0 without memory. */
static uint32_t comm_number(struct rn_outcomes *o, const char *name, size_t len)
{
	char text[256] = "";
	size_t got;
	uint32_t id;

	memcpy(text, name, len < sizeof(text) ? len : sizeof(text) - 1);
	if (rn_sigs_intern(o->comm, text, strlen(text) + 1, &id) < 0)
		no_memory(o);
	else if (id == o->comm_name.n)
		ADD(o, &o->comm_name, const char *, rn_sigs_get(o->comm, id, &got));
	return o->rc == RN_OK ? id + 1 : 0;
}

/* That of a call is one that goes in. */
static uint32_t comm_of(struct rn_outcomes *o, const struct rn_call *c,
			const struct rn_arg_function *f)
{
	const struct rn_template_comm *m = &c->args->comm_of[0];
	uint32_t *known = &o->comm_of_sig[c->sig];

	if (!*known && c->args->comm < f->ins)
		*known = 1 + comm_number(o, m->name, m->len);
	return *known ? *known - 1 : 0;
}

/* A call, or the end of a request of another stream. */
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
	o->first_row = o->row.n;
	o->first_match = o->match.n;
	o->open = (struct rn_ordinals){ 0 };
	o->directed = 0;
	ADD(o, &o->thread, struct rn_outcome_thread,
	    { lineage, named, o->row.n, o->done.n, o->value.n, o->match.n, o->calls });
}

static int take_thread(struct rn_outcomes *o, const struct rn_call *c)
{
	const struct rn_value *lineage = c->args->value;

	if (c->args->ret == 0 || lineage->kind != RN_V_INT)
		return RN_E_DATA;
	begin_thread(o, lineage->num, true);
	return o->rc;
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
			rc = o->rc;
		}
		if (rc < 0)
			break;
	}
	return rc;
}

/* ---- */

static struct list *lists(struct rn_outcomes *o, unsigned i)
{
	struct list *const all[] = { &o->thread, &o->site,  &o->row,  &o->done,
				     &o->value,  &o->send,  &o->sent, &o->recv,
				     &o->match,  &o->given, NULL };

	return all[i];
}

struct rn_outcomes *rn_outcomes_new(struct rn_arena *mem, const struct rn_trace *t)
{
	struct rn_outcomes *o = rn_new(mem, struct rn_outcomes, 1);

	if (!o)
		return NULL;
	rn_arena_init(&o->scratch, SIZE_MAX);
	o->t = t;
	o->words = rn_arg_words_of(&t->vocab);
	o->function = rn_arg_functions(mem, &t->vocab);
	o->comm = rn_sigs_new(mem);
	o->comm_of_sig = rn_new(mem, uint32_t, rn_sigs_count(t->streams.sigs));
	if (o->function && o->comm && o->comm_of_sig && comm_number(o, "MPI_COMM_WORLD", 14) &&
	    comm_number(o, "MPI_COMM_SELF", 13))
		o->calls_of = rn_calls_new(mem, t);
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
	rn_arena_free(&o->scratch);
	rn_buf_free(&o->comm_name.bytes);
	for (unsigned i = 0; lists(o, i); i++)
		rn_buf_free(&lists(o, i)->bytes);
}

const char *const *rn_outcomes_comms(const struct rn_outcomes *o, uint32_t *n)
{
	*n = (uint32_t)o->comm_name.n;
	return AT(&o->comm_name, const char *const, 0);
}

/* At the beginning of a stream, of which nothing is known yet. */
static int begin(struct rn_outcomes *o)
{
	rn_arena_rewind(&o->scratch, (struct rn_arena_mark){ 0 });
	for (unsigned i = 0; lists(o, i); i++)
		empty(lists(o, i));
	o->rc = RN_OK;
	o->unused = NONE;
	o->call = NULL;
	o->calls = 0;
	o->finalized = false;
	begin_thread(o, 0, false);
	rn_seg_init(&o->request, sizeof(struct request));
	if (rn_map_init(&o->site_of, &o->scratch) < 0 ||
	    rn_map_init(&o->request_of, &o->scratch) < 0)
		return RN_E_NOMEM;
	return o->rc;
}

static int finish(struct rn_outcomes *o, struct rn_arena *mem, struct rn_outcome *out)
{
	*out = (struct rn_outcome){
		.thread = keep(o, &o->thread, mem),
		.threads = o->thread.n,
		.order = { .site = keep(o, &o->site, mem),
			   .row = keep(o, &o->row, mem),
			   .done = keep(o, &o->done, mem),
			   .value = keep(o, &o->value, mem),
			   .send = keep(o, &o->send, mem),
			   .sites = o->site.n,
			   .rows = o->row.n,
			   .dones = o->done.n,
			   .values = o->value.n,
			   .sends = o->send.n },
		.sent = keep(o, &o->sent, mem),
		.recv = keep(o, &o->recv, mem),
		.recvs = o->recv.n,
		.match = keep(o, &o->match, mem),
		.matches = o->match.n,
		.call = o->call,
		.calls = o->calls,
		.finalized = o->finalized,
	};
	return o->rc;
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
