/* infer_receives.c - see infer_receives.h. */
#include "analysis/infer_receives.h"

#include <string.h>

#include "analysis/event_source.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "identity/comm_table.h"
#include "read/trace.h"

#define NONE UINT32_MAX

/* A communicator as identified by all of its members, for messages in one direction. */
struct identity {
	uint64_t to_key, from_key; /* of receiver and sender; equal in an intracommunicator */
	uint32_t name; /* communicator number; 0: the keys are unique without the name */
};

/* A rank's side of a communicator. */
struct side {
	bool asked, known;
	uint32_t rank;
	struct identity sends, receives;
};

/* Identifies messages with equal envelopes. For receives, source and tag can be RN_PLAN_ANY. */
struct key {
	uint64_t to_key, from_key;
	uint32_t name;
	int32_t source, dest, tag;
};

struct channel {
	uint64_t known;       /* messages with an observed receive */
	uint64_t sent;        /* sends processed so far */
	uint32_t first, last; /* first and last open receive, as index + 1; 0: none */
	int32_t from;         /* rank with unassigned sends for it; RN_PLAN_NOTHING: none */
	bool several;         /* more than one rank has such sends */
	bool sure;            /* a later message on this channel is known to have been received */
};

/* A receive without an observed end. The array is in posting order. */
struct open {
	uint64_t stream;
	uint32_t number; /* index of its match; RN_ORDER_NOT: not a wildcard receive */
	uint32_t next, channel;
	bool given; /* has an inferred match */
};

/* A send without an observed receive. */
struct left {
	struct key key;
	bool sure;
};

struct job {
	struct rn_arena *mem;
	const struct rn_trace *t;
	const char *const *name;
	uint32_t names;
	struct side *side; /* by communicator, for the current rank */
	uint64_t rank;
	struct rn_sigs *key; /* key of each channel, by channel index */
	struct rn_seg channel, open, left;
	struct rn_outcome *out;
};

/* ---- communicators ---- */

static struct identity identity(uint32_t comm, uint64_t to_key, uint64_t from_key)
{
	return (struct identity){ to_key, from_key, to_key >= RN_COMM_KEY_APART ? 0 : comm };
}

/* Finds the communicator entry of the current rank. MPI_COMM_WORLD has the key 0; the key of
 * MPI_COMM_SELF is the rank. */
static bool find_entry(const struct job *j, uint32_t comm, struct rn_comm_entry *e)
{
	const char *name = j->name[comm - 1];

	*e = (struct rn_comm_entry){ .my_rank = j->rank };
	if (strcmp(name, "MPI_COMM_WORLD") == 0)
		return true;
	*e = (struct rn_comm_entry){ .key = j->rank };
	if (strcmp(name, "MPI_COMM_SELF") == 0)
		return true;
	return j->t->comms && rn_comms_find(j->t->comms, name, strlen(name), j->rank, e) == RN_OK;
}

/* NULL if the communicator is unknown on this rank. */
static const struct side *side_of(struct job *j, uint64_t rank, uint32_t comm)
{
	struct rn_comm_entry e;
	struct side *s;

	if (comm == 0 || comm > j->names)
		return NULL;
	if (rank != j->rank)
		memset(j->side, 0, j->names * sizeof(*j->side));
	j->rank = rank;
	s = &j->side[comm - 1];
	if (!s->asked && find_entry(j, comm, &e)) {
		uint64_t other = e.remote ? e.remote_key : e.key;

		s->known = true;
		s->rank = (uint32_t)e.my_rank;
		s->sends = identity(comm, other, e.key);
		s->receives = identity(comm, e.key, other);
	}
	s->asked = true;
	return s->known ? s : NULL;
}

/* ---- channels ---- */

static struct channel *channel_at(const struct job *j, uint32_t i)
{
	return RN_SEG_AT(&j->channel, struct channel, i);
}

