/* lamport.c - see lamport.h. */
#include "order/lamport.h"

#include <assert.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

/* Messages with the same key, in the order in which they were sent. A message is in two chains: one
 * with its communicator, and one with communicator 0 for receivers whose communicator is unknown.
 * Links are counted from 1. */
struct chain {
	uint64_t key; /* 0: the slot is empty */
	uint32_t head, tail;
};

struct message {
	uint64_t clock;
	bool sent;
	uint32_t waits; /* thread that waits for the message, plus 1; 0: none */
};

/* Position of a thread in its events. */
struct at {
	uint64_t clock;
	size_t row, left, done, send;
	size_t base; /* index of its first message */
	uint64_t *out;
	uint32_t pending; /* message that it waits for, plus 1; 0: none */
	bool ready;       /* the thread is on the stack */
};

struct world {
	const struct rn_order *thread;
	const int32_t *rank;
	size_t threads, messages;
	struct at *at;
	struct message *message;
	uint32_t *next;
	struct chain *chain;
	size_t mask;
	uint32_t *stack, depth;
};

enum { MESSAGES, MEMBER };

static uint64_t key_of(uint32_t what, uint32_t comm, int32_t from, int32_t to, int32_t tag)
{
	const uint32_t words[] = { what, comm, (uint32_t)from, (uint32_t)to, (uint32_t)tag };

	return rn_hash(words, sizeof(words)) | 1;
}

/* Returns the chain of a key, or the empty slot for it. */
static struct chain *find(const struct world *w, uint64_t key)
{
	size_t i = key >> 7 & w->mask;

	assert(key != 0);
	while (w->chain[i].key && w->chain[i].key != key)
		i = (i + 1) & w->mask;
	return &w->chain[i];
}

static void append(struct world *w, uint64_t key, uint32_t link)
{
	struct chain *c = find(w, key);

	assert(link > 0 && link <= 2 * w->messages);
	c->key = key;
	if (c->tail)
		w->next[c->tail] = link;
	else
		c->head = link;
	c->tail = link;
}

/* Removes the next message of a key. Returns its index plus 1, or 0 if none is left. */
static uint32_t take(struct world *w, uint64_t key)
{
	struct chain *c = find(w, key);
	uint32_t link = c->head;

	if (!link)
		return 0;
	c->head = w->next[link];
	if (!c->head)
		c->tail = 0;
	return (link + 1) / 2;
}

/* Stores the rank of a thread in a communicator, which its sends contain. */
static void note_member(struct world *w, size_t t, const struct rn_order_send *s)
{
	struct chain *c = find(w, key_of(MEMBER, s->comm, (int32_t)t, 0, 0));

	c->key = key_of(MEMBER, s->comm, (int32_t)t, 0, 0);
	c->head = (uint32_t)s->me;
}

static int32_t member(const struct world *w, size_t t, uint32_t comm)
{
	const struct chain *c = find(w, key_of(MEMBER, comm, (int32_t)t, 0, 0));

	return c->key ? (int32_t)c->head : w->rank[t];
}

static void add_sends(struct world *w, size_t t, size_t base)
{
	const struct rn_order *o = &w->thread[t];

	for (size_t i = 0; i < o->sends; i++) {
		const struct rn_order_send *s = &o->send[i];
		uint32_t link = (uint32_t)(base + i) * 2 + 1;

		append(w, key_of(MESSAGES, s->comm, s->me, s->dest, s->tag), link);
		if (s->comm)
			append(w, key_of(MESSAGES, 0, s->me, s->dest, s->tag), link + 1);
		note_member(w, t, s);
	}
}

static void push(struct world *w, size_t t)
{
	assert(t < w->threads);
	assert(w->at[t].ready || w->depth < w->threads);
	if (!w->at[t].ready)
		w->stack[w->depth++] = (uint32_t)t;
	w->at[t].ready = true;
}

/* Processes the sends of the thread before its next completion. */
static void send_all(struct world *w, size_t t)
{
	struct at *a = &w->at[t];
	const struct rn_order *o = &w->thread[t];

	for (; a->send < o->sends && (o->send[a->send].at <= a->done || a->done == o->dones);
	     a->send++) {
		struct message *m = &w->message[a->base + a->send];

		assert(!m->sent);
		m->clock = a->clock++;
		m->sent = true;
		if (m->waits)
			push(w, m->waits - 1);
	}
}

