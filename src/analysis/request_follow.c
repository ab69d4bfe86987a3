/* request_follow.c - see request_follow.h. */
#include "analysis/request_follow.h"

#include "base/hash.h"

#define NONE RN_FOLLOW_NONE

static void no_memory(struct rn_follow *f)
{
	f->rc = RN_E_NOMEM;
}

void rn_follow_add(struct rn_follow *f, struct rn_buf *b, const void *item, size_t size)
{
	rn_buf_add(b, item, size);
	if (b->failed)
		no_memory(f);
}

/* ---- messages ---- */

uint32_t rn_follow_send(struct rn_follow *f, const struct rn_message *m, uint64_t done)
{
	const struct rn_order_send send = { done, m->comm, m->me, m->peer, m->tag };

	if (m->peer < 0 || m->me < 0)
		return NONE;
	rn_follow_add(f, &f->send, &send, sizeof(send));
	rn_follow_add(f, &f->sent, &(unsigned char){ RN_SENT_OPEN }, 1);
	return (uint32_t)f->sent.len - 1;
}

void rn_follow_end_send(struct rn_follow *f, uint32_t send, bool synchronous, bool cancelled)
{
	if (send != NONE && f->rc == RN_OK)
		f->sent.data[send] = cancelled     ? RN_SENT_NOT
				     : synchronous ? RN_SENT_SURE
						   : RN_SENT_DONE;
}

bool rn_message_is_wild(const struct rn_message *m)
{
	return m->peer == RN_PLAN_ANY || (m->tag == RN_PLAN_ANY && m->peer != RN_PLAN_NOBODY);
}

static struct rn_outcome_recv *recv_at(const struct rn_follow *f, uint32_t i)
{
	return RN_BUF_AT(&f->recv, struct rn_outcome_recv, i);
}

uint32_t rn_follow_recv(struct rn_follow *f, const struct rn_message *m, bool numbered)
{
	const struct rn_plan_match unseen = { .state = RN_PLAN_UNSEEN };
	struct rn_outcome_recv recv = { m->comm, m->peer, m->tag, RN_ORDER_NOT, RN_GOT_OPEN };

	if (m->peer == RN_PLAN_NOBODY)
		return NONE;
	if (numbered && rn_message_is_wild(m)) {
		recv.number = (uint32_t)RN_BUF_COUNT(&f->match, struct rn_plan_match);
		rn_follow_add(f, &f->match, &unseen, sizeof(unseen));
	}
	rn_follow_add(f, &f->recv, &recv, sizeof(recv));
	return (uint32_t)RN_BUF_COUNT(&f->recv, struct rn_outcome_recv) - 1;
}

bool rn_follow_is_numbered(const struct rn_follow *f, uint32_t recv)
{
	return recv != NONE && f->rc == RN_OK && recv_at(f, recv)->number != RN_ORDER_NOT;
}

uint32_t rn_follow_match(struct rn_follow *f, uint32_t recv, const struct rn_arg_status *s)
{
	uint32_t number = recv_at(f, recv)->number;
	struct rn_plan_match *m = RN_BUF_AT(&f->match, struct rn_plan_match, number);
	uint64_t late;

	if (s->cancelled)
		m->state = RN_PLAN_CANCELLED;
	else if (s->known)
		*m = (struct rn_plan_match){ s->source, s->tag, RN_PLAN_MATCHED, 0 };
	if (number < f->first_match)
		return RN_ORDER_NOT;
	if (!rn_ordinals_done(&f->open, &f->scratch, number - f->first_match, &late))
		no_memory(f);
	return (uint32_t)late;
}

void rn_follow_end_recv(struct rn_follow *f, uint32_t recv, const struct rn_arg_status *s)
{
	struct rn_outcome_recv *r;

	if (recv == NONE || f->rc < 0)
		return;
	r = recv_at(f, recv);
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

/* ---- requests ---- */

static struct rn_follow_request *request_at(const struct rn_follow *f, uint32_t i)
{
	return RN_SEG_AT(&f->request, struct rn_follow_request, i);
}

/* The index of the request with this id, or NONE. */
static uint32_t find_number(const struct rn_follow *f, uint64_t number)
{
	uint32_t tag = (uint32_t)rn_hash_u64(number);

	RN_MAP_EACH (&f->request_of, tag, i)
		if (request_at(f, i)->number == number)
			return i;
	return NONE;
}

struct rn_follow_request *rn_follow_find(const struct rn_follow *f, const struct rn_value *v)
{
	uint32_t i;

	if (v->kind != RN_V_REQUEST || v->id == RN_REQUEST_CREATED || v->num == RN_REQUEST_UNKNOWN)
		return NULL;
	i = find_number(f, (uint64_t)v->num);
	return i == NONE ? NULL : request_at(f, i);
}

static uint32_t spare_request(struct rn_follow *f)
{
	uint32_t i = f->unused;

	if (i != NONE)
		f->unused = request_at(f, i)->next;
	else if (rn_seg_reserve(&f->request, &f->scratch, 1))
		i = f->request.n++;
	return i;
}

void rn_follow_new(struct rn_follow *f, const struct rn_follow_request *is, uint64_t number)
{
	uint32_t tag = (uint32_t)rn_hash_u64(number), i = NONE;

	if (rn_map_reserve(&f->request_of, tag) == 0)
		i = spare_request(f);
	if (i == NONE) {
		no_memory(f);
		return;
	}
	*request_at(f, i) = *is;
	request_at(f, i)->number = number;
	rn_map_insert(&f->request_of, tag, i);
}

void rn_follow_forget(struct rn_follow *f, struct rn_follow_request *r)
{
	uint32_t i = find_number(f, r->number);

	rn_map_remove(&f->request_of, (uint32_t)rn_hash_u64(r->number), i);
	r->next = f->unused;
	f->unused = i;
}

void rn_follow_start(struct rn_follow *f, struct rn_follow_request *r, uint64_t done)
{
	r->active = true;
	r->told = false;
	r->thread = f->thread;
	r->send = r->sends ? rn_follow_send(f, &r->out, done) : NONE;
	r->recv = r->receives ? rn_follow_recv(f, &r->in, true) : NONE;
	r->cancel = false;
	if (!rn_follow_is_numbered(f, r->recv) && (r->sends || r->receives || r->persistent))
		r->directed = f->directed++;
}

bool rn_follow_is_active(const struct rn_follow *f, const struct rn_value *v)
{
	const struct rn_follow_request *r = rn_follow_find(f, v);

	if (r)
		return r->active;
	if (v->kind == RN_V_REQUEST)
		return v->id != RN_REQUEST_CREATED;
	return v->kind == RN_V_PLACE || v->kind == RN_V_NAME;
}

/* ---- streams and threads ---- */

void rn_follow_begin_thread(struct rn_follow *f)
{
	f->thread++;
	f->first_match = RN_BUF_COUNT(&f->match, struct rn_plan_match);
	f->open = (struct rn_ordinals){ 0 };
	f->directed = 0;
}

void rn_follow_begin(struct rn_follow *f)
{
	rn_arena_rewind(&f->scratch, (struct rn_arena_mark){ 0 });
	f->rc = rn_map_init(&f->request_of, &f->scratch);
	rn_seg_init(&f->request, sizeof(struct rn_follow_request));
	f->unused = NONE;
	f->thread = 0;
	rn_follow_begin_thread(f);
}