static struct key make_key(const struct identity *in, int32_t source, int32_t dest, int32_t tag)
{
	return (struct key){ in->to_key, in->from_key, in->name, source, dest, tag };
}

static uint32_t find_channel(const struct job *j, const struct key *k)
{
	uint32_t i;

	return rn_sigs_find(j->key, k, sizeof(*k), &i) ? i : NONE;
}

/* The index of the channel, which is created if necessary; NONE if memory is exhausted. */
static uint32_t need_channel(struct job *j, const struct key *k)
{
	uint32_t i;

	if (!rn_seg_reserve(&j->channel, j->mem, 1) ||
	    rn_sigs_intern(j->key, k, sizeof(*k), &i) < 0)
		return NONE;
	if (i == j->channel.n)
		*channel_at(j, j->channel.n++) = (struct channel){ .from = RN_PLAN_NOTHING };
	return i;
}

/* ---- receives ---- */

static struct open *open_at(const struct job *j, uint32_t i)
{
	return RN_SEG_AT(&j->open, struct open, i);
}

static bool add_open(struct job *j, uint32_t channel, uint64_t stream, uint32_t number)
{
	struct channel *c = channel_at(j, channel);

	if (!rn_seg_reserve(&j->open, j->mem, 1))
		return false;
	*open_at(j, j->open.n++) =
		(struct open){ .stream = stream, .number = number, .channel = channel };
	if (c->last)
		open_at(j, c->last - 1)->next = j->open.n;
	else
		c->first = j->open.n;
	c->last = j->open.n;
	return true;
}

static int take_recv(struct job *j, uint64_t stream, const struct rn_outcome_recv *r)
{
	const struct side *s = side_of(j, stream / j->t->threads, r->comm);
	struct key key;
	uint32_t i;

	if (!s || r->got == RN_GOT_NOTHING)
		return RN_OK;
	key = make_key(&s->receives, r->source, (int32_t)s->rank, r->tag);
	i = need_channel(j, &key);
	if (i == NONE)
		return RN_E_NOMEM;
	if (r->got == RN_GOT_MESSAGE)
		channel_at(j, i)->known++;
	else if (!add_open(j, i, stream, r->number))
		return RN_E_NOMEM;
	return RN_OK;
}

/* ---- sends ---- */

/* Counts a send. Only completed sends beyond the observed receives are stored in `left`. */
static int take_send(struct job *j, uint64_t stream, const struct rn_order_send *m,
		     enum rn_outcome_sent sent)
{
	const struct side *s = side_of(j, stream / j->t->threads, m->comm);
	struct key key;
	uint32_t i;

	if (!s || sent == RN_SENT_NOT)
		return RN_OK;
	key = make_key(&s->sends, m->me, m->dest, m->tag);
	i = need_channel(j, &key);
	if (i == NONE)
		return RN_E_NOMEM;
	if (channel_at(j, i)->sent++ < channel_at(j, i)->known || sent == RN_SENT_OPEN)
		return RN_OK;
	return RN_SEG_PUSH(&j->left, j->mem, struct left,
			   (struct left){ key, sent == RN_SENT_SURE })
		       ? RN_OK
		       : RN_E_NOMEM;
}

/* Marks the sends known to have been received: messages do not overtake, so every message sent
 * before a received one between the same ranks was received too. */
static int mark_sure(struct job *j)
{
	for (uint32_t n = j->left.n; n > 0; n--) {
		struct left *l = RN_SEG_AT(&j->left, struct left, n - 1);
		struct key all = l->key;
		uint32_t i;

		all.tag = RN_PLAN_ANY;
		i = need_channel(j, &all);
		if (i == NONE)
			return RN_E_NOMEM;
		l->sure = channel_at(j, i)->sure |= l->sure;
	}
	return RN_OK;
}

/* Number of receive keys that match a message: source named or any, tag named or any. */
#define WAYS 4u