/* Returns the event site of the next completion. */
static const struct rn_order_site *site_now(struct world *w, size_t t)
{
	struct at *a = &w->at[t];
	const struct rn_order *o = &w->thread[t];

	while (a->left == 0) {
		const struct rn_order_row *r = &o->row[a->row++];

		a->left = rn_order_has_numbers(&o->site[r->site]) ? 0 : r->done;
	}
	return &o->site[o->row[a->row - 1].site];
}

static bool is_receive(const struct rn_order_done *d)
{
	return (d->flags & (RN_ORDER_MATCHED | RN_ORDER_CANCELLED)) == RN_ORDER_MATCHED;
}

/* Processes the next completion. Returns false if its message has not been sent yet. With `anyhow`,
 * it does not wait for the message. */
static bool step(struct world *w, size_t t, bool anyhow)
{
	struct at *a = &w->at[t];
	const struct rn_order_done *d = &w->thread[t].done[a->done];
	const struct rn_order_site *site = site_now(w, t);

	if (is_receive(d) && !a->pending)
		a->pending = take(w, key_of(MESSAGES, site->comm, d->source,
					    member(w, t, site->comm), d->tag));
	a->out[a->done] = a->clock;
	if (a->pending && !anyhow) {
		struct message *m = &w->message[a->pending - 1];

		m->waits = (uint32_t)t + 1;
		if (!m->sent)
			return false;
		a->out[a->done] = m->clock;
	}
	if (is_receive(d))
		a->clock = (a->clock > a->out[a->done] ? a->clock : a->out[a->done]) + 1;
	assert(a->left > 0 && a->done < w->thread[t].dones);
	a->pending = 0;
	a->done++;
	a->left--;
	return true;
}

static void follow(struct world *w, size_t t)
{
	do
		send_all(w, t);
	while (w->at[t].done < w->thread[t].dones && step(w, t, false));
}

/* Processes all threads. If all wait for each other, a message was assigned to the wrong receive;
 * then the first thread continues without its message. */
static void run(struct world *w)
{
	for (size_t t = w->threads; t-- > 0;)
		push(w, t);
	for (size_t first = 0; first < w->threads;) {
		while (w->depth) {
			size_t t = w->stack[--w->depth];

			w->at[t].ready = false;
			follow(w, t);
		}
		if (w->at[first].done < w->thread[first].dones) {
			step(w, first, true);
			push(w, first);
		} else {
			first++;
		}
	}
}

static bool make(struct world *w, struct rn_arena *mem)
{
	size_t slots = 64;

	for (size_t t = 0; t < w->threads; t++)
		w->messages += w->thread[t].sends;
	while (slots < w->messages * 6)
		slots *= 2;
	if (w->messages >= UINT32_MAX / 4)
		return false;
	w->mask = slots - 1;
	w->at = rn_new(mem, struct at, w->threads);
	w->message = rn_new(mem, struct message, w->messages);
	w->next = rn_new(mem, uint32_t, w->messages * 2 + 1);
	w->chain = rn_new(mem, struct chain, slots);
	w->stack = rn_new(mem, uint32_t, w->threads);
	return w->at && w->message && w->next && w->chain && w->stack;
}

int rn_order_clocks(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n)
{
	struct world w = { .thread = thread, .rank = rank, .threads = n };
	struct rn_arena_mark before = rn_arena_mark(mem), scratch;
	uint64_t **clock = rn_new(mem, uint64_t *, n);
	size_t base = 0;

	for (size_t t = 0; t < n; t++)
		if (!clock || !(clock[t] = rn_new(mem, uint64_t, thread[t].dones)))
			goto none;
	scratch = rn_arena_mark(mem);
	if (!make(&w, mem))
		goto none;
	for (size_t t = 0; t < n; base += thread[t++].sends) {
		w.at[t].base = base;
		w.at[t].out = clock[t];
		add_sends(&w, t, base);
	}
	run(&w);
	for (size_t t = 0; t < n; t++)
		thread[t].clock = clock[t];
	rn_arena_rewind(mem, scratch);
	return RN_OK;
none:
	rn_arena_rewind(mem, before);
	return RN_E_NOMEM;
}