static uint32_t find_way(const struct job *j, const struct key *k, unsigned way)
{
	struct key key = *k;

	if (way & 1)
		key.source = RN_PLAN_ANY;
	if (way & 2)
		key.tag = RN_PLAN_ANY;
	return find_channel(j, &key);
}

static void mark_several(struct job *j, const struct left *l)
{
	for (unsigned way = 0; way < WAYS; way++) {
		uint32_t i = find_way(j, &l->key, way);
		struct channel *c = i == NONE ? NULL : channel_at(j, i);

		if (!c)
			continue;
		c->several |= c->from != RN_PLAN_NOTHING && c->from != l->key.source;
		c->from = l->key.source;
	}
}

/* Removes the earliest open receive that matches. Returns its index + 1, or 0. */
static uint32_t take_earliest(struct job *j, const struct key *k)
{
	struct channel *best = NULL;
	uint32_t taken;

	for (unsigned way = 0; way < WAYS; way++) {
		uint32_t i = find_way(j, k, way);
		struct channel *c = i == NONE ? NULL : channel_at(j, i);

		if (c && c->first && (!best || c->first < best->first))
			best = c;
	}
	if (!best)
		return 0;
	taken = best->first;
	best->first = open_at(j, taken - 1)->next;
	if (!best->first)
		best->last = 0;
	return taken;
}

static void place(struct job *j, const struct left *l)
{
	uint32_t i = take_earliest(j, &l->key);
	struct open *r = i ? open_at(j, i - 1) : NULL;

	if (!r || r->number == RN_ORDER_NOT)
		return;
	j->out[r->stream].match[r->number] =
		(struct rn_plan_match){ l->key.source, l->key.tag, RN_PLAN_INFERRED, 0 };
	r->given = true;
}

static void place_all(struct job *j, bool sure)
{
	for (uint32_t i = 0; i < j->left.n; i++) {
		const struct left *l = RN_SEG_AT(&j->left, struct left, i);

		if (l->sure == sure)
			place(j, l);
	}
}

/* ---- */

static int take_messages(struct job *j, uint64_t streams)
{
	int rc = RN_OK;

	for (uint64_t s = 0; s < streams; s++)
		for (size_t i = 0; i < j->out[s].recvs && rc == RN_OK; i++)
			rc = take_recv(j, s, &j->out[s].recv[i]);
	for (uint64_t s = 0; s < streams; s++)
		for (size_t i = 0; i < j->out[s].order.sends && rc == RN_OK; i++)
			rc = take_send(j, s, &j->out[s].order.send[i],
				       (enum rn_outcome_sent)j->out[s].sent[i]);
	return rc == RN_OK ? mark_sure(j) : rc;
}

/* Returns the number of inferred receives for which there may be another solution. */
static uint64_t solve(struct job *j)
{
	uint64_t ambiguous = 0;

	for (uint32_t i = 0; i < j->left.n; i++)
		mark_several(j, RN_SEG_AT(&j->left, struct left, i));
	place_all(j, true);
	place_all(j, false);
	for (uint32_t i = 0; i < j->open.n; i++) {
		const struct open *r = open_at(j, i);

		ambiguous += r->given && channel_at(j, r->channel)->several;
	}
	return ambiguous;
}

int rn_unseen_infer(struct rn_arena *mem, const struct rn_orders *from, struct rn_outcome *out,
		    uint64_t streams, uint64_t *ambiguous)
{
	struct job j = { .mem = mem, .t = from->t, .out = out };
	int rc;

	*ambiguous = 0;
	j.name = rn_orders_comms(from, &j.names);
	j.side = rn_new(mem, struct side, j.names);
	rn_seg_init(&j.channel, sizeof(struct channel));
	rn_seg_init(&j.open, sizeof(struct open));
	rn_seg_init(&j.left, sizeof(struct left));
	j.key = rn_sigs_new(mem);
	if (!j.side || !j.key)
		return RN_E_NOMEM;
	rc = take_messages(&j, streams);
	if (rc == RN_OK)
		*ambiguous = solve(&j);
	return rc;
}
